"""Evidence laid out once for every format: what was shown, on what, from where, with its numbers."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import exact_size
from advisor.report.document import Chart, Code, Facts, Items, Link, OwnText, Paragraph, Section, shorten_text
from advisor.report.document import Table as TableBlock
from advisor.verdict.number import SUFFIXES, parse_digits
from rules.core.advice import value_of_actions
from rules.core.areas import find_evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.core.model import Finding
    from advisor.facts.probes import ProbeResult
    from advisor.report.document import Block
    from advisor.report.render.curves import AxisMark
    from rules.core.areas import Evidence, Table

CURVE_POINTS = 3
STRENGTHS = {
    "measured": "measured",
    "server": "tests on real servers",
    "source-code": "server's source",
    "vendor-doc": "vendor's statement",
    "expert-opinion": "opinion",
}
THOUSANDS = 10_000  # from here on an axis counts in thousands
TITLE = 80  # characters above a drawing
LABEL = 6  # columns of the names of conditions


class PageEvidence(NamedTuple):
    """The evidence of a page: the pieces and rules shown in full so far, and this host's results to draw over it."""

    cited: set[str]
    probes: tuple[ProbeResult, ...] = ()


def passages(identities: Sequence[str], page: PageEvidence, finding: Finding | None = None) -> tuple[Block, ...]:
    """Each piece in full, or as a link to where it was cited before; all are added to `page.cited`.

    Charts mark the finding's value and the advised one, and have this host's curve where a probe measured the same.
    """
    blocks: list[Block] = []
    for identity in identities:
        evidence = find_evidence(identity)
        if evidence is None:
            blocks.append(Items(((Code(identity),),)))
        elif identity in page.cited:
            blocks.append(Items(((Link.to(f"#{_name(identity)}", identity), ", above"),)))
        else:
            page.cited.add(identity)
            blocks.append(passage(evidence, finding, newest_result(evidence, page.probes)))
    return tuple(blocks)


def newest_result(e: Evidence, results: Iterable[ProbeResult]) -> ProbeResult | None:
    """The newest result of a probe that repeats the experiment; None without one."""
    repeated = (result for result in results if e.id in result.evidence and result.metrics and result.arms)
    return max(repeated, key=lambda result: result.began_at, default=None)


def passage(e: Evidence, finding: Finding | None = None, local: ProbeResult | None = None) -> Section:
    """One piece: what it says and shows, on what, with what doubts, and from where.

    Its chart marks the value of the finding and the advised one; `local` is a result of this host whose curve is drawn
    over the published one, where the two have points in common.
    """
    on = ", ".join(part for part in (e.versions, e.date) if part)
    title = Code(e.id), f" {STRENGTHS.get(e.strength, e.strength)}{f': {on}' if on else ''}"
    source = Link.to(e.url, ", ".join(part for part in (e.title, e.author) if part) or "source")
    facts = Facts((("on", OwnText(e.hardware)), ("but", OwnText(e.caveats)), ("from", (source,))), LABEL)
    numbers = _numbers(e, e.table, finding, local) if e.table else ()
    return Section(title, (Paragraph(OwnText(e.conclusion)), *numbers, facts), name=_name(e.id))


def _numbers(e: Evidence, t: Table, finding: Finding | None, local: ProbeResult | None) -> tuple[Block, ...]:
    """The published numbers as a curve, where there are enough, and as a table."""
    heads = [series_head(name, t) if len(t.series) == 1 else name for name in t.series]
    rows = [(label, *(number(ys[at]) for ys in t.series.values())) for at, label in enumerate(t.labels)]
    more = f"in {t.unit}" if len(t.series) > 1 and t.unit else ""
    table = TableBlock((t.x, *heads), tuple(rows), tuple(range(1, len(heads) + 1)), more, name=f"Numbers of {e.id}")
    if len(t.values) < CURVE_POINTS:
        return (table,)
    chart = (_beside(e, local) if local else None) or _chart(e, t)
    return table, chart._replace(marks=axis_marks(finding, t.x) if finding and chart.joined else ())


def series_head(name: str, table: Table) -> str:
    """The name of a series with its unit, once where the unit says it all."""
    return table.unit if name in table.unit else f"{name}, {table.unit}"


def number(value: float | None) -> str:
    """A published number; a dash where none was published."""
    return "-" if value is None else f"{value:,g}" if abs(value) < 1e6 else f"{value:,.0f}"  # noqa: PLR2004


def _name(identity: str) -> str:
    return f"evidence-{identity}"


def _chart(e: Evidence, t: Table) -> Chart:
    from advisor.report.render.curves import Curve, Point

    most = max(abs(y) for ys in t.series.values() for y in ys if y is not None)
    by, unit = (1000.0, f"{t.unit}, in thousands") if most >= THOUSANDS else (1.0, t.unit)
    curves = []
    for name, ys in t.series.items():
        places = zip(t.labels, t.values, ys, strict=True)
        points = (Point(label, place, y / by, y / by, y / by) for label, place, y in places if y is not None)
        curves.append(Curve(name, tuple(points), here=False))
    title = f"{e.id}: {shorten_text(e.title, TITLE)}"
    return Chart(tuple(curves), unit, t.x, title=title, answer=e.conclusion)


def _beside(e: Evidence, result: ProbeResult) -> Chart | None:
    """This host's curve with the published ones of this piece, relative to one baseline; None without common points."""
    from advisor.report.probe.figures import axis_name, curves, numeric
    from advisor.report.probe.words import answer, relation

    shown = tuple(curve for curve in curves(result) if curve.here or curve.name.startswith(f"{e.id},"))
    if not any(curve.here for curve in shown) or all(curve.here for curve in shown):
        return None
    caption = f"here, {result.began_at[:10]}, and as published: {relation(result, shown)}"
    title = f"{e.id}: {shorten_text(e.title, TITLE)}"
    return Chart(shown, caption, axis_name(result), numeric(result), title, answer(result))


_SCALES = {"": 1.0, "GB": float(1 << 30), "GiB": float(1 << 30), "MB": float(1 << 20)}


def axis_marks(finding: Finding, axis: str) -> tuple[AxisMark, ...]:
    """`you: 8M` and `advice: 128K` at their places on an axis of the finding's option; empty for other axes."""
    from advisor.report.render.curves import AxisMark

    option, _, unit = axis.partition(", ")
    if option not in (finding.canonical, finding.option) or unit not in _SCALES:
        return ()
    change = value_of_actions(finding)
    advised = change.after if change is not None and change.option == option else ""
    marks = []
    for name, text in (("you", finding.value), ("advice", advised)):
        number = _parse((text or "").strip())
        if number:  # zero has no place by its logarithm
            marks.append(AxisMark(f"{name}: {exact_size(number)}", number / _SCALES[unit]))
    return tuple(marks)


def _parse(text: str) -> int:
    """The number of a setting such as 8M; 0 for text without a number."""
    letter = text[-1:].lower()
    return (parse_digits(text[:-1] if letter in SUFFIXES else text) or 0) << SUFFIXES.get(letter, 0)
