"""WorkloadBench: measure variants of a server under a workload, from a pool that was filled and flushed before."""

from __future__ import annotations

import itertools
import os
import time
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.probes import Metric
from probes.experiment import BlockMeasurement, list_names
from probes.server_probes import variant_server
from probes.server_probes.mechanism import RECORDED, BlockActivity, check_preconditions, row_preconditions
from probes.workload.load import Access, Task
from probes.workload.own_driver import run_load
from probes.workload.tables import ROW_BYTES, TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.core.model import Target
    from probes.experiment import ChosenOptions, Cost, Environment, Turn, Variant
    from probes.server_probes.mechanism import Precondition
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal
    from probes.workload.load import LoadResult, StatementMix


CAPACITY, CAPACITY_MAX = "innodb_io_capacity", "innodb_io_capacity_max"
LOW_WATER, DIRTY_LIMIT = "innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"
# Batches whose size innodb_io_capacity limits; then those that flush as much as a checkpoint requires.
LIMITED_BATCHES = ("buffer_flush_adaptive_total_pages", "buffer_flush_background_total_pages")
SYNC_BATCHES = "buffer_flush_sync_total_pages"
PAGES_FLUSHED, PAGES_DIRTY = "Innodb_buffer_pool_pages_flushed", "Innodb_buffer_pool_pages_dirty"
DRAIN_CAPACITY, LEAST_CAPACITY = 20_000, 100  # pages a second; servers accept no lower value
FEW_DIRTY = 16  # dirty pages that an idle server may keep
DRAIN_TIMEOUT, LOOK = 20.0, 0.1  # seconds


def enable_batch_counters(server: VariantServer) -> None:
    """Enable InnoDB's counters of flushed pages by kind of batch; a restart disables them."""
    server.query("SET GLOBAL innodb_monitor_enable = 'buffer_flush_%'")


def batch_counters(server: VariantServer) -> dict[str, int]:
    """Pages that each kind of batch has flushed so far."""
    names = ", ".join(f"'{name}'" for name in (*LIMITED_BATCHES, SYNC_BATCHES))
    rows = server.query(f"SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ({names})")  # noqa: S608
    return {str(name): int(count) for name, count in rows}


def write_all_pages(server: VariantServer, stop: StopSignal) -> None:
    """Make the server write its dirty pages, so that all blocks start the same way.

    Afterwards the dirty page limits are restored, and innodb_io_capacity has its minimum: servers do not accept a
    maximum below the current capacity.
    """
    low, limit = server.variable(LOW_WATER), server.variable(DIRTY_LIMIT)
    most = str(2 * DRAIN_CAPACITY)
    try:
        server.apply_settings({CAPACITY_MAX: most, CAPACITY: str(DRAIN_CAPACITY)})
        server.query(f"SET GLOBAL {LOW_WATER} = 0")  # may not be above the limit
        server.query(f"SET GLOBAL {DIRTY_LIMIT} = 0")
        deadline = time.monotonic() + DRAIN_TIMEOUT
        while server.status().get(PAGES_DIRTY, 0) > FEW_DIRTY and time.monotonic() < deadline and not stop.wait(LOOK):
            pass
    finally:
        server.query(f"SET GLOBAL {DIRTY_LIMIT} = {limit}")
        server.query(f"SET GLOBAL {LOW_WATER} = {low}")
        server.apply_settings({CAPACITY_MAX: most, CAPACITY: str(LEAST_CAPACITY)})


def fill_pool(server: VariantServer, tables: int, stop: StopSignal) -> None:
    """Scan both indexes of sbtest1 to sbtest`tables`, so that the pool holds as much of them as possible."""
    for number in range(1, tables + 1):
        for index in ("PRIMARY", f"k_{number}"):
            if not stop.is_set():
                server.query(f"SELECT SUM(k) FROM sbtest.sbtest{number} FORCE INDEX ({index})")  # noqa: S608


TPS = Metric("tps", "transactions/s", "more")
QPS = Metric("qps", "queries/s", "more")
P95 = Metric("p95", "ms", "less")
P99 = Metric("p99", "ms", "less")
METRICS = (TPS, QPS, P95, P99)
AGREEMENT = 0.1  # two blocks agree if they differ by less than this share, the noise of a quiet host
SETTLE_SECONDS, POLL_SECONDS = 2.0, 0.05  # seconds
WARMUP_SEED_OFFSET = 500  # offset between the seeds of a warm-up and those of its block
DRIVER_LIMIT = 0.4  # share of its processors from which on the driver slows down the server
P99_TRANSACTIONS = 100  # with fewer transactions, the p99 is the maximum
EMPTY_BLOCK = BlockMeasurement({}, {})  # result of a stopped block, which is not kept


