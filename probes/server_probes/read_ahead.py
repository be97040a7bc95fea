"""Probe of InnoDB's read-ahead for point queries and long ranges on data larger than the pool."""

from __future__ import annotations

import contextlib
import statistics
from typing import TYPE_CHECKING, Any

from advisor.facts.probes import Metric
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition
from probes.server_probes.under_load import METRICS, WorkloadBench, choose_data_set
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import POINT, StatementMix, TransactionStep, simple_ranges
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.server_probes.mechanism import BlockActivity
    from probes.stop import StopSignal
    from probes.workload.load import Task

EVICTED = Metric("evicted", "unread pages/transaction", "less")
READ_AHEAD, EVICTED_UNREAD = "Innodb_buffer_pool_read_ahead", "Innodb_buffer_pool_read_ahead_evicted"
RANDOM_READ_AHEAD = "Innodb_buffer_pool_read_ahead_rnd"
PAGES, AT_RANDOM = "pages read/transaction", "pages read ahead at random/transaction"
LEAST_SHARE = 0.01  # of the pages read; with fewer, random read-ahead did nothing
SETTINGS = {
    "linear (56)": {"innodb_read_ahead_threshold": "56", "innodb_random_read_ahead": "OFF"},
    "off (0)": {"innodb_read_ahead_threshold": "0", "innodb_random_read_ahead": "OFF"},
    "linear and random": {"innodb_read_ahead_threshold": "56", "innodb_random_read_ahead": "ON"},
}
LONG_SCANS, POINTS = "long scans", "points"
SHORTEST = 50_000  # rows of a scan; a shorter scan ends before read-ahead can help
SECONDS = 180.0
ROUNDS = 8
WARM = 4.0
ROWS_OF_PAGE = 60  # minimum rows per page
LIMITS = (
    "The published workload was similar to TPC-C on 10 GB; this one separates long scans and point reads with updates.",
    "The table was filled in key order, so it is sequential on disk; an old table is not.",
)


class ReadAhead:
    """The probe `read-ahead`."""

    name = "read-ahead"
    title = "InnoDB's read-ahead, on and off"
    question = "Are long scans and point reads faster without linear read-ahead, or with random read-ahead?"
    kind = "server"
    evidence = ("IO-01", "RA-01")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("pool", "size", "128M", "innodb_buffer_pool_size"),
        Choice("data", "number", "400", "size of the data in percent of the pool"),
        Choice("range", "number", str(SHORTEST), "rows of a long scan; one extent holds about 4,500"),
        Choice("threads", "number", "4", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """Variants by kind of load: default linear read-ahead, none (a threshold of 0), and random read-ahead."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        table = choose_data_set(chosen)
        span = _span(chosen, table.shape.rows)
        variants = tuple(
            Variant(f"{load}, {name}", settings, group=load)
            for load in (LONG_SCANS, POINTS)
            for name, settings in SETTINGS.items()
        )
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(*METRICS, EVICTED),
            cost=table.cost(request.budget(SECONDS, ROUNDS)),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=0.6,
            shortest=2.0,
            warm_up=WARM,
            grain=1.0,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(f"scans of {span} rows; 10 points and 2 updates a transaction; uniform"),
            limits=LIMITS,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[ReadAheadBench]:
        """Start a server with O_DIRECT, and fill one table of several times its pool."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        table = choose_data_set(chosen)
        loads = {LONG_SCANS: simple_ranges(_span(chosen, table.shape.rows)), POINTS: points_and_updates()}
        with start_variant_server(environment, binary, request.directory, table.arguments(binary.target)) as server:
            table.fill(environment, server, stop)

            def task_of(variant: Variant) -> Task:
                task, load = table.task(server, loads[variant.group]), loads[variant.group]
                return task._replace(rows=task.rows - load.span + 1)  # so that every scan finds all of its rows

            yield ReadAheadBench(
                server,
                plan.driver,
                task_of,
                warm_seconds=WARM,
                counters={EVICTED.name: EVICTED_UNREAD},
                preconditions=_preconditions(loads[LONG_SCANS].span),
                settling=(READ_AHEAD, RANDOM_READ_AHEAD, EVICTED_UNREAD),
            )


class ReadAheadBench(WorkloadBench):
    """Notes the variants with random read-ahead in which it read hardly any page."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._random: dict[str, list[tuple[float, float]]] = {}

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench."""
        measured = super().measure(variant, turn, stop)
        if variant.settings["innodb_random_read_ahead"] == "ON" and {PAGES, AT_RANDOM} <= measured.counters.keys():
            pages = measured.counters[AT_RANDOM], measured.counters[PAGES]
            self._random.setdefault(variant.name, []).append(pages)
        return measured

    def notes(self) -> tuple[str, ...]:
        """The notes of WorkloadBench, and on random read-ahead that did not begin."""
        return (*super().notes(), *self._idle_notes())

    def _idle_notes(self) -> Iterator[str]:
        for name, blocks in self._random.items():
            ahead, read = (statistics.median(counts) for counts in zip(*blocks, strict=True))
            if ahead < LEAST_SHARE * read:
                yield (
                    f"{name}: of {read:.3g} pages per transaction, {ahead:.2g} were read ahead at random. Random "
                    "read-ahead hardly began under this load, so its difference to the others is not an effect of it."
                )


def _span(chosen: ChosenOptions, rows: int) -> int:
    span = chosen.number("range", 1)
    if span < SHORTEST:
        raise ProbeError(f"invalid range: use {SHORTEST} rows or more; shorter scans end before read-ahead helps")
    if span > rows:
        raise ProbeError(f"the table has {rows} rows, fewer than a scan of {span}: choose a larger pool or more data")
    return span


def _preconditions(span: int) -> tuple[Precondition, ...]:
    pages = span / ROWS_OF_PAGE

    def reading(variant: Variant, _activity: BlockActivity) -> Bounds:
        return Bounds(pages / 4) if variant.group == LONG_SCANS else Bounds(1.0)

    def ahead(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        if variant.settings["innodb_read_ahead_threshold"] == "0":
            return Bounds(high=0.0)
        return Bounds(pages / 8) if variant.group == LONG_SCANS else None

    return (
        Precondition(PAGES, lambda activity: activity.per_transaction("Innodb_pages_read"), reading),
        Precondition("pages read ahead/transaction", lambda activity: activity.per_transaction(READ_AHEAD), ahead),
        Precondition(
            AT_RANDOM,
            lambda activity: activity.per_transaction(RANDOM_READ_AHEAD),
            lambda variant, _: None if variant.settings["innodb_random_read_ahead"] == "ON" else Bounds(high=0.0),
        ),
    )


def points_and_updates() -> StatementMix:
    """Ten point queries and two updates per transaction."""
    update = TransactionStep(("UPDATE {table} SET c='{c}' WHERE id={id}",), 2)
    return StatementMix("points_and_updates", (TransactionStep((POINT,), 10), update), bracketed=True, span=1)


EXPERIMENT = ReadAhead()
