"""What samples allow to be said: intervals, differences, and what was too small to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.facts.probes import Arm, Metric


def settled(_arms: tuple[Arm, ...], _metric: Metric, _baseline: str) -> bool:
    """Whether further rounds would add nothing worth the time."""
    return False
