"""Two of option file, running server, snapshot and a target's defaults: in what they differ."""

from __future__ import annotations

from advisor.compare.compare import compare
from advisor.compare.values import Comparison, Held, Kind, Lot, Pair, Side

__all__ = ["Comparison", "Held", "Kind", "Lot", "Pair", "Side", "compare"]
