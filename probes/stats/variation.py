"""How much a metric varies within a block, as a metric of its own."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts.probes import Arm, Block

VARIATION = "variation"
SHORTEST = 3  # values; two have a difference, no variation


def with_variation(arms: tuple[Arm, ...], metric: str) -> tuple[Arm, ...]:
    """The variants with their blocks' coefficients of variation as the only metric.

    Blocks without a series of that metric, or with one that is too short, have none.
    """
    return tuple(replace(arm, blocks=tuple(_varied(block, metric) for block in arm.blocks)) for arm in arms)


def variation_of(series: Sequence[float]) -> float | None:
    """Standard deviation over mean; None where there are too few values or nothing happened."""
    mean = statistics.fmean(series) if series else 0.0
    if len(series) < SHORTEST or mean <= 0:
        return None
    return statistics.stdev(series) / mean


def _varied(block: Block, metric: str) -> Block:
    varied = variation_of(block.series.get(metric, ()))
    return replace(block, metrics={} if varied is None else {VARIATION: varied})
