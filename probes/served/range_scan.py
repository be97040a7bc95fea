"""Ranges of rows by primary key on two server versions: what reading records in batches gives."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

from probes.choices import ChosenOptions
from probes.experiment import BlockMeasurement, Choice, ProbeError, RunPlan, Variant
from probes.served import server_settings
from probes.served.choices import binary_for
from probes.served.mechanism import always, reads_pages
from probes.served.under_load import P95, QPS, LoadedBench
from probes.served.variant_server import serve
from probes.stats.estimate import estimates
from probes.workload.driver import DRIVER, driver_of
from probes.workload.load import Task
from probes.workload.statements import Access, simple_ranges
from probes.workload.tables import Shape, fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.served.variant_server import Served
    from probes.stats.estimate import Estimate
    from probes.stop import Stop

MIB = 1 << 20
MAIN = 1000  # rows of the range that the published difference was seen from
CONTROL = 3  # up to here InnoDB has always read record by record
SECONDS = 110.0
ROUNDS = 5
WARM = 2.0
CACHED = 0.01  # pages read a query, at most: everything is meant to be in the pool
LARGEST = 700.0  # of a logarithm
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

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """A group for each length of ranges and concurrency, with one variant a server."""
        chosen = ChosenOptions(self.choices, wanted)
        kinds, binaries = _kinds(chosen), _binaries(ground, chosen)
        shape = _shape(chosen)
        variants = tuple(_variant(name, span, count) for span, count in kinds for name in binaries)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(QPS, P95),
            cost=server_settings.cost(
                pool=_pool(shape), data=shape.bytes, servers=len(binaries), threads=max(chosen.numbers("threads", 1))
            ),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.3,
            shortest=1.0,
            warm_up=WARM,
            grain=1.0,
            axis="rows of a range",
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
    def prepare(self, ground: Environment, wanted: ProbeRequest, plan: RunPlan, stop: Stop) -> Iterator[Ranges]:
        """Both servers with the same table in memory."""
        chosen = ChosenOptions(self.choices, wanted)
        shape = _shape(chosen)
        with contextlib.ExitStack() as stack:
            ranges = Ranges(plan, tuple(_binaries(ground, chosen)), _kinds(chosen))
            for name, binary in _binaries(ground, chosen).items():
                if stop.is_set():  # another server would only be ended again
                    break
                arguments = (*server_settings.arguments(binary.target, pool=_pool(shape)), *EQUAL)
                served = stack.enter_context(serve(ground, binary, wanted.directory, arguments))
                ground.report(f"filling a table of {shape.rows} rows on {name}")
                fill(served.connection(), shape, stop)
                task = Task(served.sandbox.socket, served.room, simple_ranges(1), Access(), 1, shape.rows)
                ranges.add(name, served, task)
            yield ranges


class Ranges:
    """Two servers; a block is one length of ranges at one concurrency on one of them."""

    def __init__(self, plan: RunPlan, servers: tuple[str, ...], kinds: list[tuple[int, int]]) -> None:
        self._plan, self._servers, self._kinds = plan, servers, kinds
        self._benches: dict[str, LoadedBench] = {}
        self._rates: dict[str, dict[int, float]] = {variant.name: {} for variant in plan.variants}

    def add(self, name: str, served: Served, task: Task) -> None:
        """A server by its name, and a task whose ranges and threads are filled in."""
        for span, count in self._kinds:
            self._benches[_variant(name, span, count).name] = LoadedBench(
                served,
                self._plan.driver,
                _always(task, span, count),
                warm_seconds=WARM,
                preconditions=(reads_pages(always(high=CACHED)),),
                own_server=True,
            )

    def measure(self, variant: Variant, turn: Turn, stop: Stop) -> BlockMeasurement:
        """One block on the variant's own server."""
        measured = self._benches[variant.name].measure(variant, turn, stop)
        if "qps" in measured.metrics and not measured.invalid:
            self._rates[variant.name][turn.round] = measured.metrics["qps"]
        return measured

    def facts(self) -> dict[str, float | str]:
        """What ranges gain beyond what the shortest ones gain, which no batch can explain."""
        gains = {kind: self._gains(*kind) for kind in self._kinds}
        return beyond_control(gains)

    def notes(self) -> tuple[str, ...]:
        """What the reader should know of both."""
        return tuple(dict.fromkeys(note for bench in self._benches.values() for note in bench.notes()))

    def _gains(self, span: int, count: int) -> dict[int, float]:
        """By round, the logarithm of the second server's rate over the first's."""
        first, second = (self._rates[_variant(name, span, count).name] for name in self._servers)
        return {number: math.log(second[number] / first[number]) for number in first.keys() & second.keys()}


def beyond_control(gains: dict[tuple[int, int], dict[int, float]]) -> dict[str, float | str]:
    """For each length and concurrency, the gain over that of the shortest ranges, with the interval of all at once.

    `gains` has logarithms by length and concurrency, and by round; rounds that lack the control are left out.
    """
    rows: dict[str, list[float]] = {}
    for (span, count), gained in gains.items():
        control = gains[min(kind for kind in gains if kind[1] == count)]
        rounds = sorted(gained.keys() & control.keys())
        if span > CONTROL and len(rounds) > 1:
            rows[_group(span, count)] = [gained[number] - control[number] for number in rounds]
    whole = min(map(len, rows.values()), default=0)
    found = estimates([row[:whole] for row in rows.values()]) if whole > 1 else []
    return {
        f"{name}, gain beyond the control's": _interval(estimate, len(rows))
        for name, estimate in zip(rows, found, strict=bool(found))
    }


def _interval(estimate: Estimate, family: int) -> str:
    half = estimate.half_width(family)
    low, high = math.exp(estimate.mean - half), math.exp(min(estimate.mean + half, LARGEST))
    return f"{math.exp(estimate.mean):.3g} times (95 %: {low:.3g} to {high:.3g})"


def _always(task: Task, span: int, threads: int) -> Callable[[Variant], Task]:
    load = task._replace(workload=simple_ranges(span), threads=threads)
    return lambda _: load


def _kinds(chosen: ChosenOptions) -> list[tuple[int, int]]:
    """Lengths with concurrencies, the one of the published difference first."""
    kinds = [(span, count) for count in chosen.numbers("threads", 1) for span in _spans(chosen)]
    return sorted(kinds, key=lambda kind: abs(kind[0] - MAIN))


def _variant(server: str, span: int, threads: int) -> Variant:
    return Variant(f"{server}, {_group(span, threads)}", {}, float(span), _group(span, threads))


def _group(span: int, threads: int) -> str:
    at_once = f" at {threads} threads" if threads > 1 else ""
    return f"ranges of {span}{at_once}"


def _spans(chosen: ChosenOptions) -> list[int]:
    spans = chosen.numbers("ranges", 1)
    if not any(span <= CONTROL for span in spans):
        raise ProbeError(f"ranges need a control: give one of 1 to {CONTROL} rows besides")
    return spans


def _binaries(ground: Environment, chosen: ChosenOptions) -> dict[str, Binary]:
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


def _shape(chosen: ChosenOptions) -> Shape:
    return Shape(chosen.number("rows", 20_000), key_on_k=False)


def _pool(shape: Shape) -> int:
    return max(128 * MIB, shape.bytes * 3 // 2)


EXPERIMENT = RangeScan()
