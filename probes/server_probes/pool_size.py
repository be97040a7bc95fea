"""Probe of throughput, latency and misses of a working set by buffer pool size."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from advisor.core.model import exact_size
from advisor.facts.probes import Metric
from probes.experiment import Choice, ChosenOptions, ProbeError, RunPlan, Variant
from probes.server_probes import variant_server
from probes.server_probes.buffer_pool_instances import EVICTED_PAGES, FREE_FACTOR, evicted_per_transaction
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.mechanism import Bounds, Precondition, page_read_precondition
from probes.server_probes.under_load import GROWTH_RATE, P99, TPS, WorkloadBench, fill_pool
from probes.server_probes.variant_server import start_variant_server
from probes.workload.load import OLTP, Access, Task
from probes.workload.own_driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import DATABASE, ROW_BYTES, TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.server_probes.mechanism import BlockActivity
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal

MIB = 1 << 20
OPTION, LRU_DEPTH = "innodb_buffer_pool_size", "innodb_lru_scan_depth"
ACCESSES = ("pareto", "uniform")
SECONDS = 900.0
ROUNDS = 5
SHORTEST = 3.0  # seconds of a block
RESTART = 5.0
WARM = 4.0
SCAN_RATE = 100 * MIB  # minimum bytes per second at which scans fill the pool
LEAST = 16 * MIB
TABLES = 4
MISSES = "page requests read from disk, %"
MISS_RATIO = Metric("misses", "% of page requests", "less")
FREE_PAGES = "free pages of the pool"
# A pool below the first share of the data must read and evict; one above the second share, plus a few MiB for the
# server's own tables, must not read at all.
TOO_SMALL, FITS, SYSTEM_TABLES = 0.9, 1.05, 16 * MIB
LEAST_READ, MOST_READ = 0.005, 0.01  # pages per transaction
DIRECT_LIMIT = (
    "Reads bypass the page cache (innodb_flush_method=O_DIRECT). With fsync, free host memory serves some "
    "of the misses."
)
WORKING_SET_LIMIT = (
    "The working set of your data is unknown here: pareto sends 80 percent of the requests to a fifth of the "
    "rows, uniform spreads them over all. Pages read per second on your server tell more."
)
SCALE_LIMIT = (
    "Compare the ratio of pool to data with larger servers, not the bytes. The cost of a miss "
    "depends on the disk, and on how many connections share it."
)
READS_ONLY_LIMIT = "No rows are written: with writes, evicted pages must be flushed first, and a small pool costs more."
LIMITS = (WORKING_SET_LIMIT, SCALE_LIMIT, DIRECT_LIMIT)


class PoolSize:
    """The probe `pool-size`."""

    name = "pool-size"
    title = "Buffer pool size and the working set"
    question = "What does innodb_buffer_pool_size change, from a fraction of the data to more than its size?"
    kind = "server"
    evidence = ("BP-01", "BP-02")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("sizes", "sizes", "32M,64M,128M,256M", f"values of {OPTION}; the first is the baseline"),
        Choice("data", "size", "192M", "size of the data, with its indexes"),
        Choice("access", "words", "pareto,uniform", "row distribution: pareto (mostly few rows), uniform"),
        Choice("workload", "word", "oltp_read_only", f"one of {', '.join(OLTP)}"),
        Choice("threads", "number", "8", "concurrent connections"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """A group for each access pattern, with a variant for each size.

        Raises ProbeError for sizes below 16M, and if no pool is smaller than the data.
        """
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        sizes, shape, threads = chosen.sizes("sizes", LEAST), _shape(chosen), chosen.number("threads", 1)
        _require_pressure(sizes, shape)
        workload = chosen.word("workload", *OLTP)
        variants = tuple(_variant(size, access) for access in chosen.words("access", *ACCESSES) for size in sizes)
        growth = int(request.budget(SECONDS, ROUNDS) * GROWTH_RATE) if OLTP[workload].updates else 0
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P99, MISS_RATIO),
            cost=variant_server.server_cost(pool=max(sizes), data=shape.bytes, growth=growth, threads=threads),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART + WARM + shape.bytes / SCAN_RATE,
            shortest=SHORTEST,
            grain=1.0,
            axis=OPTION,
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                "workload": workload,
                "rows": str(shape.rows),
                "tables": str(TABLES),
                "data": str(shape.bytes),
                "threads": str(threads),
            },
            limits=LIMITS if OLTP[workload].updates else (*LIMITS, READS_ONLY_LIMIT),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[PoolBench]:
        """Start a server with O_DIRECT, and fill its tables."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        shape, largest = _shape(chosen), max(chosen.sizes("sizes"))
        with start_variant_server(
            environment, binary, request.directory, variant_server.server_arguments(binary.target, pool=largest)
        ) as server:
            environment.report(f"filling {TABLES} tables of {shape.rows} rows")
            fill_tables(server.connection(), shape, stop)
            yield PoolBench(server, plan, chosen.number("threads"))


