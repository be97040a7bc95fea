"""Evidence laid out once for every format: what was shown, on what, from where, with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.document import Chart, Code, Facts, Items, Link, Paragraph, Section, Value
from advisor.report.document import Table as TableBlock
from advisor.report.render.curves import Curve, Point
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


def citation(identity: str, cited: set[str]) -> Words | Value:
    """One piece by its conclusion and its source, or by its name where it was cited before; `cited` grows."""
    found = find_evidence(identity)
    if found is None or identity in cited:
        return Code(identity), ", above" if identity in cited else ""
    cited.add(identity)
    kind, on = _kind(found)
    return Value((Code(identity), f", {kind}{on}: ", found.conclusion), ("From ", _source(found), "."))


def passages(identities: Sequence[str], cited: set[str]) -> tuple[Block, ...]:
    """Each piece in full, or as a link to where it was cited before; `cited` grows."""
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
    kind, on = _kind(e)
    facts = Facts((("on", e.hardware), ("but", e.caveats), ("from", (_source(e),))))
    numbers = numbers_of(e, e.table) if e.table else ()
    return Section((Code(e.id), f" {kind}{on}"), (Paragraph(e.conclusion), *numbers, facts), name=_name(e.id))


def numbers_of(e: Evidence, t: Table) -> tuple[Block, ...]:
    """The published numbers as a curve, where there are enough, and as a table."""
    heads = [f"{name}, {t.unit}" if len(t.series) == 1 else name for name in t.series]
    rows = [(label, *(number(ys[at]) for ys in t.series.values())) for at, label in enumerate(t.labels)]
    more = f"in {t.unit}" if len(t.series) > 1 and t.unit else ""
    table = TableBlock((t.x, *heads), tuple(rows), tuple(range(1, len(heads) + 1)), more, name=f"Numbers of {e.id}")
    return (_chart(e, t), table) if len(t.values) >= CURVE_POINTS else (table,)


def number(value: float | None) -> str:
    """A published number; a dash where none was published."""
    return "-" if value is None else f"{value:,g}" if abs(value) < 1e6 else f"{value:,.0f}"  # noqa: PLR2004


def _kind(e: Evidence) -> tuple[str, str]:
    """How strong it is, and on which versions and when it was shown."""
    on = ", ".join(part for part in (e.versions, e.date) if part)
    return STRENGTHS.get(e.strength, e.strength), f" ({on})" if on else ""


def _source(e: Evidence) -> Link:
    return Link.to(e.url, ", ".join(part for part in (e.title, e.author) if part) or "source")


def _name(identity: str) -> str:
    return f"evidence-{identity}"


def _chart(e: Evidence, t: Table) -> Chart:
    most = max(abs(y) for ys in t.series.values() for y in ys if y is not None)
    by, unit = (1000.0, f"{t.unit}, in thousands") if most >= THOUSANDS else (1.0, t.unit)
    curves = tuple(Curve(name, _points(t, ys, by), here=False) for name, ys in t.series.items())
    return Chart(curves, unit, t.x, title=f"{e.id}: {e.title}", answer=e.conclusion)


def _points(t: Table, ys: Sequence[float | None], by: float) -> tuple[Point, ...]:
    places = zip(t.labels, t.values, ys, strict=True)
    return tuple(Point(label, place, y / by, y / by, y / by) for label, place, y in places if y is not None)
