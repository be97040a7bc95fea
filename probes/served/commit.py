"""What a commit costs: how the redo log and the binary log are flushed, by how many commit at once."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from advisor.facts.probes import Metric
from probes.choices import Chosen
from probes.experiment import Choice, Plan, ProbeError, Variant
from probes.served import measuring
from probes.served.choosing import SERVER, binary_for
from probes.served.loaded import METRICS, LoadedBench
from probes.served.serving import serve
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
LOG_FLUSHES = Metric("log_flushes", "redo log flushes/transaction", "neither")
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
        """Every flush with every sync at every concurrency; 1 and 1 with the fewest threads is what the others are
        compared with, where both are among the values."""
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
            metrics=(*METRICS, LOG_FLUSHES),
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
                return Task(served.sandbox.socket, served.room, WORKLOAD, Access(), threads, rows, seed=wanted.seed + 1)

            yield LoadedBench(
                served, plan.driver, task_of, warm_seconds=0, counters={LOG_FLUSHES.name: "Innodb_os_log_fsyncs"}
            )


def _variant(flush: int, sync: int, threads: int) -> Variant:
    settings = {"innodb_flush_log_at_trx_commit": str(flush), "sync_binlog": str(sync)}
    return Variant(f"flush={flush} sync={sync} threads={threads}", settings, float(threads))


def _flushes(chosen: Chosen, binary: Binary) -> list[int]:
    flushes = chosen.numbers("flush")
    most = 3 if binary.target.is_mariadb else 2
    if max(flushes) > most:
        raise ProbeError(f"flush={max(flushes)} means nothing of its own to {binary.name}: choose among 0 to {most}")
    return flushes


EXPERIMENT = Commit()
