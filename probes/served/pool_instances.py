"""Whether more buffer pool instances even out the throughput of a server whose data does not fit its pool."""

from __future__ import annotations

import contextlib
from statistics import fmean, median, pstdev
from typing import TYPE_CHECKING

from advisor.facts.probes import Metric
from probes.choices import Chosen
from probes.experiment import Choice, Measured, Plan, ProbeError, Variant
from probes.served.beyond import Beyond, beyond
from probes.served.choosing import SERVER, binary_for
from probes.served.loaded import P95, TPS, LoadedBench
from probes.served.serving import serve
from probes.workload.driving import DRIVER, driver_of
from probes.workload.statements import OLTP, Access

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Ground, Wanted
    from probes.sandbox import Binary
    from probes.stopping import Stop
    from probes.workload.task import Task

GIB = 1 << 30
WORKLOAD = OLTP["oltp_read_write"]
VARIATION = Metric("variation", "% (standard deviation of a second's transactions)", "less")
STALLED = Metric("stalled", "% of seconds below a tenth of the usual", "less")
SECONDS = 120.0
LONG = 3600.0  # a run this long has seen checkpoints; the article's took three hours for each value
ROUNDS = 3
WARM = 4.0
RESTART = 4.0
STALL = 0.1
TOO_SHORT = (
    "Stalls come with checkpoints and full redo logs, minutes apart: less than an hour of each value can't show them. "
    "The published runs took three hours each: --time 21h for seven values; --resume goes on with one that broke off."
)
LIMITS = (
    TOO_SHORT,
    "With few processors there are few threads to contend for one instance's latch.",
)


class PoolInstances:
    """The experiment `buffer-pool-instances`."""

    name = "buffer-pool-instances"
    title = "Stalls and buffer pool instances"
    question = "Does innodb_buffer_pool_instances even out the throughput when the data is larger than the pool?"
    kind = "server"
    evidence = ("BPI-01", "BPI-03")
    choices = (
        SERVER,
        DRIVER,
        Choice("instances", "numbers", "1,8,64", "values of innodb_buffer_pool_instances; published: 1,2,4,8,16,32,64"),
        Choice("pool", "size", "1G", "innodb_buffer_pool_size, 1G at least: below that there is one instance"),
        Choice("data", "number", "160", "size of the data in percent of the pool; published: 400"),
        Choice("threads", "number", "16", "connections that work at once"),
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """One variant for each number of instances. Raises ProbeError for a pool below 1G, and for MariaDB."""
        chosen = Chosen(self.choices, wanted)
        binary = _binary(ground, chosen)
        table = _beyond(chosen)
        variants = tuple(_variant(count) for count in chosen.numbers("instances", 1))
        seconds = wanted.budget(SECONDS, ROUNDS)
        return Plan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(VARIATION, TPS, STALLED, P95),
            cost=table.cost(seconds),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART + WARM,
            shortest=3.0,
            grain=1.0,
            axis="innodb_buffer_pool_instances",
            driver=driver_of(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(f"{WORKLOAD.name}, pareto"),
            limits=LIMITS if seconds < LONG * len(variants) else LIMITS[1:],
        )

    @contextlib.contextmanager
    def prepare(self, ground: Ground, wanted: Wanted, plan: Plan, stop: Stop) -> Iterator[VaryingBench]:
        """A server that reads past the page cache, and one table larger than its pool."""
        chosen = Chosen(self.choices, wanted)
        binary, table = _binary(ground, chosen), _beyond(chosen)
        with serve(ground, binary, wanted.directory, table.arguments(binary.target)) as served:
            table.fill(ground, served, stop)

            def task_of(_: Variant) -> Task:
                return table.task(served, WORKLOAD, wanted.seed, Access("pareto"))

            yield VaryingBench(served, plan.driver, task_of, warm_seconds=WARM)


class VaryingBench(LoadedBench):
    """Measures how even the seconds of a block are, beside how much gets done in them."""

    def measure(self, variant: Variant, seconds: float, stop: Stop) -> Measured:
        """One block, see LoadedBench."""
        measured = super().measure(variant, seconds, stop)
        tps = measured.series.get("tps", ())
        return measured._replace(metrics={**measured.metrics, **evenness(tps)}) if tps else measured


def evenness(tps: tuple[float, ...]) -> dict[str, float]:
    """The variation of a block's seconds and the share that stalled, both in percent."""
    mean, usual = fmean(tps), median(tps)
    return {
        VARIATION.name: 100 * pstdev(tps) / mean if mean else 0.0,
        STALLED.name: 100 * sum(rate < usual * STALL for rate in tps) / len(tps),
    }


def _variant(count: int) -> Variant:
    return Variant(str(count), {"innodb_buffer_pool_instances": str(count)}, float(count))


def _binary(ground: Ground, chosen: Chosen) -> Binary:
    why = "has buffer pool instances: MariaDB ignores the option since 10.5, so there is nothing to measure"
    return binary_for(ground, chosen.word("server"), lambda binary: not binary.target.is_mariadb, why)


def _beyond(chosen: Chosen) -> Beyond:
    if chosen.size("pool") < GIB:
        raise ProbeError("pool must be 1G or more: below that the server runs with one instance, whatever is set")
    return beyond(chosen)


EXPERIMENT = PoolInstances()
