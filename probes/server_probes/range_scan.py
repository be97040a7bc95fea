"""Probe of primary key range scans on two server versions: the gain from reading records in batches."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

from probes.experiment import BlockMeasurement, Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import choose_binary
from probes.server_probes.mechanism import fixed_bounds, page_read_precondition
from probes.server_probes.under_load import P95, QPS, WorkloadBench
from probes.server_probes.variant_server import start_variant_server
from probes.stats.estimate import estimate_differences
from probes.workload.load import Access, Task, simple_ranges
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.facts.probes import Arm
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.variant_server import VariantServer
    from probes.stats.estimate import MeanDifference
    from probes.stop import StopSignal

MIB = 1 << 20
MAIN_SPAN = 1000  # rows of the ranges for which the gain was published
CONTROL_SPAN = 3  # up to so many rows InnoDB has always read record by record
SECONDS = 240.0
ROUNDS = 10
WARM = 2.0
RESTART = 4.0  # seconds for a restart and a scan of the table, once a round for each server
CACHED_LIMIT = 0.01  # maximum pages read per query, because all data should be in the pool
LARGEST_LOG = 700.0  # limit for the exponent of exp()
EQUAL_OPTIONS = ("--performance-schema=OFF", "--character-set-server=latin1", "--collation-server=latin1_swedish_ci")
VERSIONS_LIMIT = (
    "Two versions differ in more than batched reads: ranges of 1 to 3 rows are the control, and their "
    "difference is not an effect of batches."
)
LIMITS = (
    VERSIONS_LIMIT,
    "All rows are in the buffer pool: disks are not measured.",
)


class RangeScan:
    """The probe `range-scan`."""

    name = "range-scan"
    title = "Ranges of rows on two versions"
    question = "Does a newer server read ranges faster, from which length on, and by more than point reads gain?"
    kind = "server"
    evidence = ("SCAN-01", "SCAN-02", "SCAN-03")
    choices = (
        Choice("servers", "words", "mysql-5.7,mysql-8.0", "the two servers to compare, older first"),
        DRIVER_CHOICE,
        Choice("ranges", "numbers", "1,3,10,100,1000,10000", "rows of a range"),
        Choice("threads", "numbers", "1", "concurrent connections; published: 1,16"),
        Choice("rows", "number", "500000", "rows of the table; published: 10,000,000"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """A group for each range length and concurrency, with one variant per server."""
        chosen = ChosenOptions(self.choices, request)
        kinds, binaries = _lengths_and_threads(chosen), _binaries(environment, chosen)
        shape = _shape(chosen)
        variants = tuple(_variant(name, span, count) for span, count in kinds for name in binaries)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(QPS, P95),
            cost=variant_server.server_cost(
                pool=_pool(shape), data=shape.bytes, servers=len(binaries), threads=max(chosen.numbers("threads", 1))
            ),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.3 + RESTART / len(kinds),
            shortest=1.0,
            warm_up=WARM,
            grain=1.0,
            axis="rows of a range",
            driver=choose_driver(chosen.word("driver")),
            server=" and ".join(str(binary.target) for binary in binaries.values()),
            parameters={
                "workload": "SELECT c ... WHERE id BETWEEN, uniform",
                "rows": str(shape.rows),
                "pool": str(_pool(shape)),
                "server processes": "new in each round",
                "made equal": "character set latin1, no binary log, Performance Schema off",
            },
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[RangesBench]:
        """Start both servers with the same table in memory."""
        chosen = ChosenOptions(self.choices, request)
        shape = _shape(chosen)
        with contextlib.ExitStack() as stack:
            ranges = RangesBench(plan, tuple(_binaries(environment, chosen)), _lengths_and_threads(chosen))
            for name, binary in _binaries(environment, chosen).items():
                if stop.is_set():  # do not start another server
                    break
                arguments = (*variant_server.server_arguments(binary.target, pool=_pool(shape)), *EQUAL_OPTIONS)
                server = stack.enter_context(start_variant_server(environment, binary, request.directory, arguments))
                environment.report(f"filling a table of {shape.rows} rows on {name}")
                fill_tables(server.connection(), shape, stop)
                task = Task(server.sandbox.socket, server.scratch_folder, simple_ranges(1), Access(), 1, shape.rows)
                ranges.add(name, server, task)
            yield ranges


class RangesBench:
    """Two servers; a block runs one range length at one concurrency on one of them."""

    def __init__(self, plan: RunPlan, servers: tuple[str, ...], kinds: list[tuple[int, int]]) -> None:
        self._plan, self._servers, self._kinds = plan, servers, kinds
        self._benches: dict[str, WorkloadBench] = {}
        self._rates: dict[str, dict[int, float]] = {variant.name: {} for variant in plan.variants}

    def add(self, name: str, server: VariantServer, task: Task) -> None:
        """Add a server with its name, and a task whose ranges and threads are still to be set."""
        for span, count in self._kinds:
            self._benches[_variant(name, span, count).name] = WorkloadBench(
                server,
                self._plan.driver,
                _same_task(task, span, count),
                warm_seconds=WARM,
                preconditions=(page_read_precondition(fixed_bounds(high=CACHED_LIMIT)),),
                own_server=True,
            )

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block on the variant's own server, which is another process in each round."""
        bench = self._benches[variant.name]
        with bench.server.explain_errors():
            if bench.server.restart_for_round(turn.round):
                bench.server.query("SELECT COUNT(c) FROM sbtest.sbtest1")  # read into the pool
                bench.forget_warm_up()
        measured = bench.measure(variant, turn, stop)
        if "qps" in measured.metrics and not measured.invalid:
            self._rates[variant.name][turn.round] = measured.metrics["qps"]
        return measured

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """See `CollectingBench`."""
        for arm in arms:
            self._rates[arm.name] = {block.round: block.metrics[QPS.name] for block in arm.blocks if block.metrics}

    def facts(self) -> dict[str, float | str]:
        """The gain of each range length beyond the gain of the shortest ranges, which batches cannot explain."""
        gains = {kind: self._gains(*kind) for kind in self._kinds}
        return gains_over_control(gains)

    def notes(self) -> tuple[str, ...]:
        """The notes of both servers."""
        return tuple(dict.fromkeys(note for bench in self._benches.values() for note in bench.notes()))

    def _gains(self, span: int, count: int) -> dict[int, float]:
        """The logarithm of the second server's rate divided by the first's, by round."""
        first, second = (self._rates[_variant(name, span, count).name] for name in self._servers)
        return {number: math.log(second[number] / first[number]) for number in first.keys() & second.keys()}


