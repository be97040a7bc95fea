"""Probe of the cost of the doublewrite buffer under writes, by mode."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from advisor.catalog import load
from advisor.facts.probes import Metric
from advisor.verdict import Outcome, judge_value
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition, fixed_bounds, page_read_precondition
from probes.server_probes.redo_capacity import COMMIT_OPTIONS
from probes.server_probes.under_load import P99, PAGES_FLUSHED, TPS, WorkloadBench, choose_data_set, fill_pool
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Target
    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.sandbox import Binary
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal
    from probes.workload.load import Task

OPTION = "innodb_doublewrite"
OFF = "OFF"
DETECT = "DETECT_ONLY"
MODES = ("ON", DETECT, "fast", OFF)  # DETECT_AND_RECOVER is a synonym for ON
WORKLOAD = OLTP["oltp_write_only"]
SECONDS = 600.0
ROUNDS = 8
SHORTEST = 5.0
RESTART = 5.0
WARM = 4.0
SCAN_RATE = 100 << 20  # minimum bytes per second at which scans fill the pool
TABLES = 4
MINIMUM_DATA = 150  # percent of the pool
LEAST_FLUSHED, LEAST_READ = 20.0, 0.05  # pages per second, pages per transaction
MINIMUM_COPIED = 0.5  # of the flushed pages; new pages are written only once
LEAST_KIB, MOST_KIB = 8.0, 4.0  # KiB, of a page of 16
RATE, COPIED = "pages flushed/s", "pages written to the doublewrite buffer/page flushed"
COPIED_KIB = "KiB written to the doublewrite buffer/page flushed"
COPY_BYTES = "bytes of the doublewrite buffer"
# MySQL 8.0.20 and later use separate files for it; other servers use the system tablespace.
ASK_COPY_BYTES = (
    "SELECT SUM_NUMBER_OF_BYTES_WRITE FROM performance_schema.file_summary_by_event_name "
    "WHERE EVENT_NAME = 'wait/io/file/innodb/innodb_dblwr_file'"
)
FLUSH_RATE = Metric("flushed", "pages/s", "neither")
UNSAFE_LIMIT = (
    "No result here justifies OFF or DETECT_ONLY: neither keeps a copy of a page that a crash tears, "
    "and the redo log cannot recover a torn page. They are safe only on storage with atomic page writes."
)
FAST_LIMIT = "fast (MariaDB) keeps copies of pages like ON; it differs in how data files are synced."
DURABLE_LIMIT = (
    "Commits do not wait for the disk (innodb_flush_log_at_trx_commit=2), so that page writes show. With durable "
    "commits, doublewrite takes a smaller share of the transaction time."
)
DATA_LIMIT = (
    "The data exceed the pool, so pages are written constantly. Where they fit and the redo log is large, "
    "fewer pages are written, and doublewrite costs less."
)
LIMITS = (UNSAFE_LIMIT, DURABLE_LIMIT, DATA_LIMIT)


class Doublewrite:
    """The probe `doublewrite`."""

    name = "doublewrite"
    title = "What the doublewrite buffer costs"
    question = "What does protection from torn pages (innodb_doublewrite) cost a write workload on this disk?"
    kind = "server"
    evidence = ("DBLW-01", "DBLW-03", "DBLW-04")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("modes", "words", "all", f"values of {OPTION}, all that the server supports; the first is the baseline"),
        Choice("pool", "size", "64M", "innodb_buffer_pool_size"),
        Choice("data", "number", "400", f"size of the data in percent of the pool, minimum {MINIMUM_DATA}"),
        Choice("threads", "number", "8", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per mode.

        Raises ProbeError for modes that the server lacks, and for data that fits in the pool.
        """
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        table, modes = choose_data_set(chosen, TABLES), _modes(chosen, binary)
        if chosen.number("data") < MINIMUM_DATA:
            raise ProbeError(f"invalid data: use {MINIMUM_DATA} percent of the pool or more; less writes few pages")
        variants = tuple(Variant(mode, {OPTION: mode}) for mode in modes)
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P99, FLUSH_RATE),
            cost=table.cost(request.budget(SECONDS, ROUNDS)),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART + WARM + table.shape.bytes / SCAN_RATE,
            shortest=SHORTEST,
            grain=1.0,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters=table.parameters(WORKLOAD.name),
            limits=(*LIMITS, FAST_LIMIT) if "fast" in modes else LIMITS,
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[WriteBench]:
        """Start a server with tables that are larger than its pool."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        table = choose_data_set(chosen, TABLES)
        arguments = (*table.arguments(binary.target), *COMMIT_OPTIONS)
        with start_variant_server(environment, binary, request.directory, arguments) as server:
            table.fill(environment, server, stop)
            yield WriteBench(server, plan, table.task(server, WORKLOAD))


class WriteBench(WorkloadBench):
    """Fills the pool after each restart, and adds the number of flushed pages to each block."""

    def __init__(self, server: VariantServer, plan: RunPlan, task: Task) -> None:
        super().__init__(server, plan.driver, lambda _: task, warm_seconds=WARM, preconditions=PRECONDITIONS)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench."""
        measured = super().measure(variant, turn, stop)
        if RATE in measured.counters:
            measured.metrics[FLUSH_RATE.name] = measured.counters[RATE]
        return measured

    def _read_status(self) -> dict[str, int]:
        counters = super()._read_status()
        for (size,) in self.server.query(ASK_COPY_BYTES):
            counters[COPY_BYTES] = int(size)
        return counters

    def _warm_up(self, variant: Variant, turn: Turn, stop: StopSignal) -> None:
        fill_pool(self.server, TABLES, stop)
        super()._warm_up(variant, turn, stop)


