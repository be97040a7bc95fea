"""What a commit costs: how the redo log and the binary log are flushed, by how many commit at once."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from probes.choices import Chosen
from probes.experiment import Choice, Plan, ProbeError, Variant
from probes.served import measuring
from probes.served.choosing import SERVER, binary_for
from probes.served.loaded import METRICS, LoadedBench
from probes.served.mechanism import LOG_SYNCS, Precondition, log_syncs, syncs_as_set
from probes.served.serving import BINLOG_SYNCS, serve
from probes.workload.driving import DRIVER, driver_of
from probes.workload.statements import OLTP, Access
from probes.workload.tables import Shape, fill
from probes.workload.task import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Ground, Wanted
    from probes.sandbox import Binary
    from probes.stopping import Stop

POOL = 128 << 20
WORKLOAD = OLTP["oltp_update_non_index"]
FLUSH, SYNC = "innodb_flush_log_at_trx_commit", "sync_binlog"
PRECONDITIONS = (
    Precondition(LOG_SYNCS, log_syncs, syncs_as_set(FLUSH, "1")),
    Precondition(
        "binary log syncs/transaction",
        lambda activity: activity.per_transaction(BINLOG_SYNCS),
        syncs_as_set(SYNC, "1"),
    ),
)
SECONDS = 120.0
ROUNDS = 5
OVERHEAD = 0.4  # the driver's start and the statements that set the options
LOG_RATE = 14 << 20  # bytes of binary log a second: 20,000 commits with the two images of a row each
LIMITS = (
    "It can't see what a power cut loses: the settings that flush less lose the last commits, whatever they gain.",
    "Blocks of seconds see no checkpoint, no full binary log cache and no stall that comes once in minutes.",
)


class Commit:
    """The experiment `commit`."""

    name = "commit"
    title = "What durable commits cost"
    question = "How many commits a second do innodb_flush_log_at_trx_commit and sync_binlog leave, by concurrency?"
    kind = "server"
    evidence = ("DUR-01", "DUR-02", "DUR-03", "BINLOG-01")
    choices = (
        SERVER,
        DRIVER,
        Choice("flush", "numbers", "1,2,0", "values of innodb_flush_log_at_trx_commit"),
        Choice("sync", "numbers", "1,0", "values of sync_binlog"),
        Choice("threads", "numbers", "1,8", "how many connections commit at once"),
        Choice("rows", "number", "50000", "rows of the table whose rows are updated"),
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """Every flush with every sync at every concurrency; the first of each, 1 and 1 by default, is what the
        others at the same concurrency are compared with."""
        chosen = Chosen(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        threads = chosen.numbers("threads", 1)
        variants = tuple(
            _variant(flush, sync, count)
            for count in threads
            for flush in _flushes(chosen, binary)
            for sync in chosen.numbers("sync")
        )
        driver = driver_of(chosen.word("driver"))
        shape = Shape(chosen.number("rows", 100))
        seconds = wanted.budget(SECONDS, ROUNDS)
        return Plan(
            variants=variants,
            baseline=variants[0].name,
            metrics=METRICS,
            cost=measuring.cost(
                pool=POOL,
                data=shape.bytes,
                growth=measuring.BINARY_LOG + int(LOG_RATE * seconds / len(variants)),
                threads=max(threads),
            ),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=OVERHEAD,
            shortest=1.0,
            axis="threads",
            driver=driver,
            server=str(binary.target),
            parameters={"workload": WORKLOAD.name, "rows": str(shape.rows), "pool": str(POOL), "binary log": "on"},
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(self, ground: Ground, wanted: Wanted, plan: Plan, stop: Stop) -> Iterator[LoadedBench]:
        """A server with the binary log on, and one table."""
        chosen = Chosen(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        rows = chosen.number("rows", 100)
        arguments = measuring.arguments(binary.target, pool=POOL, binary_log=True)
        with serve(ground, binary, wanted.directory, arguments) as served:
            ground.report(f"filling a table of {rows} rows")
            fill(served.connection(), Shape(rows, key_on_k=False), stop)

            def task_of(variant: Variant) -> Task:
                threads = int(variant.point or 1)
                return Task(served.sandbox.socket, served.room, WORKLOAD, Access(), threads, rows)

            yield LoadedBench(served, plan.driver, task_of, warm_seconds=0, preconditions=PRECONDITIONS)


def _variant(flush: int, sync: int, threads: int) -> Variant:
    settings = {FLUSH: str(flush), SYNC: str(sync)}
    group = "1 thread" if threads == 1 else f"{threads} threads"
    return Variant(f"flush={flush} sync={sync} threads={threads}", settings, float(threads), group)


def _flushes(chosen: Chosen, binary: Binary) -> list[int]:
    flushes = chosen.numbers("flush")
    most = 3 if binary.target.is_mariadb else 2
    if max(flushes) > most:
        raise ProbeError(f"flush={max(flushes)} means nothing of its own to {binary.name}: choose among 0 to {most}")
    return flushes


EXPERIMENT = Commit()
