"""A probe's result as a document: the answer, the tables, what it cannot show, and published results; and as JSON.

The field names of the JSON are a contract, schemas/probe.schema.json.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from advisor.core.errors import MycnfError
from advisor.facts.snapshot import to_plain
from advisor.report.document import Code, Document, Items, Paragraph, Section, Table
from advisor.report.findings_json import dumps
from advisor.report.formats import render as render_document
from advisor.report.probe.figures import (
    NO_SERVER,
    axis_name,
    change,
    curve_of,
    curves,
    is_grouped,
    labels,
    number,
    own_marks,
    rows,
    short_name,
    span,
)
from advisor.report.probe.words import (
    answers,
    beside,
    chart_of,
    claims,
    end_words,
    fact_words,
    headline,
    limit_words,
    published_words,
    question,
    where,
)
from advisor.report.render import svg_chart
from probes.conclusion import conclude, metric_means
from probes.results import result_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from advisor.facts.probes import Metric, ProbeResult
    from advisor.report.document import Block
    from advisor.report.output import Paper
    from advisor.report.probe.figures import Row
    from advisor.report.probe.words import Proof
    from advisor.report.render.curves import AxisMark, Curve


VERSION = 1


def as_json(result: ProbeResult, proof: Proof | None = None) -> str:
    """One result with what follows from it, for a rule too where it was made for one."""
    whole = {"version": VERSION, "result": result_fields(result), "conclusion": to_plain(conclude(result))}
    if proof:
        from advisor.report.probe.words import fields as proved

        whole["proof"] = proved(proof)
    return dumps(finite(whole))


def finite(value: Any) -> Any:
    """The same with nothing in the place of numbers that JSON can't write."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    return [finite(item) for item in value] if isinstance(value, list | tuple) else value


CLAIMED = "†"
CLAIMS = ("more", "less")


def render(
    result: ProbeResult,
    form: str,
    paper: Paper,
    proof: Proof | None = None,
    variables: Mapping[str, str] = NO_SERVER,
) -> str:
    """The result in the format of that name, after what it proves of a rule if it was made for one.

    The chart marks the value of the audited server, whose `variables` these are. MycnfError for a drawing of what has
    no two points to draw.
    """
    marks = own_marks(result, variables)
    own = {"json": partial(as_json, result, proof), "svg": partial(_drawing, result, marks)}
    return render_document("probe", form, paper, partial(document, result, proof, marks), own)


def document(result: ProbeResult, proof: Proof | None = None, marks: tuple[AxisMark, ...] = ()) -> Document:
    """The whole report; what it proves of a rule stands before the answer."""
    proved = (Paragraph(proof.answer, strong=True), Paragraph(proof.words)) if proof else ()
    outcome = (Paragraph(each, strong=True) for each in answers(result))
    conclusions = (Paragraph(question(result)), *outcome, *map(Paragraph, claims(result)))
    blocks: list[Block] = [Section("", proved), Section("", conclusions), chart_of(result, marks), *sheets(result)]
    blocks += [
        titled_list("Found besides", fact_words(result)),
        titled_list("What this run can't show", limit_words(result)),
        titled_list("Notes", result.notes),
        titled_list("Where", where(result)),
        titled_list("Published", published_words(result)),
    ]
    return Document((headline(result), end_words(result)), tuple(blocks))


def titled_list(title: str, entries: Iterable[str]) -> Section:
    """A list under a title, without its empty entries."""
    return Section(title, (Items(tuple(entry for entry in entries if entry)),))


def _drawing(result: ProbeResult, marks: tuple[AxisMark, ...]) -> str:
    chart = chart_of(result, marks)
    if not chart.curves:
        raise MycnfError(f"{result.probe} does not have two variants for a curve; use --format markdown or json")
    return svg_chart.draw(chart)


def sheets(result: ProbeResult) -> list[Section]:
    """All numbers: a row a variant, or a row a point and a column a curve where variants make several curves."""
    if len(set(curve_of(result).values())) > 1:
        first, *others = (_by_curve(result, metric) for metric in measured_metrics(result))
        return [first, *_changes(result), *others, *_published_sections(result)]
    return [_by_variant(result), *_others(result)]


def _sheet(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], note: str = "") -> Section:
    """A table whose first column is words and whose others are numbers."""
    cells = tuple((Code(name), *numbers) for name, *numbers in rows)
    table = Table(tuple(heads), cells, tuple(range(1, len(heads))))
    return Section("", (Paragraph(title, indent=2), table, Items((note,) if note else ())))


def _claim_note(result: ProbeResult, marked: bool) -> str:
    return f"{CLAIMED} differs from {beside(result)} by more than noise of this run's size does" if marked else ""


def measured_metrics(result: ProbeResult) -> list[Metric]:
    """The metrics that were measured in some block."""
    return [m for m in result.metrics if any(m.name in block.metrics for arm in result.arms for block in arm.blocks)]


