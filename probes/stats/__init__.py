"""What samples allow to be said: intervals, differences, and what was too small to be seen."""

from __future__ import annotations

from probes.stats.comparing import VariantComparison, compare, compare_in_groups, compare_variation, is_precise

__all__ = ["VariantComparison", "compare", "compare_in_groups", "compare_variation", "is_precise"]
