"""What InnoDB's read-ahead gives or costs a workload of points and long ranges whose data is larger than the pool."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from advisor.facts.probes import Metric
from probes.choices import Chosen
from probes.experiment import Choice, Plan, Variant
from probes.served.beyond import beyond
from probes.served.choosing import SERVER, binary_for
from probes.served.loaded import METRICS, LoadedBench
from probes.served.serving import serve
from probes.workload.driving import DRIVER, driver_of
from probes.workload.statements import POINT, SIMPLE_RANGE, Step, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Ground, Wanted
    from probes.stopping import Stop
    from probes.workload.task import Task

AHEAD = Metric("read_ahead", "pages read ahead/transaction", "neither")
AHEAD_AT_RANDOM = Metric("read_ahead_random", "pages read ahead at random/transaction", "neither")
EVICTED = Metric("evicted", "pages read ahead and evicted unread/transaction", "less")
COUNTERS = {
    AHEAD.name: "Innodb_buffer_pool_read_ahead",
    AHEAD_AT_RANDOM.name: "Innodb_buffer_pool_read_ahead_rnd",
    EVICTED.name: "Innodb_buffer_pool_read_ahead_evicted",
}
VARIANTS = (
    Variant("linear (56)", {"innodb_read_ahead_threshold": "56", "innodb_random_read_ahead": "OFF"}),
    Variant("off (0)", {"innodb_read_ahead_threshold": "0", "innodb_random_read_ahead": "OFF"}),
    Variant("linear and random", {"innodb_read_ahead_threshold": "56", "innodb_random_read_ahead": "ON"}),
)
SECONDS = 100.0
ROUNDS = 8
WARM = 4.0
LIMITS = (
    "The published workload was like TPC-C on 10 GB; this one mixes points, ranges and updates on one table.",
    "A table filled in key order lies in sequence on disk; one that has been changed for years does not.",
)


class ReadAhead:
    """The experiment `read-ahead`."""

    name = "read-ahead"
    title = "InnoDB's read-ahead, on and off"
    question = "Does the server get more done without linear read-ahead, or with random read-ahead?"
    kind = "server"
    evidence = ("IO-01", "RA-01")
    choices = (
        SERVER,
        DRIVER,
        Choice("pool", "size", "128M", "innodb_buffer_pool_size"),
        Choice("data", "number", "400", "size of the data in percent of the pool"),
        Choice("range", "number", "5000", "rows of a transaction's range: one extent holds about 4,500"),
        Choice("threads", "number", "4", "connections that work at once"),
    )

    def plan(self, ground: Ground, wanted: Wanted) -> Plan:
        """Linear read-ahead as it is by default, none (a threshold of 0), and random read-ahead besides."""
        chosen = Chosen(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        table = beyond(chosen)
        return Plan(
            variants=VARIANTS,
            baseline=VARIANTS[0].name,
            metrics=(*METRICS, EVICTED, AHEAD, AHEAD_AT_RANDOM),
            cost=table.cost(wanted.budget(SECONDS, ROUNDS)),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.6,
            shortest=1.0,
            warm_up=WARM,
            grain=1.0,
            driver=driver_of(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(
                f"10 points, a range of {chosen.number('range', 1)} rows, 2 updates a transaction; uniform"
            ),
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(self, ground: Ground, wanted: Wanted, plan: Plan, stop: Stop) -> Iterator[LoadedBench]:
        """A server that reads past the page cache, and one table several times its pool."""
        chosen = Chosen(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        table, workload = beyond(chosen), mixed(chosen.number("range", 1))
        with serve(ground, binary, wanted.directory, table.arguments(binary.target)) as served:
            table.fill(ground, served, stop)

            def task_of(_: Variant) -> Task:
                return table.task(served, workload, wanted.seed)

            yield LoadedBench(served, plan.driver, task_of, warm_seconds=WARM, counters=COUNTERS)


def mixed(span: int) -> Workload:
    """Points, one range of so many rows and two updates in a transaction."""
    update = Step(("UPDATE {table} SET c='{c}' WHERE id={id}",), 2)
    return Workload(f"points_and_ranges_{span}", (Step((POINT,), 10), Step((SIMPLE_RANGE,)), update), True, span)


EXPERIMENT = ReadAhead()
