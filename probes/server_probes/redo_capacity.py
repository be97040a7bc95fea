"""Probe of the redo log size that a write load needs to avoid waits for checkpoints."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import load
from advisor.core.model import exact_size
from advisor.facts.probes import Metric
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.buffer_pool_instances import STALLED_METRIC, VARIATION_METRIC, evenness_metrics
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition
from probes.server_probes.under_load import P99, TPS, WorkloadBench, fill_pool
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP, Access, Task
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import ROW_BYTES, TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Target
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal


MIB = 1 << 20
WORKLOAD = OLTP["oltp_write_only"]
SECONDS = 1800.0
ROUNDS = 10  # p99 scatters more than throughput, so many rounds are better than long blocks
SHORTEST = 30.0  # seconds of a block; a stall may occur only once in many seconds
RESTART = 5.0  # seconds, with a new redo log and reading the pool
LEAST = 16 * MIB  # two files of 8M; the minimum of MySQL is 8M in total, MariaDB's is 4M
TABLES = 4
DATA = 60  # percent of the pool; otherwise evictions would write dirty pages at any redo log size
GROWTH_RATE = 4 * MIB  # maximum bytes per second that updates add to tables and undo logs
CAPACITY = "redo log capacity"
WORST_METRIC = Metric("worst", "ms (p99 of the worst second)", "less")
FLUSHED, WAITS = "Innodb_buffer_pool_pages_flushed", "Innodb_log_waits"
REDO_TURNS = "redo written/capacity"
REDO_FILLED = "checkpoint age/capacity"
LEAST_FILLED = 0.1  # of the smallest log: innodb_adaptive_flushing_lwm, below which the log does not trigger flushing
COMMIT_OPTIONS = ("--innodb-flush-log-at-trx-commit=2",)
DURABLE_LIMIT = (
    "Commits do not wait for the disk (innodb_flush_log_at_trx_commit=2), so that checkpoint waits show. With "
    "durable commits, fewer complete, and a log of the same size lasts longer."
)
CACHED_LIMIT = (
    "The data fit in the buffer pool: where they do not, evictions write pages early, and the log matters less."
)
RECOVERY_LIMIT = "The longer crash recovery with a larger redo log is not measured."
START_LIMIT = (
    "Each block begins with an empty redo log. No write waits for a log that is not full yet, and a larger one takes "
    "longer to fill: short blocks favor large logs."
)
LIMITS = (DURABLE_LIMIT, CACHED_LIMIT, RECOVERY_LIMIT, START_LIMIT)


class RedoCapacity:
    """The probe `redo-capacity`."""

    name = "redo-capacity"
    title = "Stalls and the size of the redo log"
    question = "How large must the redo log be so that writes do not wait for checkpoints?"
    kind = "server"
    evidence = ("REDO-01", "REDO-04", "REDO-05")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("sizes", "sizes", "16M,32M,128M", "sizes of the whole redo log; the first is the baseline"),
        Choice("pool", "size", "512M", "innodb_buffer_pool_size; the data take 60 percent of it"),
        Choice("threads", "number", "8", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per size, on one server that is restarted for it; raises ProbeError for sizes below 16M."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        sizes, pool, threads = chosen.sizes("sizes", LEAST), chosen.size("pool", LEAST), chosen.number("threads", 1)
        variants = tuple(
            Variant(exact_size(size), redo_size_options(binary.target, size), float(size)) for size in sizes
        )
        shape = _shape(pool)
        growth = int(request.budget(SECONDS, ROUNDS) * GROWTH_RATE)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(P99, WORST_METRIC, TPS, VARIATION_METRIC, STALLED_METRIC),
            cost=variant_server.server_cost(
                pool=pool, data=shape.bytes, redo=2 * max(sizes), growth=growth, threads=threads
            ),
            seconds=SECONDS,
            rounds=ROUNDS,
            long_blocks=True,
            overhead=RESTART,
            shortest=SHORTEST,
            grain=1.0,
            axis="bytes of redo log",
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                "workload": WORKLOAD.name,
                "rows": str(shape.rows),
                "tables": str(TABLES),
                "pool": str(pool),
                "threads": str(threads),
            },
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[RedoBench]:
        """Start a server whose tables fit in its pool."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        pool, threads = chosen.size("pool", LEAST), chosen.number("threads", 1)
        shape = _shape(pool)
        arguments = (
            *variant_server.server_arguments(binary.target, pool=pool, redo=max(chosen.sizes("sizes"))),
            *COMMIT_OPTIONS,
        )
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            environment.report(f"filling {TABLES} tables of {shape.rows} rows")
            fill_tables(server.connection(), shape, stop)
            task = Task(
                server.sandbox.socket,
                server.scratch_folder,
                WORKLOAD,
                Access(),
                threads=threads,
                rows=shape.rows,
                tables=TABLES,
            )
            yield RedoBench(server, plan, task)


