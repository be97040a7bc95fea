"""Probe of throughput, stalls, dirty pages and checkpoint age under writes, by innodb_io_capacity."""

from __future__ import annotations

import contextlib
import statistics
from typing import TYPE_CHECKING

from advisor.core.model import format_percent
from advisor.facts.probes import Metric
from probes.experiment import Choice, ChosenOptions, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition, fixed_bounds
from probes.server_probes.redo_capacity import AGE, COMMIT_OPTIONS, REDO_FILLED, WORST_METRIC, read_redo_counters
from probes.server_probes.redo_capacity import CAPACITY as REDO_CAPACITY
from probes.server_probes.under_load import (
    CAPACITY,
    CAPACITY_MAX,
    LEAST_CAPACITY,
    LIMITED_BATCHES,
    LOW_WATER,
    P99,
    PAGES_DIRTY,
    PAGES_FLUSHED,
    SYNC_BATCHES,
    TPS,
    WorkloadBench,
    batch_counters,
    choose_data_set,
    enable_batch_counters,
    write_all_pages,
)
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.under_load import DataSet
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal

MIB = 1 << 20
WORKLOAD = OLTP["oltp_write_only"]
SECONDS = 900.0
ROUNDS = 5
SHORTEST = 15.0  # seconds of a block
OVERHEAD = 4.0  # seconds to write all dirty pages
LEAST_REDO = 16 * MIB
TABLES = 4
IDLE_SECONDS = 2.0
ABOVE_IDLE = 10.0  # pages a second
MAJORITY = 0.5
DIRTY_SHARE = Metric("dirty", "% of the pool's pages, at the end", "neither")
AGE_SHARE = Metric("age", "% of the redo log's size, at the end", "less")
FLUSH_RATE = Metric("flushed", "pages/s", "neither")
RATE, WITHIN_RATE, SYNC_RATE = (
    "pages flushed/s",
    "pages flushed within innodb_io_capacity/s",
    "pages flushed by sync batches/s",
)
DIRTY_COUNT, DIRTY_START = "dirty pages at the end, %", "dirty pages at the start, %"
MOST_DIRTY_START = 5.0  # percent of the pool; the last block's purge may change some pages after they were written
DURABLE_LIMIT = (
    "Commits do not wait for the disk (innodb_flush_log_at_trx_commit=2), so that flushing shows. With durable "
    "commits, fewer pages change per second, and a smaller value suffices."
)
IDLE_LIMIT = "The cost of flushing while the server is idle and the wear of the disk are not measured."
SMALL_LOG_LIMIT = (
    "The redo log is small, so that it drives flushing within a block. With a log of many gigabytes the "
    "same value shows its effect after hours."
)
LOW_WATER_LIMIT = "{option} is {mark} here. At its default of 0, {server} flushes less before the redo log fills."


class IoCapacity:
    """The probe `io-capacity`."""

    name = "io-capacity"
    title = "Background flushing and innodb_io_capacity"
    question = "How does innodb_io_capacity change throughput, stalls and checkpoint age under a write workload?"
    kind = "server"
    evidence = ("IOC-01", "IOC-02", "IOC-03", "IOC-04")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("values", "numbers", "100,1000,10000", f"values of {CAPACITY}; the first is the baseline"),
        Choice("max", "number", "2", f"{CAPACITY_MAX}, as a multiple of each value"),
        Choice("redo", "size", "32M", "size of the whole redo log"),
        Choice("pool", "size", "128M", "innodb_buffer_pool_size"),
        Choice("data", "number", "60", "size of the data in percent of the pool; above 100, evictions write pages too"),
        Choice("lwm", "number", "10", f"{LOW_WATER}, percent of the pool"),
        Choice("threads", "number", "8", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per value; raises ProbeError for values below 100."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        table, redo = choose_data_set(chosen, TABLES), chosen.size("redo", LEAST_REDO)
        times, mark = chosen.number("max", 1), chosen.number("lwm")
        variants = tuple(_variant(value, times) for value in chosen.numbers("values", LEAST_CAPACITY))
        cost = table.cost(request.budget(SECONDS, ROUNDS))
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P99, WORST_METRIC, DIRTY_SHARE, AGE_SHARE, FLUSH_RATE),
            cost=cost._replace(disk=cost.disk + redo),
            seconds=SECONDS,
            rounds=ROUNDS,
            long_blocks=True,
            overhead=OVERHEAD,
            shortest=SHORTEST,
            grain=1.0,
            axis=CAPACITY,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                **table.parameters(WORKLOAD.name),
                "redo": str(redo),
                "max": f"{times} times",
                "lwm": str(mark),
            },
            limits=(
                DURABLE_LIMIT,
                SMALL_LOG_LIMIT,
                IDLE_LIMIT,
                *_own_limits(binary.name, binary.target.since("mysql", 8), mark),
            ),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[FlushBench]:
        """Start a server with a small redo log, and fill its tables."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        table, redo = choose_data_set(chosen, TABLES), chosen.size("redo")
        arguments = (
            *variant_server.server_arguments(binary.target, pool=table.pool, redo=redo),
            *COMMIT_OPTIONS,
            f"--{LOW_WATER.replace('_', '-')}={chosen.number('lwm')}",
        )
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            table.fill(environment, server, stop)
            enable_batch_counters(server)
            write_all_pages(server, stop)
            yield FlushBench(server, plan, table, _idle_rate(server, stop))


class FlushBench(WorkloadBench):
    """Starts each block without dirty pages, and reads at its end how far flushing fell behind."""

    def __init__(self, server: VariantServer, plan: RunPlan, table: DataSet, idle: float) -> None:
        self._redo, self._idle = int(plan.parameters["redo"]), idle
        self._values = [variant.point or 0.0 for variant in plan.variants]
        self._seen: dict[str, list[dict[str, float]]] = {}
        task = table.task(server, WORKLOAD)
        checks = preconditions(max(self._values), idle)
        super().__init__(server, plan.driver, lambda _: task, warm_seconds=0, preconditions=checks)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench."""
        with self.server.explain_errors():
            write_all_pages(self.server, stop)
        measured = super().measure(variant, turn, stop)
        counters = measured.counters
        if not counters:
            return measured
        self._seen.setdefault(variant.name, []).append(counters)
        latency = measured.series.get("p99", ())
        measured.metrics.update({WORST_METRIC.name: max(latency)} if latency else {})
        measured.metrics[AGE_SHARE.name] = 100 * counters[REDO_FILLED]
        measured.metrics[DIRTY_SHARE.name] = counters[DIRTY_COUNT]
        measured.metrics[FLUSH_RATE.name] = counters[RATE]
        return measured

    def facts(self) -> dict[str, float | str]:
        """The facts of WorkloadBench, with the rate at which the server flushes without a load."""
        return {**super().facts(), "pages flushed a second without a load": self._idle}

    def notes(self) -> tuple[str, ...]:
        """Notes on whether the values could have an effect, and on values that the server ignored."""
        return (*super().notes(), *self._too_large_values(), *self._ignored_values())

    def _read_status(self) -> dict[str, int]:
        own = {**read_redo_counters(self.server), **batch_counters(self.server), REDO_CAPACITY: self._redo}
        return {**own, **super()._read_status()}

    def _medians(self, name: str) -> dict[str, float]:
        """The median of a counter by variant."""
        return {variant: statistics.median(block[name] for block in blocks) for variant, blocks in self._seen.items()}

    def _too_large_values(self) -> Iterator[str]:
        rates = self._medians(RATE)
        if rates and max(rates.values()) < min(self._values):
            yield (
                f"No value matters here: the load flushed {max(rates.values()):.0f} pages per second at most, which "
                "the smallest value allows. Choose smaller values, a smaller redo log (--option redo=) or more threads."
            )

    def _ignored_values(self) -> Iterator[str]:
        rates, synced = self._medians(RATE), self._medians(SYNC_RATE)
        for variant, count in synced.items():
            if rates[variant] and count > MAJORITY * rates[variant]:
                share = format_percent(min(1.0, count / rates[variant]))
                yield (
                    f"{variant}: {share} of the pages were flushed because the redo log was nearly full, in batches "
                    "that ignore the option (innodb_flush_sync)."
                )


