"""Probe of the cost of a commit by the flush settings of redo log and binary log, and by concurrency."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from advisor.catalog import load
from advisor.facts.probes import Metric
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import LOG_SYNCS, Bounds, Precondition, log_syncs_per_transaction, sync_bounds
from probes.server_probes.under_load import METRICS, WorkloadBench
from probes.server_probes.variant_server import BINLOG_SYNCS, start_variant_server
from probes.workload.load import OLTP, Access, Task
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

POOL = 128 << 20
WORKLOAD = OLTP["oltp_update_non_index"]
FLUSH, SYNC = "innodb_flush_log_at_trx_commit", "sync_binlog"
SYNCED_FLUSHES = ("1", "3")  # 3 is MariaDB's: it syncs in both phases of a commit
DELAY, DELAY_COUNT = "binlog_group_commit_sync_delay", "binlog_group_commit_sync_no_delay_count"
WAIT, WAIT_COUNT = "binlog_commit_wait_usec", "binlog_commit_wait_count"  # MariaDB's names for the two
COMMIT_GROUPS, GROUP_STATUS = "groups of commits", "Binlog_group_commits"
GROUPS_PER_SECOND, GROUP_SIZE = "groups of commits/s", "commits/group"
COMMITS_PER_CONNECTION = "commits/s of a connection"
GROUP_METRIC = Metric("group", GROUP_SIZE, "neither")
SECOND_US = 1_000_000  # microseconds; MySQL's maximum delay
EARLY_FACTOR = (
    1.25  # times the groups that the delays allow: MariaDB ends a delay early if another session waits for it
)
PRECONDITIONS = (
    Precondition(LOG_SYNCS, log_syncs_per_transaction, sync_bounds(FLUSH, SYNCED_FLUSHES)),
    Precondition(
        "binary log syncs/transaction",
        lambda activity: activity.per_transaction(BINLOG_SYNCS),
        sync_bounds(SYNC, ("1",), counts=True),
    ),
)
SECONDS = 300.0
ROUNDS = 5
OVERHEAD = 0.4  # start of the driver, and the statements that set the options
LOG_RATE = 14 << 20  # bytes of binary log a second: 20,000 commits with two row images each
LIMITS = (
    "Data loss is not measured: settings that flush less lose the last commits in a power failure.",
    "Blocks of seconds miss checkpoints, full binary log caches and stalls that occur every few minutes.",
)
CONFLICTS = (
    "The connections rarely update the same row. A delay also prolongs row locks, so sessions that wait for the same "
    "rows lose more."
)


class Commit:
    """The probe `commit`."""

    name = "commit"
    title = "What durable commits cost"
    question = "How many commits per second do innodb_flush_log_at_trx_commit and sync_binlog allow, by concurrency?"
    kind = "server"
    evidence = ("DUR-01", "DUR-02", "DUR-03", "BINLOG-01")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("flush", "numbers", "1,2,0", "values of innodb_flush_log_at_trx_commit"),
        Choice("sync", "numbers", "1,0", "values of sync_binlog"),
        Choice("threads", "numbers", "1,4,16,64", "concurrent connections"),
        Choice(
            "delay",
            "numbers",
            "0",
            "microseconds that a group commit waits for more commits (binlog_group_commit_sync_delay, or "
            "binlog_commit_wait_usec)",
        ),
        Choice(
            "count",
            "number",
            "0",
            "commits that end the delay early (binlog_group_commit_sync_no_delay_count, or "
            "binlog_commit_wait_count); 0: none",
        ),
        Choice("rows", "number", "50000", "rows of the updated table"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant for each combination of flush, sync, delay and concurrency.

        The baseline at each concurrency is the first of each: by default 1 and 1 without a delay.
        """
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        threads = chosen.numbers("threads", 1)
        delays, ending = _delays(chosen), chosen.number("count")
        variants = tuple(
            _variant(flush, sync, count, _delay_settings(binary.target, delay, ending, count) if any(delays) else {})
            for count in threads
            for flush in _flush_values(chosen, binary)
            for sync in chosen.numbers("sync")
            for delay in delays
        )
        driver = choose_driver(chosen.word("driver"))
        shape = TableShape(chosen.number("rows", 100))
        seconds = request.budget(SECONDS, ROUNDS)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(*METRICS, GROUP_METRIC),
            cost=variant_server.server_cost(
                pool=POOL,
                data=shape.bytes,
                growth=variant_server.BINARY_LOG + int(LOG_RATE * seconds / len(variants)),
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
            limits=(*LIMITS, *([CONFLICTS] if any(delays) else [])),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[CommitBench]:
        """Start a server with the binary log enabled, and fill one table."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        rows = chosen.number("rows", 100)
        arguments = variant_server.server_arguments(binary.target, pool=POOL, binary_log=True)
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            environment.report(f"filling a table of {rows} rows")
            fill_tables(server.connection(), TableShape(rows, key_on_k=False), stop)

            def task_of(variant: Variant) -> Task:
                threads = int(variant.point or 1)
                return Task(server.sandbox.socket, server.scratch_folder, WORKLOAD, Access(), threads, rows)

            yield CommitBench(server, plan.driver, task_of, chosen.number("count"))


class CommitBench(WorkloadBench):
    """Adds the number of commits per group to each block, if the server counts groups."""

    def __init__(self, server: VariantServer, driver: str, task_of: Callable[[Variant], Task], count: int) -> None:
        self._settings: dict[str, str] = {}
        super().__init__(server, driver, task_of, warm_seconds=0, preconditions=_preconditions(count))

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench."""
        self._settings = variant.settings
        measured = super().measure(variant, turn, stop)
        if GROUP_SIZE in measured.counters:
            measured.metrics[GROUP_METRIC.name] = measured.counters[GROUP_SIZE]
        return measured

    def _read_status(self) -> dict[str, int]:
        status = super()._read_status()
        counter = group_counter(self._settings, status)
        return status if counter is None else {**status, COMMIT_GROUPS: status[counter]}


def group_counter(settings: dict[str, str], status: dict[str, int]) -> str | None:
    """The counter of commit groups: MariaDB has one; otherwise the syncs of the binary log, if groups sync it.

    No other counter is reliable: MySQL also syncs the redo log between groups, up to 1.6 times per commit of one
    connection.
    """
    synced = BINLOG_SYNCS if settings[SYNC] == "1" else ""
    return next((name for name in (GROUP_STATUS, synced) if name in status), None)


def _commits_per_group(activity: BlockActivity) -> float | None:
    groups = activity.grown.get(COMMIT_GROUPS)
    return activity.transactions / groups if groups else None


def _preconditions(count: int) -> tuple[Precondition, ...]:
    """Preconditions: the logs are synced as set, and groups wait for the delay if no `count` ends it early.

    If groups are not counted, the commits per connection are checked, because every commit waits.
    """

    def delay_bounds(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        delay = int(variant.settings.get(DELAY) or variant.settings.get(WAIT) or 0)
        return Bounds(high=EARLY_FACTOR * SECOND_US / delay) if delay and not count else None

    return (
        *PRECONDITIONS,
        Precondition(GROUPS_PER_SECOND, lambda activity: activity.per_second(COMMIT_GROUPS), delay_bounds),
        Precondition(COMMITS_PER_CONNECTION, lambda it: it.transactions / it.seconds / it.threads, delay_bounds),
        Precondition(GROUP_SIZE, _commits_per_group, lambda *_: None),
    )


def _variant(flush: int, sync: int, threads: int, delayed: dict[str, str]) -> Variant:
    settings = {FLUSH: str(flush), SYNC: str(sync), **delayed}
    delay = next((f" delay={value}" for name, value in delayed.items() if name in (DELAY, WAIT)), "")
    group = "1 thread" if threads == 1 else f"{threads} threads"
    return Variant(f"flush={flush} sync={sync}{delay} threads={threads}", settings, float(threads), group)


def _delays(chosen: ChosenOptions) -> list[int]:
    delays = chosen.numbers("delay")
    if max(delays) > SECOND_US:
        raise ProbeError(f"invalid delay={max(delays)}: the maximum is {SECOND_US} microseconds")
    return delays


def _delay_settings(target: Target, delay: int, count: int, threads: int) -> dict[str, str]:
    """The options for a delay in microseconds that ends early once `count` commits wait; 0 means no such count."""
    if load(target).get(DELAY) is not None:
        return {DELAY: str(delay), DELAY_COUNT: str(count)}
    # MariaDB waits only with a count, so one is set that the connections cannot reach.
    return {WAIT: str(delay), WAIT_COUNT: str((count or threads + 1) if delay else 0)}


def _flush_values(chosen: ChosenOptions, binary: Binary) -> list[int]:
    flushes = chosen.numbers("flush")
    most = 3 if binary.target.is_mariadb else 2
    if max(flushes) > most:
        raise ProbeError(f"invalid flush={max(flushes)} for {binary.name}: use 0 to {most}")
    return flushes


EXPERIMENT = Commit()
