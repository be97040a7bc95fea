"""The measurements of one run by variant, with the driver's CPU use, which shows if the driver was the limit."""

from __future__ import annotations

import os
import statistics
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.core.sizes import format_latency
from advisor.facts.probes import Arm, Block, Metric
from probes.experiment import BlockMeasurement, ProbeError
from probes.stats.table import round_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probes.experiment import Variant

DRIVER_LIMIT = 0.9
"""Share of its available CPU time from which on the driver itself is the limit."""
QUEUED_LIMIT = 0.1
"""Share of the time spent waiting for a CPU from which on other processes disturb the measurement."""
PROCESSOR = Metric("processor", "share of the driver's processors", "neither")


class CombinedReport(NamedTuple):
    """The combined reports of concurrent processes; `seconds` is from the first start to the last end.

    `processor` is the share of the available CPU time that they used; `queued` is the share of the time that they were
    runnable without a CPU.
    """

    seconds: float
    done: int
    bytes: int
    processor: float
    queued: float


def combine_reports(reports: list[dict[str, Any]]) -> CombinedReport:
    """Combine the reports of concurrent processes."""
    seconds = max(1e-9, (max(r["ended"] for r in reports) - min(r["began"] for r in reports)) / 1e9)
    usable = seconds * min(len(reports), len(os.sched_getaffinity(0)))
    return CombinedReport(
        seconds,
        sum(r["count"] for r in reports),
        sum(r["bytes"] for r in reports),
        sum(r["cpu"] for r in reports) / usable,
        sum(r["queued"] for r in reports) / (seconds * len(reports)),
    )


class DiskTally:
    """The measurements so far, by variant name."""

    def __init__(self) -> None:
        self._metrics: dict[str, list[dict[str, float]]] = {}
        self._queued: list[float] = []

    def add(self, variant: Variant, whole: CombinedReport, metrics: dict[str, float]) -> BlockMeasurement:
        """Add one block's metrics together with the driver's CPU share, and return them as a block measurement."""
        complete = metrics | {PROCESSOR.name: whole.processor}
        self._metrics.setdefault(variant.name, []).append(complete)
        self._queued.append(whole.queued)
        return BlockMeasurement({name: round(value, 4) for name, value in complete.items()}, {})

    def values(self, variant: str, metric: str) -> list[float]:
        """A variant's values of a metric, one per block."""
        return [block[metric] for block in self._metrics.get(variant, ()) if metric in block]

    def mean(self, variant: str, metric: str) -> float | None:
        """The mean of these values as shown in the report's table; None without values."""
        arms = [
            Arm(name, {}, tuple(Block(number, 0.0, 0.0, metrics) for number, metrics in enumerate(blocks)))
            for name, blocks in self._metrics.items()
        ]
        table = round_table(arms, metric, variant)
        return table.mean(table.names.index(variant)) if table and table.rounds else None

    def best(self, variants: Iterable[str], metric: str, *, least: bool = False) -> tuple[str, float]:
        """The variant with the largest mean of a metric (the smallest if `least`), and that mean."""
        found = {name: value for name in variants if (value := self.mean(name, metric)) is not None}
        if not found:
            raise ProbeError("no request finished in the given time: give more with --time")
        name = (min if least else max)(found, key=lambda name: found[name])
        return name, found[name]

    def latency_text(self, variant: str, median: str, p99: str) -> str:
        """The latency of a variant's requests by two metrics in µs, as text: `95 µs at the median (p99 210 µs)`."""
        usual, late = self.mean(variant, median), self.mean(variant, p99)
        if usual is None:
            return "not measured"
        return f"{format_latency(usual)} at the median" + ("" if late is None else f" (p99 {format_latency(late)})")

    def driver_limited(self, variants: Iterable[str]) -> list[str]:
        """The variants in which the driver's own CPU time was the limit."""
        return [name for name in variants if (self.mean(name, PROCESSOR.name) or 0.0) >= DRIVER_LIMIT]

    def notes(self, variants: Iterable[str]) -> tuple[str, ...]:
        """Sentences on figures that are lower bounds."""
        limited, said = self.driver_limited(variants), []
        if limited:
            said.append(
                f"Lower bounds: {', '.join(limited)}. The driver used {DRIVER_LIMIT:.0%} or more of its processors, "
                "so the device can do more than shown."
            )
        if self._queued and statistics.median(self._queued) >= QUEUED_LIMIT:
            said.append(
                "Other processes kept the processors busy: the driver waited for a processor "
                f"{statistics.median(self._queued):.0%} of the time, so the device can do more than shown."
            )
        return tuple(said)

    def facts(self, variants: Iterable[str]) -> dict[str, float | str]:
        """`at_least`: the variants whose figures are lower bounds; omitted if there are none."""
        limited = self.driver_limited(variants)
        return {"at_least": ", ".join(limited)} if limited else {}
