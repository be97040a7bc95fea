"""Local and published curves in the terminal, drawn by plotext: intervals as bars, points over their labels."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.redact import clean
from advisor.report.probepublished import most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.report.probepage import Page
    from advisor.report.probepublished import Curve, Point

HERE, OTHERS = "●■▲◆★", "○□△◇"
PLAIN_HERE, PLAIN_OTHERS = "oO0@&", "x*#%"
HEIGHT = 14
DOUBLING = 1.5  # from one point to the next the axis grows by this factor or more: it is drawn by its logarithm
TICKS = 7  # columns that the numbers of the y axis take


def draw(curves: Sequence[Curve], page: Page, *, joined: bool = True) -> str:
    """The chart in lines no wider than the page; `joined` where the axis is one of numbers. Empty without curves."""
    if not curves:
        return ""
    import plotext

    curves, more = most(curves, len(HERE), len(OTHERS))
    place = axis(curves)
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)
    plotext.plot_size(page.width - 2, HEIGHT)
    for curve, mark, colour in reversed(_styled(curves, page)):
        _curve(curve, place, mark, colour, joined=joined, page=page)
    points = _ticks(curves, place, page.width - 2 - TICKS)
    plotext.xticks([place(p.place) for p in points], [clean(p.label) for p in points])
    marks = steps(*_ends(curves))
    plotext.yticks(marks, [f"{mark:.3g}" for mark in marks])
    drawn = plotext.build()
    lines = (drawn if page.colour else plotext.uncolorize(drawn)).splitlines()
    legend = "   ".join(f"{mark} {clean(curve.name)}" for curve, mark, _ in _styled(curves, page))
    below = [*_folded(legend, page.width), *([f"  {more}"] if more else [])]
    return page.fitted("\n".join([*(f"  {line.rstrip()}" for line in lines), *below]))


def steps(low: float, high: float) -> list[float]:
    """Round numbers between two ends, three to nine of them."""
    rough = (high - low) / 5 or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * n for n in (1, 2, 2.5, 5, 10) if size * n >= rough)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _ends(curves: Sequence[Curve]) -> tuple[float, float]:
    """The lowest and the highest that is drawn, intervals included."""
    points = [p for curve in curves for p in curve.points]
    ends = [y for p in points for y in p.ends]
    return min(ends), max(ends)


class axis:  # noqa: N801 - it is called like a function: a place on the axis for a value
    """Where values stand on the x axis: by their logarithm where they keep doubling."""

    def __init__(self, curves: Sequence[Curve]) -> None:
        places = sorted({p.place for curve in curves for p in curve.points})
        self.logarithmic = bool(places) and places[0] > 0 and all(b / a >= DOUBLING for a, b in pairwise(places))

    def __call__(self, value: float) -> float:
        return math.log2(value) if self.logarithmic else value


def _styled(curves: Sequence[Curve], page: Page) -> list[tuple[Curve, str, str]]:
    """Each curve with its mark and its colour."""
    marks = {True: iter(PLAIN_HERE if page.plain else HERE), False: iter(PLAIN_OTHERS if page.plain else OTHERS)}
    return [(curve, next(marks[curve.here]), "green" if curve.here else "default") for curve in curves]


def _curve(curve: Curve, place: axis, mark: str, colour: str, *, joined: bool, page: Page) -> None:
    import plotext

    points = sorted(curve.points, key=lambda p: p.place)
    xs, ys = [place(p.place) for p in points], [p.value for p in points]
    for x, p in zip(xs, points, strict=True):
        if p.bounded:
            plotext.plot([x, x], [p.low, p.high], marker="|" if page.plain else "│", color=colour)
    if joined:
        plotext.plot(xs, ys, marker="." if page.plain else "·", color=colour)
    plotext.scatter(xs, ys, marker=mark, color=colour)


def _ticks(curves: Sequence[Curve], place: axis, room: int) -> list[Point]:
    """The points whose labels fit side by side, those of this host first."""
    known: dict[float, Point] = {}
    for curve in curves:
        for point in curve.points:
            known.setdefault(point.place, point)
    points = [known[key] for key in sorted(known)]
    low, high = place(points[0].place), place(points[-1].place)
    chosen: list[Point] = []
    free = 0.0
    for point in points:
        column = (place(point.place) - low) / ((high - low) or 1.0) * room
        if not chosen or column - len(point.label) / 2 > free:
            chosen.append(point)
            free = column + len(point.label) / 2 + 1
    return chosen


def _folded(legend: str, width: int) -> list[str]:
    lines = ["  "]
    for entry in legend.split("   "):
        if lines[-1].strip() and len(lines[-1]) + len(entry) > width:
            lines.append("  ")
        lines[-1] += f"{entry}   "
    return [line.rstrip() for line in lines]
