"""Statistics of samples: intervals, differences, and the smallest detectable difference."""

from __future__ import annotations

from probes.stats.comparing import VariantComparison, compare, compare_in_groups, compare_variation, is_precise

__all__ = ["VariantComparison", "compare", "compare_in_groups", "compare_variation", "is_precise"]
