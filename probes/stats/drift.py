"""What changed while a run went on: the machine over the whole run, and every block from its beginning to its end."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from probes.stats.estimate import two_sided
from probes.stats.table import table_of

if TYPE_CHECKING:
    from advisor.facts.probes import Arm, Metric

RARE = 0.01  # chance of a note where nothing changed
WORTH = 0.05  # relative; less of a change is not worth a word
ROUNDS = 4
VARIANTS = 3
SECONDS = 6  # of a block's series; shorter ones have no halves


def drift(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> tuple[str, ...]:
    """Sentences on what rose or fell with time: a tired machine, a warm-up not over, a cache that filled."""
    return tuple(filter(None, (_over_rounds(arms, metric, baseline), _within_blocks(arms, metric))))


def _over_rounds(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> str:
    table = table_of(arms, metric.name, baseline)
    if table is None or not table.logs or table.rounds < ROUNDS or len(table.rows) < VARIANTS:
        return ""
    half = table.rounds // 2
    change = _change([statistics.fmean(row[-half:]) - statistics.fmean(row[:half]) for row in table.rows])
    if not change:
        return ""
    return (
        f"From the first half of the run to the second, {metric.name} {change} in all variants alike: the machine, or "
        "what else runs on it, changed. Variants are compared round by round, which bears that; the figures themselves "
        "would be others at another time."
    )


def _within_blocks(arms: tuple[Arm, ...], metric: Metric) -> str:
    blocks = [block.series.get(metric.name, ()) for arm in arms for block in arm.blocks]
    halves = [
        (series[: len(series) // 2], series[-(len(series) // 2) :]) for series in blocks if len(series) >= SECONDS
    ]
    pairs = [(statistics.fmean(first), statistics.fmean(second)) for first, second in halves]
    change = _change([math.log(second / first) for first, second in pairs if first > 0 and second > 0])
    if not change:
        return ""
    return (
        f"Within blocks {metric.name} {change} from the first half to the second: the warm-up was not over, or the "
        "device tires under load (throttling, a write cache that fills, a checkpoint). Longer blocks would show where "
        "it ends."
    )


def _change(logs: list[float]) -> str:
    """Rose or fell by so much, where that is no chance and worth a word."""
    if len(logs) < VARIANTS:
        return ""
    mean = statistics.fmean(logs)
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    share = abs(math.expm1(mean))
    if share < WORTH or abs(mean) <= two_sided(RARE, len(logs) - 1) * error:
        return ""
    return f"{'rose' if mean > 0 else 'fell'} by {100 * share:.0f} %"
