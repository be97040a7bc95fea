"""Local and published curves in the terminal, drawn by plotext: intervals as bars, points over their labels."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from advisor.redaction.secrets import clean
from advisor.report.probe.published import most
from advisor.report.render.scale import axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.report.paper import Paper
    from advisor.report.probe.published import Curve, Point
    from advisor.report.render.scale import Scale

HERE, OTHERS = "●■▲◆★", "○□△◇"
PLAIN_HERE, PLAIN_OTHERS = "oO0@&", "x*#%"
HEIGHT = 14
TICKS = 7  # columns that the numbers of the y axis take
DRAWING = threading.Lock()  # plotext has one figure for the whole program


def draw(curves: Sequence[Curve], page: Paper, *, joined: bool = True, height: int = HEIGHT) -> str:
    """The chart in lines no wider than the page, its legend below the `height` lines of the drawing itself.

    `joined` where the axis is one of numbers. Empty without curves.
    """
    if not curves:
        return ""
    curves, more = most(curves, len(HERE), len(OTHERS))
    with DRAWING:
        lines = _drawn(curves, page, height, joined=joined)
    legend = "   ".join(f"{mark} {clean(curve.name)}" for curve, mark, _ in _styled(curves, page))
    below = [*_folded(legend, page.width), *([f"  {more}"] if more else [])]
    return page.fitted("\n".join([*(f"  {line.rstrip()}" for line in lines), *below]))


def _drawn(curves: Sequence[Curve], page: Paper, height: int, *, joined: bool) -> list[str]:
    import plotext

    along, up = axes(curves)
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)
    plotext.plot_size(page.width - 2, height)
    for curve, mark, colour in reversed(_styled(curves, page)):
        _curve(curve, (along, up), mark, colour, joined=joined, page=page)
    points = _ticks(curves, along, page.width - 2 - TICKS)
    plotext.xticks([along.place(p.place) for p in points], [clean(p.label) for p in points])
    marks = up.ticks()
    plotext.yticks([up.place(mark) for mark in marks], [f"{mark:.3g}" for mark in marks])
    drawn = plotext.build()
    return str(drawn if page.colour else plotext.uncolorize(drawn)).splitlines()


def _styled(curves: Sequence[Curve], page: Paper) -> list[tuple[Curve, str, str]]:
    """Each curve with its mark and its colour."""
    marks = {True: iter(PLAIN_HERE if page.plain else HERE), False: iter(PLAIN_OTHERS if page.plain else OTHERS)}
    return [(curve, next(marks[curve.here]), "green" if curve.here else "default") for curve in curves]


def _curve(curve: Curve, scales: tuple[Scale, Scale], mark: str, colour: str, *, joined: bool, page: Paper) -> None:
    import plotext

    along, up = scales
    points = sorted(curve.points, key=lambda p: p.place)
    xs, ys = [along.place(p.place) for p in points], [up.place(p.value) for p in points]
    for x, p in zip(xs, points, strict=True):
        if p.bounded:
            plotext.plot([x, x], [up.place(p.low), up.place(p.high)], marker="|" if page.plain else "│", color=colour)
    if joined:
        plotext.plot(xs, ys, marker="." if page.plain else "·", color=colour)
    plotext.scatter(xs, ys, marker=mark, color=colour)


def _ticks(curves: Sequence[Curve], along: Scale, room: int) -> list[Point]:
    """The points whose labels fit side by side, those of this host first."""
    known: dict[float, Point] = {}
    for curve in curves:
        for point in curve.points:
            known.setdefault(point.place, point)
    points = [known[key] for key in sorted(known)]
    low, high = along.place(points[0].place), along.place(points[-1].place)
    chosen: list[Point] = []
    free = 0.0
    for point in points:
        column = (along.place(point.place) - low) / ((high - low) or 1.0) * room
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
