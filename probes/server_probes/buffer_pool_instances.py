"""Probe of whether more buffer pool instances stabilize the throughput if the data does not fit in the pool."""

from __future__ import annotations

import contextlib
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING

from advisor.facts.probes import Metric
from probes.experiment import BlockMeasurement, Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Precondition, fixed_bounds
from probes.server_probes.under_load import P95, TPS, DataSet, WorkloadBench, choose_data_set
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP, Access
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.mechanism import BlockActivity
    from probes.stop import StopSignal
    from probes.workload.load import Task

GIB = 1 << 30
WORKLOAD = OLTP["oltp_read_write"]
VARIATION_METRIC = Metric("variation", "% (standard deviation of a second's transactions)", "less")
STALLED_METRIC = Metric("stalled", "% of seconds below a tenth of the usual", "less")
SECONDS = 900.0
LONG = 3600.0  # a run of this length includes checkpoints; the article measured each value for three hours
ROUNDS = 5
SHORTEST = 30.0  # seconds of a block; a shorter block does not show the variation
WARM = 4.0
FILL_RATE = 200 << 20  # minimum bytes per second at which scans fill the pool
RESTART = 4.0
STALL = 0.1
TABLES = 8  # with a single table, deadlocks are the bottleneck
LEAST_DEPTH = 100  # innodb_lru_scan_depth, which applies per instance
FREE_FACTOR = 2.0  # times the server's target for free pages
EVICTED_PAGES = "pages evicted/transaction"
LEAST_EVICTED = 1.0  # pages per transaction; without evictions the instances do not matter
SHORT_RUN = (
    "Stalls come with checkpoints and full redo logs, minutes apart: less than an hour per value cannot show them. "
    "The published runs took three hours each: use --time 21h for seven values, and --resume to continue a run."
)
LIMITS = (
    SHORT_RUN,
    "With few processors, few threads contend for the mutex of one instance.",
)


class PoolInstances:
    """The probe `buffer-pool-instances`."""

    name = "buffer-pool-instances"
    title = "Stalls and buffer pool instances"
    question = "Does innodb_buffer_pool_instances change throughput or its variation when the data exceed the pool?"
    kind = "server"
    evidence = ("BPI-01", "BPI-03")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("instances", "numbers", "1,8,64", "values of innodb_buffer_pool_instances; published: 1,2,4,8,16,32,64"),
        Choice("pool", "size", "1G", "innodb_buffer_pool_size, minimum 1G: smaller pools have one instance"),
        Choice("data", "number", "160", "size of the data in percent of the pool; published: 400"),
        Choice("threads", "number", "16", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per number of instances; raises ProbeError for a pool below 1G, and for MariaDB."""
        chosen = ChosenOptions(self.choices, request)
        binary = _binary(environment, chosen)
        table = _data_set(chosen)
        counts = chosen.numbers("instances", 1)
        variants = tuple(_variant(count, max(counts)) for count in counts)
        seconds = request.budget(SECONDS, ROUNDS)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, VARIATION_METRIC, STALLED_METRIC, P95),
            cost=table.cost(seconds),
            seconds=SECONDS,
            rounds=ROUNDS,
            long_blocks=True,
            overhead=RESTART + WARM + table.pool / FILL_RATE,
            shortest=SHORTEST,
            grain=1.0,
            axis="innodb_buffer_pool_instances",
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(f"{WORKLOAD.name}, pareto"),
            limits=LIMITS if seconds < LONG * len(variants) else LIMITS[1:],
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[EvennessBench]:
        """Start a server with O_DIRECT, and fill one table that is larger than its pool."""
        chosen = ChosenOptions(self.choices, request)
        binary, table = _binary(environment, chosen), _data_set(chosen)
        with start_variant_server(environment, binary, request.directory, table.arguments(binary.target)) as server:
            table.fill(environment, server, stop)

            def task_of(_: Variant) -> Task:
                return table.task(server, WORKLOAD, Access("pareto"))

            free = LEAST_DEPTH * max(chosen.numbers("instances", 1))
            yield EvennessBench(server, plan.driver, task_of, warm_seconds=WARM, preconditions=_preconditions(free))


class EvennessBench(WorkloadBench):
    """Fills the pool after each restart, and also measures how stable the throughput is from second to second."""

    def _warm_up(self, variant: Variant, turn: Turn, stop: StopSignal) -> None:
        for number in range(1, TABLES + 1):
            if not stop.is_set():
                self.server.query(f"SELECT COUNT(pad) FROM sbtest.sbtest{number} FORCE INDEX (PRIMARY)")  # noqa: S608
        super()._warm_up(variant, turn, stop)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench."""
        measured = super().measure(variant, turn, stop)
        tps = measured.series.get("tps", ())
        return measured._replace(metrics={**measured.metrics, **evenness_metrics(tps)}) if tps else measured


def evenness_metrics(tps: tuple[float, ...]) -> dict[str, float]:
    """The variation of the per-second throughput and the share of stalled seconds, both in percent."""
    mean, usual = fmean(tps), median(tps)
    return {
        VARIATION_METRIC.name: 100 * pstdev(tps) / mean if mean else 0.0,
        STALLED_METRIC.name: 100 * sum(rate < usual * STALL for rate in tps) / len(tps),
    }


def _variant(count: int, most: int) -> Variant:
    """The variant with that many instances; the number of free pages over all instances is the same in all variants."""
    depth = LEAST_DEPTH * most // count
    settings = {"innodb_buffer_pool_instances": str(count), "innodb_lru_scan_depth": str(depth)}
    return Variant(str(count), settings, float(count))


def _preconditions(free: int) -> tuple[Precondition, ...]:
    return (
        Precondition(
            "free pages of the pool",
            lambda activity: activity.after.get("Innodb_buffer_pool_pages_free"),
            fixed_bounds(high=FREE_FACTOR * free),
        ),
        Precondition(EVICTED_PAGES, evicted_per_transaction, fixed_bounds(LEAST_EVICTED)),
    )


def evicted_per_transaction(activity: BlockActivity) -> float | None:
    """Pages that were read or created, minus the growth of the pool, per transaction."""
    came = [activity.per_transaction(f"Innodb_pages_{how}") for how in ("read", "created")]
    kept = activity.per_transaction("Innodb_buffer_pool_pages_data")
    return None if kept is None or None in came else sum(filter(None, came)) - kept


def _binary(environment: Environment, chosen: ChosenOptions) -> Binary:
    why = "has buffer pool instances; MariaDB ignores the option since 10.5"
    return choose_binary(environment, chosen.word("server"), lambda binary: not binary.target.is_mariadb, why)


def _data_set(chosen: ChosenOptions) -> DataSet:
    if chosen.size("pool") < GIB:
        raise ProbeError("invalid pool: use 1G or more; smaller pools always have one instance")
    return choose_data_set(chosen, tables=TABLES)


EXPERIMENT = PoolInstances()
