"""How large the redo log must be for a load of writes not to wait for checkpoints."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.load import load
from advisor.core.sizes import exact
from advisor.facts.probes import Metric
from probes.choices import ChosenOptions
from probes.experiment import BlockMeasurement, Choice, RunPlan, Variant
from probes.served import server_settings
from probes.served.buffer_pool_instances import STALLED, VARIATION, evenness
from probes.served.choices import SERVER, binary_for
from probes.served.filling import fill_pool
from probes.served.mechanism import Bounds, Precondition
from probes.served.under_load import P99, TPS, LoadedBench
from probes.served.variant_server import serve
from probes.workload.driver import DRIVER, driver_of
from probes.workload.load import Task
from probes.workload.statements import OLTP, Access
from probes.workload.tables import ROW_BYTES, Shape, fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Target
    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.served.mechanism import Activity
    from probes.served.variant_server import Served
    from probes.stop import Stop


MIB = 1 << 20
WORKLOAD = OLTP["oltp_write_only"]
SECONDS = 1800.0
ROUNDS = 10  # p99 scatters more than throughput: rounds are worth more than long blocks
SHORTEST = 30.0  # seconds of a block; a stall comes once in many seconds
RESTART = 5.0  # with a new redo log, and the pool read in
LEAST = 16 * MIB  # two files of 8M; MySQL takes 8M in all and MariaDB 4M
TABLES = 4
DATA = 60  # percent of the pool: what evicts dirty pages writes them whatever the redo log
GROWTH_RATE = 4 * MIB  # bytes a second that updates add to tables and undo logs, at most
CAPACITY = "redo log capacity"
WORST = Metric("worst", "ms (p99 of the worst second)", "less")
FLUSHED, WAITS = "Innodb_buffer_pool_pages_flushed", "Innodb_log_waits"
TURNED = "redo written/capacity"
FILLED = "checkpoint age/capacity"
LEAST_FILLED = 0.1  # of the smallest log: innodb_adaptive_flushing_lwm, below which the log makes nothing be flushed
SETTINGS = ("--innodb-flush-log-at-trx-commit=2",)
DURABLE = (
    "Commits don't wait for the disk here (innodb_flush_log_at_trx_commit=2), so that waits for checkpoints show. With "
    "durable commits fewer go through, and a log of the same size lasts longer."
)
CACHED = (
    "The data fit the buffer pool: where they don't, pages are written early to make room, and the log matters less."
)
RECOVERY = "It can't see how much longer a crash recovery takes with a larger redo log."
LIMITS = (DURABLE, CACHED, RECOVERY)


class RedoCapacity:
    """The experiment `redo-capacity`."""

    name = "redo-capacity"
    title = "Stalls and the size of the redo log"
    question = "How large must the redo log be for writes not to wait for checkpoints?"
    kind = "server"
    evidence = ("REDO-01", "REDO-04", "REDO-05")
    choices = (
        SERVER,
        DRIVER,
        Choice("sizes", "sizes", "16M,32M,128M", "sizes of the whole redo log; the first is the baseline"),
        Choice("pool", "size", "512M", "innodb_buffer_pool_size; the data take 60 percent of it"),
        Choice("threads", "number", "8", "connections that write at once"),
    )

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """One variant for each size, on one server that is restarted for it. Raises ProbeError for sizes below 16M."""
        chosen = ChosenOptions(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        sizes, pool, threads = chosen.sizes("sizes", LEAST), chosen.size("pool", LEAST), chosen.number("threads", 1)
        variants = tuple(Variant(exact(size), sized(binary.target, size), float(size)) for size in sizes)
        shape = _shape(pool)
        growth = int(wanted.budget(SECONDS, ROUNDS) * GROWTH_RATE)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(P99, WORST, TPS, VARIATION, STALLED),
            cost=server_settings.cost(pool=pool, data=shape.bytes, redo=2 * max(sizes), growth=growth, threads=threads),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART,
            shortest=SHORTEST,
            grain=1.0,
            axis="bytes of redo log",
            driver=driver_of(chosen.word("driver")),
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
    def prepare(self, ground: Environment, wanted: ProbeRequest, plan: RunPlan, stop: Stop) -> Iterator[RedoBench]:
        """A server whose tables fit its pool."""
        chosen = ChosenOptions(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        pool, threads = chosen.size("pool", LEAST), chosen.number("threads", 1)
        shape = _shape(pool)
        arguments = (*server_settings.arguments(binary.target, pool=pool, redo=max(chosen.sizes("sizes"))), *SETTINGS)
        with serve(ground, binary, wanted.directory, arguments) as served:
            ground.report(f"filling {TABLES} tables of {shape.rows} rows")
            fill(served.connection(), shape, stop)
            task = Task(
                served.sandbox.socket, served.room, WORKLOAD, Access(), threads=threads, rows=shape.rows, tables=TABLES
            )
            yield RedoBench(served, plan, task)


class RedoBench(LoadedBench):
    """Fills the pool after each restart, and reads before and after a block how full the redo log is."""

    def __init__(self, served: Served, plan: RunPlan, task: Task) -> None:
        smallest = min(variant.point or 0.0 for variant in plan.variants)
        checks = preconditions(smallest)
        self._capacity = 0.0
        super().__init__(served, plan.driver, lambda _: task, warm_seconds=0, preconditions=checks)

    def measure(self, variant: Variant, turn: Turn, stop: Stop) -> BlockMeasurement:
        """One block, see LoadedBench, with how even its seconds were."""
        self._capacity = variant.point or 0.0
        measured = super().measure(variant, turn, stop)
        tps, latency = measured.series.get("tps", ()), measured.series.get("p99", ())
        if not tps:
            return measured
        worst = {WORST.name: max(latency)} if latency else {}
        return measured._replace(metrics={**measured.metrics, **evenness(tps), **worst})

    def _warm(self, variant: Variant, turn: Turn, stop: Stop) -> None:
        """The pool is empty after a restart: let no page be read while it is measured."""
        fill_pool(self.served, TABLES, stop)
        super()._warm(variant, turn, stop)

    def _settled(self) -> dict[str, int]:
        return {**redo_counters(self.served), **super()._settled(), CAPACITY: int(self._capacity)}


def preconditions(smallest: float) -> tuple[Precondition, ...]:
    """That every log was written round, and that the `smallest` (in bytes) was so full that pages had to be flushed."""

    def filled(variant: Variant, _activity: Activity) -> Bounds | None:
        return Bounds(LEAST_FILLED) if variant.point == smallest else None

    return (
        Precondition(TURNED, lambda activity: _share(activity, activity.grown.get(LSN)), lambda *_: Bounds(1.0)),
        Precondition(FILLED, lambda activity: _share(activity, activity.after.get(AGE)), filled),
        Precondition("pages flushed/s", lambda activity: activity.per_second(FLUSHED), lambda *_: None),
        Precondition("waits for the log buffer/s", lambda activity: activity.per_second(WAITS), lambda *_: None),
    )


def _share(activity: Activity, count: int | None) -> float | None:
    capacity = activity.after.get(CAPACITY)
    return None if count is None or not capacity else count / capacity


def _shape(pool: int) -> Shape:
    return Shape(max(1, pool * DATA // 100 // ROW_BYTES // TABLES), TABLES)


EXPERIMENT = RedoCapacity()


FILES = 2  # innodb_log_files_in_group, where there is more than one
CAPACITY, FILE_SIZE = "innodb_redo_log_capacity", "innodb_log_file_size"
STATUS = re.compile(r"^Log sequence number\s+(\d+)\s.*?^Last checkpoint at\s+(\d+)\s", re.MULTILINE | re.DOTALL)
LSN, AGE = "redo log sequence number", "checkpoint age"


class Redo(NamedTuple):
    """The sequence number of the newest redo and of the last checkpoint, in bytes."""

    newest: int
    checkpoint: int

    @property
    def age(self) -> int:
        """Bytes of redo whose pages aren't all written yet."""
        return self.newest - self.checkpoint


def sized(target: Target, size: int) -> dict[str, str]:
    """The options of a redo log of so many bytes in all."""
    if load(target).get(CAPACITY) is not None:
        return {CAPACITY: str(size)}
    return {FILE_SIZE: str(size if target.since("mariadb", 10, 5) else size // FILES)}


def read_redo(text: str) -> Redo | None:
    """What SHOW ENGINE INNODB STATUS says of the redo log, None where it says nothing."""
    found = STATUS.search(text)
    return Redo(int(found[1]), int(found[2])) if found else None


def redo_counters(served: Served) -> dict[str, int]:
    """The log sequence number and the checkpoint age under names of their own, for use beside status counters."""
    redo = read_redo(str(served.query("SHOW ENGINE INNODB STATUS")[0][2]))
    return {} if redo is None else {LSN: redo.newest, AGE: redo.age}