def preconditions(largest: float, idle: float) -> tuple[Precondition, ...]:
    """Preconditions: more was flushed than without a load (`idle`), and the `largest` value was enough for its limit.

    The block began with almost no dirty pages, or those of another value would be flushed in it.

    With a value that is too small, the redo log fills up and all pages may be flushed by checkpoints.
    """

    def flush_bounds(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        return Bounds(ABOVE_IDLE) if variant.point == largest else None

    return (
        Precondition(RATE, lambda activity: activity.per_second(PAGES_FLUSHED), fixed_bounds(idle + ABOVE_IDLE)),
        Precondition(WITHIN_RATE, _limited_rate, flush_bounds),
        Precondition(SYNC_RATE, lambda activity: activity.per_second(SYNC_BATCHES), lambda *_: None),
        Precondition(DIRTY_START, _dirty_percent_at_start, fixed_bounds(high=MOST_DIRTY_START)),
        Precondition(DIRTY_COUNT, _dirty_percent, lambda *_: None),
        Precondition(REDO_FILLED, _checkpoint_age_share, lambda *_: None),
    )


def _checkpoint_age_share(activity: BlockActivity) -> float | None:
    age, capacity = activity.after.get(AGE), activity.after.get(REDO_CAPACITY)
    return None if age is None or not capacity else age / capacity


def _limited_rate(activity: BlockActivity) -> float | None:
    rates = [activity.per_second(name) for name in LIMITED_BATCHES]
    return None if None in rates else sum(filter(None, rates))


def _dirty_percent(activity: BlockActivity) -> float | None:
    dirty, total = activity.after.get(PAGES_DIRTY), activity.after.get("Innodb_buffer_pool_pages_total")
    return None if dirty is None or not total else 100 * dirty / total


def _dirty_percent_at_start(activity: BlockActivity) -> float | None:
    dirty, grown = activity.after.get(PAGES_DIRTY), activity.grown.get(PAGES_DIRTY)
    total = activity.after.get("Innodb_buffer_pool_pages_total")
    return None if dirty is None or grown is None or not total else 100 * (dirty - grown) / total


def _idle_rate(server: VariantServer, stop: StopSignal) -> float:
    """Pages per second that the server flushes without a load."""
    before = server.status()[PAGES_FLUSHED]
    stop.wait(IDLE_SECONDS)
    return (server.status()[PAGES_FLUSHED] - before) / IDLE_SECONDS


def _variant(value: int, times: int) -> Variant:
    """One value; the maximum is set first, because it caps the value."""
    return Variant(str(value), {CAPACITY_MAX: str(value * times), CAPACITY: str(value)}, float(value))


def _own_limits(server: str, by_default: bool, mark: int) -> Iterator[str]:
    if mark and not by_default:
        yield LOW_WATER_LIMIT.format(option=LOW_WATER, mark=mark, server=server)


EXPERIMENT = IoCapacity()
