"""Random reads by queue depth: what the device can do when nothing is cached."""

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

READS = Metric("reads", "1/s", "more")
MEDIAN = Metric("latency", "us", "less")
P99 = Metric("latency_p99", "us", "less")
DEEPEST = 1024
AXIS = "queue depth"
QUICK, SLOW = 1500.0, 3000.0  # us of one 16K read: below, nothing has to turn; above, a disk's head has to move
LIMITS = (
    "It reads a file of its own, over which a device's cache or the host beneath a virtual machine may have a hand.",
    "It is what the device can do, not what a server asks of it: no setting follows from it alone.",
)


class RandomRead:
    """Random reads of pages, one at a time and many."""

    name = "random-read"
    title = "Random reads by queue depth"
    question = "How many pages a second can be read from this disk at random, and how long does one take?"
    kind = "host"
    evidence = ("SCHED-01", "SCHED-02", "IOC-03", "STO-01", "PGSZ-03")
    choices = (
        Choice("depths", "numbers", "1,4,16,32,64", "how many reads are under way at once"),
        Choice("blocks", "sizes", "16K", "sizes of a read; 4K,16K lays the two page sizes side by side"),
        asking.SIZE,
        asking.OPEN,
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """Each block size at each depth; it takes one file."""
        chosen = Chosen(self.choices, wanted)
        size, way = asking.file_size(chosen), asking.way_of(ground, wanted, chosen)
        depths, blocks = _depths(chosen), asking.blocks(chosen, "blocks", asking.sector(ground))
        variants = tuple(_variant(depth, block, len(blocks) > 1) for block in blocks for depth in depths)
        return Plan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(READS, MEDIAN, P99, PROCESSOR),
            cost=Cost(
                disk=size,
                memory=(32 << 20) + depths[-1] * blocks[-1],
                prepare=asking.preparation(size),
                creates=(f"a file of {about(size)} in a directory of its own in {wanted.directory}",),
            ),
            seconds=20.0,
            rounds=5,
            overhead=0.03,
            axis=AXIS,
            driver=way.driver,
            parameters={"size": exact(size), "open": "O_DIRECT" if way.direct else "buffered"},
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
            "task": "read",
            "path": path,
            "size": os.path.getsize(path),
            "seed": seed,
            "direct": way.direct,
            "way": way.many,
        }

    def measure(self, variant: Variant, seconds: float, stop: Stop) -> Measured:
        """Read pages for so long."""
        task = self._task | {"depth": int(variant.settings[AXIS]), "block": int(variant.settings["bytes"])}
        report = self._crew.run([task], seconds, stop)
        whole = together(report)
        metrics = {READS.name: whole.done / whole.seconds}
        if whole.done:
            metrics |= {MEDIAN.name: report[0]["median"], P99.name: report[0]["p99"]}
        return self._tally.add(variant, whole, metrics)

    def facts(self) -> dict[str, float | str]:
        """`most_reads` a second and the variant that gave them; `one_read` in us, and what sort of disk that is."""
        names = [variant.name for variant in self._plan.variants]
        best, most = self._tally.best(names, READS.name)
        facts: dict[str, float | str] = {"most_reads": round(most, 1), "most_reads_at": best}
        alone = next((v for v in self._plan.variants if v.settings[AXIS] == "1"), None)
        one = self._tally.median(alone.name, MEDIAN.name) if alone else None
        if one is not None:
            facts |= {"one_read": round(one, 1), "sort": _sort(one)}
        return facts | self._tally.facts(names)

    def notes(self) -> tuple[str, ...]:
        """Where the figures are lower bounds."""
        return self._tally.notes(variant.name for variant in self._plan.variants)


def _variant(depth: int, block: int, named: bool) -> Variant:
    name = f"{exact(block)} at {depth}" if named else f"{depth} at once"
    return Variant(name, {AXIS: str(depth), "bytes": str(block)}, float(depth))


def _depths(chosen: Chosen) -> list[int]:
    depths = sorted(chosen.numbers("depths", 1))
    if depths[-1] > DEEPEST:
        raise ProbeError(f"depths={depths[-1]} is deeper than any server goes: up to {DEEPEST} can be measured")
    return depths


def _sort(microseconds: float) -> str:
    """What kind of disk a read of that length tells of: what a disk says of itself may be wrong."""
    if microseconds < QUICK:
        return "no moving parts"
    return "moving heads, or a slow network" if microseconds > SLOW else "between disk and flash"


EXPERIMENT = RandomRead()
