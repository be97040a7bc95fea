"""Probe of memory latency by working set: the time of a load that depends on the previous one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from advisor.core.sizes import exact_size, format_size
from advisor.facts.probes import ANSWER, Metric
from probes.choices import ChosenOptions
from probes.experiment import BlockMeasurement, Choice, Cost, ProbeError, RunPlan, Variant
from probes.memory import compiled, plain
from probes.memory.levels import CacheBoundaries, cache_boundaries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.host import Host
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.memory.compiled import MemoryDriver
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


class MemoryLatency:
    """The probe `memory-latency`."""

    name = "memory-latency"
    title = "Memory latency by working set"
    question = "How large are the caches available to one thread, and how long does a load from memory take?"
    kind = "host"
    evidence = ("METH-02", "RBS-02")
    choices = (
        Choice("largest", "size", "512M", "largest working set; reduced where memory is short"),
        compiled.BY_CHOICE,
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each working set, 4K to 512M: a chain of cache lines in random order."""
        chosen = ChosenOptions(self.choices, request)
        driver = compiled.choose_driver(chosen)
        sizes = _sizes(_largest(environment.host, chosen.size("largest", 2 * SMALLEST), driver))
        return RunPlan(
            variants=tuple(Variant(exact_size(size), {"bytes": str(size)}, float(size)) for size in sizes),
            baseline=exact_size(sizes[0]),
            metrics=(LATENCY,),
            cost=Cost(0, sum(sizes) + (32 << 20), 1 + sum(sizes) * SECONDS_PER_BYTE, compiled.created_files(driver)),
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
        with compiled.memory_driver(plan.driver, environment.report) as answers:
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
        given = compiled.measure_in_slices(self._answers, "chase", size, turn.seconds, stop)
        if not given:
            return BlockMeasurement({}, {})
        self._given.setdefault(size, []).append(min(given))
        return BlockMeasurement({LATENCY.name: min(given)}, {})

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
        return cache_boundaries(self._given, compiled=self._answers.name == compiled.COMPILED, virtual=virtual)

    def _extreme_latencies(self) -> tuple[float, float]:
        return min(self._given[min(self._given)]), min(self._given[max(self._given)])

    def _sysfs_caches(self) -> tuple[str, ...]:
        caches = self._host.cpu.caches if self._host.cpu else ()
        named = ", ".join(f"{cache.name} {exact_size(cache.size)}" for cache in caches if cache.name != "L1i")
        return (f"Caches according to the kernel (/sys, not measured): {named}.",) if named else ()


def _largest(host: Host, request: int, driver: str) -> int:
    """The largest working set with which all chains together fit in the allowed share of the available memory."""
    largest = min(request, plain.LARGEST_CHAIN) if driver == compiled.PLAIN else request
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


EXPERIMENT = MemoryLatency()
