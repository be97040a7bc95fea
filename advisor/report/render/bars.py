"""Sizes as bars on a page, with a line where the room for them ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.sizes import format_size
from advisor.report.render.markup import Html, tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report.document import Bars

WIDTH, LEFT, RIGHT, ROW, TOP, FOOT = 760, 90, 80, 28, 8, 24


def draw(bars: Bars) -> Html:
    """A bar for each size, and a line for the limit where there is one."""
    limit = bars.limit
    most = max([*(size for _, size in bars.sizes), limit[0] if limit else 0]) or 1
    height = TOP + ROW * len(bars.sizes) + (FOOT if limit else 0)
    sizes = ", ".join(f"{format_size(size)} {name}" for name, size in bars.sizes)
    words = f"{bars.caption}: {sizes}" + (f"; it may use {limit[1]}" if limit else "")
    drawn = [part for order, (name, size) in enumerate(bars.sizes) for part in _bar(name, size, most, order)]
    line = _limit(limit, most, height) if limit else ()
    box = f"0 0 {WIDTH} {height}"
    return tag("svg", tag("title", words), *drawn, *line, viewBox=box, width=str(WIDTH), height=str(height), role="img")


def _along(size: int, most: int) -> float:
    return size / most * (WIDTH - LEFT - RIGHT)


def _bar(name: str, size: int, most: int, order: int) -> Iterator[Html]:
    y = TOP + ROW * order
    width = max(1.0, _along(size, most))
    yield tag("text", name, x=str(LEFT - 8), y=str(y + 15), class_="name")
    yield tag("rect", x=str(LEFT), y=str(y), width=f"{width:.1f}", height=str(ROW - 8), class_=name)
    yield tag("text", format_size(size), x=f"{LEFT + width + 6:.1f}", y=str(y + 15))


def _limit(limit: tuple[int, str], most: int, height: int) -> Iterator[Html]:
    x = LEFT + _along(limit[0], most)
    side = "end" if x > WIDTH / 2 else "start"
    yield tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="2", y2=str(height - 18), class_="limit")
    yield tag("text", limit[1], x=f"{x:.1f}", y=str(height - 5), class_=side)
