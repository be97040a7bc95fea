"""Statistics of samples: variants are compared with the baseline; a difference is claimed only beyond the noise."""

from __future__ import annotations

import dataclasses
import math
import statistics
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.facts.probes import Metric, baselines
from probes.stats.estimate import MeanDifference, estimate_differences
from probes.stats.table import VARIATION, RoundTable, round_table, variation_arms

if TYPE_CHECKING:
    from advisor.facts.probes import Arm


MINIMUM_DIFFERENCE = 0.001  # relative; smaller differences come from clocks and counters, not from variants
HALVES_ROUNDS = 4  # minimum rounds to compare the two halves of a run
HALVES_ERRORS = 3.0  # standard errors; a larger difference between the halves of a run is worth a note


@dataclasses.dataclass(frozen=True, slots=True)
class VariantComparison:
    """The comparison of a variant with the baseline, in one metric or in how much that metric varies within blocks.

    `ratio` is the variant's value divided by the baseline's, by geometric means of the rounds, with its 95 % interval.
    `claim` is more, less or none: a difference is claimed if the simultaneous interval for all comparisons of the run
    excludes zero. `detectable` is the smallest relative difference that four of five such runs claim, and `bound` the
    largest one that is compatible with this run. After a single round both are infinite. `mean` (whose ratio to
    `baseline_mean` is `ratio`), `median` and `variation` (of blocks, relative to their mean) describe the variant,
    `baseline_…` the baseline. `drawn_in` counts winsorized blocks of the group.
    """

    arm: str
    baseline: str
    ratio: float
    low: float
    high: float
    detectable: float
    bound: float
    claim: str
    rounds: int
    median: float
    baseline_median: float
    variation: float
    baseline_variation: float
    mean: float
    baseline_mean: float
    drawn_in: int = 0
    note: str = ""


