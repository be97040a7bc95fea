"""The server's memory use: measured, likely, and the ceiling that its settings allow."""

from __future__ import annotations

from math import lcm

from advisor.core import NamedTuple
from advisor.core.model import format_size
from advisor.verdict.settings import DEFAULT_CONNECTIONS
from rules.core.advice import connection_limit
from rules.core.network import is_group_hidden
from rules.sizing.performance_schema import schema_growth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.facts import Host
    from rules.core.context import RuleContext


KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
# The memory that the operating system needs: kernel, services and page tables, and in a control group only what the
# kernel counts to the group. Beyond that, an advised pool leaves a few percent to the page cache and to programs that
# run for a while. All are our choice: the percentages in the manuals (50 to 80, BP-05) leave a hundred gigabytes idle
# on a machine with 512, and too little on one with 2.
SYSTEM = 256 * MIB
SYSTEM_IN_GROUP = 64 * MIB
SYSTEM_PERCENT = 2
SPARE_PERCENT = 6
IN_GROUP, MEMORY = "the control group", "memory"  # names in Host.memory_limits
LEAST_POOL = 64 * MIB  # no smaller pool is advised: the server itself takes several times as much
# Sessions that run statements at once, where no counter shows it: a few for each processor, or as many as throughput
# was seen to rise with (CONN-02).
RUNNING_PER_CPU = 4
LEAST_RUNNING = 16
RUNNING = 64
GROWTH_PERCENT = 25
DAY = 86400
CHUNK = 128 * MIB
INSTANCES = "innodb_buffer_pool_instances"
DEFAULT_INSTANCES = 8
MOST_INSTANCES = 64


class Budget(NamedTuple):
    """Bytes; `measured` is None if nothing was measured, `likely` if the connection peak is unknown.

    `likely` is the memory at the peak of connections: as many sessions as are running now use those buffers that
    counters show to be in use. It is never less than the peak of the process. `loaded` is every allowed connection
    open, of which `running` use each of their buffers. `ceiling` is every allowed connection using each of its buffers
    at once, which no server reaches. None includes unbounded memory of sessions: MEMORY tables, packets up to
    max_allowed_packet, a buffer for each further join, sort or derived table of a statement.
    """

    measured: int | None
    likely: int | None
    ceiling: int
    connections: int
    per_session: int
    loaded: int
    running: int

    @property
    def sessions(self) -> str:
        """The part of the sessions in the ceiling, as text."""
        return f"{self.connections:,} connections × {format_size(self.per_session)}"  # noqa: RUF001 - the sign is meant

    @property
    def sentence(self) -> str:
        """The numbers as text."""
        parts = [f"{format_size(self.measured)} measured"] if self.measured else []
        parts += [f"{format_size(self.likely)} likely"] if self.likely else []
        return ", ".join([*parts, f"{format_size(self.ceiling)} ceiling ({self.sessions})"])


def memory_budget(context: RuleContext) -> Budget | None:
    """The memory budget; None if a required size is unknown, for example because the pool size is templated."""
    pool, connections = context.number(POOL), connection_limit(context)
    if pool is None or connections is None:
        return None
    each, running = session_maximum(context), running_sessions(context)
    resting = memory_at_rest(context)
    ceiling = resting + shared_buffers(context) + temptable_memory(context) + connections * each
    sessions = connections * idle_session(context) + running_total(context, running)
    loaded = resting + shared_buffers_expected(context) + sessions
    taken = measured_memory(context)
    likely = max(expected_memory(context), taken or 0, _peak_resident(context)) if context.has("server") else None
    return Budget(taken, likely, ceiling, connections, each, loaded, running)


def largest_part(context: RuleContext, running: int, *, but: str = "") -> tuple[str, int]:
    """The option that bounds the largest part of the memory, and the part's size in bytes; `but` is left out."""
    parts = memory_parts(context, running)
    return max(((name, size) for name, size in parts.items() if name != but), key=lambda part: part[1])


