"""Two of option file, running server, snapshot and a target's defaults: in what they differ."""

from __future__ import annotations

from advisor.compare.compare import compare
from advisor.compare.values import Category, Comparison, Held, SettingPair, Side, SideKind

__all__ = ["Category", "Comparison", "Held", "SettingPair", "Side", "SideKind", "compare"]
