"""Control how a server flushes: count pages by kind of batch, flush all dirty pages, and fill the pool."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probes.server_probes.variant_server import VariantServer
    from probes.stop import StopSignal


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
