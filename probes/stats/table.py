"""The blocks of a run as a table, variant by round, with winsorized outliers, and the drift within it."""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import TYPE_CHECKING

from msgspec.structs import replace

from probes.stats.estimate import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts.probes import Arm, Block, Metric


Rows = list[list[float]]
OUTLIER_ROUNDS = 5  # rounds; with fewer, an outlier cannot be recognized
OUTLIER_DEVIATIONS = 4.0  # robust standard deviations from the value expected for variant and round
POLISH_SWEEPS = 6
MAD_TO_SD = 1.4826  # ratio of standard deviation to median absolute deviation in a normal distribution
FALSE_NOTE_RATE = 0.01  # probability of a note if nothing changed
MINIMUM_CHANGE = 0.05  # relative; a smaller change is not reported
MINIMUM_ROUNDS = 4
MINIMUM_VARIANTS = 3
MINIMUM_SECONDS = 6  # of a block's series; shorter ones are not divided into halves


@dataclasses.dataclass(frozen=True, slots=True)
class RoundTable:
    """Values of one metric: a row for each of `names`, a column for each round that all of them completed.

    With `logs` the rows hold logarithms. If a value is zero or negative, the rows hold shares of the baseline's mean
    instead, which is `unit`. `raw` are the measured values. `drawn_in` counts the winsorized outliers.
    """

    names: tuple[str, ...]
    raw: Rows
    rows: Rows
    logs: bool
    drawn_in: int = 0
    unit: float = 1.0

    @property
    def rounds(self) -> int:
        """The number of rounds."""
        return len(self.rows[0]) if self.rows else 0

    def mean(self, place: int) -> float:
        """The mean of one variant in the metric's unit; a geometric mean if the rows hold logarithms.

        The ratio of two such means is the ratio that their comparison gives.
        """
        if self.logs:
            return math.exp(statistics.fmean(self.rows[place]))
        return statistics.fmean(self.rows[place]) * self.unit


def round_table(arms: Sequence[Arm], metric: str, baseline: str) -> RoundTable | None:
    """The table of a metric; None if the baseline lacks it or is always zero."""
    values = {arm.name: {block.round: block.metrics[metric] for block in _measured_blocks(arm, metric)} for arm in arms}
    values = {name: row for name, row in values.items() if row}
    if baseline not in values:
        return None
    rounds = sorted(set.intersection(*(set(row) for row in values.values())))
    raw = [[row[number] for number in rounds] for row in values.values()]
    names = tuple(values)
    if all(value > 0 for row in raw for value in row):
        return _winsorize(RoundTable(names, raw, [[math.log(value) for value in row] for row in raw], logs=True))
    mean = statistics.fmean(raw[names.index(baseline)]) if rounds else 0.0
    if mean <= 0:
        return None
    return _winsorize(RoundTable(names, raw, [[value / mean for value in row] for row in raw], logs=False, unit=mean))


def _measured_blocks(arm: Arm, metric: str) -> list[Block]:
    return [block for block in arm.blocks if math.isfinite(block.metrics.get(metric, math.nan))]


def _winsorize(table: RoundTable) -> RoundTable:
    """The table with winsorized outliers, so that a single stall neither decides a comparison nor hides a difference.

    The limit depends on the scatter of all variants and of the variant itself: one that always scatters has no
    outliers.
    """
    if table.rounds < OUTLIER_ROUNDS or len(table.rows) < 2:  # noqa: PLR2004 - a single variant has nothing beside it
        return table
    rests = _median_polish(table.rows)
    # The medians leave this many residuals at zero, at any noise.
    free = sorted(abs(rest) for row in rests for rest in row)[len(table.rows) + table.rounds - 1 :]
    usual = statistics.median(free) if free else 0.0
    if not usual:
        return table
    beyond = [
        _excess(row, OUTLIER_DEVIATIONS * MAD_TO_SD * max(usual, statistics.median(map(abs, row)))) for row in rests
    ]
    rows = [[a - b for a, b in zip(*pair, strict=True)] for pair in zip(table.rows, beyond, strict=True)]
    return dataclasses.replace(table, rows=rows, drawn_in=sum(excess != 0 for row in beyond for excess in row))


def _excess(rests: list[float], reach: float) -> list[float]:
    return [math.copysign(max(0.0, abs(rest) - reach), rest) for rest in rests]


def _median_polish(rows: Rows) -> Rows:
    """The residuals after the medians of variant and round are subtracted alternately."""
    rests = [list(row) for row in rows]
    for _ in range(POLISH_SWEEPS):
        rests = [[value - statistics.median(row) for value in row] for row in rests]
        middles = [statistics.median(column) for column in zip(*rests, strict=True)]
        rests = [[value - middle for value, middle in zip(row, middles, strict=True)] for row in rests]
    return rests


VARIATION = "variation"
MINIMUM_VALUES = 3  # two values have a difference but no useful variation


def variation_arms(arms: tuple[Arm, ...], metric: str) -> tuple[Arm, ...]:
    """The variants with the coefficients of variation of their blocks as the only metric.

    Blocks without a series of that metric, or with one that is too short, have none.
    """
    return tuple(replace(arm, blocks=tuple(_variation_block(block, metric) for block in arm.blocks)) for arm in arms)


def coefficient_of_variation(series: Sequence[float]) -> float | None:
    """Standard deviation divided by mean; None with too few values or a mean of zero."""
    mean = statistics.fmean(series) if series else 0.0
    if len(series) < MINIMUM_VALUES or mean <= 0:
        return None
    return statistics.stdev(series) / mean


def _variation_block(block: Block, metric: str) -> Block:
    varied = coefficient_of_variation(block.series.get(metric, ()))
    return replace(block, metrics={} if varied is None else {VARIATION: varied})


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
    changes = [statistics.fmean(row[-half:]) - statistics.fmean(row[:half]) for row in table.rows]
    change = _change_text(changes)
    if not change:
        return ""
    alike = all(value > 0 for value in changes) or all(value < 0 for value in changes)
    where = "in all variants" if alike else "on average over the variants"
    return (
        f"From the first half of the run to the second, {metric.name} {change} {where}: the machine, or "
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