def _copies_per_page(activity: BlockActivity) -> float | None:
    """Pages written to the doublewrite buffer per flushed page."""
    copies, flushed = activity.grown.get("Innodb_dblwr_pages_written"), activity.grown.get(PAGES_FLUSHED)
    return None if copies is None or not flushed else copies / flushed


def _copied_kib_per_page(activity: BlockActivity) -> float | None:
    """KiB written to the doublewrite files per flushed page."""
    written, flushed = activity.grown.get(COPY_BYTES), activity.grown.get(PAGES_FLUSHED)
    return None if written is None or not flushed else written / 1024 / flushed


def _copy_bounds(variant: Variant, _activity: BlockActivity) -> Bounds:
    return Bounds(high=0.0) if variant.settings[OPTION] == OFF else Bounds(MINIMUM_COPIED)


def _copy_size_bounds(variant: Variant, _activity: BlockActivity) -> Bounds | None:
    """Bounds for the written size.

    They are needed because with DETECT_ONLY the server counts pages although it writes only their numbers.
    """
    mode = variant.settings[OPTION]
    return Bounds(LEAST_KIB) if mode == "ON" else Bounds(high=MOST_KIB) if mode == DETECT else None


PRECONDITIONS = (
    Precondition(RATE, lambda activity: activity.per_second(PAGES_FLUSHED), fixed_bounds(LEAST_FLUSHED)),
    Precondition(COPIED, _copies_per_page, _copy_bounds),
    Precondition(COPIED_KIB, _copied_kib_per_page, _copy_size_bounds),
    page_read_precondition(fixed_bounds(LEAST_READ)),
)


def _modes(chosen: ChosenOptions, binary: Binary) -> list[str]:
    words, there = chosen.words("modes", "all", *MODES), [mode for mode in MODES if _accepts_mode(mode, binary.target)]
    if words == ["all"]:
        return there
    for word in words:
        if word not in there:
            raise ProbeError(f"{binary.name} does not support {OPTION}={word}: use {', '.join(there)}")
    return words


def _accepts_mode(mode: str, target: Target) -> bool:
    return judge_value(OPTION, mode, load(target)).outcome is Outcome.ACCEPTED


EXPERIMENT = Doublewrite()