class WarmUp(NamedTuple):
    """The result of a warm-up: the seconds it took, and whether two consecutive blocks agreed in the end."""

    seconds: float
    agreed: bool


def warm_up(block: Callable[[], float | None], bound: float, stop: StopSignal) -> WarmUp:
    """Run blocks until two consecutive rates agree, or for `bound` seconds; `block` returns None once stopped."""
    began = time.monotonic()
    before: float | None = None
    while not stop.is_set():
        rate = block()
        taken = time.monotonic() - began
        if rate is None:
            break
        if before is not None and abs(rate - before) <= AGREEMENT * max(rate, before):
            return WarmUp(taken, agreed=True)
        if taken >= bound:
            break
        before = rate
    return WarmUp(time.monotonic() - began, agreed=False)


def block_activity(ran: LoadResult, task: Task, before: dict[str, int], after: dict[str, int]) -> BlockActivity:
    """The activity of a block, from its load and the status counters before and after it."""
    grown = {name: value - before[name] for name, value in after.items() if name in before}
    return BlockActivity(ran.seconds, ran.transactions, ran.repeated, task.threads, grown, after)


def load_measurement(ran: LoadResult) -> BlockMeasurement:
    """The results of a load under the names of METRICS, with the per-second series of tps, qps and p99."""
    return BlockMeasurement(
        {"tps": ran.transactions / ran.seconds, "qps": ran.queries / ran.seconds, "p95": ran.p95, "p99": ran.p99},
        {"tps": ran.tps, "qps": ran.qps, "p99": ran.p99_by_second},
    )


def driver_share(ran: LoadResult, threads: int, processors: int) -> float:
    """The share of its processors that the driver used; it can use one for each connection.

    On a host of many processors, a driver that is the limit uses a small share of them all.
    """
    return (ran.cpu or 0.0) / ran.seconds / min(threads, processors)


