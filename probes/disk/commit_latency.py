"""What it takes until a commit is safe on this disk: fsync and fdatasync by write size, with and without O_DIRECT."""

from __future__ import annotations

import contextlib
import itertools
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

LATENCY = Metric("latency", "us", "less")
P99 = Metric("latency_p99", "us", "less")
SYNC = Metric("sync", "us", "less")
RATE = Metric("syncs", "1/s", "more")
CALLS = ("fsync", "fdatasync")
WAYS = ("buffered", "direct")
AXIS = "write size"
FILE = 64 << 20
LIMITS = (
    "It overwrites a file that was written before, as a redo log is. A binary log grows: its length is written too.",
    "One commit at a time: servers put the commits of several connections into one sync.",
)


class CommitLatency:
    """Write a piece of a log, wait until it is safe, again."""

    name = "commit-latency"
    title = "Commit latency"
    question = "How long does a commit wait on this disk, and does the kind of sync matter?"
    kind = "host"
    evidence = ("FSY-01", "FSY-02", "FSY-03", "FSY-04", "FSY-05")
    choices = (
        Choice("sizes", "sizes", "512,4K,16K,64K", "bytes written before each sync"),
        Choice("calls", "words", "fsync,fdatasync", "how it is made safe"),
        Choice("open", "words", "buffered,direct", "through the page cache, or past it (O_DIRECT)"),
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """Each call with each way of opening and each size; it takes one small file."""
        chosen = Chosen(self.choices, wanted)
        direct, smallest = asking.direct_possible(ground, wanted), asking.sector(ground)
        ways = chosen.words("open", *WAYS)
        sizes = asking.blocks(chosen, "sizes")
        variants = tuple(
            _variant(call, way, size)
            for way, call, size in itertools.product(ways, chosen.words("calls", *CALLS), sizes)
            if way == "buffered" or (direct and size % smallest == 0)
        )
        if not variants:
            raise ProbeError(
                f"no such write can be made past the page cache in {wanted.directory}: choose --option open=buffered"
            )
        return Plan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(LATENCY, P99, SYNC, RATE, PROCESSOR),
            cost=Cost(
                disk=FILE,
                memory=32 << 20,
                prepare=asking.preparation(FILE),
                creates=(f"a file of {about(FILE)} in a directory of its own in {wanted.directory}",),
            ),
            seconds=20.0,
            rounds=5,
            overhead=0.01,
            axis=AXIS,
            driver="mycnf",
            parameters={"file": exact(FILE)},
            limits=LIMITS,
            notes=_left_out(ways, sizes, direct, smallest) + _of_memory(ground),
        )

    @contextlib.contextmanager
    def prepare(self, ground: Ground, wanted: Wanted, plan: Plan, stop: Stop) -> Iterator[_Bench]:
        """Write the file."""
        with Material(wanted.directory, ground.report, stop) as material, Crew(1) as crew:
            yield _Bench(crew, material.file("log", FILE), plan)


class _Bench:
    def __init__(self, crew: Crew, path: str, plan: Plan) -> None:
        self._crew, self._plan, self._tally = crew, plan, Tally()
        self._task = {"task": "commit", "path": path, "size": os.path.getsize(path)}

    def measure(self, variant: Variant, seconds: float, stop: Stop) -> Measured:
        """Commit again and again for so long."""
        task = self._task | {
            "block": int(variant.settings["bytes"]),
            "call": variant.settings["call"],
            "direct": variant.settings["open"] == "direct",
        }
        report = self._crew.run([task], seconds, stop)
        whole = together(report)
        metrics = {RATE.name: whole.done / whole.seconds}
        if whole.done:
            metrics |= {LATENCY.name: report[0]["median"], P99.name: report[0]["p99"], SYNC.name: report[0]["sync"]}
        return self._tally.add(variant, whole, metrics)

    def facts(self) -> dict[str, float | str]:
        """The `quickest` variant and its median latency in us as `quickest_latency`."""
        names = [variant.name for variant in self._plan.variants]
        best, latency = self._tally.best(names, LATENCY.name, least=True)
        facts: dict[str, float | str] = {"quickest": best, "quickest_latency": round(latency, 1)}
        return facts | self._tally.facts(names)

    def notes(self) -> tuple[str, ...]:
        """Where the figures are bounds."""
        return self._tally.notes(variant.name for variant in self._plan.variants)


def _variant(call: str, way: str, size: int) -> Variant:
    name = f"{call} {exact(size)}" + (" O_DIRECT" if way == "direct" else "")
    return Variant(name, {AXIS: exact(size), "bytes": str(size), "call": call, "open": way}, float(size))


def _left_out(ways: list[str], sizes: list[int], direct: bool, smallest: int) -> tuple[str, ...]:
    if "direct" in ways and not direct:
        return ("Files can't be opened with O_DIRECT here, so all writes go through the page cache.",)
    if "direct" in ways and any(size % smallest for size in sizes):
        return (f"The device takes nothing smaller than {smallest} bytes past the page cache: left out.",)
    return ()


def _of_memory(ground: Ground) -> tuple[str, ...]:
    from probes.served.eviction import evictable

    if evictable(ground.host):
        return ()
    return ("The file lies in memory here (tmpfs), where nothing is ever safe: this is the cost of the calls alone.",)


EXPERIMENT = CommitLatency()