def _by_variant(result: ProbeResult) -> Section:
    """The main metric of each variant, what it differs from the baseline by, and what published curves differ by."""
    metric = result.metrics[0]
    variant_rows = rows(result)
    published = [c for c in curves(result) if not c.here]
    marked = any(row.claim in CLAIMS for row in variant_rows)
    compared = len(variant_rows) > 1
    heads = [axis_name(result), metric.unit or metric.name]
    heads += [f"to {beside(result)}", "95 %"] if compared else []
    heads += [curve.name for curve in published]
    made = []
    for row in variant_rows:
        cells = [short_name(result, row.name), number(row.value)]
        cells += _beside(row, marked) if compared else []
        cells += [_share(curve, row, short_name(result, row.name)) for curve in published]
        made.append(tuple(cells))
    return _sheet("", heads, made, _claim_note(result, marked))


def _others(result: ProbeResult) -> list[Section]:
    """The means of the further metrics; none where there are none."""
    metrics = [metric for metric in measured_metrics(result) if metric != result.metrics[0]]
    if not metrics:
        return []
    heads = (axis_name(result), *map(_metric_name, metrics))
    columns = [metric_means(result, metric) for metric in metrics]
    made = (
        (short_name(result, arm.name), *(number(column.get(arm.name)) for column in columns)) for arm in result.arms
    )
    return [_sheet("", heads, made)]


def _by_curve(result: ProbeResult, metric: Metric) -> Section:
    """One metric; in the first one a dagger says where the mean differs from the baseline's."""
    compared = rows(result) if metric == result.metrics[0] else ()
    claimed = {row.name for row in compared if row.claim in CLAIMS}
    values = metric_means(result, metric)
    curve_names, named = curve_of(result), labels(result)
    columns = list(dict.fromkeys(curve_names.values()))
    cells: dict[tuple[float, str], tuple[str, str]] = {}
    for arm in result.arms:
        mark = CLAIMED if arm.name in claimed else " " * bool(claimed)
        cells[arm.point or 0.0, curve_names[arm.name]] = (named[arm.name], number(values.get(arm.name)) + mark)
    made = []
    for point in sorted({place for place, _ in cells}):
        line = [cells.get((point, column), ("", "")) for column in columns]
        made.append((next(name for name, _ in line if name), *(text for _, text in line)))
    return _sheet(_metric_name(metric), (axis_name(result), *columns), made, _claim_note(result, bool(claimed)))


def _changes(result: ProbeResult) -> list[Section]:
    """A row for each point and a column for each curve: the change against its baseline with the 95 % interval."""
    curve_names, named = curve_of(result), labels(result)
    compared = {row.name: row for row in rows(result) if row.claim != "baseline" and row.ratio is not None}
    columns = list(dict.fromkeys(curve_names[name] for name in compared))
    if not is_grouped(result) or not compared:
        return []
    cells: dict[tuple[float, str], str] = {}
    for arm in result.arms:
        if arm.name in compared:
            change_of, interval = _beside(compared[arm.name], marked=True)
            cells[arm.point or 0.0, curve_names[arm.name]] = f"{change_of.strip()} ({interval})"
    points = {arm.point or 0.0: named[arm.name] for arm in result.arms}
    made = [
        (points[point], *(cells.get((point, column), "") for column in columns))
        for point in sorted(points)
        if any((point, column) in cells for column in columns)
    ]
    return [_sheet(f"to {beside(result)} (95 %)", (axis_name(result), *columns), made)]


def _published_sections(result: ProbeResult) -> list[Section]:
    """The published curves as shares of the baseline, at the points that were measured here."""
    published, named = [c for c in curves(result) if not c.here], labels(result)
    points = {arm.point or 0.0: named[arm.name] for arm in result.arms}
    if not published:
        return []
    made = []
    for point in sorted(points):
        shares = [next((p.value for p in curve.points if p.place == point), None) for curve in published]
        made.append((points[point], *map(change, shares)))
    base = result.arm(result.baseline)
    title = f"published, to {named[base.name]}" if base else "published"
    return [_sheet(title, (axis_name(result), *(c.name for c in published)), made)]


def _metric_name(metric: Metric) -> str:
    return f"{metric.name}, {metric.unit}" if metric.unit else metric.name


def _beside(row: Row, marked: bool) -> list[str]:
    """The change with its interval; a claimed one is marked, and the others leave room for the mark."""
    if row.claim == "baseline":
        return ["baseline" + " " * marked, ""]
    mark = (CLAIMED if row.claim in CLAIMS else " ") if marked else ""
    return [change(row.ratio) + mark, span(row)]


def _share(curve: Curve, row: Row, name: str) -> str:
    """The note on a variant from a published curve."""
    values = (p.value for p in curve.points if p.place == row.point or p.label.lower() == name.lower())
    return change(next(values, None))
