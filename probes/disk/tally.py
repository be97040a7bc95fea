"""The blocks of one run as they come: the reports of the driver's processes, and where it was at its own limit."""

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
"""The share of the processors that it can use from which on the driver measures itself."""
QUEUED_LIMIT = 0.1
"""The share of the time, spent waiting for a processor, from which on others are in the way."""
PROCESSOR = Metric("processor", "share of the driver's processors", "neither")


class CombinedReport(NamedTuple):
    """Reports of processes that worked at the same time; `seconds` from the first one's begin to the last one's end.

    `processor` is the share of the processors that they could use; `queued` the share of the time that they stood
    ready without one.
    """

    seconds: float
    done: int
    bytes: int
    processor: float
    queued: float


def combine_reports(reports: list[dict[str, Any]]) -> CombinedReport:
    """Sum up reports."""
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
    """What was measured so far, by the variants' names."""

    def __init__(self) -> None:
        self._metrics: dict[str, list[dict[str, float]]] = {}
        self._queued: list[float] = []

    def add(self, variant: Variant, whole: CombinedReport, metrics: dict[str, float]) -> BlockMeasurement:
        """Keep one block's metrics, the processor's share put to them, and give them in the form of a block."""
        complete = metrics | {PROCESSOR.name: whole.processor}
        self._metrics.setdefault(variant.name, []).append(complete)
        self._queued.append(whole.queued)
        return BlockMeasurement({name: round(value, 4) for name, value in complete.items()}, {})

    def values(self, variant: str, metric: str) -> list[float]:
        """A variant's values of a metric, block by block."""
        return [block[metric] for block in self._metrics.get(variant, ()) if metric in block]

    def mean(self, variant: str, metric: str) -> float | None:
        """The mean of these as a report's table shows it, None where there are none."""
        arms = [
            Arm(name, {}, tuple(Block(number, 0.0, 0.0, metrics) for number, metrics in enumerate(blocks)))
            for name, blocks in self._metrics.items()
        ]
        table = round_table(arms, metric, variant)
        return table.mean(table.names.index(variant)) if table and table.rounds else None

    def best(self, variants: Iterable[str], metric: str, *, least: bool = False) -> tuple[str, float]:
        """The variant with the largest usual value of a metric, or with the `least`, and that value."""
        found = {name: value for name in variants if (value := self.mean(name, metric)) is not None}
        if not found:
            raise ProbeError("no request finished in the given time: give more with --time")
        name = (min if least else max)(found, key=lambda name: found[name])
        return name, found[name]

    def latency_text(self, variant: str, median: str, p99: str) -> str:
        """How long one request of a variant takes, by two metrics in us: `95 µs at the median (p99 210 µs)`."""
        usual, late = self.mean(variant, median), self.mean(variant, p99)
        if usual is None:
            return "not measured"
        return f"{format_latency(usual)} at the median" + ("" if late is None else f" (p99 {format_latency(late)})")

    def driver_limited(self, variants: Iterable[str]) -> list[str]:
        """Those of the variants in which the driver's own processor time was the limit."""
        return [name for name in variants if (self.mean(name, PROCESSOR.name) or 0.0) >= DRIVER_LIMIT]

    def notes(self, variants: Iterable[str]) -> tuple[str, ...]:
        """Sentences on the figures that are lower bounds."""
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
        """`at_least`: the variants whose figures are lower bounds, left out where there are none."""
        limited = self.driver_limited(variants)
        return {"at_least": ", ".join(limited)} if limited else {}