def gains_over_control(gains: dict[tuple[int, int], dict[int, float]]) -> dict[str, float | str]:
    """For each length and concurrency, the gain over the shortest ranges, with simultaneous confidence intervals.

    `gains` has logarithms by length and concurrency, and by round; rounds without the control are left out.
    """
    rows: dict[str, list[float]] = {}
    for (span, count), gained in gains.items():
        control = gains[min(kind for kind in gains if kind[1] == count)]
        rounds = sorted(gained.keys() & control.keys())
        if span > CONTROL_SPAN and len(rounds) > 1:
            rows[_group(span, count)] = [gained[number] - control[number] for number in rounds]
    whole = min(map(len, rows.values()), default=0)
    estimates = estimate_differences([row[:whole] for row in rows.values()]) if whole > 1 else []
    return {
        f"{name}, gain beyond the control's": _interval(estimate, len(rows))
        for name, estimate in zip(rows, estimates, strict=bool(estimates))
    }


def _interval(estimate: MeanDifference, family: int) -> str:
    half = estimate.half_width(family)
    low, high = math.exp(estimate.mean - half), math.exp(min(estimate.mean + half, LARGEST_LOG))
    return f"{math.exp(estimate.mean):.3g} times (95 %: {low:.3g} to {high:.3g})"


def _same_task(task: Task, span: int, threads: int) -> Callable[[Variant], Task]:
    load = task._replace(workload=simple_ranges(span), threads=threads)
    return lambda _: load


def _lengths_and_threads(chosen: ChosenOptions) -> list[tuple[int, int]]:
    """Combinations of length and concurrency, those with the published length first."""
    kinds = [(span, count) for count in chosen.numbers("threads", 1) for span in _spans(chosen)]
    return sorted(kinds, key=lambda kind: abs(kind[0] - MAIN_SPAN))


def _variant(server: str, span: int, threads: int) -> Variant:
    return Variant(f"{server}, {_group(span, threads)}", {}, float(span), _group(span, threads))


def _group(span: int, threads: int) -> str:
    at_once = f" at {threads} threads" if threads > 1 else ""
    return f"ranges of {span}{at_once}"


def _spans(chosen: ChosenOptions) -> list[int]:
    spans = chosen.numbers("ranges", 1)
    if not any(span <= CONTROL_SPAN for span in spans):
        raise ProbeError(f"ranges has no control: add a length of 1 to {CONTROL_SPAN} rows")
    return spans


def _binaries(environment: Environment, chosen: ChosenOptions) -> dict[str, Binary]:
    """The two programs by the names of their variants."""
    names = chosen.words("servers")
    if len(names) != 2:  # noqa: PLR2004 - two are compared
        raise ProbeError(
            "exactly two servers are compared: use --option servers=OLDER,NEWER, as names, series or programs"
        )
    first, second = (choose_binary(environment, name) for name in names)
    if first.program == second.program:
        raise ProbeError(f"{' and '.join(names)} are the same program, {first.program}: give two versions")
    if first.name == second.name:  # two builds of one version
        return {binary.program: binary for binary in (first, second)}
    return {binary.name: binary for binary in (first, second)}


def _shape(chosen: ChosenOptions) -> TableShape:
    return TableShape(chosen.number("rows", 20_000), key_on_k=False)


def _pool(shape: TableShape) -> int:
    return max(128 * MIB, shape.bytes * 3 // 2)


EXPERIMENT = RangeScan()
