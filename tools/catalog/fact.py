"""One fact of one option, with its source."""

from __future__ import annotations

from typing import NamedTuple


class Fact(NamedTuple):
    """A value and its source: asked, declared, documented or inferred."""

    value: object
    source: str
