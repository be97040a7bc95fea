"""Throughput, latency and misses of a working set, by the size of the buffer pool."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from advisor.core.sizes import exact
from advisor.facts.probes import Metric
from probes.choices import ChosenOptions
from probes.experiment import Choice, ProbeError, RunPlan, Variant
from probes.served import server_settings
from probes.served.buffer_pool_instances import EVICTED, SPARE, evicted
from probes.served.choices import SERVER, binary_for
from probes.served.filling import fill_pool
from probes.served.mechanism import Bounds, Precondition, reads_pages
from probes.served.under_load import GROWTH_RATE, P99, TPS, LoadedBench
from probes.served.variant_server import serve
from probes.workload.driver import DRIVER, driver_of
from probes.workload.load import Task
from probes.workload.statements import OLTP, Access
from probes.workload.tables import DATABASE, ROW_BYTES, Shape, fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import BlockMeasurement, Environment, ProbeRequest, Turn
    from probes.served.mechanism import Activity
    from probes.served.variant_server import Served
    from probes.stop import Stop

MIB = 1 << 20
OPTION, DEPTH = "innodb_buffer_pool_size", "innodb_lru_scan_depth"
ACCESSES = ("pareto", "uniform")
SECONDS = 900.0
ROUNDS = 5
SHORTEST = 3.0  # seconds of a block
RESTART = 5.0
WARM = 4.0
SCAN_RATE = 100 * MIB  # bytes a second at which scans fill the pool, at least
LEAST = 16 * MIB
TABLES = 4
MISSES = "page requests read from disk, %"
MISS_RATIO = Metric("misses", "% of page requests", "less")
FREE = "free pages of the pool"
# A pool below the first share of the data must read and evict; one above the second, and a few MiB of the server's own
# tables, must not read at all.
TOO_SMALL, FITS, OWN = 0.9, 1.05, 16 * MIB
LEAST_READ, MOST_READ = 0.005, 0.01  # pages a transaction
DIRECT = (
    "Reads bypass the page cache (innodb_flush_method=O_DIRECT). With fsync, memory that the host has free serves some "
    "of the misses."
)
OWN_SET = (
    "Which share of your data is in use is not known here: pareto sends 80 percent of the requests to a fifth of the "
    "rows, uniform spreads them over all. Pages read a second on your server, by time of day, say more."
)
SCALE = (
    "Only the share of the data that the pool holds can be compared with larger servers, not its bytes: what a miss "
    "costs depends on the disk, and on how many connections share it."
)
READS_ONLY = "No rows are written: where they are, evicted pages must first be written, and a small pool costs more."
LIMITS = (OWN_SET, SCALE, DIRECT)


class PoolSize:
    """The experiment `pool-size`."""

    name = "pool-size"
    title = "Buffer pool size and the working set"
    question = "What does innodb_buffer_pool_size change, from a fraction of the data to more than all of it?"
    kind = "server"
    evidence = ("BP-01", "BP-02")
    choices = (
        SERVER,
        DRIVER,
        Choice("sizes", "sizes", "32M,64M,128M,256M", f"values of {OPTION}; the first is the baseline"),
        Choice("data", "size", "192M", "size of the data, with its indexes"),
        Choice("access", "words", "pareto,uniform", "which rows are used: pareto (few of them mostly), uniform"),
        Choice("workload", "word", "oltp_read_only", f"one of {', '.join(OLTP)}"),
        Choice("threads", "number", "8", "connections that work at once"),
    )

    def plan(self, ground: Environment, wanted: ProbeRequest) -> RunPlan:
        """A group for each kind of access, with a variant for each size.

        Raises ProbeError for sizes below 16M, and where no pool is smaller than the data.
        """
        chosen = ChosenOptions(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        sizes, shape, threads = chosen.sizes("sizes", LEAST), _shape(chosen), chosen.number("threads", 1)
        _require_pressure(sizes, shape)
        workload = chosen.word("workload", *OLTP)
        variants = tuple(_variant(size, access) for access in chosen.words("access", *ACCESSES) for size in sizes)
        growth = int(wanted.budget(SECONDS, ROUNDS) * GROWTH_RATE) if OLTP[workload].updates else 0
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(TPS, P99, MISS_RATIO),
            cost=server_settings.cost(pool=max(sizes), data=shape.bytes, growth=growth, threads=threads),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=RESTART + WARM + shape.bytes / SCAN_RATE,
            shortest=SHORTEST,
            grain=1.0,
            axis=OPTION,
            driver=driver_of(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                "workload": workload,
                "rows": str(shape.rows),
                "tables": str(TABLES),
                "data": str(shape.bytes),
                "threads": str(threads),
            },
            limits=LIMITS if OLTP[workload].updates else (*LIMITS, READS_ONLY),
        )

    @contextlib.contextmanager
    def prepare(self, ground: Environment, wanted: ProbeRequest, plan: RunPlan, stop: Stop) -> Iterator[PoolBench]:
        """A server that reads past the page cache, with its tables."""
        chosen = ChosenOptions(self.choices, wanted)
        binary = binary_for(ground, chosen.word("server"))
        shape, largest = _shape(chosen), max(chosen.sizes("sizes"))
        with serve(ground, binary, wanted.directory, server_settings.arguments(binary.target, pool=largest)) as served:
            ground.report(f"filling {TABLES} tables of {shape.rows} rows")
            fill(served.connection(), shape, stop)
            yield PoolBench(served, plan, chosen.number("threads"))


class PoolBench(LoadedBench):
    """Fills the pool before each block of another variant than the last, and adds the share of misses."""

    def __init__(self, served: Served, plan: RunPlan, threads: int) -> None:
        self._last = ""
        workload, rows = OLTP[plan.parameters["workload"]], int(plan.parameters["rows"])

        def task_of(variant: Variant) -> Task:
            access = Access(variant.group)
            return Task(served.sandbox.socket, served.room, workload, access, threads, rows=rows, tables=TABLES)

        checks = preconditions(_bytes_of_tables(served))
        super().__init__(served, plan.driver, task_of, warm_seconds=WARM, preconditions=checks)

    def measure(self, variant: Variant, turn: Turn, stop: Stop) -> BlockMeasurement:
        """One block, see LoadedBench; another kind of access needs other pages in a pool of the same size."""
        if variant.name != self._last:
            self._warmed.discard(variant.name)
        self._last = variant.name
        measured = super().measure(variant, turn, stop)
        if MISSES in measured.counters:
            measured.metrics[MISS_RATIO.name] = measured.counters[MISSES]
        return measured

    def facts(self) -> dict[str, float | str]:
        """The size of the tables' files beside what LoadedBench has."""
        return {**super().facts(), "data files": float(_bytes_of_tables(self.served))}

    def _warm(self, variant: Variant, turn: Turn, stop: Stop) -> None:
        fill_pool(self.served, TABLES, stop)
        super()._warm(variant, turn, stop)