def memory_parts(context: RuleContext, running: int) -> dict[str, int]:
    """The memory in bytes if all connections are open and `running` of them are at work, by the option that bounds it.

    The size is that of all sessions together.
    """
    parts = {name: size * running for name, size in session_part(context).items() if name != "tmp_table_size"}
    parts["tmp_table_size"] = running * _temporary_table(context)
    parts |= {name: context.number(name) or 0 for name in (*FIXED, *CACHES)}
    parts["max_connections"] = (connection_limit(context) or 0) * idle_session(context)
    parts["temptable_max_ram"] = min(temptable_memory(context), running * memory_table_size(context))
    return parts


def running_sessions(context: RuleContext) -> int:
    """The sessions that are taken to run statements at once where no counter shows it."""
    cpus = context.host.usable_cpus if context.has("host") else None
    most = max(LEAST_RUNNING, int(RUNNING_PER_CPU * cpus)) if cpus else RUNNING
    return min(connection_limit(context) or 0, most)


def running_total(context: RuleContext, running: int) -> int:
    """What so many sessions take beyond `idle_session` if each uses every buffer and one temporary table."""
    buffers = sum(_session_buffer(context, name) for name in (*BUFFERS, *_binary_log_caches(context)))
    tables = min(temptable_memory(context), running * memory_table_size(context))
    return running * (buffers + _scan_buffer(context) + _temporary_table(context)) + tables


def expected_memory(context: RuleContext) -> int:
    """The memory at the peak of connections, from counters only, without measurements."""
    peak = context.server.counter("max_used_connections") or 0
    running = min(peak, context.server.counter("threads_running") or 0)
    tables = min(temptable_memory(context), running * memory_table_size(context))
    sessions = peak * idle_session(context) + running * session_in_use(context)
    return memory_at_rest(context) + shared_buffers_in_use(context) + tables + sessions


def measured_memory(context: RuleContext) -> int | None:
    """The resident memory of the server's process without mapped files, else the memory that the server instruments.

    None if neither is known. The kernel can take back what maps files: Galera's gcache, TempTable's files (MEM-04).
    """
    process = context.host.process if context.has("host") else None
    if process is not None and process.resident:
        huge_pages = 0 if memory_source(context.host) == IN_GROUP else process.huge_pages or 0
        return process.resident - (process.mapped_files or 0) + huge_pages  # which no control group counts
    return context.server.instrumented_bytes if context.has("server") else None


def usable_memory(context: RuleContext) -> tuple[int, str] | None:
    """The bytes that the server may use, and what limits them; None where its control group may have other limits."""
    size = None if is_group_hidden(context.host) else context.host.usable_memory
    return (size, f"{format_size(size)} of {memory_source(context.host)}") if size else None


def memory_source(host: Host) -> str:
    """What limits the memory that the server may use."""
    limits = host.memory_limits
    what = min(limits, key=lambda name: limits[name], default=MEMORY)
    return "memory outside of huge pages" if what == MEMORY and host.unusable_huge_pages else what


def pool_that_fits(context: RuleContext, usable_bytes: int, *, sessions: int | None = None) -> int:
    """The largest pool for that much memory, in whole steps of chunk size times instances.

    The server does not round such a size. It is what remains after the system's memory, the server's other memory, its
    sessions and a reserve of a few percent. `sessions` is the memory of all sessions in bytes, where more is known of
    them than `session_total`.
    """
    resting = series_memory(context)
    own = session_total(context) if sessions is None else sessions
    program = max(resting.at_rest + resting.schema, memory_at_rest(context))
    others = program + shared_without_pool(context) + own
    spare = usable_bytes * SPARE_PERCENT // 100
    return round_to_steps(
        context, _pool_within(context, usable_bytes - system_memory(context, usable_bytes) - spare - others)
    )


def fitting_pool(context: RuleContext, pool: int) -> int:
    """The pool size, or on a known host the size that pool-exceeds-memory advises for a pool that is too large."""
    room = usable_memory(context) if context.has("host") else None
    return pool_that_fits(context, room[0]) if room and is_too_tight(context, pool, room[0]) else pool


def round_to_steps(context: RuleContext, size: int) -> int:
    """The size rounded down to whole steps, or to megabytes if it is less than a step."""
    step = _pool_step(context, size)
    return size // step * step if size >= step else size // MIB * MIB


