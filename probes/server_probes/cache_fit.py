"""Probe of how many rows a buffer pool caches, by page size and compression.

Each step adds a fifth more random keys.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import format_size
from probes.choices import ChosenOptions
from probes.experiment import Choice, Cost, RunPlan, Variant
from probes.page_cache import has_device
from probes.server_probes import server_settings
from probes.server_probes.choices import SERVER_CHOICE, choose_binary
from probes.server_probes.key_reads import MISSES, KeyedBench, Layout
from probes.server_probes.under_load import P95, QPS
from probes.server_probes.variant_server import start_variant_server
from probes.workload.driver import DRIVER_CHOICE, choose_driver
from probes.workload.tables import TableShape, fill_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.experiment import Environment, ProbeRequest
    from probes.stop import StopSignal

KEY_STEP = 1.2
FIRST_SHARE = 0.7  # of the pool in pages of 16K; so few keys are cached in every layout
REDO = 64 << 20
SECONDS = 180.0
ROUNDS = 3
OVERHEAD = 0.6  # the keys are read once, and the driver starts
ROW_SIZE = 200  # bytes of a row without a secondary key
PAGE = 16 << 10
# Short blocks need a pool that evicts the previous block's pages: with the defaults, pages stay only if they are read
# again after a second, and another layout's pages keep five eighths of the pool until then.
PLAIN_LRU = ("--innodb-old-blocks-time=0", "--innodb-old-blocks-pct=95")


class LayoutKind(NamedTuple):
    """A layout, before its server exists."""

    page: int
    database: str
    engine: str
    settings: dict[str, str]


KINDS = {
    "16K": LayoutKind(PAGE, "sbtest", "InnoDB", {"innodb_page_size": "16384"}),
    "4K": LayoutKind(4096, "sbtest", "InnoDB", {"innodb_page_size": "4096"}),
    "compressed": LayoutKind(
        PAGE,
        "packed",
        "InnoDB ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=4",
        {"innodb_page_size": "16384", "row_format": "COMPRESSED", "key_block_size": "4"},
    ),
}


class CacheFit:
    """The probe `cache-fit`."""

    name = "cache-fit"
    title = "Random keys and the buffer pool: where the cliff is"
    question = "How many random rows can a buffer pool serve fast, by page size and compression?"
    kind = "server"
    evidence = ("PGSZ-01", "PGSZ-02")
    choices = (
        SERVER_CHOICE,
        DRIVER_CHOICE,
        Choice("acceptable-qps", "number", "2000", "minimum acceptable queries per second"),
        Choice("layouts", "words", "16K,4K,compressed", "16K and 4K pages, and 16K pages compressed to 4K"),
        Choice("pool", "size", "32M", "innodb_buffer_pool_size; 128M in the published test"),
        Choice("table", "size", "0", "size of the table; 0 for eight times the pool"),
        Choice("steps", "number", "10", "number of steps; each adds a fifth to the keys"),
        Choice("threads", "number", "1", "concurrent connections"),
        Choice("filler", "word", "constant", "constant compresses perfectly, as in the published test; digits don't"),
    )

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """One variant per layout and number of keys; for each number the layouts are compared with the first one."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        layouts = chosen.words("layouts", *KINDS)
        pool, rows = _pool(chosen), _rows(chosen)
        counts = [min(rows, round(_fitting_keys(pool) * KEY_STEP**n)) for n in range(chosen.number("steps", 2) + 1)]
        variants = tuple(
            Variant(f"{layout}, {count} keys", KINDS[layout].settings, float(count), f"{count} keys")
            for count in dict.fromkeys(counts)
            for layout in layouts
        )
        return RunPlan(
            variants=variants,
            baseline=variants[0].name,
            metrics=(QPS, P95, MISSES),
            cost=_cost(layouts, pool, rows, chosen.number("threads", 1)),
            seconds=SECONDS,
            rounds=ROUNDS,
            overhead=OVERHEAD,
            shortest=1.0,
            axis="keys",
            driver=choose_driver(chosen.word("driver")),
            server=str(binary.target),
            parameters={
                "pool": format_size(pool),
                "replacement": "least recently used (innodb_old_blocks_pct=95, innodb_old_blocks_time=0)",
                "rows": str(rows),
                "threads": str(chosen.number("threads", 1)),
                "acceptable qps": str(chosen.number("acceptable-qps", 1)),
                "filler": chosen.word("filler", "constant", "digits"),
            },
            limits=tuple(_limits(environment, pool)),
        )

    @contextlib.contextmanager
    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> Iterator[KeyedBench]:
        """Start a server per page size, and fill a table per layout."""
        chosen = ChosenOptions(self.choices, request)
        binary = choose_binary(environment, chosen.word("server"))
        pool, rows = _pool(chosen), _rows(chosen)
        arguments = (*server_settings.server_arguments(binary.target, pool=pool, redo=REDO), *PLAIN_LRU)
        layouts: dict[str, Layout] = {}
        with contextlib.ExitStack() as stack:
            servers = {}
            for name in chosen.words("layouts", *KINDS):
                if stop.is_set():  # do not start another server
                    break
                kind = KINDS[name]
                if kind.page not in servers:
                    initial = [] if kind.page == PAGE else [f"--innodb-page-size={kind.page}"]
                    server = start_variant_server(environment, binary, request.directory, arguments, initial=initial)
                    servers[kind.page] = stack.enter_context(server)
                environment.report(f"filling a table of {rows} rows, {name}")
                shape = TableShape(
                    rows, 1, kind.engine, plan.parameters["filler"], key_on_k=False, database=kind.database
                )
                fill_tables(servers[kind.page].connection(), shape, stop)
                pages, compressed = pool // kind.page, "COMPRESSED" in kind.engine
                layouts[name] = Layout(name, servers[kind.page], kind.database, pages, _fitting_keys(pool), compressed)
            for running in servers.values():
                running.restart()  # writes out the changes that filling left behind
            yield KeyedBench(
                layouts,
                plan.driver,
                rows,
                chosen.number("threads", 1),
                seed=request.seed + 1,
                acceptable=chosen.number("acceptable-qps", 1),
            )


def _pool(chosen: ChosenOptions) -> int:
    return chosen.size("pool", 8 << 20)


def _fitting_keys(pool: int) -> int:
    """The number of keys whose pages fit in the pool in every layout."""
    return round(FIRST_SHARE * pool / PAGE)


def _rows(chosen: ChosenOptions) -> int:
    return max(1000, (chosen.size("table", 0) or 8 * _pool(chosen)) // ROW_SIZE)


def _cost(layouts: list[str], pool: int, rows: int, threads: int) -> Cost:
    servers = len({KINDS[layout].page for layout in layouts})
    data = rows * ROW_SIZE * len(layouts) // servers
    return server_settings.server_cost(pool=pool, data=data, redo=REDO, servers=servers, threads=threads)


def _limits(environment: Environment, pool: int) -> Iterator[str]:
    yield "All rows are equally likely: skewed access caches more of its rows in the same pool."
    yield f"Overhead takes a larger share of a pool of {format_size(pool)} than of a larger pool."
    if not has_device(environment.host):
        yield "The directory is in memory, so a page read costs almost nothing: the cliff does not show."


EXPERIMENT = CacheFit()
