"""Probe of sorts, joins and groupings by buffer size, number of rows and number of sessions."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import load
from advisor.core.model import exact_size
from advisor.facts.probes import Metric
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition
from probes.server_probes.under_load import P95, P99, TPS, WorkloadBench
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import Access, StatementMix, Task, groups, joins, sorts
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.core.model import Target
    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal

SORT, JOIN, TABLE = "sort_buffer_size", "join_buffer_size", "tmp_table_size"
SECONDS = 180.0
ROUNDS = 5
OVERHEAD = 0.5  # start of the driver, and the statements that set the options
LEAST = 32 << 10  # bytes; the smallest value that all servers accept for all three
START_ROWS = 20_000  # rows at which ranges may start
INNER_ROWS = 50  # rows of the inner table of a join
# A row is 120 bytes of text plus overhead that depends on the version: with fewer bytes per row than the first number
# the buffer must be too small, with more than the second it must suffice.
TOO_SMALL, ENOUGH = 100, 400
MERGE_PASSES, DISK_TABLES, INNER_SCANS = (
    "merge passes/sort",
    "temporary tables on disk/statement",
    "scans of the inner table/join",
)
HASH_WRITES = "writes to hash join files/join"
CHUNK_WRITES, ROWS = "writes to hash join files", "rows of a statement"
SPILLED_NAME = "spilled"
ASK_CHUNKS = (
    "SELECT COUNT_WRITE FROM performance_schema.file_summary_by_event_name "
    "WHERE EVENT_NAME = 'wait/io/file/sql/hash_join'"
)
MEMORY_LIMIT = "max_heap_table_size"  # limits tmp_table_size on MySQL 5.7 and MariaDB
JOIN_LIMIT = "join_buffer_space_limit"  # MariaDB's limit for all joins of a statement
LIMITS = (
    "All rows are in the buffer pool, and temporary files may stay in the page cache: slow disks cost more.",
    "Rows have 120 bytes in one character set: other rows reach the limits at other counts.",
    "The effect of many sessions' memory on a host that is short of it is not measured.",
)
JOIN_LIMIT_NOTE = f"{JOIN_LIMIT} is set to twice each size here; at its default of 2M it would cap larger buffers."
MEMORY_LIMIT_NOTE = f"{MEMORY_LIMIT} is set to each size as well; the smaller of the two is the limit."


class BufferKind(NamedTuple):
    """The workload that uses a buffer, and a metric that counts how often statements exceed the buffer.

    The metric is at least `too_small` if the buffer is too small, and at most `enough` if it suffices.
    """

    workload: Callable[[int], StatementMix]
    metric: str
    too_small: float
    enough: float


KINDS = {
    SORT: BufferKind(sorts, MERGE_PASSES, 1.0, 0.0),
    JOIN: BufferKind(lambda rows: joins(rows, INNER_ROWS), INNER_SCANS, 2.5, 2.1),
    TABLE: BufferKind(groups, DISK_TABLES, 1.0, 0.1),
}
HASH_JOIN = BufferKind(KINDS[JOIN].workload, HASH_WRITES, 1.0, 0.0)


class BufferCase(NamedTuple):
    """One variant: buffer size in bytes, rows per statement, and number of concurrent sessions."""

    size: int
    rows: int
    threads: int

    def variant(self, buffer: str, target: Target) -> Variant:
        """The variant with its options and name."""
        sessions = "1 session" if self.threads == 1 else f"{self.threads} sessions"
        group = f"{self.rows} rows, {sessions}"
        return Variant(
            f"{group}, {exact_size(self.size)}", _settings(target, buffer, self.size), float(self.size), group
        )


class SessionBuffers:
    """The probe `session-buffers`."""

    name = "session-buffers"
    title = "Sort, join and temporary-table memory"
    question = (
        "How do sort_buffer_size, join_buffer_size and tmp_table_size change speed, by rows and concurrent sessions?"
    )
    kind = "server"
    evidence = ("SORT-01", "SORT-02", "SORT-04", "SORT-07", "JOIN-01", "TMP-02")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("buffer", "word", SORT, f"the option to compare: {SORT}, {JOIN} or {TABLE}"),
        Choice("sizes", "sizes", "256K,2M,32M", "its values; the first is the baseline"),
        Choice("rows", "numbers", "500,20000", "rows that a statement sorts, joins or groups"),
        Choice("threads", "numbers", "1,8", "concurrent sessions"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """A group for each number of rows and sessions, with a variant for each size.

        Raises ProbeError if the option limits nothing on the server.
        """
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        buffer, cases = _buffer(chosen, binary), _cases(chosen)
        variants = tuple(case.variant(buffer, binary.target) for case in cases)
        shape, threads = _shape(cases), max(case.threads for case in cases)
        spilled = threads * max(case.rows for case in cases) * ENOUGH
        cost = variant_server.server_cost(pool=_pool(shape), data=shape.bytes, growth=2 * spilled, threads=threads)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P95, P99, _metric(_kind(binary.target, buffer))),
            cost=cost._replace(memory=cost.memory + threads * max(case.size for case in cases)),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=OVERHEAD,
            shortest=1.0,
            grain=1.0,
            axis=buffer,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={"option": buffer, "rows": str(shape.rows), "pool": str(_pool(shape))},
            limits=(*LIMITS, *_own_limits(binary.target, buffer)),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[BufferBench]:
        """Start a server with one table in its pool."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        buffer, cases = _buffer(chosen, binary), _cases(chosen)
        shape = _shape(cases)
        with start_variant_server(
            environment, binary, request.directory, variant_server.server_arguments(binary.target, pool=_pool(shape))
        ) as server:
            environment.report(f"filling a table of {shape.rows} rows")
            fill_tables(server.connection(), shape, stop)
            by_name = {case.variant(buffer, binary.target).name: case for case in cases}
            yield BufferBench(server, plan.driver, _kind(binary.target, buffer), by_name)