def is_too_tight(context: RuleContext, pool: int, usable_bytes: int) -> bool:
    """Whether a pool with its overhead, the server at rest and the system's memory exceed the usable memory."""
    left = usable_bytes - system_memory(context, usable_bytes) - memory_at_rest(context)
    return pool > _pool_within(context, left)


def memory_besides(context: RuleContext, usable_bytes: int) -> str:
    """What the server at rest and the system need beside the pool, as text."""
    percent, own = series_memory(context).pool_percent, format_size(memory_at_rest(context))
    system = format_size(system_memory(context, usable_bytes))
    return f"the system needs {system}, the idle server {own}, and the lists of the pool {percent} % of its size"


def page_cache_room(context: RuleContext, pool: int, usable_bytes: int) -> int:
    """The memory that a pool of that size leaves to the page cache."""
    taken = pool + pool_overhead(context, pool) + memory_at_rest(context)
    return usable_bytes - system_memory(context, usable_bytes) - taken


def _pool_within(context: RuleContext, room: int) -> int:
    """The pool that fits in `room` with its overhead, but at least LEAST_POOL."""
    percent = series_memory(context).pool_percent
    pool = room if room <= DEFAULT_POOL else (room * 100 + DEFAULT_POOL * percent) // (100 + percent)
    return max(pool, LEAST_POOL)


