"""Random page writes with fsync: a bound for what a server can flush, never a reason by itself to flush more."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from advisor.facts.probes import Metric
from advisor.sizes import about, exact
from probes.choices import Chosen
from probes.disk import asking
from probes.disk.crew import Crew
from probes.disk.material import Material
from probes.disk.tally import PROCESSOR, Tally, together
from probes.experiment import Choice, Cost, Measured, Plan, ProbeError, Variant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Ground, Wanted
    from probes.stopping import Stop

WRITES = Metric("writes", "1/s", "more")
BATCH = Metric("batch", "us", "less")
BATCH_P99 = Metric("batch_p99", "us", "less")
DEPTH = 64
MOST_PAGES = 4096
AXIS = "pages per fsync"
LIMITS = (
    "The most that was seen is a bound for innodb_io_capacity, and never a reason by itself to raise it.",
    "A server that flushes more than its redo log asks for writes the same pages more often.",
    "With the doublewrite buffer on, a server writes every page twice: about half of these remain for its pages.",
    "A short run can end before a device's own cache or its burst credits do; written for minutes, many are slower.",
)


class RandomWrite:
    """Pages written at random places, some to each fsync."""

    name = "random-write"
    title = "Random page writes with fsync"
    question = "How many pages a second can this disk take at random places and keep?"
    kind = "host"
    evidence = ("IOC-01", "IOC-02", "IOC-03", "IOC-04", "FSY-01")
    choices = (
        Choice("pages", "numbers", "1,16,64,256", "how many pages are written before each fsync"),
        Choice("block", "size", "16K", "size of a page"),
        asking.SIZE,
        asking.OPEN,
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """Each number of pages per fsync; it takes one file."""
        chosen = Chosen(self.choices, wanted)
        size, way = asking.file_size(chosen), asking.way_of(ground, wanted, chosen)
        block = asking.blocks(chosen, "block", asking.sector(ground))[0]
        variants = tuple(
            Variant(f"{pages} to each fsync", {AXIS: str(pages), "bytes": str(block)}, float(pages))
            for pages in _pages(chosen)
        )
        return Plan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(WRITES, BATCH, BATCH_P99, PROCESSOR),
            cost=Cost(
                disk=size,
                memory=(32 << 20) + DEPTH * block,
                prepare=asking.preparation(size),
                creates=(f"a file of {about(size)} in a directory of its own in {wanted.directory}",),
            ),
            seconds=20.0,
            rounds=5,
            overhead=0.03,
            axis=AXIS,
            driver=way.driver,
            parameters={
                "size": exact(size),
                "block": exact(block),
                "open": "O_DIRECT" if way.direct else "buffered",
                "at once": str(DEPTH if way.many == "aio" else 1),
            },
            limits=LIMITS,
            notes=asking.reservations(ground, way),
        )

    @contextlib.contextmanager
    def prepare(self, ground: Ground, wanted: Wanted, plan: Plan, stop: Stop) -> Iterator[_Bench]:
        """Write the file."""
        chosen = Chosen(self.choices, wanted)
        way = asking.way_of(ground, wanted, chosen)
        with Material(wanted.directory, ground.report, stop) as material, Crew(1) as crew:
            path = material.file("pages", asking.file_size(chosen))
            yield _Bench(crew, path, way, plan, wanted.seed)


class _Bench:
    def __init__(self, crew: Crew, path: str, way: asking.Way, plan: Plan, seed: int) -> None:
        self._crew, self._plan, self._tally = crew, plan, Tally()
        self._task = {
            "task": "write",
            "path": path,
            "size": os.path.getsize(path),
            "seed": seed,
            "direct": way.direct,
            "way": way.many,
            "depth": DEPTH,
        }

    def measure(self, variant: Variant, seconds: float, stop: Stop) -> Measured:
        """Write whole batches for so long."""
        task = self._task | {"batch": int(variant.settings[AXIS]), "block": int(variant.settings["bytes"])}
        report = self._crew.run([task], seconds, stop)
        whole = together(report)
        metrics = {WRITES.name: whole.done / whole.seconds}
        if whole.done:
            metrics |= {BATCH.name: report[0]["median"], BATCH_P99.name: report[0]["p99"]}
        return self._tally.add(variant, whole, metrics)

    def facts(self) -> dict[str, float | str]:
        """`most_writes` a second, the variant that gave them, and `io_capacity_bound`, which is the same without digits
        that mean nothing.
        """
        names = [variant.name for variant in self._plan.variants]
        best, most = self._tally.best(names, WRITES.name)
        facts: dict[str, float | str] = {"most_writes": round(most, 1), "most_writes_at": best}
        return facts | {"io_capacity_bound": float(f"{most:.2g}")} | self._tally.facts(names)

    def notes(self) -> tuple[str, ...]:
        """Where the figures are lower bounds."""
        return self._tally.notes(variant.name for variant in self._plan.variants)


def _pages(chosen: Chosen) -> list[int]:
    pages = sorted(chosen.numbers("pages", 1))
    if pages[-1] > MOST_PAGES:
        raise ProbeError(f"pages={pages[-1]} is more than any server writes between two: up to {MOST_PAGES} can be")
    return pages


EXPERIMENT = RandomWrite()
