"""The evidence of findings: what was shown, on what, from where, with its numbers as a curve and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.render import svg_chart
from advisor.report.render.curves import Curve, Point
from advisor.report.render.markup import Html, code, joined, tag
from advisor.report.rules.page import CURVE_POINTS, STRENGTHS, number
from rules.core.evidence import find_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rules.core.evidence import Evidence, Table

THOUSANDS = 10_000  # from here on an axis counts in thousands
TITLE = 80  # characters above a drawing


def passages(identities: Sequence[str], cited: set[str]) -> Html:
    """Each piece in full where it is cited for the first time, else a link to there; `cited` grows."""
    return tag("ul", *(_passage(identity, cited) for identity in identities), class_="evidence")


def names(identities: Sequence[str]) -> Html:
    """The pieces by name alone."""
    return joined([code(identity) for identity in identities], ", ")


def _passage(identity: str, cited: set[str]) -> Html:
    found = find_evidence(identity)
    if found is None:
        return tag("li", code(identity))
    if identity in cited:
        return tag("li", tag("a", code(identity), href=f"#{_anchor(identity)}"), ", above")
    cited.add(identity)
    return tag("li", *_told(found), id=_anchor(identity))


def _anchor(identity: str) -> str:
    return f"evidence-{identity}"


def _told(e: Evidence) -> Iterator[Html]:
    on = ", ".join(part for part in (e.versions, e.date) if part)
    kind = STRENGTHS.get(e.strength, e.strength)
    yield tag("p", tag("strong", code(e.id), f" {kind}"), f" ({on}): " if on else ": ", e.conclusion)
    conditions = [("on", e.hardware), ("but", e.caveats)]
    rows = [tag("p", tag("span", f"{name} ", class_="lead"), words) for name, words in conditions if words]
    yield tag("div", *rows, tag("p", tag("span", "from ", class_="lead"), _source(e)), class_="fine-print")
    if e.table is not None:
        if len(e.table.values) >= CURVE_POINTS:
            yield tag("figure", drawing(e, e.table), class_="chart")
        yield tag("details", tag("summary", f"Numbers of {e.id}"), _numbers(e, e.table))


def _source(e: Evidence) -> Html:
    words = ", ".join(part for part in (e.title, e.author) if part) or "its source"
    safe = e.url.startswith(("https://", "http://"))
    return tag("a", words, href=e.url, rel="noreferrer") if safe else joined([words])


def drawing(e: Evidence, t: Table) -> Html:
    """The published curve, which nothing outside the page is needed for."""
    most = max(abs(y) for ys in t.series.values() for y in ys if y is not None)
    by, unit = (1000.0, f"{t.unit}, in thousands") if most >= THOUSANDS else (1.0, t.unit)
    curves = [Curve(name, _points(t, ys, by), here=False) for name, ys in t.series.items()]
    return Html(svg_chart.draw(curves, f"{e.id}: {_cut(e.title)}", e.conclusion, (t.x, unit)))


def _points(t: Table, ys: Sequence[float | None], by: float) -> tuple[Point, ...]:
    places = zip(t.labels, t.values, ys, strict=True)
    return tuple(Point(label, place, y / by, y / by, y / by) for label, place, y in places if y is not None)


def _cut(words: str) -> str:
    return words if len(words) <= TITLE else f"{words[: TITLE - 1]}…"


def _numbers(e: Evidence, t: Table) -> Html:
    head = tag("tr", *(tag("th", name, scope="col") for name in (t.x, *t.series)))
    rows = [
        tag("tr", tag("th", label, scope="row"), *(tag("td", number(ys[i])) for ys in t.series.values()))
        for i, label in enumerate(t.labels)
    ]
    caption = tag("caption", f"{e.id}, in {t.unit}")
    return tag(
        "div",
        tag("table", caption, tag("thead", head), tag("tbody", *rows)),
        class_="wide",
        tabindex="0",
        role="region",
        aria_label=f"Numbers of {e.id}",
    )
