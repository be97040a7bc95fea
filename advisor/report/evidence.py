"""Evidence laid out once for every format: what was shown, on what, from where, with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.document import Chart, Code, Facts, Items, Link, Own, Paragraph, Section, Value, shortened
from advisor.report.document import Table as TableBlock
from rules.core.evidence import find_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.report.document import Block, Words
    from rules.core.evidence import Evidence, Table

CURVE_POINTS = 3
STRENGTHS = {
    "measured": "measured",
    "server": "real servers asked",
    "source-code": "server's source",
    "vendor-doc": "vendor's statement",
    "expert-opinion": "opinion",
}
THOUSANDS = 10_000  # from here on an axis counts in thousands
TITLE = 80  # characters above a drawing
LABEL = 6  # columns of the names of conditions


def citation(identity: str, cited: set[str]) -> Words | Value:
    """One piece by its conclusion and its source, or by its name where it was cited before; it is added to `cited`."""
    found = find_evidence(identity)
    if found is None or identity in cited:
        return Code(identity), ", above" if identity in cited else ""
    cited.add(identity)
    kind, on = STRENGTHS.get(found.strength, found.strength), _on(found)
    strength = f", {kind} ({on}): " if on else f", {kind}: "
    return Value((Code(identity), strength, Own(found.conclusion)), ("From ", _source(found), "."))


def passages(identities: Sequence[str], cited: set[str]) -> tuple[Block, ...]:
    """Each piece in full, or as a link to where it was cited before; all are added to `cited`."""
    blocks: list[Block] = []
    for identity in identities:
        found = find_evidence(identity)
        if found is None:
            blocks.append(Items(((Code(identity),),)))
        elif identity in cited:
            blocks.append(Items(((Link.to(f"#{_name(identity)}", identity), ", above"),)))
        else:
            cited.add(identity)
            blocks.append(passage(found))
    return tuple(blocks)


def passage(e: Evidence) -> Section:
    """One piece: what it says and shows, on what, with what doubts, and from where."""
    title = Code(e.id), f" {STRENGTHS.get(e.strength, e.strength)}{f': {on}' if (on := _on(e)) else ''}"
    facts = Facts((("on", Own(e.hardware)), ("but", Own(e.caveats)), ("from", (_source(e),))), LABEL)
    numbers = _numbers(e, e.table) if e.table else ()
    return Section(title, (Paragraph(Own(e.conclusion)), *numbers, facts), name=_name(e.id))


def _numbers(e: Evidence, t: Table) -> tuple[Block, ...]:
    """The published numbers as a curve, where there are enough, and as a table."""
    heads = [f"{name}, {t.unit}" if len(t.series) == 1 else name for name in t.series]
    rows = [(label, *(number(ys[at]) for ys in t.series.values())) for at, label in enumerate(t.labels)]
    more = f"in {t.unit}" if len(t.series) > 1 and t.unit else ""
    table = TableBlock((t.x, *heads), tuple(rows), tuple(range(1, len(heads) + 1)), more, name=f"Numbers of {e.id}")
    return (table, _chart(e, t)) if len(t.values) >= CURVE_POINTS else (table,)


def number(value: float | None) -> str:
    """A published number; a dash where none was published."""
    return "-" if value is None else f"{value:,g}" if abs(value) < 1e6 else f"{value:,.0f}"  # noqa: PLR2004


def _on(e: Evidence) -> str:
    """On which versions and when it was shown."""
    return ", ".join(part for part in (e.versions, e.date) if part)


def _source(e: Evidence) -> Link:
    return Link.to(e.url, ", ".join(part for part in (e.title, e.author) if part) or "source")


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
    title = f"{e.id}: {shortened(e.title, TITLE)}"
    return Chart(tuple(curves), unit, t.x, title=title, answer=e.conclusion)
