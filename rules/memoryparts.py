"""What the parts of a server take of memory, by series, as real servers under load showed it.

The numbers that no variable tells are the resident sizes of six servers, rounded up: docs/experiments/memory.md has the
measurement and `python tools/figures/memory.py` repeats it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rules.known import Known

KIB = 1 << 10
MIB = 1 << 20


class Series(NamedTuple):
    """Bytes, from that version on: the process `at_rest` without the buffers that variables size, what
    performance_schema adds to it, and a `session` that has read a row, without its buffers.
    """

    flavour: str
    version: tuple[int, ...]
    at_rest: int
    schema: int
    session: int

    @property
    def pool_percent(self) -> int:
        """What the buffer pool's own lists take, in percent of the pool (MEM-02)."""
        return 8 if self.flavour == "mysql" else 2


# The first that fits counts. Transactions make MySQL's sessions dear: each keeps one, with its locks, once it has read.
SERIES = (
    Series("mysql", (8, 4), 215 * MIB, 245 * MIB, 1024 * KIB),
    Series("mysql", (8, 0), 90 * MIB, 280 * MIB, 1024 * KIB),
    Series("mysql", (), 40 * MIB, 135 * MIB, 640 * KIB),
    Series("mariadb", (11, 8), 100 * MIB, 100 * MIB, 320 * KIB),
    Series("mariadb", (11, 4), 170 * MIB, 100 * MIB, 320 * KIB),
    Series("mariadb", (), 90 * MIB, 100 * MIB, 320 * KIB),
)
DEFAULT_POOL = 128 * MIB  # `at_rest` was measured with it, and holds its lists
LEAST_TEMPTABLE = 1024 * MIB
PREPARED = 24 * KIB  # a prepared statement that joins two tables
# A grouped derived table that is joined again is held twice: once grouped, once as a table.
TABLES_AT_ONCE = 2

POOL = "innodb_buffer_pool_size"
FIXED = (POOL, "innodb_log_buffer_size")
# Caches that grow block by block: the counter is the most blocks that they ever held, of a size that a variable tells.
CACHES = {
    "key_buffer_size": ("key_blocks_used", "key_cache_block_size"),
    "aria_pagecache_buffer_size": ("aria_pagecache_blocks_used", "aria_block_size"),
}
# A session's buffers, and the counters of which one has moved where any session has used it.
BUFFERS: dict[str, tuple[str, ...]] = {
    "sort_buffer_size": ("sort_scan", "sort_range", "sort_merge_passes"),
    "join_buffer_size": ("select_full_join", "select_full_range_join"),
    "read_rnd_buffer_size": ("handler_read_rnd",),
}
SCAN = "read_buffer_size"
# What a transaction gathers for the binary log before it commits, and the counters of transactions that used them.
LOG_CACHES: dict[str, tuple[str, ...]] = {
    "binlog_cache_size": ("binlog_cache_use",),
    "binlog_stmt_cache_size": ("binlog_stmt_cache_use",),
}


def series(known: Known) -> Series:
    """The measured numbers of the server's series."""
    return next(s for s in SERIES if known.target.since(s.flavour, *s.version))


def at_rest(known: Known) -> int:
    """What the process holds beside the buffers that variables size, and the statements prepared just now."""
    measured = series(known)
    schema = measured.schema if known.settings.on("performance_schema") else 0
    prepared = known.server.counter("prepared_stmt_count") or 0 if known.has("server") else 0
    return measured.at_rest + schema + prepared * PREPARED


def shared(known: Known) -> int:
    """The buffers that all sessions share, at their full size."""
    return _fixed(known) + sum(known.number(name) or 0 for name in CACHES)


def shared_used(known: Known) -> int:
    """The same with the caches of tables in files as full as they have ever been; the pool fills sooner or later."""
    return _fixed(known) + sum(_filled(known, name) for name in CACHES)


def shared_beside_pool(known: Known) -> int:
    """The same without the buffer pool and its lists."""
    pool = known.number(POOL) or 0
    filled = shared_used(known) if known.has("server") else shared(known)
    return filled - pool - pool_lists(known, pool)


def _fixed(known: Known) -> int:
    cache = known.number("query_cache_size") or 0
    used = (known.text("query_cache_type") or "OFF") not in {"OFF", "0"}
    lists = pool_lists(known, known.number(POOL) or 0)
    return sum(known.number(name) or 0 for name in FIXED) + lists + (cache if used else 0)


def pool_lists(known: Known, pool: int) -> int:
    """What a pool of that size takes beside its pages, beyond what a default one does."""
    return max(0, pool - DEFAULT_POOL) * series(known).pool_percent // 100


def _filled(known: Known, name: str) -> int:
    size = known.number(name) or 0
    counter, unit = CACHES[name]
    blocks, block = known.server.counter(counter), known.number(unit)
    return size if blocks is None or block is None else min(size, blocks * block)


def idle(known: Known) -> int:
    """A session that has read something and now waits."""
    return series(known).session + (known.number("net_buffer_length") or 0)


def session(known: Known) -> int:
    """What one session may take at once: its stack, each buffer one time, and its temporary tables in memory."""
    return idle(known) + sum(of_a_session(known).values())


def of_a_session(known: Known) -> dict[str, int]:
    """What one session may take by the option that bounds it."""
    buffers = {name: _buffer(known, name) for name in (*BUFFERS, *_log_caches(known))}
    stack = known.number("thread_stack") or 0
    return buffers | {"thread_stack": stack, SCAN: _scan(known), "tmp_table_size": TABLES_AT_ONCE * _table(known)}


def session_used(known: Known) -> int:
    """What a session at work takes beside `idle`: the buffers that any session has used, one temporary table."""
    counted = BUFFERS | _log_caches(known)
    buffers = sum(_buffer(known, name) for name, counters in counted.items() if _moved(known, counters))
    return buffers + _scan(known) + _table(known)


def _log_caches(known: Known) -> dict[str, tuple[str, ...]]:
    """The caches of a session that changes rows; none without a binary log."""
    from rules.bin import writes_binary_log  # which has rules of its own: a lint that has no such line goes without

    return LOG_CACHES if writes_binary_log(known) else {}


def _buffer(known: Known, name: str) -> int:
    from rules.buf import join_limit

    size = known.number(name) or 0
    limit = join_limit(known) if name.startswith("join") else None
    return size if limit is None else min(size, limit)


def _moved(known: Known, counters: tuple[str, ...]) -> bool:
    return any(known.server.counter(counter) != 0 for counter in counters)


def _scan(known: Known) -> int:
    """The buffer of scans, with which MySQL 8.0 and later never read."""
    return 0 if known.target.since("mysql", 8, 0) else known.number(SCAN) or 0


def _table(known: Known) -> int:
    """One temporary table of a session's own; none where TempTable keeps those of all sessions together."""
    return 0 if temptable(known) else table_size(known)


def table_size(known: Known) -> int:
    """How large a temporary table in memory may grow."""
    return min((s for s in map(known.number, ("tmp_table_size", "max_heap_table_size")) if s), default=0)


def temptable(known: Known) -> int:
    """The memory of TempTable, which all sessions of MySQL 8.0 and later share unless MEMORY was chosen instead."""
    if known.text("internal_tmp_mem_storage_engine") == "MEMORY":
        return 0
    # MySQL 8.4 takes 3 % of memory where nothing sets it, and never less than this.
    return known.number("temptable_max_ram") or (LEAST_TEMPTABLE if known.target.since("mysql", 8, 4) else 0)
