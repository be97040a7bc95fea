"""Compares any two of: option file, running server, snapshot, a version's defaults."""

from __future__ import annotations

from advisor.compare.compare import compare_sides
from advisor.compare.values import Category, Comparison, SettingPair, Side, SideKind, SideSetting

__all__ = ["Category", "Comparison", "SettingPair", "Side", "SideKind", "SideSetting", "compare_sides"]
