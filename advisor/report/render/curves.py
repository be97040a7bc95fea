"""Curves to draw, and where numbers stand on their axes: evenly, or by their logarithm where they span magnitudes."""

from __future__ import annotations

import math
from itertools import pairwise

from advisor.core import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WIDEST = 3.0  # times the value; an interval that reaches further would leave no room for the curve
APART = 1.2  # from one point to the next the axis grows by this factor or more
SAME = 1.02  # times up to which two points are one: 8192 here, 8200 where it was published
SPAN = 16.0  # times, from which on so growing points stand by their logarithm
MAGNITUDES = 20.0  # times, from which on values do


class Point(NamedTuple):
    """One point of a curve: `label` and `place` on the axis, its share of the baseline's value, and an interval."""

    label: str
    place: float
    value: float
    low: float
    high: float

    @property
    def bounded(self) -> bool:
        """Whether its interval can be drawn; one of few rounds or much noise has no end on paper."""
        return 0 < self.low < self.high < self.value * WIDEST

    @property
    def ends(self) -> tuple[float, ...]:
        """What must fit on the paper: the interval's ends, or the value alone."""
        return (self.low, self.value, self.high) if self.bounded else (self.value,)


class Curve(NamedTuple):
    """A curve to draw; `here` for what was measured on this host, `turned` where better was the other way round."""

    name: str
    points: tuple[Point, ...]
    here: bool
    turned: bool = False


class AxisMark(NamedTuple):
    """A value above zero named on the axis, as `you: 8M`: the reader's own setting, or the advice."""

    name: str
    place: float


def tick_text(tick: float) -> str:
    """The number at a mark of an axis: 5,500 rather than 5.5e+03."""
    return f"{tick:,.0f}" if abs(tick) >= 1000 else f"{tick:.3g}"  # noqa: PLR2004 - where %g turns to exponents


class Scale(NamedTuple):
    """One axis, from its lowest to its highest number."""

    low: float
    high: float
    logarithmic: bool

    def place(self, value: float) -> float:
        """Where a number stands, in units of the axis's own."""
        return math.log2(value) if self.logarithmic else value

    def share(self, value: float) -> float:
        """The same from 0 at the lower end to 1 at the upper."""
        low, high = self.place(self.low), self.place(self.high)
        return (self.place(value) - low) / ((high - low) or 1.0)

    def ticks(self) -> list[float]:
        """Round numbers between the ends, three to nine of them; 1, 2 and 5 of each magnitude by the logarithm."""
        if not self.logarithmic:
            return _steps(self.low, self.high)
        tens = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        found = [n * 10.0**ten for ten in tens for n in (1, 2, 5) if self.low <= n * 10.0**ten <= self.high]
        return found if len(found) < 10 else [mark for mark in found if f"{mark:e}"[0] == "1"]  # noqa: PLR2004


def axes(curves: Sequence[Curve], marks: Sequence[AxisMark] = ()) -> tuple[Scale, Scale]:
    """The x axis and the y axis that hold all points and marks, intervals included as far as they are drawn."""
    points = [p for curve in curves for p in curve.points]
    places = sorted({p.place for p in points})
    apart = [places[0], *(b for a, b in pairwise(places) if b > a * SAME)]
    grows = places[0] > 0 and places[-1] >= places[0] * SPAN and all(b >= a * APART for a, b in pairwise(apart))
    ends = [end for p in points for end in p.ends]
    low, high = min(ends), max(ends)
    reach = [*places, *(mark.place for mark in marks)]
    return Scale(min(reach), max(reach), grows), Scale(low, high, 0 < low < high / MAGNITUDES)


def placed_marks(curves: Sequence[Curve], marks: Sequence[AxisMark]) -> list[AxisMark]:
    """The marks that the axis may grow for; one far beyond the points stands at its end, with an arrow outwards.

    An axis that grew to any value would squeeze the curve to a line.
    """
    if not marks:
        return []
    along, _ = axes(curves)
    room = (along.high - along.low) / 2
    ends = (along.low / SPAN, along.high * SPAN) if along.logarithmic else (along.low - room, along.high + room)
    near = [mark for mark in marks if ends[0] <= mark.place <= ends[1]]
    grown, _ = axes(curves, near)
    for mark in marks:
        if mark.place > ends[1]:
            near.append(AxisMark(f"{mark.name} →", grown.high))
        elif mark.place < ends[0]:
            near.append(AxisMark(f"← {mark.name}", grown.low))
    return sorted(near, key=lambda mark: mark.place)


def _steps(low: float, high: float) -> list[float]:
    rough = (high - low) / 5 or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * n for n in (1, 2, 2.5, 5, 10) if size * n >= rough)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def most(shown: Sequence[Curve], local: int, published: int) -> tuple[list[Curve], str]:
    """The local curves that differ most from the baseline, the first published ones, and how many more there are."""
    here = [c for c in shown if c.here]
    farthest = sorted(here, key=_distance, reverse=True)[:local]
    drawn = [c for c in here if c in farthest] + [c for c in shown if not c.here][:published]
    left = len(shown) - len(drawn)
    return drawn, f"{left} more {'curves are' if left > 1 else 'curve is'} in the tables alone" if left else ""


def _distance(curve: Curve) -> float:
    return max(abs(math.log(point.value)) if point.value > 0 else math.inf for point in curve.points)
