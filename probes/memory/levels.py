"""Find the boundaries of caches in a curve of latency over working set."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from advisor.core.sizes import format_size

MINIMUM_GROWTH = 0.07  # growth of the logarithm from one size to the next that is more than drift
MINIMUM_FACTOR = 1.3  # a boundary makes a load at least so many times as long
DIP_FACTOR = 3.0  # by how much growth must fall between two rises that touch


class Boundary(NamedTuple):
    """A working set of `size` bytes from which on loads take nearer `above` than `below` nanoseconds."""

    size: float
    below: float
    above: float


def find_boundaries(curve: list[tuple[int, float]]) -> list[Boundary]:
    """The boundaries that a curve of (bytes, nanoseconds) shows, smallest first.

    Each lies where latency passes the geometric mean of the levels below and above. What else runs only makes loads
    longer, so a size is never taken to be slower than a larger one was.
    """
    ordered = sorted(curve)
    sizes = [size for size, _ in ordered]
    levels = [min(value for _, value in ordered[place:]) for place in range(len(ordered))]
    growth = [math.log(above / below) for below, above in pairwise(levels)]
    found = [_boundary(sizes, levels, first, last + 1) for first, last in _rises(growth)]
    return [boundary for boundary in found if boundary.above >= MINIMUM_FACTOR * boundary.below]


def _rises(growth: list[float]) -> list[tuple[int, int]]:
    """Stretches of growth, first and last place; those that touch are parted where growth dips."""
    rises: list[tuple[int, int]] = []
    start: int | None = None
    for place, value in enumerate([*growth, 0.0]):
        if value > MINIMUM_GROWTH and start is None:
            start = place
        elif value <= MINIMUM_GROWTH and start is not None:
            rises += _split_at_dips(growth, start, place - 1)
            start = None
    return rises


def _split_at_dips(growth: list[float], first: int, last: int) -> list[tuple[int, int]]:
    for place in range(first + 1, last):
        before, after = max(growth[first:place]), max(growth[place + 1 : last + 1])
        if growth[place] * DIP_FACTOR < min(before, after):
            return [(first, place - 1), *_split_at_dips(growth, place + 1, last)]
    return [(first, last)]


def _boundary(sizes: list[int], levels: list[float], first: int, last: int) -> Boundary:
    middle = math.sqrt(levels[first] * levels[last])
    place = next(place for place in range(first + 1, last + 1) if levels[place] >= middle)
    share = math.log(middle / levels[place - 1]) / math.log(levels[place] / levels[place - 1])
    size = sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share
    return Boundary(size, levels[first], levels[last])


MEMORY_LATENCY = 45.0  # ns; no cache that is near a processor takes so long, no memory less
CAPACITY_FACTOR = 4.0  # a cache holds at least so many times what the one before it holds
DISTINCT_FACTOR = 2.5  # times that the next cache takes, where the step is a cache's and no ragged edge
STEADY_FACTOR = 2.0  # times by which rounds may differ on a boundary that is said to be resolved


class CacheBoundaries(NamedTuple):
    """Boundaries that were `resolved`, the `share` of a cache that other work uses too, and `words` on both."""

    resolved: tuple[Boundary, ...]
    share: Boundary | None
    words: tuple[str, ...]


def cache_boundaries(given: dict[int, list[float]], *, compiled: bool, virtual: bool) -> CacheBoundaries:
    """What latencies in ns by working set in bytes, one a round, allow to say.

    The last step up to memory's latency is a capacity only where no other work uses that cache. On a virtual
    machine other guests may, and rounds that differ indicate other work.
    """
    found = _up_to_memory(find_boundaries([(size, min(values)) for size, values in given.items()]))
    share = found[-1] if found and _is_a_share(given, found, virtual) else None
    resolved = tuple(b for b in found[:-1] if not _is_edge_of(share, b)) if share else tuple(found)
    words = [_resolved_sentence(resolved) if resolved else "No cache boundary was resolved."]
    if share:
        words.append(_shared_sentence(share, virtual))
    if not compiled:
        words.append(
            "Python's overhead exceeds the latency of the first caches: they cannot be resolved without a C compiler."
        )
    return CacheBoundaries(resolved, share, tuple(words))


def _up_to_memory(found: list[Boundary]) -> list[Boundary]:
    """The first step up to memory's latency ends the caches; what rises beyond is the way to memory itself."""
    far = next((place for place, boundary in enumerate(found) if boundary.above >= MEMORY_LATENCY), len(found))
    return found[: far + 1]


def _is_edge_of(share: Boundary, boundary: Boundary) -> bool:
    """Whether a small step just below the share is its beginning: a share that changes has a ragged edge."""
    return share.size < CAPACITY_FACTOR * boundary.size and boundary.above < DISTINCT_FACTOR * boundary.below


def _is_a_share(given: dict[int, list[float]], found: list[Boundary], virtual: bool) -> bool:
    last = found[-1]
    if last.above < MEMORY_LATENCY:
        return False
    if virtual or (len(found) > 1 and last.size < CAPACITY_FACTOR * found[-2].size):
        return True
    return not _is_steady(given)


def _is_steady(given: dict[int, list[float]]) -> bool:
    rounds = min(len(values) for values in given.values())
    curves = [[(size, values[place]) for size, values in given.items()] for place in range(rounds)]
    each = [_up_to_memory(find_boundaries(curve)) for curve in curves]
    sizes = [found[-1].size for found in each if found]
    return len(sizes) == rounds and max(sizes) <= STEADY_FACTOR * min(sizes)


def _resolved_sentence(resolved: tuple[Boundary, ...]) -> str:
    steps = "; ".join(f"at {format_size(b.size)}, from {b.below:.3g} to {b.above:.3g} ns" for b in resolved)
    return f"Cache boundaries by latency, each within a factor of two: {steps}."


def _shared_sentence(share: Boundary, virtual: bool) -> str:
    others = "other guests of the hypervisor and other work here" if virtual else "other work here"
    return (
        f"Not resolved: the size of the last-level cache. From about {format_size(share.size)} on, "
        "loads wait for memory"
        f" ({share.above:.3g} ns), but {others} may use that cache too, so this is one thread's share."
    )
