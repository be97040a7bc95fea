"""Ranges of rows by primary key on two server versions: what reading records in batches gives."""

from __future__ import annotations

import contextlib
from statistics import median
from typing import TYPE_CHECKING

from advisor.facts.probes import Metric
from probes.choices import Chosen
from probes.experiment import Choice, Measured, Plan, ProbeError, Variant
from probes.served import measuring
from probes.served.choosing import binary_for
from probes.served.loaded import LoadedBench
from probes.served.serving import serve
from probes.workload.driving import DRIVER, driver_of
from probes.workload.statements import Access, simple_ranges
from probes.workload.tables import Shape, fill
from probes.workload.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.experiment import Ground, Wanted
    from probes.sandbox import Binary
    from probes.served.serving import Served
    from probes.stopping import Stop

MIB = 1 << 20
MAIN = 1000  # rows of the range that the published difference was seen from
CONTROL = 3  # up to here InnoDB has always read record by record
SECONDS = 110.0
ROUNDS = 5
WARM = 2.0
EQUAL = ("--performance-schema=OFF", "--character-set-server=latin1", "--collation-server=latin1_swedish_ci")
NOT_ONLY = (
    "Between two versions everything differs, not only the batches: ranges of 1 to 3 rows are the control, and what "
    "they show is no effect of batches."
)
LIMITS = (
    NOT_ONLY,
    "All rows are in the buffer pool: nothing of this is about disks.",
)


