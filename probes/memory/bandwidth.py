"""Probe of memory bandwidth by buffer size: the cost to allocate, fill, read and free a buffer."""

from __future__ import annotations

import contextlib
import statistics
from typing import TYPE_CHECKING

from advisor.core.model import exact_size
from advisor.facts.probes import ANSWER, Metric
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, Cost, ProbeError, RunPlan, Variant
from probes.memory import drivers as compiled_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts.probes import Arm
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.memory.drivers import MemoryDriver
    from probes.stop import StopSignal

THROUGH = Metric("through", "MiB/s", "more")
READ = Metric("read", "MiB/s", "more")
ALLOCATE = Metric("allocate", "us/MiB", "less")
MIB = 1 << 20
SOURCE_BYTES = 128 << 20  # bytes of the memory that buffers are filled from; the same value as in kernel.c
DEFAULT_BUFFER = "128K"  # the default read_buffer_size of every supported server
BUFFER_SIZES = "16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M,64M"
CLIFF_FACTOR = 4.0  # times the cheapest allocation; page faults cost far more
LIMITS = (
    "It measures memory, not a server: a query does more work per row, so the effect on it is smaller.",
    "One thread was measured: several threads share the memory bandwidth and slow down earlier.",
    "malloc is the system's, in a new process: a server with another allocator or with freed blocks differs.",
)


class MemoryBandwidth:
    """The probe `memory-bandwidth`."""

    name = "memory-bandwidth"
    title = "Memory bandwidth by buffer size"
    question = "From which size on does a read or sort buffer cost more than it saves when no disk is involved?"
    kind = "host"
    evidence = ("RBS-02", "MALLOC-01", "MALLOC-02")
    choices = (Choice("buffers", "sizes", BUFFER_SIZES, "buffer sizes"), compiled_module.BY_CHOICE)

    def plan(self, _environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per buffer size; the baseline is the default read_buffer_size if it is among them."""
        chosen = ChosenOptions(self.choices, request)
        driver = compiled_module.choose_driver(chosen)
        sizes = sorted(chosen.sizes("buffers", 4 << 10))
        if sizes[-1] > SOURCE_BYTES:
            raise ProbeError(f"invalid buffers={exact_size(sizes[-1])}: the maximum is {exact_size(SOURCE_BYTES)}")
        names = [exact_size(size) for size in sizes]
        compiled = driver == compiled_module.COMPILED
        return RunPlan(
            variants=tuple(Variant(exact_size(size), {"bytes": str(size)}, float(size)) for size in sizes),
            baseline=DEFAULT_BUFFER if DEFAULT_BUFFER in names else names[0],
            metrics=(THROUGH, READ, ALLOCATE) if compiled else (THROUGH, READ),
            cost=Cost(0, SOURCE_BYTES + 2 * sizes[-1] + (16 << 20), 2.0, compiled_module.created_files(driver)),
            seconds=18.0,
            rounds=5,
            overhead=0.005,
            shortest=0.05,
            axis="buffer",
            driver=driver,
            limits=LIMITS if compiled else (*LIMITS[:2], "Without a C compiler the cost of malloc is not measured."),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, _request: ProbeRequest, plan: RunPlan, _stop: StopSignal
    ) -> Iterator[BandwidthBench]:
        """Start the driver and touch the source memory once."""
        with compiled_module.memory_driver(plan.driver, environment.report) as answers:
            answers.measure("through", 4 << 10, 0.001)
            yield BandwidthBench(answers, plan)


class BandwidthBench:
    def __init__(self, answers: MemoryDriver, plan: RunPlan) -> None:
        self._answers, self._plan = answers, plan
        self._costs: dict[str, list[float]] = {}
        self._rates: dict[str, list[float]] = {}

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure the three metrics one after the other."""
        size = int(variant.settings["bytes"])
        metrics = {}
        for metric in self._plan.metrics:
            given = compiled_module.measure_in_slices(
                self._answers, metric.name, size, turn.seconds / len(self._plan.metrics), stop
            )
            if given:
                metrics[metric.name] = _in_unit(metric, max(given))
        if THROUGH.name in metrics:
            self._rates.setdefault(variant.name, []).append(metrics[THROUGH.name])
        if ALLOCATE.name in metrics:
            self._costs.setdefault(variant.name, []).append(metrics[ALLOCATE.name])
        return BlockMeasurement(metrics, {})

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """See `CollectingBench`."""
        for known, metric in ((self._rates, THROUGH), (self._costs, ALLOCATE)):
            known.clear()
            known.update({arm.name: values for arm in arms if (values := arm.values(metric.name))})

    def facts(self) -> dict[str, float | str]:
        """The facts of the run: the rates as a sentence, and `allocation_cliff`.

        That is the smallest size in bytes whose allocation causes page faults.
        """
        cliff = self._allocation_cliff()
        facts: dict[str, float | str] = {"measured_by": self._answers.name}
        if self._rates:
            facts[ANSWER] = self._answer_sentence()
        return facts | ({"allocation_cliff": float(cliff[0])} if cliff else {})

    def _answer_sentence(self) -> str:
        """The throughput with the baseline's buffer and with the largest one, as a sentence."""
        names = dict.fromkeys((self._plan.baseline, self._plan.variants[-1].name))
        rates = {name: statistics.median(self._rates[name]) for name in names if name in self._rates}
        return "Throughput: " + ", and ".join(f"{r:,.0f} MiB/s with a buffer of {n}" for n, r in rates.items()) + "."

    def notes(self) -> tuple[str, ...]:
        """A sentence on the size from which on allocation causes page faults."""
        cliff = self._allocation_cliff()
        if not cliff:
            return ()
        size, cost, least = cliff
        words = f"malloc maps {exact_size(size)} from the kernel on every call, so each page costs a page fault:"
        return (f"{words} {cost:.0f} us/MiB instead of {least:.3g}.",)

    def _allocation_cliff(self) -> tuple[int, float, float] | None:
        """The size of the cliff, its cost and the cost of smaller sizes; all larger sizes cost as much."""
        costs = [
            (int(variant.settings["bytes"]), statistics.median(self._costs[variant.name]))
            for variant in self._plan.variants
            if variant.name in self._costs
        ]
        for place in range(1, len(costs)):
            before, after = [cost for _, cost in costs[:place]], [cost for _, cost in costs[place:]]
            if min(after) > CLIFF_FACTOR * max(before):
                return (*costs[place], statistics.median(before))
        return None


def _in_unit(metric: Metric, rate: float) -> float:
    """Convert a rate in bytes per second to the metric's unit."""
    return 1e6 * MIB / rate if metric is ALLOCATE else rate / MIB


EXPERIMENT = MemoryBandwidth()
