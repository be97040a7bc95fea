"""Changes during a run: drift of the machine over the rounds, and drift within each block."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from probes.stats.estimate import t_quantile
from probes.stats.table import round_table

if TYPE_CHECKING:
    from advisor.facts.probes import Arm, Metric

FALSE_NOTE_RATE = 0.01  # probability of a note if nothing changed
MINIMUM_CHANGE = 0.05  # relative; a smaller change is not reported
MINIMUM_ROUNDS = 4
MINIMUM_VARIANTS = 3
MINIMUM_SECONDS = 6  # of a block's series; shorter ones are not divided into halves


def drift_notes(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> tuple[str, ...]:
    """Sentences on what rose or fell over time.

    Possible causes are throttling, an incomplete warm-up or a cache that filled.
    """
    return tuple(filter(None, (_drift_over_rounds(arms, metric, baseline), _drift_within_blocks(arms, metric))))


def _drift_over_rounds(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> str:
    table = round_table(arms, metric.name, baseline)
    if table is None or not table.logs or table.rounds < MINIMUM_ROUNDS or len(table.rows) < MINIMUM_VARIANTS:
        return ""
    half = table.rounds // 2
    change = _change_text([statistics.fmean(row[-half:]) - statistics.fmean(row[:half]) for row in table.rows])
    if not change:
        return ""
    return (
        f"From the first half of the run to the second, {metric.name} {change} in all variants: the machine, or "
        "its other load, changed. Comparisons within rounds stay valid; the absolute figures "
        "may differ at another time."
    )


def _drift_within_blocks(arms: tuple[Arm, ...], metric: Metric) -> str:
    blocks = [block.series.get(metric.name, ()) for arm in arms for block in arm.blocks]
    halves = [
        (series[: len(series) // 2], series[-(len(series) // 2) :])
        for series in blocks
        if len(series) >= MINIMUM_SECONDS
    ]
    pairs = [(statistics.fmean(first), statistics.fmean(second)) for first, second in halves]
    change = _change_text([math.log(second / first) for first, second in pairs if first > 0 and second > 0])
    if not change:
        return ""
    return (
        f"Within blocks {metric.name} {change} from the first half to the second: the warm-up was too short, or the "
        "device slows down under load (throttling, full write cache, checkpoint). Longer blocks would show the "
        "steady state."
    )


def _change_text(logs: list[float]) -> str:
    """Whether the values rose or fell and by how much.

    Empty if the change is small or not significant.
    """
    if len(logs) < MINIMUM_VARIANTS:
        return ""
    mean = statistics.fmean(logs)
    error = statistics.stdev(logs) / math.sqrt(len(logs))
    share = abs(math.expm1(mean))
    if share < MINIMUM_CHANGE or abs(mean) <= t_quantile(FALSE_NOTE_RATE, len(logs) - 1) * error:
        return ""
    return f"{'rose' if mean > 0 else 'fell'} by {100 * share:.0f} %"
