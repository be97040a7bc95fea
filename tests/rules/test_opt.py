"""What the rules about the server's own verdicts rest on in the catalogs."""

from __future__ import annotations

import pytest

from advisor.catalog.load import load
from advisor.catalog.targets import SERIES, parse_target

ALL = [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in series]


@pytest.mark.parametrize("series", ALL)
def test_no_option_of_durability_or_security_counts_in_blocks(series: str) -> None:
    """Rounding to a block is a note, and an adjusted value of these must be a warning: so none of them may round."""
    catalog = load(parse_target(series))
    options = [option for name in catalog.options if (option := catalog.get(name)) is not None]
    assert any(option.block > 1 for option in options)
    assert [o.name for o in options if o.block > 1 and (o.durability or o.security)] == []