class RangeScan:
    """The experiment `range-scan`."""

    name = "range-scan"
    title = "Ranges of rows on two versions"
    question = "Does a newer server read ranges of rows faster, from which length on, and beyond what its points gain?"
    kind = "server"
    evidence = ("SCAN-01", "SCAN-02", "SCAN-03")
    choices = (
        Choice("servers", "words", "mysql-5.7,mysql-8.0", "the two servers to compare, older first"),
        DRIVER,
        Choice("ranges", "numbers", "1,3,10,100,1000,10000", "rows of a range"),
        Choice("threads", "numbers", "1", "connections that work at once; published: 1,16"),
        Choice("rows", "number", "500000", "rows of the table; published: 10,000,000"),
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """One variant a server; each block measures all lengths of ranges, one after the other."""
        chosen = Chosen(self.choices, wanted)
        metrics = _metrics(chosen)
        binaries = _binaries(ground, chosen)
        shape = _shape(chosen)
        return Plan(
            variants=tuple(Variant(name, {}) for name in binaries),
            baseline=next(iter(binaries)),
            metrics=metrics,
            cost=measuring.cost(
                pool=_pool(shape), data=shape.bytes, servers=len(binaries), threads=max(chosen.numbers("threads", 1))
            ),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.3 * len(metrics),
            shortest=1.0 * len(metrics),
            warm_up=WARM * len(metrics),
            grain=1.0 * len(metrics),
            driver=driver_of(chosen.word("driver")),
            server=" and ".join(str(binary.target) for binary in binaries.values()),
            parameters={
                "workload": "SELECT c ... WHERE id BETWEEN, uniform",
                "rows": str(shape.rows),
                "pool": str(_pool(shape)),
                "made equal": "character set latin1, no binary log, Performance Schema off",
            },
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(self, ground: Ground, wanted: Wanted, plan: Plan, stop: Stop) -> Iterator[Ranges]:
        """Both servers with the same table in memory."""
        chosen = Chosen(self.choices, wanted)
        shape = _shape(chosen)
        with contextlib.ExitStack() as stack:
            ranges = Ranges(plan, [(span, count) for count in chosen.numbers("threads", 1) for span in _spans(chosen)])
            for name, binary in _binaries(ground, chosen).items():
                if stop.is_set():  # another server would only be ended again
                    break
                arguments = (*measuring.arguments(binary.target, pool=_pool(shape)), *EQUAL)
                served = stack.enter_context(serve(ground, binary, wanted.directory, arguments))
                ground.report(f"filling a table of {shape.rows} rows on {name}")
                fill(served.connection(), shape, stop)
                task = Task(served.sandbox.socket, served.room, simple_ranges(1), Access(), 1, shape.rows)
                ranges.add(name, served, task)
            yield ranges


class Ranges:
    """Two servers; a block goes through all lengths of ranges and concurrencies on one of them."""

    def __init__(self, plan: Plan, kinds: list[tuple[int, int]]) -> None:
        self._plan = plan
        self._kinds = kinds
        self._benches: dict[str, dict[str, LoadedBench]] = {}
        self._seen: dict[str, dict[str, list[float]]] = {}

    def add(self, name: str, served: Served, task: Task) -> None:
        """A server under the name of its variant, and a task whose ranges and threads are filled in."""
        self._benches[name] = {
            _metric(span, count): LoadedBench(served, self._plan.driver, _always(task, span, count), warm_seconds=WARM)
            for span, count in self._kinds
        }
        self._seen[name] = {}

    def measure(self, variant: Variant, seconds: float, stop: Stop) -> Measured:
        """One block: the queries a second of each kind of range."""
        rates: dict[str, float] = {}
        for metric, bench in self._benches[variant.name].items():
            measured = bench.measure(variant, seconds / len(self._kinds), stop)
            if stop.is_set():
                break
            rates[metric] = measured.metrics["qps"]
            self._seen[variant.name].setdefault(metric, []).append(rates[metric])
        return Measured(rates, {})

    def facts(self) -> dict[str, float | str]:
        """How the second server's rates are to the first's, by kind of range."""
        first, second = self._seen.values()
        return {
            f"{metric}, second to first": round(median(second[metric]) / median(first[metric]), 3)
            for metric in first
            if second.get(metric)
        }

    def notes(self) -> tuple[str, ...]:
        """What the reader should know of both."""
        said = (note for benches in self._benches.values() for bench in benches.values() for note in bench.notes())
        return tuple(dict.fromkeys(said))


def _always(task: Task, span: int, threads: int) -> Callable[[Variant], Task]:
    load = task._replace(workload=simple_ranges(span), threads=threads)
    return lambda _: load


def _metrics(chosen: Chosen) -> tuple[Metric, ...]:
    """One metric a kind of range, the one of the published difference first."""
    kinds = [(span, count) for count in chosen.numbers("threads", 1) for span in _spans(chosen)]
    kinds.sort(key=lambda kind: abs(kind[0] - MAIN))
    return tuple(Metric(_metric(span, count), "queries/s", "more") for span, count in kinds)


def _metric(span: int, threads: int) -> str:
    at_once = f", {threads} at once" if threads > 1 else ""
    return f"ranges of {span}{at_once}"


def _spans(chosen: Chosen) -> list[int]:
    spans = chosen.numbers("ranges", 1)
    if not any(span <= CONTROL for span in spans):
        raise ProbeError(f"ranges need a control: give one of 1 to {CONTROL} rows besides")
    return spans


def _binaries(ground: Ground, chosen: Chosen) -> dict[str, Binary]:
    """The two programs by the names of their variants."""
    names = chosen.words("servers")
    if len(names) != 2:  # noqa: PLR2004 - two are compared
        raise ProbeError("two servers are compared: give --option servers=OLDER,NEWER, as names, series or programs")
    first, second = (binary_for(ground, name) for name in names)
    if first.program == second.program:
        raise ProbeError(f"{' and '.join(names)} are the same program, {first.program}: name two versions")
    if first.name == second.name:  # two builds of one version
        return {binary.program: binary for binary in (first, second)}
    return {binary.name: binary for binary in (first, second)}


def _shape(chosen: Chosen) -> Shape:
    return Shape(chosen.number("rows", 20_000), key_on_k=False)


def _pool(shape: Shape) -> int:
    return max(128 * MIB, shape.bytes * 3 // 2)


EXPERIMENT = RangeScan()
