"""Comparisons of a file's text between two servers."""

from __future__ import annotations

import pytest
from upgrade_comparison import Moved, verdict_on

from advisor.catalog.targets import parse_target
from advisor.core.model import Target
from advisor.upgrade.change import UpgradeChanges
from advisor.upgrade.move import compare_verdicts


@pytest.fixture(scope="session")
def moved() -> Moved:
    """The comparison of a text between two targets."""

    def compared(text: str, before: str | Target, after: str | Target) -> UpgradeChanges:
        old, new = (parse_target(t) if isinstance(t, str) else t for t in (before, after))
        return compare_verdicts(verdict_on(text, old), verdict_on(text, new), ("my.cnf",))

    return compared
