"""The figures of a result: each variant's value, ratio and short name, and published curves beside local ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import exact_size
from advisor.facts.probes import baselines
from advisor.redaction import redact_value
from advisor.report.render.curves import AxisMark, Curve, Point
from advisor.verdict.number import parse_digits
from advisor.verdict.settings import is_same_value
from probes.conclusion import format_interval, format_ratio, metric_means
from probes.stats import compare_in_groups
from rules.core.areas import find_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.facts.probes import Metric, ProbeResult
    from rules.core.areas import Evidence, Table


# Units of durations: less is better for any metric in them.
DURATIONS = frozenset({"s", "ms", "us", "µs", "ns", "seconds", "min"})
# Words in the units of throughput.
WORK = ("transactions", "queries", "requests", "orders", "tps", "qps", "reads/s", "writes/s")
BEYOND = 100.0  # times; an interval as wide as this says nothing
Share = tuple[float, float, float]  # of the baseline: the value, and an interval
NO_SERVER: Mapping[str, str] = {}  # variables where no server was audited
HERE = "here"  # how the curves of this host are called
ENOUGH = 2  # points in common that make two curves comparable


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
    means, first = metric_means(result, metric), baselines(result.arms, result.baseline).values()
    for arm in result.arms:
        value, beside = means.get(arm.name), compared.get(arm.name)
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
    return "0 %" if ratio == 1 else format_ratio(ratio)


def span(row: Row) -> str:
    """The 95 % interval of a row's ratio, `+7 to +15 %`; nothing for the baseline, a dash where rounds are too few."""
    if row.claim == "baseline" or row.low is None or row.high is None:
        return ""
    if not 0 < row.low <= row.high < row.low * BEYOND:
        return "-"
    return format_interval(row.low, row.high)


def axis_name(result: ProbeResult) -> str:
    """What the variants differ in: the axis, or the option that all of their names begin with."""
    return result.axis or _shared_prefix(result).rstrip("=") or "variant"


def short_name(result: ProbeResult, name: str) -> str:
    """`2` for `innodb_flush_log_at_trx_commit=2` where all variants are values of that option."""
    return name.removeprefix(_shared_prefix(result))


def curve_of(result: ProbeResult) -> dict[str, str]:
    """Which curve each variant belongs to, by the parts of its name other than its point; "" for the only one."""
    points = [arm.point for arm in result.arms]
    if None in points or len(set(points)) == len(points):
        return dict.fromkeys((arm.name for arm in result.arms), "")
    telling, by = _telling(result), _separator(result)
    curve_names = {a.name: by.join(p for p in a.name.split(by) if p not in telling) for a in result.arms}
    places = {(curve_names[arm.name], arm.point) for arm in result.arms}
    return curve_names if len(places) == len(points) else {}


def labels(result: ProbeResult) -> dict[str, str]:
    """The text under each variant's point: the parts of its name that identify it, or its short name."""
    if set(curve_of(result).values()) <= {""}:
        return {arm.name: short_name(result, arm.name) for arm in result.arms}
    telling, by = _telling(result), _separator(result)
    return {a.name: by.join(p for p in a.name.split(by) if p in telling) or a.name for a in result.arms}


def numeric(result: ProbeResult) -> bool:
    """Whether the variants stand on an axis of numbers, so that lines between them mean something."""
    return all(arm.point is not None for arm in result.arms) and bool(curve_of(result))


def _telling(result: ProbeResult) -> set[str]:
    """Parts of names that come with one point only."""
    points: dict[str, set[float | None]] = {}
    for arm in result.arms:
        for part in arm.name.split(_separator(result)):
            points.setdefault(part, set()).add(arm.point)
    return {part for part, where in points.items() if len(where) == 1}


def _separator(result: ProbeResult) -> str:
    """What stands between the parts of a name: commas, or spaces where there are none."""
    return ", " if any(", " in arm.name for arm in result.arms) else " "


def _shared_prefix(result: ProbeResult) -> str:
    """`option=` where every name begins with it."""
    heads = {arm.name.partition("=")[0] + "=" for arm in result.arms}
    shared = heads.pop() if len(heads) == 1 else ""
    return shared if all(arm.name.startswith(shared) for arm in result.arms) and len(result.arms) > 1 else ""


def evidence(result: ProbeResult) -> list[Evidence]:
    """What was published on the experiment's question."""
    return [e for e in map(find_evidence, result.evidence) if e is not None]


def tables(result: ProbeResult) -> list[tuple[Evidence, Table]]:
    """The same as far as it has numbers, with these."""
    return [(e, e.table) for e in evidence(result) if e.table is not None]


