"""The server's memory against that of its host, as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.sizes import about
from advisor.report.render.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.core.context import RuleContext

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 90, 80, 28, 8


def bars(known: RuleContext) -> Html:
    """Bars for what is measured, likely and allowed, with a line where memory ends; nothing where it isn't known."""
    from rules.sizing.memory import budget, usable

    estimate = budget(known)
    room = usable(known) if known.has("host") else None
    if estimate is None:
        return Html("")
    sizes = {"measured": estimate.measured, "likely": estimate.likely, "ceiling": estimate.ceiling}
    known_sizes = {name: size for name, size in sizes.items() if size}
    most = max([*known_sizes.values(), room[0] if room else 0]) or 1
    height = TOP + ROW * len(known_sizes) + (24 if room else 0)
    told = ", ".join(f"{about(size)} {name}" for name, size in known_sizes.items())
    words = f"Memory of the server: {told}" + (f"; it may use {room[1]}" if room else "")
    drawn = [_bar(name, size, most, order) for order, (name, size) in enumerate(known_sizes.items())]
    line = list(_limit(room, most, height)) if room else []
    inside = [tag("title", words), *(part for bar in drawn for part in bar), *line]
    shape = tag("svg", *inside, viewBox=f"0 0 {WIDTH} {height}", width=str(WIDTH), height=str(height), role="img")
    return tag("figure", shape, class_="bars")


def _along(size: int, most: int) -> float:
    return size / most * (WIDTH - LEFT - RIGHT)


def _bar(name: str, size: int, most: int, order: int) -> Iterator[Html]:
    y = TOP + ROW * order
    width = max(1.0, _along(size, most))
    yield tag("text", name, x=str(LEFT - 8), y=str(y + 15), class_="name")
    yield tag("rect", x=str(LEFT), y=str(y), width=f"{width:.1f}", height=str(ROW - 8), class_=name)
    yield tag("text", about(size), x=f"{LEFT + width + 6:.1f}", y=str(y + 15))


def _limit(room: tuple[int, str], most: int, height: int) -> Iterator[Html]:
    x = LEFT + _along(room[0], most)
    side = "end" if x > WIDTH / 2 else "start"
    yield tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="2", y2=str(height - 18), class_="limit")
    yield tag("text", room[1], x=f"{x:.1f}", y=str(height - 5), class_=side)
