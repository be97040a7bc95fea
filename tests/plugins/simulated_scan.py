"""The read-buffer probe without a server: its blocks take no time, and one of them can be paused."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from controlled_experiment import Steered

from advisor.facts.probes import Metric
from probes.experiment import BlockMeasurement, Cost, Environment, ProbeRequest, RunPlan, Turn, Variant
from probes.stop import StopSignal

ON_DISK = Metric("beyond_cache", "s/scan", "less")
ENOUGH = 3600.0  # seconds, in which a paused run still completes its rounds on a busy host
COST = Cost(3 << 20, 5 << 20, 7.0, ("a table of 3M in a scratch directory",))


@dataclass
class Scans(Steered):
    """The read-buffer probe; it sets `reached` at the block `held` and waits there for `go_on`."""

    held: int | None = None
    cost: Cost = COST
    reached: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event = field(default_factory=threading.Event)

    name = "read-buffer"

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """The plan of the scan, with the metric that rules read."""
        return replace(super().plan(ground, wanted), metrics=(ON_DISK,), cost=self.cost, seconds=ENOUGH)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Seconds of a scan."""
        if len(self.measured) == self.held:
            self.reached.set()
            while not self.go_on.wait(0.01) and not stop.is_set():
                pass
        rate = super().measure(variant, turn, stop).metrics["scanned"]
        return BlockMeasurement({ON_DISK.name: 1000 / rate}, {})