def system_memory(context: RuleContext, usable_bytes: int) -> int:
    """The memory that the operating system needs beside the server, if the server may use that much."""
    least = SYSTEM_IN_GROUP if memory_source(context.host) == IN_GROUP else min(SYSTEM, usable_bytes // 4)
    return least + usable_bytes * SYSTEM_PERCENT // 100


def session_total(context: RuleContext) -> int:
    """The memory of all sessions, at the connection peak or at max_connections, if they are idle."""
    sessions = connection_limit(context) or 0
    peak = context.server.counter("max_used_connections") if context.has("server") else None
    if peak is not None:  # soon after a start, which may follow a kill, the peak says little
        sessions = min(sessions, peak if context.server.peak_seconds >= DAY else max(peak, DEFAULT_CONNECTIONS))
    return sessions * idle_session(context)


def pool_that_holds(context: RuleContext, data_bytes: int) -> int:
    """The pool that holds all data and a quarter more for undo and growth, rounded up to whole steps."""
    wanted = data_bytes * (100 + GROWTH_PERCENT) // 100
    step = _pool_step(context, wanted)
    return -(-wanted // step) * step


def _pool_step(context: RuleContext, size: int) -> int:
    return (context.number("innodb_buffer_pool_chunk_size") or CHUNK) * instances(context, size)


def instances(context: RuleContext, size: int) -> int:
    """A number of instances that divides a pool of that size, both now and after a restart (BPI-04)."""
    running = max(1, context.number(INSTANCES) or 1)
    if size < GIB or not context.target.is_mysql or context.is_set(INSTANCES):
        return running
    if not context.target.since("mysql", 8, 4):
        return lcm(running, DEFAULT_INSTANCES)
    cpus = context.host.usable_cpus if context.has("host") else None
    return lcm(running, max(1, min(size // (2 * CHUNK), int(cpus or MOST_INSTANCES * 4) // 4, MOST_INSTANCES)))


def _peak_resident(context: RuleContext) -> int:
    """The peak resident memory of the process without the files that it maps now; 0 if unknown."""
    process = context.host.process if context.has("host") else None
    return (process.peak_resident or 0) - (process.mapped_files or 0) if process is not None else 0


class SeriesMemory(NamedTuple):
    """Bytes, valid from that version on.

    `at_rest` is the process without the buffers that variables size, `schema` is the addition of performance_schema,
    `session` is a session that has read a row, without its buffers.
    """

    flavour: str
    version: tuple[int, ...]
    at_rest: int
    schema: int
    session: int

    @property
    def pool_percent(self) -> int:
        """The overhead of the buffer pool in percent of the pool (MEM-02)."""
        return 8 if self.flavour == "mysql" else 2


# The first match applies. MySQL's sessions are large because each keeps a transaction object, with its locks, once it
# has read something.
SERIES = (
    SeriesMemory("mysql", (8, 4), 215 * MIB, 245 * MIB, 1024 * KIB),
    SeriesMemory("mysql", (8, 0), 90 * MIB, 280 * MIB, 1024 * KIB),
    SeriesMemory("mysql", (), 40 * MIB, 135 * MIB, 640 * KIB),
    SeriesMemory("mariadb", (11, 8), 100 * MIB, 100 * MIB, 320 * KIB),
    SeriesMemory("mariadb", (11, 4), 170 * MIB, 100 * MIB, 320 * KIB),
    SeriesMemory("mariadb", (), 90 * MIB, 100 * MIB, 320 * KIB),
)
DEFAULT_POOL = 128 * MIB  # `at_rest` was measured with this pool and includes its overhead
LEAST_TEMPTABLE = 1024 * MIB
HELD = ("prepared_stmt_count", "open_table_definitions")
PREPARED = 24 * KIB  # a prepared statement that joins two tables
TABLE, FEW_TABLES = 32 * KIB, 200  # a table in use, with its definition (MEM-05); `at_rest` includes a few
# A grouped derived table that is joined again is stored twice: once for grouping, once as a table.
TABLES_AT_ONCE = 2

POOL = "innodb_buffer_pool_size"
FIXED = (POOL, "innodb_log_buffer_size")
# Caches that grow block by block: the counter is the peak number of blocks, and a variable gives their size.
KEYS = "key_buffer_size"
CACHES = {
    KEYS: ("key_blocks_used", "key_cache_block_size"),
    "aria_pagecache_buffer_size": ("aria_pagecache_blocks_used", "aria_block_size"),
}
# Session buffers, with counters of which at least one is above 0 if any session has used the buffer.
BUFFERS: dict[str, tuple[str, ...]] = {
    "sort_buffer_size": ("sort_scan", "sort_range", "sort_merge_passes"),
    "join_buffer_size": ("select_full_join", "select_full_range_join"),
    "read_rnd_buffer_size": ("handler_read_rnd",),
}
SCAN = "read_buffer_size"
# Caches for the binary log events of a transaction, with the counters of transactions that used them.
LOG_CACHES: dict[str, tuple[str, ...]] = {
    "binlog_cache_size": ("binlog_cache_use",),
    "binlog_stmt_cache_size": ("binlog_stmt_cache_use",),
}


def series_memory(context: RuleContext) -> SeriesMemory:
    """The measured numbers for the server's series."""
    return next(s for s in SERIES if context.target.since(s.flavour, *s.version))


def memory_at_rest(context: RuleContext) -> int:
    """The process without the buffers that variables size, but with the tables and prepared statements in use now."""
    resting = series_memory(context)
    schema = resting.schema + schema_growth(context) if context.settings.on("performance_schema") else 0
    held = 0
    if context.has("server"):
        statements, tables = (context.server.counter(name) or 0 for name in HELD)
        held = statements * PREPARED + max(0, tables - FEW_TABLES) * TABLE
    return resting.at_rest + schema + held


def shared_buffers(context: RuleContext) -> int:
    """The buffers that all sessions share, at their full size."""
    return _fixed_buffers(context) + sum(context.number(name) or 0 for name in CACHES)


def shared_buffers_in_use(context: RuleContext) -> int:
    """The shared buffers, with the MyISAM and Aria caches at their peak fill; the pool is counted as full."""
    return _fixed_buffers(context) + sum(_filled_cache(context, name) for name in CACHES)


def shared_without_pool(context: RuleContext) -> int:
    """The shared buffers in use, without the buffer pool and its overhead."""
    pool = context.number(POOL) or 0
    filled = shared_buffers_in_use(context) if context.has("server") else shared_buffers_expected(context)
    return filled - pool - pool_overhead(context, pool)


def shared_buffers_expected(context: RuleContext) -> int:
    """The shared buffers, without a key buffer that is not explicitly configured: without MyISAM it stays empty."""
    unused = 0 if context.is_set(KEYS) else context.number(KEYS) or 0
    return shared_buffers(context) - unused


def _fixed_buffers(context: RuleContext) -> int:
    cache = context.number("query_cache_size") or 0
    used = (context.text("query_cache_type") or "OFF") not in {"OFF", "0"}
    lists = pool_overhead(context, context.number(POOL) or 0)
    return sum(context.number(name) or 0 for name in FIXED) + lists + (cache if used else 0)


def pool_overhead(context: RuleContext, pool: int) -> int:
    """The overhead of a pool of that size, beyond that of a default pool."""
    return max(0, pool - DEFAULT_POOL) * series_memory(context).pool_percent // 100


def _filled_cache(context: RuleContext, name: str) -> int:
    size = context.number(name) or 0
    counter, unit = CACHES[name]
    blocks, block = context.server.counter(counter), context.number(unit)
    return size if blocks is None or block is None else min(size, blocks * block)


def idle_session(context: RuleContext) -> int:
    """The memory of a session that has read something and is idle."""
    return series_memory(context).session + (context.number("net_buffer_length") or 0)


def session_maximum(context: RuleContext) -> int:
    """The maximum for one session: its stack, each buffer once, and its in-memory temporary tables."""
    return idle_session(context) + sum(session_part(context).values())


def session_part(context: RuleContext) -> dict[str, int]:
    """The maximum for one session, by the option that bounds each part."""
    buffers = {name: _session_buffer(context, name) for name in (*BUFFERS, *_binary_log_caches(context))}
    stack = context.number("thread_stack") or 0
    return buffers | {
        "thread_stack": stack,
        SCAN: _scan_buffer(context),
        "tmp_table_size": TABLES_AT_ONCE * _temporary_table(context),
    }


def session_in_use(context: RuleContext) -> int:
    """The memory of a running session in addition to `idle_session`.

    It consists of the buffers that are in use, and one temporary table.
    """
    counted = BUFFERS | _binary_log_caches(context)
    buffers = sum(
        _session_buffer(context, name) for name, counters in counted.items() if _has_activity(context, counters)
    )
    return buffers + _scan_buffer(context) + _temporary_table(context)


def _binary_log_caches(context: RuleContext) -> dict[str, tuple[str, ...]]:
    """The binary log caches of a session that changes rows; empty without a binary log."""
    from rules.durability import writes_binary_log

    return LOG_CACHES if writes_binary_log(context) else {}


def _session_buffer(context: RuleContext, name: str) -> int:
    from rules.memory.session_buffers import join_memory_limit

    size = context.number(name) or 0
    limit = join_memory_limit(context) if name.startswith("join") else None
    return size if limit is None else min(size, limit)


def _has_activity(context: RuleContext, counters: tuple[str, ...]) -> bool:
    return any(context.server.counter(counter) != 0 for counter in counters)


def _scan_buffer(context: RuleContext) -> int:
    """read_buffer_size; 0 on MySQL 8.0 and later, whose scans do not use it."""
    return 0 if context.target.since("mysql", 8, 0) else context.number(SCAN) or 0


def _temporary_table(context: RuleContext) -> int:
    """The size of a session's temporary table; 0 if TempTable holds those of all sessions together."""
    return 0 if temptable_memory(context) else memory_table_size(context)


def memory_table_size(context: RuleContext) -> int:
    """The maximum size of an in-memory temporary table; 0 if all are created on disk."""
    if context.settings.on("big_tables"):
        return 0
    return min((s for s in map(context.number, ("tmp_table_size", "max_heap_table_size")) if s), default=0)


def temptable_memory(context: RuleContext) -> int:
    """The memory that TempTable shares among all sessions of MySQL 8.0 and later, in bytes.

    Zero if the MEMORY engine is configured, or if all temporary tables are created on disk.
    """
    if context.text("internal_tmp_mem_storage_engine") == "MEMORY" or context.settings.on("big_tables"):
        return 0
    # By default MySQL 8.4 uses 3 % of memory, and never less than this.
    return context.number("temptable_max_ram") or (LEAST_TEMPTABLE if context.target.since("mysql", 8, 4) else 0)
