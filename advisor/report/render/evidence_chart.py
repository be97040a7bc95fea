"""Curves for the terminal: points joined by dots, as wide as there is room, in ASCII where that is all there is."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARKS = "●○◆◇■□"
PLAIN_MARKS = "ox*+#@"
LEAST_WIDTH = 30
DOUBLING = 1.5  # from one point to the next the x grows by this factor or more: each point gets the same room


class _Style(NamedTuple):
    marks: str
    axis: str
    corner: str
    dot: str
    tick: str


UNICODE = _Style(MARKS, "┤", "└", "·", "─")
ASCII = _Style(PLAIN_MARKS, "|", "+", ".", "-")


def chart(
    labels: Sequence[str],
    values: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    *,
    unit: str = "",
    width: int = 76,
    height: int = 10,
    ascii_only: bool = False,
) -> str:
    """The series over the points, in lines no wider than `width`; empty where nothing can be drawn.

    `values` place the points along the x axis, by their logarithm where they double; without them they stand evenly.
    """
    known = [y for ys in series.values() for y in ys if y is not None]
    if len(labels) < 2 or not known:  # noqa: PLR2004 - one point is no curve
        return ""
    style = ASCII if ascii_only else UNICODE
    low, high = _bounds(known)
    scale = [_number(low + (high - low) * row / (height - 1)) for row in range(height)]
    margin = max(map(len, scale)) + 1
    room = max(LEAST_WIDTH, width - margin - 2)
    columns = _columns(values if len(values) == len(labels) else range(len(labels)), room)
    grid = [[" "] * room for _ in range(height)]
    for mark, ys in zip(style.marks * len(series), series.values(), strict=False):
        _draw(grid, columns, [_row(y, low, high, height) for y in ys], mark, style.dot)
    lines = [f"{unit:>{margin}}".rstrip()] if unit else []
    for row in range(height - 1, -1, -1):
        text = scale[row] if row % 3 == 0 or row == height - 1 else ""
        lines.append(f"{text:>{margin - 1}} {style.axis}{''.join(grid[row])}".rstrip())
    lines.append(" " * margin + style.corner + style.tick * room)
    lines.append((" " * (margin + 1) + _ticks(labels, columns, room)).rstrip())
    return "\n".join([*lines, *_legend(series, style, margin, width)])


def _bounds(known: Sequence[float]) -> tuple[float, float]:
    """The range of the y axis: from zero where the smallest value is near it, else a little beyond the values."""
    low, high = min(known), max(known)
    if low >= 0 and low < high / 3:
        return 0.0, high
    slack = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return low - slack, high + slack


def _columns(values: Sequence[float] | range, room: int) -> list[int]:
    """Where each point stands; on a logarithmic axis where the values keep doubling."""
    places = [float(v) for v in values]
    steps = [b / a for a, b in pairwise(places) if a > 0]
    if len(steps) == len(places) - 1 and min(steps) >= DOUBLING:
        places = [math.log2(v) for v in places]
    first, last = min(places), max(places)
    span = (last - first) or 1.0
    return [round((p - first) / span * (room - 3)) + 1 for p in places]


def _row(y: float | None, low: float, high: float, height: int) -> int | None:
    return None if y is None else round((y - low) / (high - low) * (height - 1))


def _draw(grid: list[list[str]], columns: Sequence[int], rows: Sequence[int | None], mark: str, dot: str) -> None:
    points = [(x, y) for x, y in zip(columns, rows, strict=False) if y is not None]
    for (x0, y0), (x1, y1) in pairwise(points):
        for x in range(x0 + 1, x1):
            y = round(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
            if grid[y][x] == " ":
                grid[y][x] = dot
    for x, y in points:
        grid[y][x] = mark


def _ticks(labels: Sequence[str], columns: Sequence[int], room: int) -> str:
    """The labels under their points; one that would run into its neighbour is left out."""
    line = [" "] * (room + max(map(len, labels)))
    free = 0
    for label, column in zip(labels, columns, strict=False):
        start = max(0, min(column - len(label) // 2, room - len(label)))
        if start >= free:
            line[start : start + len(label)] = label
            free = start + len(label) + 1
    return "".join(line).rstrip()


def _legend(series: Mapping[str, Sequence[float | None]], style: _Style, margin: int, width: int) -> list[str]:
    """The marks with the names of their series, as many on a line as fit."""
    lines = [" " * (margin + 1)]
    for mark, name in zip(style.marks * len(series), series, strict=False):
        entry = f"{mark} {name}"
        if lines[-1].strip() and len(lines[-1]) + len(entry) > width:
            lines.append(" " * (margin + 1))
        lines[-1] += f"{entry}   "
    return [line.rstrip() for line in lines]


def _number(value: float) -> str:
    if abs(value) >= 10000:  # noqa: PLR2004 - from here on thousands are easier to read
        return f"{value / 1000:.0f}k"
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"  # noqa: PLR2004