def curves(result: ProbeResult) -> tuple[Curve, ...]:
    """The local curve and the published ones that have points in common with it, each relative to the baseline.

    A published duration is turned round beside a local rate, and the other way, so that better is up or down in both.
    Where variants are in groups, each is relative to the baseline of its group: a curve of baselines alone says
    nothing, and a published one has another baseline, so neither is drawn.
    """
    shares: dict[str, Share] = {}
    for row in rows(result):
        if row.ratio is not None and row.low is not None and row.high is not None:
            shares[row.name] = (row.ratio, row.low, row.high)
    grouped = is_grouped(result)
    chart_curves = _local(result, shares)
    if grouped:
        first = set(baselines(result.arms, result.baseline).values())
        named = curve_of(result)
        telling = {named.get(arm.name, "") for arm in result.arms if arm.name in shares and arm.name not in first}
        chart_curves = [curve for curve in chart_curves if curve.name.removeprefix(HERE).removeprefix(", ") in telling]
    if sum(len(curve.points) for curve in chart_curves) < ENOUGH:
        return ()
    if grouped:
        return tuple(chart_curves)
    for source, table in tables(result):
        chart_curves += _published_curves(result, result.metrics[0], source, table)
    return tuple(chart_curves)


def own_marks(result: ProbeResult, variables: Mapping[str, str]) -> tuple[AxisMark, ...]:
    """The mark `you: 8M` at the audited server's value of the option on the axis, if it is among the measured ones.

    A value between two measured numbers counts too. One beyond them has no mark: the run says nothing about it.
    """
    option = axis_name(result)
    value = variables.get(option, "")
    if not value:
        return ()
    if not numeric(result):
        same = (at for at, arm in enumerate(result.arms) if is_same_value(short_name(result, arm.name), value))
        return tuple(AxisMark(f"you: {redact_value(option, value)}", float(at)) for at in same)[:1]
    points = [arm.point for arm in result.arms if arm.point is not None]
    own = parse_digits(value)
    if not own or not min(points) <= own <= max(points):
        return ()
    counted = all(label.isdigit() for label in labels(result).values())  # 2048 operations are not 2K
    return (AxisMark(f"you: {own if counted else exact_size(own)}", float(own)),)


def is_grouped(result: ProbeResult) -> bool:
    """Whether variants are compared within groups, each with a baseline of its own."""
    return len(baselines(result.arms, result.baseline)) > 1


def is_turned(metric: Metric, table: Table) -> bool:
    """Whether published numbers are better in the other direction than the local metric."""
    return (table.unit in DURATIONS) != (metric.better == "less")


def is_comparable(metric: Metric, table: Table) -> bool:
    """Whether published numbers are of what the metric measures: work done, or the time that it takes.

    A rate compares with throughput and with durations; a duration only with durations, because no throughput is the
    inverse of a p99. How much throughput varies, or the pages that an idle server flushes, compare with neither.
    """
    if table.unit in DURATIONS:
        return metric.better in ("more", "less")
    return metric.better == "more" and any(word in table.unit for word in WORK)


def match_rows(result: ProbeResult, table: Table) -> dict[str, int]:
    """Which row of a published table stands for which variant, by its point on the axis or by its name."""
    by_value = {value: i for i, value in enumerate(table.values)}
    by_label = {label.lower(): i for i, label in enumerate(table.labels)}
    row_by_variant: dict[str, int] = {}
    for arm in result.arms:
        named = by_label.get(arm.name.lower(), by_label.get(short_name(result, arm.name).lower()))
        place = named if arm.point is None else by_value.get(arm.point)
        if place is not None:
            row_by_variant[arm.name] = place
    return row_by_variant


def _local(result: ProbeResult, shares: Mapping[str, Share]) -> list[Curve]:
    curve_names, named = curve_of(result), labels(result)
    points: dict[str, list[Point]] = {}
    for order, arm in enumerate(result.arms):
        if arm.name not in shares:
            continue
        place = arm.point if arm.point is not None and curve_names else float(order)
        points.setdefault(curve_names.get(arm.name, ""), []).append(Point(named[arm.name], place, *shares[arm.name]))
    return [Curve(f"{HERE}, {name}" if name else HERE, tuple(ps), here=True) for name, ps in points.items()]


def _published_curves(result: ProbeResult, metric: Metric, source: Evidence, table: Table) -> list[Curve]:
    match = match_rows(result, table)
    if len(match) < ENOUGH or result.baseline not in match or not is_comparable(metric, table):
        return []
    by_number = numeric(result) and bool(table.values)
    order = {name: float(i) for i, name in enumerate(arm.name for arm in result.arms)}
    made = []
    for name, numbers in table.series.items():
        base = numbers[match[result.baseline]]
        if not base:
            continue
        rest = [(i, n) for i, n in enumerate(numbers) if n]
        if not by_number:
            names = {place: arm for arm, place in match.items()}
            rest = [(i, n) for i, n in rest if i in names]
        points = []
        for i, n in rest:
            share = base / n if is_turned(metric, table) else n / base
            place = table.values[i] if by_number else order[names[i]]
            points.append(Point(table.labels[i], place, share, share, share))
        if len(points) >= ENOUGH:
            made.append(
                Curve(_curve_name(source, table, name), tuple(points), here=False, turned=is_turned(metric, table))
            )
    return made


def _curve_name(source: Evidence, table: Table, series: str) -> str:
    which = f", {series}" if len(table.series) > 1 else ""
    return f"{source.id}, {source.date[:4]}{which}"
