"""Amounts one after another in a bar on a page, with a line where the limit is, and a legend with the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.render.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report.document import StackedBar

WIDTH, TOP, THICK, FOOT = 400, 4, 26, 20
BEYOND = 1.3  # times the limit, or the amounts without the last one: what exceeds it is cut off, with a remark
KINDS = 4  # looks of amounts


def draw(bar: StackedBar) -> Html:
    """The bar with its legend; the drawing is for the eye alone, as the legend has every number."""
    reach = _reach(bar)
    drawn, at = [], 0.0
    for order, (_, size, _) in enumerate(bar.parts):
        width = max(1.0, size / reach * WIDTH)
        drawn.append(_rect(at, min(width, max(0.0, WIDTH - at)), order))
        at += width
    cut = at > WIDTH + 1
    box = f"0 0 {WIDTH} {TOP + THICK + FOOT}"
    marks = (*(_limit(bar.limit, reach) if bar.limit else ()), *(_cut() if cut else ()))
    svg = tag("svg", *drawn, *marks, viewBox=box, role="img", aria_label=_words(bar, cut=cut))
    legend = (_entry(name, written, order) for order, (name, _, written) in enumerate(bar.parts))
    note = [tag("p", "The last amount is cut off: it does not fit the drawing.", class_="fine-print")] if cut else []
    return tag("figure", svg, tag("ul", *legend, class_="legend"), *note, class_="bar")


def _reach(bar: StackedBar) -> float:
    """The amount at the right edge: the limit or the amounts but the last, if that one dwarfs them, with some room."""
    sizes = [size for _, size, _ in bar.parts]
    usual = max(bar.limit[0] if bar.limit else 0, sum(sizes[:-1]) if len(sizes) > 1 else 0)
    whole = max(sum(sizes), bar.limit[0] if bar.limit else 0)
    return float(min(whole, usual * BEYOND) if usual else whole) or 1.0


def _words(bar: StackedBar, *, cut: bool) -> str:
    amounts = ", ".join(f"{name} {written}" for name, _, written in bar.parts)
    limit = f"; limit: {bar.limit[1]}" if bar.limit else ""
    return f"{bar.caption}: {amounts}{limit}{' (the bar is cut off)' if cut else ''}"


def _rect(x: float, width: float, order: int) -> Html:
    kind = f"part-{min(order, KINDS - 1)}"
    return tag("rect", x=f"{x:.1f}", y=str(TOP), width=f"{width:.1f}", height=str(THICK), class_=kind)


def _limit(limit: tuple[int, str], reach: float) -> Iterator[Html]:
    x = limit[0] / reach * WIDTH
    side = "end" if x > WIDTH / 2 else "start"
    yield tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="0", y2=str(TOP + THICK + 4), class_="limit")
    yield tag("text", limit[1], x=f"{x:.1f}", y=str(TOP + THICK + FOOT - 4), class_=side)


def _cut() -> Iterator[Html]:
    y = TOP + THICK / 2
    yield tag("path", d=f"M{WIDTH - 14} {y - 6}l8 6l-8 6", class_="cut")


def _entry(name: str, written: str, order: int) -> Html:
    kind = f"swatch part-{min(order, KINDS - 1)}"
    return tag("li", tag("span", class_=kind, aria_hidden="true"), f" {name} ", tag("strong", written))
