"""Find the cache boundaries in a curve of latency by working set."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from advisor.core.sizes import format_size

MINIMUM_GROWTH = 0.07  # growth of the logarithm between neighboring sizes that is more than drift
MINIMUM_FACTOR = 1.3  # minimum factor by which a boundary increases the latency
DIP_FACTOR = 3.0  # factor by which growth must drop to separate two adjacent rises


class Boundary(NamedTuple):
    """A working set of `size` bytes above which latency is closer to `above` than to `below` nanoseconds."""

    size: float
    below: float
    above: float


def find_boundaries(curve: list[tuple[int, float]]) -> list[Boundary]:
    """The boundaries in a curve of (bytes, nanoseconds), smallest first.

    Each is where latency passes the geometric mean of the levels below and above it. Other load can only make a size
    slower, so no size is taken to be slower than a larger one was measured to be.
    """
    ordered = sorted(curve)
    sizes = [size for size, _ in ordered]
    levels = [min(value for _, value in ordered[place:]) for place in range(len(ordered))]
    growth = [math.log(above / below) for below, above in pairwise(levels)]
    found = [_boundary(sizes, levels, first, last + 1) for first, last in _rises(growth)]
    return [boundary for boundary in found if boundary.above >= MINIMUM_FACTOR * boundary.below]


def _rises(growth: list[float]) -> list[tuple[int, int]]:
    """Ranges of growth as first and last position; adjacent ranges are separated where growth dips."""
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


MEMORY_LATENCY = 45.0  # ns; caches near a processor are always faster than that, memory is always slower
CAPACITY_FACTOR = 4.0  # each cache level is at least so many times as large as the previous one
DISTINCT_FACTOR = 2.5  # factor in latency to the next level that indicates a cache, not an irregular edge
STEADY_FACTOR = 2.0  # maximum factor between rounds for a boundary that counts as resolved


class CacheBoundaries(NamedTuple):
    """The `resolved` boundaries, the `share` of a cache that is also used by other processes, and `words` on both."""

    resolved: tuple[Boundary, ...]
    share: Boundary | None
    words: tuple[str, ...]


def cache_boundaries(given: dict[int, list[float]], *, compiled: bool, virtual: bool) -> CacheBoundaries:
    """The boundaries that can be concluded from latencies in ns by working set in bytes, one per round.

    The last step up to memory latency is a capacity only if no other process uses that cache. On a virtual machine
    other guests may use it, and differences between rounds indicate other load.
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
    """The boundaries up to the first one that reaches memory latency; steps beyond it are not caches."""
    far = next((place for place, boundary in enumerate(found) if boundary.above >= MEMORY_LATENCY), len(found))
    return found[: far + 1]


def _is_edge_of(share: Boundary, boundary: Boundary) -> bool:
    """Whether a small step just below the share is part of it: a share that varies has an irregular edge."""
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
