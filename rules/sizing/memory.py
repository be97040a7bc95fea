"""How much memory a server takes: measured, likely, and the ceiling that its settings allow."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import format_size

if TYPE_CHECKING:
    from rules.core.context import RuleContext


MIB = 1 << 20
GIB = 1 << 30
# What the operating system keeps, whatever the machine: a gigabyte, on small machines a sixteenth. Beyond that a pool
# that is advised leaves a few percent to statements at work and to the page cache. Both are our choice: the shares of
# the manuals (50 to 80 percent, BP-05) leave a hundred gigabytes idle on a machine of 512.
SYSTEM = GIB
SYSTEM_SHARE = 16
SPARE_PERCENT = 8
LEAST_SHARE = 4  # of so many parts of the memory a pool is always one
GROWTH_PERCENT = 25
CHUNK = 128 * MIB
INSTANCES = "innodb_buffer_pool_instances"
DEFAULT_INSTANCES = 8
MOST_INSTANCES = 64


class Budget(NamedTuple):
    """Bytes; `measured` is None where nothing was measured, `likely` where no server was asked for its peak.

    `likely` is what the peak of connections takes, as many as are at work just now using those buffers of which the
    counters tell that sessions use them; it is never less than what the process has ever taken. `ceiling` is every
    allowed connection using each of its buffers at once, which no server reaches. Neither includes what a session
    creates without a bound of its own: tables of the engine MEMORY, packets up to max_allowed_packet, a buffer for
    each further join, sort or derived table of a statement.
    """

    measured: int | None
    likely: int | None
    ceiling: int
    connections: int
    per_session: int

    @property
    def sessions(self) -> str:
        """How the sessions add to the ceiling, as text."""
        return f"{self.connections:,} connections × {format_size(self.per_session)}"  # noqa: RUF001 - the sign is meant

    @property
    def sentence(self) -> str:
        """The three numbers as text."""
        parts = [f"{format_size(self.measured)} measured"] if self.measured else []
        parts += [f"{format_size(self.likely)} likely"] if self.likely else []
        return ", ".join([*parts, f"{format_size(self.ceiling)} ceiling ({self.sessions})"])


def memory_budget(context: RuleContext) -> Budget | None:
    """The three numbers; None where a size that they rest on is not known, a templated pool for instance."""
    pool, connections = context.number("innodb_buffer_pool_size"), context.number("max_connections")
    if pool is None or connections is None:
        return None
    each = session_maximum(context)
    ceiling = memory_at_rest(context) + shared_buffers(context) + temptable_memory(context) + connections * each
    taken = measured_memory(context)
    likely = max(expected_memory(context), taken or 0, _peak_resident(context)) if context.has("server") else None
    return Budget(taken, likely, ceiling, connections, each)


def largest_session_part(context: RuleContext, connections: int) -> tuple[str, int]:
    """The option that bounds the largest part of the ceiling, and the bytes that all sessions together take by it."""
    parts = {name: size * connections for name, size in session_part(context).items()}
    parts |= {name: context.number(name) or 0 for name in (POOL, *CACHES)} | {
        "temptable_max_ram": temptable_memory(context)
    }
    return max(parts.items(), key=lambda part: part[1])


def expected_memory(context: RuleContext) -> int:
    """What the server takes at the peak of its connections by its counters alone, whatever was measured."""
    peak = context.server.counter("max_used_connections") or 0
    running = min(peak, context.server.counter("threads_running") or 0)
    tables = min(temptable_memory(context), running * memory_table_size(context))
    sessions = peak * idle_session(context) + running * session_in_use(context)
    return memory_at_rest(context) + shared_buffers_in_use(context) + tables + sessions


def measured_memory(context: RuleContext) -> int | None:
    """Resident bytes of the server's process, else what the server accounts for itself."""
    if context.has("host") and context.host.process is not None and context.host.process.resident:
        return context.host.process.resident
    return context.server.instrumented_bytes if context.has("server") else None


def usable_memory(context: RuleContext) -> tuple[int, str] | None:
    """Bytes that the server may use, and what sets them: the machine's memory or a control group's limit."""
    host = context.host
    size = host.usable_memory
    if not size:
        return None
    limited = host.memory is None or size < host.memory.total
    return size, f"{format_size(size)} of {'the control group' if limited else 'memory'}"