class BufferBench(WorkloadBench):
    """Adds to each block how often its statements exceeded the buffer."""

    def __init__(self, server: VariantServer, driver: str, kind: BufferKind, cases: dict[str, BufferCase]) -> None:
        self._kind, self._rows = kind, 0
        self._cases = cases

        def task_of(variant: Variant) -> Task:
            case = cases[variant.name]
            workload = kind.workload(case.rows)
            return Task(server.sandbox.socket, server.scratch_folder, workload, Access(), case.threads, START_ROWS)

        super().__init__(server, driver, task_of, warm_seconds=0, preconditions=preconditions(kind, cases))

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench."""
        self._rows = self._cases[variant.name].rows
        measured = super().measure(variant, turn, stop)
        if self._kind.metric in measured.counters:
            measured.metrics[SPILLED_NAME] = measured.counters[self._kind.metric]
        return measured

    def _read_status(self) -> dict[str, int]:
        status = {**super()._read_status(), ROWS: self._rows}
        if self._kind.metric == HASH_WRITES:
            status[CHUNK_WRITES] = sum(int(count) for (count,) in self.server.query(ASK_CHUNKS))
        return status


def preconditions(kind: BufferKind, cases: dict[str, BufferCase]) -> tuple[Precondition, ...]:
    """Preconditions: statements exceed buffers that are far too small for their rows, and no others."""

    def bounds(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        case = cases[variant.name]
        if case.size < case.rows * TOO_SMALL:
            return Bounds(kind.too_small)
        return Bounds(high=kind.enough) if case.size >= case.rows * ENOUGH else None

    return (Precondition(kind.metric, METRIC_VALUES[kind.metric], bounds),)


def _inner_scans(activity: BlockActivity) -> float | None:
    """How often the inner table of a join was read: once for each fill of the join buffer."""
    read = activity.per_transaction("Handler_read_next")
    return None if read is None else (read - activity.after[ROWS]) / INNER_ROWS


METRIC_VALUES: dict[str, Callable[[BlockActivity], float | None]] = {
    MERGE_PASSES: lambda activity: activity.per_transaction("Sort_merge_passes"),
    DISK_TABLES: lambda activity: activity.per_transaction("Created_tmp_disk_tables"),
    INNER_SCANS: _inner_scans,
    HASH_WRITES: lambda activity: activity.per_transaction(CHUNK_WRITES),
}


def _metric(kind: BufferKind) -> Metric:
    return Metric(SPILLED_NAME, kind.metric, "neither")


def _kind(target: Target, buffer: str) -> BufferKind:
    hashed = buffer == JOIN and target.since("mysql", 8, 0, 18)  # hash joins for equality conditions without an index
    return HASH_JOIN if hashed else KINDS[buffer]


def _buffer(chosen: ChosenOptions, binary: Binary) -> str:
    buffer = chosen.word("buffer", *KINDS)
    if buffer == TABLE and binary.target.since("mysql", 8) and not binary.target.since("mysql", 8, 0, 28):
        raise ProbeError(
            f"{TABLE} does not limit temporary tables of {binary.name}: TempTable ignores it before 8.0.28. Choose "
            f"another server, or buffer={SORT}"
        )
    return buffer


def _cases(chosen: ChosenOptions) -> list[BufferCase]:
    sizes, threads = chosen.sizes("sizes", LEAST), chosen.numbers("threads", 1)
    rows = chosen.numbers("rows", 2)
    return [BufferCase(size, count, sessions) for count in rows for sessions in threads for size in sizes]


def _settings(target: Target, buffer: str, size: int) -> dict[str, str]:
    settings = {buffer: str(size)}
    if buffer == TABLE and not target.since("mysql", 8):
        settings[MEMORY_LIMIT] = str(size)
    if buffer == JOIN and load(target).get(JOIN_LIMIT) is not None:
        settings[JOIN_LIMIT] = str(2 * size)
    return settings


def _own_limits(target: Target, buffer: str) -> Iterator[str]:
    if buffer == JOIN and load(target).get(JOIN_LIMIT) is not None:
        yield JOIN_LIMIT_NOTE
    if buffer == TABLE and not target.since("mysql", 8):
        yield MEMORY_LIMIT_NOTE


def _shape(cases: list[BufferCase]) -> TableShape:
    return TableShape(START_ROWS + max(case.rows for case in cases), key_on_k=False)


def _pool(shape: TableShape) -> int:
    return max(64 * variant_server.MIB, 2 * shape.bytes)


EXPERIMENT = SessionBuffers()