class RedoBench(WorkloadBench):
    """Fills the pool after each restart, and reads before and after a block how full the redo log is."""

    def __init__(self, server: VariantServer, plan: RunPlan, task: Task) -> None:
        smallest = min(variant.point or 0.0 for variant in plan.variants)
        checks = preconditions(smallest)
        self._capacity = 0.0
        super().__init__(server, plan.driver, lambda _: task, warm_seconds=0, preconditions=checks)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench; adds the variation from second to second."""
        self._capacity = variant.point or 0.0
        measured = super().measure(variant, turn, stop)
        tps, latency = measured.series.get("tps", ()), measured.series.get("p99", ())
        if not tps:
            return measured
        worst = {WORST_METRIC.name: max(latency)} if latency else {}
        return measured._replace(metrics={**measured.metrics, **evenness_metrics(tps), **worst})

    def _warm_up(self, variant: Variant, turn: Turn, stop: StopSignal) -> None:
        """Fill the pool, which is empty after a restart, so that no page is read during the measurement."""
        fill_pool(self.server, TABLES, stop)
        super()._warm_up(variant, turn, stop)

    def _read_status(self) -> dict[str, int]:
        return {**read_redo_counters(self.server), **super()._read_status(), CAPACITY: int(self._capacity)}


def preconditions(smallest: float) -> tuple[Precondition, ...]:
    """The preconditions of a block.

    Every log was used up at least once, and the `smallest` (in bytes) was so full that it forced flushing.
    """

    def fill_bounds(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        return Bounds(LEAST_FILLED) if variant.point == smallest else None

    return (
        Precondition(REDO_TURNS, lambda activity: _share(activity, activity.grown.get(LSN)), lambda *_: Bounds(1.0)),
        Precondition(REDO_FILLED, lambda activity: _share(activity, activity.after.get(AGE)), fill_bounds),
        Precondition("pages flushed/s", lambda activity: activity.per_second(FLUSHED), lambda *_: None),
        Precondition("waits for the log buffer/s", lambda activity: activity.per_second(WAITS), lambda *_: None),
    )


def _share(activity: BlockActivity, count: int | None) -> float | None:
    capacity = activity.after.get(CAPACITY)
    return None if count is None or not capacity else count / capacity


def _shape(pool: int) -> TableShape:
    return TableShape(max(1, pool * DATA // 100 // ROW_BYTES // TABLES), TABLES)


EXPERIMENT = RedoCapacity()


FILES = 2  # innodb_log_files_in_group, in versions with several files
CAPACITY, FILE_SIZE = "innodb_redo_log_capacity", "innodb_log_file_size"
STATUS = re.compile(r"^Log sequence number\s+(\d+)\s.*?^Last checkpoint at\s+(\d+)\s", re.MULTILINE | re.DOTALL)
LSN, AGE = "redo log sequence number", "checkpoint age"


class RedoState(NamedTuple):
    """The log sequence numbers of the newest redo record and of the last checkpoint, in bytes."""

    newest: int
    checkpoint: int

    @property
    def age(self) -> int:
        """The checkpoint age: bytes of redo whose pages are not all written yet."""
        return self.newest - self.checkpoint


def redo_size_options(target: Target, size: int) -> dict[str, str]:
    """The options for a redo log of that many bytes in total."""
    if load(target).get(CAPACITY) is not None:
        return {CAPACITY: str(size)}
    return {FILE_SIZE: str(size if target.since("mariadb", 10, 5) else size // FILES)}


def parse_redo_state(text: str) -> RedoState | None:
    """The redo log state from SHOW ENGINE INNODB STATUS; None if it is not there."""
    found = STATUS.search(text)
    return RedoState(int(found[1]), int(found[2])) if found else None


def read_redo_counters(server: VariantServer) -> dict[str, int]:
    """The log sequence number and the checkpoint age, under names that do not collide with status counters."""
    redo = parse_redo_state(str(server.query("SHOW ENGINE INNODB STATUS")[0][2]))
    return {} if redo is None else {LSN: redo.newest, AGE: redo.age}