def pool_that_fits(context: RuleContext, usable_bytes: int) -> int:
    """A buffer pool for the memory, in whole steps of chunk size times instances, which the server takes unchanged.

    What remains when the system, the server's other parts, its sessions and a few percent to spare are taken off.
    """
    resting = series_memory(context)
    others = resting.at_rest + resting.schema + shared_without_pool(context) + _session_totals(context)
    left = usable_bytes - system_memory(usable_bytes) - usable_bytes * SPARE_PERCENT // 100 - others
    return round_to_steps(context, _pool_within(context, left, usable_bytes))


def round_to_steps(context: RuleContext, size: int) -> int:
    """The size in whole steps below it, in whole megabytes where a step is too much."""
    step = _pool_step(context, size)
    return size // step * step if size >= step else size // MIB * MIB


def is_too_tight(context: RuleContext, pool: int, usable_bytes: int) -> bool:
    """Whether a pool with its lists, the server at rest and the system's own part are more than the memory."""
    return pool > _pool_within(
        context, usable_bytes - system_memory(usable_bytes) - memory_at_rest(context), usable_bytes
    )


def _pool_within(context: RuleContext, room: int, usable_bytes: int) -> int:
    """The pool whose pages and lists fill the room, at least a part of the memory that every server may have."""
    percent = series_memory(context).pool_percent
    pool = room if room <= DEFAULT_POOL else (room * 100 + DEFAULT_POOL * percent) // (100 + percent)
    return max(pool, usable_bytes // LEAST_SHARE)


def system_memory(usable_bytes: int) -> int:
    """What the operating system keeps of that much memory."""
    return min(SYSTEM, usable_bytes // SYSTEM_SHARE)


def _session_totals(context: RuleContext) -> int:
    """What all sessions take that may be connected, or that were at the peak, while few of them are at work."""
    connections = context.number("max_connections") or 0
    peak = context.server.counter("max_used_connections") if context.has("server") else None
    return (connections if peak is None else min(connections, peak)) * idle_session(context)


def pool_that_holds(context: RuleContext, data_bytes: int) -> int:
    """A buffer pool for all of the data and a quarter more, for undo and growth; in whole steps too."""
    wanted = data_bytes * (100 + GROWTH_PERCENT) // 100
    step = _pool_step(context, wanted)
    return -(-wanted // step) * step


def _pool_step(context: RuleContext, size: int) -> int:
    return (context.number("innodb_buffer_pool_chunk_size") or CHUNK) * instances(context, size)


def instances(context: RuleContext, size: int) -> int:
    """A number of parts that divides a pool of that size both as it runs now and after a restart (BPI-04)."""
    running = max(1, context.number(INSTANCES) or 1)
    if size < GIB or not context.target.is_mysql or context.is_set(INSTANCES):
        return running
    if not context.target.since("mysql", 8, 4):
        return lcm(running, DEFAULT_INSTANCES)
    cpus = context.host.usable_cpus if context.has("host") else None
    return lcm(running, max(1, min(size // (2 * CHUNK), int(cpus or MOST_INSTANCES * 4) // 4, MOST_INSTANCES)))


def _peak_resident(context: RuleContext) -> int:
    """The most that the process has ever had resident."""
    process = context.host.process if context.has("host") else None
    return process.peak_resident or 0 if process is not None else 0


KIB = 1 << 10
MIB = 1 << 20


class SeriesMemory(NamedTuple):
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
    SeriesMemory("mysql", (8, 4), 215 * MIB, 245 * MIB, 1024 * KIB),
    SeriesMemory("mysql", (8, 0), 90 * MIB, 280 * MIB, 1024 * KIB),
    SeriesMemory("mysql", (), 40 * MIB, 135 * MIB, 640 * KIB),
    SeriesMemory("mariadb", (11, 8), 100 * MIB, 100 * MIB, 320 * KIB),
    SeriesMemory("mariadb", (11, 4), 170 * MIB, 100 * MIB, 320 * KIB),
    SeriesMemory("mariadb", (), 90 * MIB, 100 * MIB, 320 * KIB),
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


def series_memory(context: RuleContext) -> SeriesMemory:
    """The measured numbers of the server's series."""
    return next(s for s in SERIES if context.target.since(s.flavour, *s.version))


def memory_at_rest(context: RuleContext) -> int:
    """What the process holds beside the buffers that variables size, and the statements prepared just now."""
    resting = series_memory(context)
    schema = resting.schema if context.settings.on("performance_schema") else 0
    prepared = context.server.counter("prepared_stmt_count") or 0 if context.has("server") else 0
    return resting.at_rest + schema + prepared * PREPARED


def shared_buffers(context: RuleContext) -> int:
    """The buffers that all sessions share, at their full size."""
    return _fixed_buffers(context) + sum(context.number(name) or 0 for name in CACHES)


def shared_buffers_in_use(context: RuleContext) -> int:
    """The same with the caches of tables in files as full as they have ever been; the pool fills sooner or later."""
    return _fixed_buffers(context) + sum(_filled_cache(context, name) for name in CACHES)


def shared_without_pool(context: RuleContext) -> int:
    """The same without the buffer pool and its lists."""
    pool = context.number(POOL) or 0
    filled = shared_buffers_in_use(context) if context.has("server") else shared_buffers(context)
    return filled - pool - pool_overhead(context, pool)


def _fixed_buffers(context: RuleContext) -> int:
    cache = context.number("query_cache_size") or 0
    used = (context.text("query_cache_type") or "OFF") not in {"OFF", "0"}
    lists = pool_overhead(context, context.number(POOL) or 0)
    return sum(context.number(name) or 0 for name in FIXED) + lists + (cache if used else 0)


def pool_overhead(context: RuleContext, pool: int) -> int:
    """What a pool of that size takes beside its pages, beyond what a default one does."""
    return max(0, pool - DEFAULT_POOL) * series_memory(context).pool_percent // 100


def _filled_cache(context: RuleContext, name: str) -> int:
    size = context.number(name) or 0
    counter, unit = CACHES[name]
    blocks, block = context.server.counter(counter), context.number(unit)
    return size if blocks is None or block is None else min(size, blocks * block)


def idle_session(context: RuleContext) -> int:
    """A session that has read something and now waits."""
    return series_memory(context).session + (context.number("net_buffer_length") or 0)


def session_maximum(context: RuleContext) -> int:
    """What one session may take at once: its stack, each buffer one time, and its temporary tables in memory."""
    return idle_session(context) + sum(session_part(context).values())


def session_part(context: RuleContext) -> dict[str, int]:
    """What one session may take by the option that bounds it."""
    buffers = {name: _session_buffer(context, name) for name in (*BUFFERS, *_binary_log_caches(context))}
    stack = context.number("thread_stack") or 0
    return buffers | {
        "thread_stack": stack,
        SCAN: _scan_buffer(context),
        "tmp_table_size": TABLES_AT_ONCE * _temporary_table(context),
    }


def session_in_use(context: RuleContext) -> int:
    """What a session at work takes beside `idle`: the buffers that any session has used, one temporary table."""
    counted = BUFFERS | _binary_log_caches(context)
    buffers = sum(
        _session_buffer(context, name) for name, counters in counted.items() if _has_activity(context, counters)
    )
    return buffers + _scan_buffer(context) + _temporary_table(context)


def _binary_log_caches(context: RuleContext) -> dict[str, tuple[str, ...]]:
    """The caches of a session that changes rows; none without a binary log."""
    from rules.durability.binary_log import (
        writes_binary_log,  # which has rules of its own: a lint that has no such line goes without
    )

    return LOG_CACHES if writes_binary_log(context) else {}


def _session_buffer(context: RuleContext, name: str) -> int:
    from rules.memory.session_buffers import join_memory_limit

    size = context.number(name) or 0
    limit = join_memory_limit(context) if name.startswith("join") else None
    return size if limit is None else min(size, limit)


def _has_activity(context: RuleContext, counters: tuple[str, ...]) -> bool:
    return any(context.server.counter(counter) != 0 for counter in counters)


def _scan_buffer(context: RuleContext) -> int:
    """The buffer of scans, with which MySQL 8.0 and later never read."""
    return 0 if context.target.since("mysql", 8, 0) else context.number(SCAN) or 0


def _temporary_table(context: RuleContext) -> int:
    """One temporary table of a session's own; none where TempTable keeps those of all sessions together."""
    return 0 if temptable_memory(context) else memory_table_size(context)


def memory_table_size(context: RuleContext) -> int:
    """How large a temporary table in memory may grow."""
    return min((s for s in map(context.number, ("tmp_table_size", "max_heap_table_size")) if s), default=0)


def temptable_memory(context: RuleContext) -> int:
    """The memory of TempTable, which all sessions of MySQL 8.0 and later share unless MEMORY was chosen instead."""
    if context.text("internal_tmp_mem_storage_engine") == "MEMORY":
        return 0
    # MySQL 8.4 takes 3 % of memory where nothing sets it, and never less than this.
    return context.number("temptable_max_ram") or (LEAST_TEMPTABLE if context.target.since("mysql", 8, 4) else 0)