def preconditions(data: int) -> tuple[Precondition, ...]:
    """That pools smaller than `data` (bytes) are full, read and evict, and that larger ones read nothing."""

    def is_small(variant: Variant) -> bool:
        return (variant.point or 0.0) <= data * TOO_SMALL

    def reading(variant: Variant, _activity: Activity) -> Bounds | None:
        if is_small(variant):
            return Bounds(LEAST_READ)
        return Bounds(high=MOST_READ) if (variant.point or 0.0) >= data * FITS + OWN else None

    def evicting(variant: Variant, _activity: Activity) -> Bounds | None:
        return Bounds(LEAST_READ) if is_small(variant) else None

    def filled(variant: Variant, _activity: Activity) -> Bounds | None:
        return Bounds(high=SPARE * int(variant.settings[DEPTH])) if is_small(variant) else None

    return (
        reads_pages(reading),
        Precondition(FREE, lambda activity: activity.after.get("Innodb_buffer_pool_pages_free"), filled),
        Precondition(EVICTED, evicted, evicting),
        Precondition(MISSES, _missed, lambda *_: None),
    )


def _missed(activity: Activity) -> float | None:
    """How many of a hundred requests for a page had to wait for the disk."""
    reads, requests = (activity.grown.get(f"Innodb_buffer_pool_{what}") for what in ("reads", "read_requests"))
    return None if reads is None or not requests else 100 * reads / requests


def _variant(size: int, access: str) -> Variant:
    """One size, of which the server keeps the same share of pages free."""
    settings = {OPTION: str(size), DEPTH: str(server_settings.free_pages(size))}
    return Variant(f"{access}, {exact(size)}", settings, float(size), access)


def _require_pressure(sizes: list[int], shape: Shape) -> None:
    if min(sizes) > shape.bytes * TOO_SMALL:
        raise ProbeError(
            f"all sizes hold the data of {exact(shape.bytes)}, so none reads from disk: choose a size below "
            f"{exact(int(shape.bytes * TOO_SMALL))}, or more data"
        )


def _shape(chosen: ChosenOptions) -> Shape:
    return Shape(max(1, chosen.size("data", LEAST) // ROW_BYTES // TABLES), TABLES)


def _bytes_of_tables(served: Served) -> int:
    ((folder,),) = served.query("SELECT @@datadir")
    with os.scandir(os.path.join(str(folder), DATABASE)) as entries:
        return sum(entry.stat().st_size for entry in entries)


EXPERIMENT = PoolSize()
