"""Probe of memory latency by working set, and the cache boundaries in its curve."""

from __future__ import annotations

import contextlib
import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import exact_size, format_size
from advisor.facts.probes import ANSWER, Metric
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, Cost, ProbeError, RunPlan, Variant
from probes.memory import drivers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.host import Host
    from advisor.facts.probes import Arm
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.memory.drivers import MemoryDriver
    from probes.stop import StopSignal


LATENCY = Metric("latency", "ns", "neither")
SMALLEST = 4 << 10
HALF_STEP_MAXIMUM = 64 << 20  # up to here there is one size between two powers of two
MEMORY_DIVISOR = 8  # all chains together use at most one in so many parts of the available memory
SECONDS_PER_BYTE = 3e-9  # estimate for creating the chains

LIMITS = (
    "One thread on one processor was measured: other threads share the last-level cache and the memory bandwidth.",
    "It describes this machine. It does not mean that a buffer should have the size of a cache.",
)
MINIMUM_GROWTH = 0.07  # growth of the logarithm between neighboring sizes that is more than drift
MINIMUM_FACTOR = 1.3  # minimum factor by which a boundary increases the latency
DIP_FACTOR = 3.0  # factor by which growth must drop to separate two adjacent rises


class MemoryLatency:
    """The probe `memory-latency`."""

    name = "memory-latency"
    title = "Memory latency by working set"
    question = "How large are the caches available to one thread, and how long does a load from memory take?"
    kind = "host"
    evidence = ("METH-02", "RBS-02")
    choices = (
        Choice("largest", "size", "512M", "largest working set; reduced where memory is short"),
        drivers.BY_CHOICE,
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each working set, 4K to 512M: a chain of cache lines in random order."""
        chosen = ChosenOptions(self.choices, request)
        driver = drivers.choose_driver(chosen)
        sizes = _sizes(_largest(environment.host, chosen.size("largest", 2 * SMALLEST), driver))
        return RunPlan(
            variants=tuple(Variant(exact_size(size), {"bytes": str(size)}, float(size)) for size in sizes),
            baseline=exact_size(sizes[0]),
            metrics=(LATENCY,),
            cost=Cost(0, sum(sizes) + (32 << 20), 1 + sum(sizes) * SECONDS_PER_BYTE, drivers.created_files(driver)),
            seconds=18.0,
            rounds=4,
            overhead=0.005,
            shortest=0.02,
            axis="working set",
            driver=driver,
            parameters={"largest": exact_size(sizes[-1])},
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, _request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[LatencyBench]:
        """Create all chains and traverse each once."""
        with drivers.memory_driver(plan.driver, environment.report) as answers:
            environment.report(f"preparing pointer chains in {format_size(plan.cost.memory)} of memory")
            for variant in plan.variants:
                if not stop.is_set():
                    answers.measure("chase", int(variant.settings["bytes"]), 0.001)
            yield LatencyBench(answers, environment.host)


class LatencyBench:
    def __init__(self, answers: MemoryDriver, host: Host) -> None:
        self._answers, self._host = answers, host
        self._given: dict[int, list[float]] = {}

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Follow one chain for the duration of a block."""
        size = int(variant.settings["bytes"])
        given = drivers.measure_in_slices(self._answers, "chase", size, turn.seconds, stop)
        if not given:
            return BlockMeasurement({}, {})
        self._given.setdefault(size, []).append(min(given))
        return BlockMeasurement({LATENCY.name: min(given)}, {})

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """See `CollectingBench`."""
        by_size = {int(arm.settings["bytes"]): arm.values(LATENCY.name) for arm in arms}
        self._given = {size: values for size, values in by_size.items() if values}

    def facts(self) -> dict[str, float | str]:
        """The facts of the run.

        `boundary` is the largest resolved cache boundary in bytes; `sysfs_…` is the kernel's description of each
        cache.
        """
        facts: dict[str, float | str] = {"measured_by": self._answers.name}
        if not self._given:
            return facts
        seen = self._find_boundaries()
        if seen.resolved:
            facts["boundary"] = float(round(seen.resolved[-1].size))
            facts["boundaries"] = ", ".join(format_size(boundary.size) for boundary in seen.resolved)
        if seen.share is not None:
            facts["share_of_last_cache"] = float(round(seen.share.size))
        nearest, farthest = self._extreme_latencies()
        facts["nearest_ns"], facts["farthest_ns"] = round(nearest, 2), round(farthest, 2)
        sizes = format_size(min(self._given)), format_size(max(self._given))
        facts[ANSWER] = f"A load takes {nearest:.3g} ns within {sizes[0]} and {farthest:.3g} ns within {sizes[1]}."
        caches = self._host.cpu.caches if self._host.cpu else ()
        return facts | {f"sysfs_{cache.name}": float(cache.size) for cache in caches if cache.name != "L1i"}

    def notes(self) -> tuple[str, ...]:
        """Sentences on the boundaries that were resolved and those that were not."""
        return (*self._find_boundaries().words, *self._sysfs_caches()) if self._given else ()

    def _find_boundaries(self) -> CacheBoundaries:
        virtual = bool(self._host.cpu and self._host.cpu.hypervisor)
        return cache_boundaries(self._given, compiled=self._answers.name == drivers.COMPILED, virtual=virtual)

    def _extreme_latencies(self) -> tuple[float, float]:
        return min(self._given[min(self._given)]), min(self._given[max(self._given)])

    def _sysfs_caches(self) -> tuple[str, ...]:
        caches = self._host.cpu.caches if self._host.cpu else ()
        named = ", ".join(f"{cache.name} {exact_size(cache.size)}" for cache in caches if cache.name != "L1i")
        return (f"Caches according to the kernel (/sys, not measured): {named}.",) if named else ()


def _largest(host: Host, request: int, driver: str) -> int:
    """The largest working set with which all chains together fit in the allowed share of the available memory."""
    largest = min(request, drivers.LARGEST_CHAIN) if driver == drivers.PLAIN else request
    available = host.memory.available if host.memory else None
    while available and sum(_sizes(largest)) > available // MEMORY_DIVISOR and largest > 2 * SMALLEST:
        largest //= 2
    if largest < 2 * SMALLEST:
        raise ProbeError("not enough memory for any working set: stop another program first")
    return largest


def _sizes(largest: int) -> list[int]:
    sizes, size = [], SMALLEST
    while size <= largest:
        sizes += [size] if size >= HALF_STEP_MAXIMUM else [size, size * 3 // 2]
        size *= 2
    return [size for size in sizes if size <= largest]


class Boundary(NamedTuple):
    """A working set of `size` bytes above which latency is closer to `above` than to `below` nanoseconds."""

    size: float
    below: float
    above: float


CAPACITY_FACTOR = 4.0  # each cache level is at least so many times as large as the previous one


class CacheBoundaries(NamedTuple):
    """The `resolved` boundaries, the `share` of a cache that is also used by other processes, and `words` on both."""

    resolved: tuple[Boundary, ...]
    share: Boundary | None
    words: tuple[str, ...]


DISTINCT_FACTOR = 2.5  # factor in latency to the next level that indicates a cache, not an irregular edge
MEMORY_LATENCY = 45.0  # ns; caches near a processor are always faster than that, memory is always slower
STEADY_FACTOR = 2.0  # maximum factor between rounds for a boundary that counts as resolved


def _boundary(sizes: list[int], levels: list[float], first: int, last: int) -> Boundary:
    middle = math.sqrt(levels[first] * levels[last])
    place = next(place for place in range(first + 1, last + 1) if levels[place] >= middle)
    share = math.log(middle / levels[place - 1]) / math.log(levels[place] / levels[place - 1])
    size = sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share
    return Boundary(size, levels[first], levels[last])


def _is_a_share(given: dict[int, list[float]], boundaries: list[Boundary], virtual: bool) -> bool:
    last = boundaries[-1]
    if last.above < MEMORY_LATENCY:
        return False
    if virtual or (len(boundaries) > 1 and last.size < CAPACITY_FACTOR * boundaries[-2].size):
        return True
    return not _is_steady(given)


def _is_edge_of(share: Boundary, boundary: Boundary) -> bool:
    """Whether a small step just below the share is part of it: a share that varies has an irregular edge."""
    return share.size < CAPACITY_FACTOR * boundary.size and boundary.above < DISTINCT_FACTOR * boundary.below


def _is_steady(given: dict[int, list[float]]) -> bool:
    rounds = min(len(values) for values in given.values())
    curves = [[(size, values[place]) for size, values in given.items()] for place in range(rounds)]
    each = [_up_to_memory(find_boundaries(curve)) for curve in curves]
    sizes = [found[-1].size for found in each if found]
    return len(sizes) == rounds and max(sizes) <= STEADY_FACTOR * min(sizes)


def _resolved_sentence(resolved: tuple[Boundary, ...]) -> str:
    steps = "; ".join(f"at {format_size(b.size)}, from {b.below:.3g} to {b.above:.3g} ns" for b in resolved)
    return f"Cache boundaries by latency, each within a factor of two: {steps}."


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


def _shared_sentence(share: Boundary, virtual: bool) -> str:
    others = "other guests of the hypervisor and other work here" if virtual else "other work here"
    return (
        f"Not resolved: the size of the last-level cache. From about {format_size(share.size)} on, "
        "loads wait for memory"
        f" ({share.above:.3g} ns), but {others} may use that cache too, so this is one thread's share of it, or the "
        "end of the cache before it."
    )


def _split_at_dips(growth: list[float], first: int, last: int) -> list[tuple[int, int]]:
    for place in range(first + 1, last):
        before, after = max(growth[first:place]), max(growth[place + 1 : last + 1])
        if growth[place] * DIP_FACTOR < min(before, after):
            return [(first, place - 1), *_split_at_dips(growth, place + 1, last)]
    return [(first, last)]


def _up_to_memory(boundaries: list[Boundary]) -> list[Boundary]:
    """The boundaries up to the first one that reaches memory latency; steps beyond it are not caches."""
    far = next(
        (place for place, boundary in enumerate(boundaries) if boundary.above >= MEMORY_LATENCY), len(boundaries)
    )
    return boundaries[: far + 1]


def cache_boundaries(given: dict[int, list[float]], *, compiled: bool, virtual: bool) -> CacheBoundaries:
    """The boundaries that can be concluded from latencies in ns by working set in bytes, one per round.

    The last step up to memory latency is a capacity only if no other process uses that cache. On a virtual machine
    other guests may use it, and differences between rounds indicate other load.
    """
    boundaries = _up_to_memory(find_boundaries([(size, min(values)) for size, values in given.items()]))
    share = boundaries[-1] if boundaries and _is_a_share(given, boundaries, virtual) else None
    resolved = tuple(b for b in boundaries[:-1] if not _is_edge_of(share, b)) if share else tuple(boundaries)
    words = [_resolved_sentence(resolved) if resolved else "No cache boundary was resolved."]
    if share:
        words.append(_shared_sentence(share, virtual))
    if not compiled:
        words.append(
            "Python's overhead exceeds the latency of the first caches: they cannot be resolved without a C compiler."
        )
    return CacheBoundaries(resolved, share, tuple(words))


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


EXPERIMENT = MemoryLatency()
