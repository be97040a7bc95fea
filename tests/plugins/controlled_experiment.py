"""A probe controlled by tests: scans with given speeds by read buffer, without delay, and an event at a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from advisor.facts.probes import Metric
from probes.experiment import (
    BlockMeasurement,
    Choice,
    ChosenOptions,
    Cost,
    Environment,
    ProbeRequest,
    RunPlan,
    Turn,
    Variant,
)
from probes.stop import StopSignal

SIZES = {"16K": 16384, "128K": 131072, "2M": 2097152, "4M": 4194304, "8M": 8388608}
SPEEDS = {"16K": 1000.0, "128K": 1010.0, "2M": 900.0, "8M": 800.0}


@dataclass
class Steered:
    """The probe `scan`: `speeds` by variant, and callbacks `at` blocks, counted from 0."""

    speeds: dict[str, float] = field(default_factory=lambda: dict(SPEEDS))
    rounds: int = 5
    at: dict[int, Callable[[], object]] = field(default_factory=dict)
    notes_for_all: tuple[str, ...] = ()
    measured: list[str] = field(default_factory=list)
    opened: int = 0
    closed: int = 0
    asked: list[ProbeRequest] = field(default_factory=list)
    stop: StopSignal = field(default_factory=StopSignal)

    name = "scan"
    title = "Read buffers of full scans"
    question = "Which read_buffer_size is fastest for full scans on this host?"
    kind = "server"
    evidence: tuple[str, ...] = ("RBS-01", "RBS-06")
    choices: tuple[Choice, ...] = (
        Choice("readers", "number", "1", "scans at once"),
        Choice("workload", "word", "scan", "what is read"),
        Choice("acceptable-qps", "number", "2000", "the rate that is still acceptable"),
    )

    def plan(self, _ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """One second per block; what it creates is a sentence."""
        self.asked.append(wanted)
        chosen = ChosenOptions(self.choices, wanted)
        return RunPlan(
            variants=tuple(Variant(n, {"read_buffer_size": n}, float(SIZES[n])) for n in self.speeds),
            baseline="128K",
            metrics=(Metric("scanned", "MB/s"), Metric("p95", "ms", "less")),
            cost=Cost(3 << 20, 5 << 20, 7.0, ("a table of 3M in a scratch directory",)),
            seconds=20.0,
            rounds=self.rounds,
            axis="read_buffer_size",
            server="mariadb-10.11.19",
            parameters={"readers": str(chosen.number("readers", 1))},
            limits=("It says nothing of tables beyond the cache.",),
            notes=self.notes_for_all,
        )

    @contextmanager
    def prepare(
        self, ground: Environment, _wanted: ProbeRequest, _plan: RunPlan, stop: StopSignal
    ) -> Iterator[Steered]:
        """Counts how often it was opened and closed."""
        self.opened += 1
        self.stop = stop
        self.measured = []
        ground.report("filling a table")
        try:
            yield self
        finally:
            self.closed += 1

    def measure(self, variant: Variant, _turn: Turn, _stop: StopSignal) -> BlockMeasurement:
        """The speed, varied by up to three percent per block, which is too noisy to end early."""
        block = len(self.measured)
        self.measured.append(variant.name)
        if block in self.at:
            self.at[block]()
        speed = self.speeds[variant.name] * (1 + (block * 7 % 5 - 2) * 0.015)
        return BlockMeasurement({"scanned": speed, "p95": 5000 / speed}, {"scanned": (speed, speed * 1.01)})

    def facts(self) -> dict[str, float | str]:
        """A number and a word."""
        return {"read_size": 16384.0, "engine": "Aria"}

    def notes(self) -> tuple[str, ...]:
        """One sentence."""
        return ("Every scan read the whole table.",)


EXPERIMENT = Steered()
