"""The published numbers beside the local ones: which tables fit a result, and both as shares of the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.facts.probes import baselines
from advisor.report.probe.figures import DURATIONS, rows
from advisor.report.probe.names import curve_of, labels, numeric, short
from advisor.report.render.curves import Curve, Point
from rules.core.evidence import find_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.facts.probes import Metric, ProbeResult
    from rules.core.evidence import Evidence, Table

Share = tuple[float, float, float]  # of the baseline: the value, and an interval
HERE = "here"  # how the curves of this host are called
ENOUGH = 2  # points in common that make two curves comparable


def evidence(result: ProbeResult) -> list[Evidence]:
    """What was published on the experiment's question."""
    return [e for e in map(find_evidence, result.evidence) if e is not None]


def tables(result: ProbeResult) -> list[tuple[Evidence, Table]]:
    """The same as far as it has numbers, with these."""
    return [(e, e.table) for e in evidence(result) if e.table is not None]


def curves(result: ProbeResult) -> tuple[Curve, ...]:
    """The local curve and the published ones that have points in common with it, each relative to the baseline.

    A published duration is turned round beside a local rate, and the other way, so that better is up or down in both.
    Where variants stand in groups, each is relative to the baseline of its group: a curve of baselines alone says
    nothing, and a published one has another baseline, so neither is drawn.
    """
    shares: dict[str, Share] = {}
    for row in rows(result):
        if row.ratio is not None and row.low is not None and row.high is not None:
            shares[row.name] = (row.ratio, row.low, row.high)
    grouped = is_grouped(result)
    found = _local(result, shares)
    if grouped:
        first = set(baselines(result.arms, result.baseline).values())
        named = curve_of(result)
        telling = {named.get(arm.name, "") for arm in result.arms if arm.name in shares and arm.name not in first}
        found = [curve for curve in found if curve.name.removeprefix(HERE).removeprefix(", ") in telling]
    if sum(len(curve.points) for curve in found) < ENOUGH:
        return ()
    if grouped:
        return tuple(found)
    for source, table in tables(result):
        found += _published(result, result.metrics[0], source, table)
    return tuple(found)


def is_grouped(result: ProbeResult) -> bool:
    """Whether variants are compared within groups, each with a baseline of its own."""
    return len(baselines(result.arms, result.baseline)) > 1


def turned(metric: Metric, table: Table) -> bool:
    """Whether published numbers are better in the other direction than the local metric."""
    return (table.unit in DURATIONS) != (metric.better == "less")


def matched(result: ProbeResult, table: Table) -> dict[str, int]:
    """Which row of a published table stands for which variant, by its point on the axis or by its name."""
    by_value = {value: i for i, value in enumerate(table.values)}
    by_label = {label.lower(): i for i, label in enumerate(table.labels)}
    found: dict[str, int] = {}
    for arm in result.arms:
        named = by_label.get(arm.name.lower(), by_label.get(short(result, arm.name).lower()))
        place = named if arm.point is None else by_value.get(arm.point)
        if place is not None:
            found[arm.name] = place
    return found


def _local(result: ProbeResult, shares: Mapping[str, Share]) -> list[Curve]:
    found, named = curve_of(result), labels(result)
    points: dict[str, list[Point]] = {}
    for order, arm in enumerate(result.arms):
        if arm.name not in shares:
            continue
        place = arm.point if arm.point is not None and found else float(order)
        points.setdefault(found.get(arm.name, ""), []).append(Point(named[arm.name], place, *shares[arm.name]))
    return [Curve(f"{HERE}, {name}" if name else HERE, tuple(ps), here=True) for name, ps in points.items()]


def _published(result: ProbeResult, metric: Metric, source: Evidence, table: Table) -> list[Curve]:
    match = matched(result, table)
    if len(match) < ENOUGH or result.baseline not in match:
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
            share = base / n if turned(metric, table) else n / base
            place = table.values[i] if by_number else order[names[i]]
            points.append(Point(table.labels[i], place, share, share, share))
        if len(points) >= ENOUGH:
            made.append(Curve(_named(source, table, name), tuple(points), here=False, turned=turned(metric, table)))
    return made


def _named(source: Evidence, table: Table, series: str) -> str:
    which = f", {series}" if len(table.series) > 1 else ""
    return f"{source.id}, {source.date[:4]}{which}"