class WorkloadBench:
    """Measures a workload on one server: applies each variant's options, and warms up after every restart.

    `task_of` returns the load for a variant (its socket is the server's own). `warm_seconds` limits a warm-up, which
    takes place in the first block of a variant and after every restart. `counters` maps metrics to status counters
    that are measured per transaction; missing counters are left out. `settling` are counters that continue to grow
    briefly after the load has ended; they are waited for before and after it. `preconditions` make a block valid, in
    addition to the one that every UPDATE changes a row. With `own_server`, no other variant uses the server, and the
    variants of a round send the same statements.
    """

    def __init__(
        self,
        server: VariantServer,
        driver: str,
        task_of: Callable[[Variant], Task],
        *,
        warm_seconds: float = 5.0,
        counters: dict[str, str] | None = None,
        preconditions: tuple[Precondition, ...] = (),
        settling: tuple[str, ...] = (),
        own_server: bool = False,
    ) -> None:
        self.server = server
        self.driver = driver
        self._task_of = task_of
        self._warm_seconds = warm_seconds
        self._counters = counters or {}
        self._preconditions = preconditions
        self._settling = settling
        self._own_server = own_server
        self._warmed: set[str] = set()
        self._cold_variants: list[str] = []
        self._differing: dict[str, str] = {}
        self._repeated = 0
        self._driver_share = 0.0
        self._short: dict[str, None] = {}

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block; raises ProbeError if the server or the driver fails."""
        with self.server.explain_errors():
            self.server.begin_round(turn.round)
            restarted = self.server.apply_settings(variant.settings)
            if restarted or variant.name not in self._warmed:
                self._compare_settings(variant)
                self._warm_up(variant, turn, stop)
            return self._run(variant, turn, stop)

    def forget_warm_up(self) -> None:
        """Warm up again before the next block, because the server was restarted."""
        self._warmed.clear()

    def facts(self) -> dict[str, float | str]:
        """Settings whose running value differs from the requested one."""
        return {f"{what} runs as": running for what, running in self._differing.items()}

    def notes(self) -> tuple[str, ...]:
        """Notes on rounded settings, cold blocks, driver load and repeated transactions."""
        notes = [
            f"{what} was requested, but the server runs with {running}." for what, running in self._differing.items()
        ]
        if self._cold_variants:
            cold = list_names(dict.fromkeys(self._cold_variants))
            notes.append(f"The warm-up ended before the rate was stable: {cold}. The first blocks may be cold.")
        if self._driver_share > DRIVER_LIMIT:
            notes.append(
                f"The driver used up to {self._driver_share:.0%} of its processors. The server could do more than "
                "these rates, and differences could be larger. Install sysbench: it uses far less."
            )
        if self._short:
            notes.append(
                f"Blocks of fewer than {P99_TRANSACTIONS} transactions: {list_names(self._short)}. Their p99 is the "
                "latency of the slowest transaction, with fewer than 20 their p95 too."
            )
        if self._repeated:
            notes.append(f"{self._repeated} transactions had a deadlock or a lock wait timeout and are not counted.")
        return tuple(notes)

    def _run(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        task = self._task(variant, turn.round_seed if self._own_server else turn.block_seed)
        before = self._read_status()
        ran = run_load(self.driver, task, turn.seconds, stop)
        if ran is None:
            return EMPTY_BLOCK
        after = self._read_status()
        self._repeated += ran.repeated
        self._driver_share = max(self._driver_share, driver_share(ran, task.threads, os.cpu_count() or 1))
        if ran.transactions < P99_TRANSACTIONS:
            self._short[variant.name] = None
        self.server.purge_binary_logs()
        activity = block_activity(ran, task, before, after)
        checked = check_preconditions(
            (*RECORDED, *row_preconditions(task.workload), *self._preconditions), variant, activity
        )
        measured = load_measurement(ran)
        rates = {name: activity.per_transaction(counter) for name, counter in self._counters.items()}
        measured.metrics.update({name: rate for name, rate in rates.items() if rate is not None})
        return measured._replace(counters=checked.counters, invalid=checked.invalid)

    def _read_status(self) -> dict[str, int]:
        """The status counters, once those in `settling` have stopped growing or SETTLE_SECONDS are over."""
        counters = self.server.status()
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._settling and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            before, counters = counters, self.server.status()
            if all(counters.get(name) == before.get(name) for name in self._settling):
                break
        return counters

    def _warm_up(self, variant: Variant, turn: Turn, stop: StopSignal) -> None:
        self._warmed.add(variant.name)
        if self._warm_seconds <= 0:
            return
        seeds = itertools.count((turn.round_seed if self._own_server else turn.block_seed) + WARMUP_SEED_OFFSET)
        warmth = warm_up(lambda: self._rate(variant, next(seeds), stop), self._warm_seconds, stop)
        if not warmth.agreed and not stop.is_set():
            self._cold_variants.append(variant.name)

    def _rate(self, variant: Variant, seed: int, stop: StopSignal) -> float | None:
        ran = run_load(self.driver, self._task(variant, seed), 1, stop)
        return None if ran is None else ran.queries / ran.seconds

    def _task(self, variant: Variant, seed: int) -> Task:
        return self._task_of(variant)._replace(seed=seed)

    def _compare_settings(self, variant: Variant) -> None:
        for name, value in variant.settings.items():
            running = self.server.differing_value(name, value)
            if running is not None:
                self._differing[f"{name}={value}"] = running


LEAST_POOL = 6 << 20  # with less, current MariaDB versions do not start
GROWTH_RATE = 4 << 20  # maximum bytes per second that updates add to tables and undo logs
UNIFORM = Access()


class DataSet(NamedTuple):
    """The pool size in bytes, tables that are larger than it, and the number of concurrent connections."""

    pool: int
    shape: TableShape
    threads: int

    def cost(self, seconds: float, servers: int = 1) -> Cost:
        """The cost of that many servers, each with its tables, that run for `seconds` in total."""
        growth = int(seconds * GROWTH_RATE)
        return variant_server.server_cost(
            pool=self.pool, data=self.shape.bytes, growth=growth, servers=servers, threads=self.threads
        )

    def arguments(self, target: Target) -> tuple[str, ...]:
        """Options of the server, which bypasses the page cache."""
        return variant_server.server_arguments(target, pool=self.pool)

    def parameters(self, workload: str) -> dict[str, str]:
        """The parameters for the result."""
        return {
            "workload": workload,
            "rows": str(self.shape.rows),
            **({"tables": str(self.shape.tables)} if self.shape.tables > 1 else {}),
            "pool": str(self.pool),
            "threads": str(self.threads),
        }

    def fill(self, environment: Environment, server: VariantServer, stop: StopSignal, where: str = "") -> None:
        """Create and fill the tables."""
        tables = f"{self.shape.tables} tables" if self.shape.tables > 1 else "a table"
        environment.report(f"filling {tables} of {self.shape.rows} rows{where}")
        fill_tables(server.connection(), self.shape, stop)

    def task(self, server: VariantServer, workload: StatementMix, access: Access = UNIFORM) -> Task:
        """The load on the tables."""
        rows, tables = self.shape.rows, self.shape.tables
        return Task(server.sandbox.socket, server.scratch_folder, workload, access, self.threads, rows, tables)


def choose_data_set(chosen: ChosenOptions, tables: int = 1) -> DataSet:
    """The data set that the user chose: the pool, the data in percent of it in that many tables, and the threads."""
    pool = chosen.size("pool", LEAST_POOL)
    rows = pool * chosen.number("data", 1) // 100 // ROW_BYTES // tables
    return DataSet(pool, TableShape(max(1, rows), tables), chosen.number("threads", 1))