class PoolBench(WorkloadBench):
    """Fills the pool when the variant changes, and adds the percentage of misses to each block."""

    def __init__(self, server: VariantServer, plan: RunPlan, threads: int) -> None:
        self._last = ""
        workload, rows = OLTP[plan.parameters["workload"]], int(plan.parameters["rows"])

        def task_of(variant: Variant) -> Task:
            access = Access(variant.group)
            return Task(
                server.sandbox.socket, server.scratch_folder, workload, access, threads, rows=rows, tables=TABLES
            )

        checks = preconditions(_bytes_of_tables(server))
        super().__init__(server, plan.driver, task_of, warm_seconds=WARM, preconditions=checks)

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one block, see WorkloadBench; another access pattern needs other pages in a pool of the same size."""
        if variant.name != self._last:
            self._warmed.discard(variant.name)
        self._last = variant.name
        measured = super().measure(variant, turn, stop)
        if MISSES in measured.counters:
            measured.metrics[MISS_RATIO.name] = measured.counters[MISSES]
        return measured

    def facts(self) -> dict[str, float | str]:
        """The facts of WorkloadBench, with the size of the table files."""
        return {**super().facts(), "data files": float(_bytes_of_tables(self.server))}

    def _warm_up(self, variant: Variant, turn: Turn, stop: StopSignal) -> None:
        fill_pool(self.server, TABLES, stop)
        super()._warm_up(variant, turn, stop)


def preconditions(data: int) -> tuple[Precondition, ...]:
    """Preconditions: pools smaller than `data` bytes are full, read and evict, and larger ones read nothing."""

    def is_small(variant: Variant) -> bool:
        return (variant.point or 0.0) <= data * TOO_SMALL

    def reading(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        if is_small(variant):
            return Bounds(LEAST_READ)
        return Bounds(high=MOST_READ) if (variant.point or 0.0) >= data * FITS + SYSTEM_TABLES else None

    def evicting(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        return Bounds(LEAST_READ) if is_small(variant) else None

    def fill_bounds(variant: Variant, _activity: BlockActivity) -> Bounds | None:
        return Bounds(high=FREE_FACTOR * int(variant.settings[LRU_DEPTH])) if is_small(variant) else None

    return (
        page_read_precondition(reading),
        Precondition(FREE_PAGES, lambda activity: activity.after.get("Innodb_buffer_pool_pages_free"), fill_bounds),
        Precondition(EVICTED_PAGES, evicted_per_transaction, evicting),
        Precondition(MISSES, _miss_percent, lambda *_: None),
    )


def _miss_percent(activity: BlockActivity) -> float | None:
    """The percentage of page requests that had to wait for the disk."""
    reads, requests = (activity.grown.get(f"Innodb_buffer_pool_{what}") for what in ("reads", "read_requests"))
    return None if reads is None or not requests else 100 * reads / requests


def _variant(size: int, access: str) -> Variant:
    """One size, with the same share of free pages for each size."""
    settings = {OPTION: str(size), LRU_DEPTH: str(variant_server.lru_scan_depth(size))}
    return Variant(f"{access}, {exact_size(size)}", settings, float(size), access)


def _require_pressure(sizes: list[int], shape: TableShape) -> None:
    if min(sizes) > shape.bytes * TOO_SMALL:
        raise ProbeError(
            f"every size holds the data of {exact_size(shape.bytes)}, so no variant reads from "
            "disk: choose a size below "
            f"{exact_size(int(shape.bytes * TOO_SMALL))}, or more data"
        )


def _shape(chosen: ChosenOptions) -> TableShape:
    return TableShape(max(1, chosen.size("data", LEAST) // ROW_BYTES // TABLES), TABLES)


def _bytes_of_tables(server: VariantServer) -> int:
    ((folder,),) = server.query("SELECT @@datadir")
    with os.scandir(os.path.join(str(folder), DATABASE)) as entries:
        return sum(entry.stat().st_size for entry in entries)


EXPERIMENT = PoolSize()