def compare_in_groups(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> tuple[VariantComparison, ...]:
    """Compare every variant with the baseline of its group; the 5 % of false claims are for all groups together."""
    first = baselines(arms, baseline)
    groups = [tuple(arm for arm in arms if arm.group == group) for group in first]
    family = sum(len(group) - 1 for group in groups)
    pairs = zip(groups, first.values(), strict=True)
    return tuple(found for group, name in pairs for found in compare(group, metric, name, max(1, family)))


def compare(
    arms: tuple[Arm, ...], metric: Metric, baseline: str, family: int | None = None
) -> tuple[VariantComparison, ...]:
    """Compare all other variants with the baseline, in the order of `arms`; at most 5 % of runs make a false claim.

    `family` is the number of comparisons in the run, if these are not all. Variants without the metric are left out;
    the result is empty if the baseline lacks the metric or is always zero.
    """
    table = round_table(arms, metric.name, baseline)
    if table is None or not table.rounds or len(table.names) == 1:
        return ()
    base = table.names.index(baseline)
    places = [place for place in range(len(table.names)) if place != base]
    differences = row_differences(table, baseline)
    return tuple(
        _comparison(table, (place, base), row, estimate, family or len(places))
        for place, row, estimate in zip(places, differences, estimate_differences(differences), strict=True)
    )


def compare_variation(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> tuple[VariantComparison, ...]:
    """As `compare_in_groups`, for the coefficient of variation of the values within each block."""
    return compare_in_groups(variation_arms(arms, metric.name), Metric(VARIATION, "", "less"), baseline)


def row_differences(table: RoundTable, baseline: str) -> list[list[float]]:
    """Each other variant's rows minus the baseline's, round by round."""
    base = table.rows[table.names.index(baseline)]
    others = (row for name, row in zip(table.names, table.rows, strict=True) if name != baseline)
    return [[value - beside for value, beside in zip(row, base, strict=True)] for row in others]


def relative_difference(difference: float, logs: bool) -> float:
    """A difference of the table's rows, relative to the baseline."""
    return _exp(difference) - 1 if logs else difference


def _comparison(
    table: RoundTable, places: tuple[int, int], row: list[float], estimate: MeanDifference, family: int
) -> VariantComparison:
    half, surely = estimate.half_width(), estimate.half_width(family)
    reach = abs(estimate.mean) + surely
    own, beside = (table.raw[place] for place in places)
    ours, theirs = (table.mean(place) for place in places)
    comparison = VariantComparison(
        arm=table.names[places[0]],
        baseline=table.names[places[1]],
        ratio=_ratio(estimate.mean, table.logs),
        low=_ratio(estimate.mean - half, table.logs),
        high=_ratio(estimate.mean + half, table.logs),
        detectable=max(MINIMUM_DIFFERENCE, relative_difference(estimate.detectable(family), table.logs)),
        bound=max(MINIMUM_DIFFERENCE, relative_difference(reach, table.logs)),
        claim="none",
        rounds=table.rounds,
        median=statistics.median(own),
        baseline_median=statistics.median(beside),
        variation=_coefficient_of_variation(own),
        baseline_variation=_coefficient_of_variation(beside),
        mean=ours,
        baseline_mean=theirs,
        drawn_in=table.drawn_in,
        note=_halves_note(row),
    )
    if relative_difference(abs(estimate.mean), table.logs) <= max(
        MINIMUM_DIFFERENCE, relative_difference(surely, table.logs)
    ):
        return comparison
    return dataclasses.replace(comparison, claim="more" if estimate.mean > 0 else "less")


def _ratio(difference: float, logs: bool) -> float:
    return _exp(difference) if logs else max(0.0, 1 + difference)


def _exp(difference: float) -> float:
    try:
        return math.exp(difference)
    except OverflowError:
        return math.inf


def _coefficient_of_variation(values: list[float]) -> float:
    """The coefficient of variation; zero for a single value."""
    mean = statistics.fmean(values)
    return statistics.stdev(values) / abs(mean) if len(values) > 1 and mean else 0.0


def _halves_note(row: list[float]) -> str:
    """A sentence if the difference changed between the halves of the run; otherwise empty."""
    half = len(row) // 2
    if len(row) < HALVES_ROUNDS:
        return ""
    first, second = row[:half], row[-half:]
    error = math.sqrt((statistics.variance(first) + statistics.variance(second)) / half)
    if abs(statistics.fmean(second) - statistics.fmean(first)) <= max(MINIMUM_DIFFERENCE, _halves_limit(half) * error):
        return ""
    return "The difference changed between the two halves of the run: a longer run may give another result."


def _halves_limit(half: int) -> float:
    return HALVES_ERRORS * (1 + 6 / half**2)  # with few rounds the estimated spread is unreliable


ENOUGH_PRECISION = 0.02  # relative; smaller differences do not matter for tuning
# Minimum degrees of freedom of the noise. With fewer, intervals are often narrow by chance: 9 % of the runs that ended
# so early claimed a difference between equal variants, simulated in tests/probes/stats/test_simulated.py.
MINIMUM_FREEDOM = 6


def is_precise(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> bool:
    """Whether further rounds would add nothing of value: differences of 2 % are detectable in every variant.

    This must also have been true one round earlier: stopping at the first narrow interval would favor runs that are
    narrow by chance. The position of the interval is not considered, because stopping at a difference would always
    find one.
    """
    return (
        _knows_noise(arms, metric, baseline)
        and _is_narrow(arms, metric, baseline, 0)
        and _is_narrow(arms, metric, baseline, 1)
    )


def _knows_noise(arms: tuple[Arm, ...], metric: Metric, baseline: str) -> bool:
    """Whether there are enough rounds to know the scatter of the differences; a single variant has none."""
    for group, first in baselines(arms, baseline).items():
        table = round_table([arm for arm in arms if arm.group == group], metric.name, first)
        differences = row_differences(table, first) if table and table.rounds > 1 else []
        if any(
            estimate.freedom < MINIMUM_FREEDOM
            for estimate in (estimate_differences(differences) if differences else ())
        ):
            return False
    return True


def _is_narrow(arms: tuple[Arm, ...], metric: Metric, baseline: str, less: int) -> bool:
    shortened = tuple(_without_last_rounds(arm, less) for arm in arms)
    if len(arms) == 1:  # without a comparison its own mean is the answer
        table = round_table(shortened, metric.name, baseline)
        rows = [[value - table.rows[0][0] for value in table.rows[0]]] if table else []
        return bool(
            table
            and all(
                relative_difference(e.detectable(1), table.logs) <= ENOUGH_PRECISION for e in estimate_differences(rows)
            )
        )
    comparisons = compare_in_groups(shortened, metric, baseline)
    whole = len(comparisons) == len(arms) - len(baselines(arms, baseline))
    return whole and all(comparison.detectable <= ENOUGH_PRECISION for comparison in comparisons)


def _without_last_rounds(arm: Arm, less: int) -> Arm:
    return replace(arm, blocks=arm.blocks[: len(arm.blocks) - less]) if less else arm


__all__ = ["VariantComparison", "compare", "compare_in_groups", "compare_variation", "is_precise"]
