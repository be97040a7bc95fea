"""Find the boundaries of caches in a curve of latency over working set."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

RISE = 0.07  # growth of the logarithm from one size to the next that is more than drift
LEAST = 1.3  # a boundary makes a load at least so many times as long
DIP = 3.0  # by how much growth must fall between two rises that touch


class Boundary(NamedTuple):
    """A working set of `size` bytes from which on loads take nearer `above` than `below` nanoseconds."""

    size: float
    below: float
    above: float


def boundaries(curve: list[tuple[int, float]]) -> list[Boundary]:
    """The boundaries that a curve of (bytes, nanoseconds) shows, smallest first.

    Each lies where latency passes the geometric mean of the levels below and above. What else runs only makes loads
    longer, so a size is never taken to be slower than a larger one was.
    """
    ordered = sorted(curve)
    sizes = [size for size, _ in ordered]
    levels = [min(value for _, value in ordered[place:]) for place in range(len(ordered))]
    growth = [math.log(above / below) for below, above in pairwise(levels)]
    found = [_boundary(sizes, levels, first, last + 1) for first, last in _rises(growth)]
    return [boundary for boundary in found if boundary.above >= LEAST * boundary.below]


def _rises(growth: list[float]) -> list[tuple[int, int]]:
    """Stretches of growth, first and last place; those that touch are parted where growth dips."""
    rises: list[tuple[int, int]] = []
    start: int | None = None
    for place, value in enumerate([*growth, 0.0]):
        if value > RISE and start is None:
            start = place
        elif value <= RISE and start is not None:
            rises += _parted(growth, start, place - 1)
            start = None
    return rises


def _parted(growth: list[float], first: int, last: int) -> list[tuple[int, int]]:
    for place in range(first + 1, last):
        before, after = max(growth[first:place]), max(growth[place + 1 : last + 1])
        if growth[place] * DIP < min(before, after):
            return [(first, place - 1), *_parted(growth, place + 1, last)]
    return [(first, last)]


def _boundary(sizes: list[int], levels: list[float], first: int, last: int) -> Boundary:
    middle = math.sqrt(levels[first] * levels[last])
    place = next(place for place in range(first + 1, last + 1) if levels[place] >= middle)
    share = math.log(middle / levels[place - 1]) / math.log(levels[place] / levels[place - 1])
    size = sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share
    return Boundary(size, levels[first], levels[last])
