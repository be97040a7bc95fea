"""The numbers of a result as a report shows them: each variant's value, and its ratio to the baseline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.probes import baselines
from probes.conclusion import format_ratio as words_for
from probes.conclusion import metric_means
from probes.stats import compare_in_groups

if TYPE_CHECKING:
    from advisor.facts.probes import ProbeResult

# Units of durations: less is better, whatever a table measures in them.
DURATIONS = frozenset({"s", "ms", "us", "µs", "ns", "seconds", "min"})


BEYOND = 100.0  # times; an interval as wide as this says nothing


class Row(NamedTuple):
    """A variant in one metric: its value, and its ratio to the baseline with the 95 % interval (None: no claim).

    `value` is the mean that the ratio is made of, so that the two agree (see `means`).
    `claim` is more, less, none, or baseline.
    """

    name: str
    point: float | None
    value: float | None
    ratio: float | None
    low: float | None
    high: float | None
    claim: str


def rows(result: ProbeResult) -> tuple[Row, ...]:
    """One row a variant in the first metric, in the order of the result."""
    metric = result.metrics[0]
    compared = {comparison.arm: comparison for comparison in compare_in_groups(result.arms, metric, result.baseline)}
    made = []
    found, first = metric_means(result, metric), baselines(result.arms, result.baseline).values()
    for arm in result.arms:
        value, beside = found.get(arm.name), compared.get(arm.name)
        if arm.name in first:
            made.append(Row(arm.name, arm.point, value, 1.0, 1.0, 1.0, "baseline"))
        elif beside is not None:
            made.append(Row(arm.name, arm.point, value, beside.ratio, beside.low, beside.high, beside.claim))
        else:
            made.append(Row(arm.name, arm.point, value, None, None, None, "none"))
    return tuple(made)


def number(value: float | None) -> str:
    """A measured value to three or four digits: 0.0123, 1.25, 43.0, 12,300; a dash for none."""
    if value is None:
        return "-"
    size = abs(value)
    if not value:
        return "0"
    if size >= 1000:  # noqa: PLR2004 - from here on digits behind the point say nothing
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 100 else f"{value:#.3g}".rstrip(".")  # noqa: PLR2004


def change(ratio: float | None) -> str:
    """+12 %, -3.4 %, 5.1 times; a dash for none."""
    if ratio is None or not math.isfinite(ratio):
        return "-"
    return "0 %" if ratio == 1 else words_for(ratio)


def span(row: Row) -> str:
    """The 95 % interval of a row's ratio, `+7 to +15 %`; nothing for the baseline, a dash where rounds are too few."""
    if row.claim == "baseline" or row.low is None or row.high is None:
        return ""
    if not 0 < row.low <= row.high < row.low * BEYOND:
        return "-"
    low, high = change(row.low), change(row.high)
    return f"{low.removesuffix(' %') if high.endswith(' %') else low} to {high}"
