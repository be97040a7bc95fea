"""MYI, ARI, MOD: rules about the caches of MyISAM and Aria on a running server, and about lower_case_table_names."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, default_number, help_line, present
from rules.core.counters import busy_rate, require_uptime_at_size, steady_window, window_text
from rules.core.subject import variable_subject, verdict_subject
from rules.sizing.memory import expected_memory, measured_memory, system_memory, usable_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core import Rule
    from rules.core.context import RuleContext

MIB = 1 << 20
MINIMUM_CACHE = 64 * MIB  # smaller caches are not reported: the bookkeeping of a cache takes about 11 MiB (ENG-08)
IDLE_AFTER = 7 * 86400  # seconds of uptime; after less, unused blocks mean nothing
IDLE_SHARE = 4  # at most one in so many parts was ever used
BLOCKS_READ = 100  # a second; below, storage is not the bottleneck
LARGEST_FACTOR = 4
FULL_SHARE = 10  # less than one in so many parts is free
CASE = "lower_case_table_names"


class BlockCache(NamedTuple):
    """A block cache: the options that size it, its counters, and the tables that it serves."""

    size: str
    block: str
    counters: str
    reads: str
    tables: str


KEYS = BlockCache("key_buffer_size", "key_cache_block_size", "key_blocks", "key_reads", "MyISAM")
PAGES = BlockCache(
    "aria_pagecache_buffer_size", "aria_block_size", "aria_pagecache_blocks", "aria_pagecache_reads", "Aria"
)


def _block_bytes(context: RuleContext, cache: BlockCache, blocks: int | None) -> int | None:
    size = context.number(cache.block)
    return None if blocks is None or size is None else blocks * size


def _idle_findings(speaker: Rule, context: RuleContext, cache: BlockCache) -> Iterator[Finding]:
    """A finding for a cache that is larger than the default and mostly unused."""
    size, default = context.number(cache.size), default_number(context, cache.size)
    used = _block_bytes(context, cache, context.server.counter(f"{cache.counters}_used"))
    if size is None or default is None or used is None or not context.is_set(cache.size):
        return
    if used * IDLE_SHARE > size or size <= max(default, MINIMUM_CACHE):
        return
    require_uptime_at_size(context, cache.size, IDLE_AFTER)
    action = advise(
        context, cache.size, max(default, _power_above(2 * used)), size=True,
        risk="the blocks that are cached are written and read again", watch=f"{cache.counters.capitalize()}_unused",
    )  # fmt: skip
    part = f"at most {format_size(used)} have" if used else "none has"
    yield speaker.finding(
        f"Of the {format_size(size)} for blocks of {cache.tables} tables, {part} been in use "
        f"since the server started {context.server.uptime // 86400} days ago.",
        variable_subject(context, cache.size),
        help=help_line(action),
        actions=present(action),
    )


def _power_above(count: int) -> int:
    return 1 << (count - 1).bit_length()


def _disk_read_findings(speaker: Rule, context: RuleContext, cache: BlockCache, first: str) -> Iterator[Finding]:
    """A finding for a full cache whose blocks are read repeatedly; `first` is advice that precedes a larger cache."""
    window = steady_window(context)
    size, reads = context.number(cache.size), busy_rate(window, cache.reads, BLOCKS_READ)
    unused = _block_bytes(context, cache, window.last.status.get(f"{cache.counters}_unused"))
    if size is None or unused is None or reads is None or unused * FULL_SHARE >= size:
        return
    wanted = _larger_cache(context, cache, size)
    action = None
    if wanted * 4 >= size * 5:
        risk = "less memory for the buffer pool and the system's cache"
        action = advise(context, cache.size, wanted, size=True, risk=risk, watch=cache.reads.capitalize())
    yield speaker.finding(
        f"{reads:,.0f} blocks of {cache.tables} tables a second are read from their files {window_text(window)}, and "
        f"the cache of {format_size(size)} is full.",
        variable_subject(context, cache.size),
        help=f"{first} {help_line(action) or 'free memory first: there is none for a larger cache'}",
        actions=present(action),
    )


def _larger_cache(context: RuleContext, cache: BlockCache, size: int) -> int:
    """Twice to four times the cache size, by the amount read since the server started, limited by the free memory."""
    read = _block_bytes(context, cache, context.server.counter(cache.reads)) or 0
    wanted = min(LARGEST_FACTOR * size, _power_above(max(2 * size, size + read)))
    room = usable_memory(context) if context.has("host") else None
    if room is None:
        return wanted
    spare = max(
        0, room[0] - system_memory(context, room[0]) - max(expected_memory(context), measured_memory(context) or 0)
    )
    return wanted if wanted - size <= spare else (size + spare) // MIB * MIB


@rule(
    "MYI006",
    "idle-key-buffer",
    severity=Severity.NOTE,
    summary="The key buffer is large, and MyISAM's indexes never needed more than a quarter of it.",
    needs=("server",),
    options=(KEYS.size,),
    evidence=("ENG-08", "ENG-09"),
    docs=Docs(
        why="The key buffer holds index blocks of MyISAM tables and nothing else; few servers have such tables today, "
        "and old templates give it hundreds of megabytes. Key_blocks_used is the most that was ever in use. Unused "
        "blocks still cost memory: an empty buffer of 1G took 185 MB for its lists.",
        fix="Lower key_buffer_size to the default, or to about twice what was ever in use.",
        risk="Changing it at run time flushes the cached blocks and starts with an empty buffer: index blocks are read "
        "again.",
        exceptions="MyISAM tables that are used once a month, and not yet since the server started. A size that was "
        "set at run time in the last week is not judged: the buffer then starts empty.",
        reconsider_when="Key_blocks_used that reaches the size at the end of a month.",
        disagree="MySQLTuner recommends 0 on MySQL 8.0 and later; some tools then divide by zero, and a value "
        "below the default saves hardly anything.",
    ),
)
def idle_key_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report a key buffer that was never more than a quarter full."""
    yield from _idle_findings(idle_key_buffer, context, KEYS)


@rule(
    "MYI007",
    "key-blocks-from-disk",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Index blocks of MyISAM tables are constantly read from their files, and the key buffer is full.",
    needs=("server", "workload"),
    options=(KEYS.size,),
    evidence=("ENG-09",),
    docs=Docs(
        why="An index block that isn't in the key buffer is read from its file, at best from the system's cache. The "
        "rule uses a rate, not a ratio: a hundred blocks a second is a real load for a disk. While the buffer has free "
        "space, blocks are read for the first time, which is normal.",
        fix="Convert the tables to InnoDB where nothing prevents it. Otherwise enlarge the key buffer two to four "
        "times, depending on the blocks that were read since the server started, within the free memory. It cannot use "
        "more than the sum of the .MYI files.",
        risk="A larger buffer takes memory from the buffer pool and the system's cache. Setting it at run time flushes "
        "the buffer and starts with an empty one.",
        exceptions="A scan of a large index, once a night.",
        reconsider_when="A rate of Key_reads that does not fall with a buffer as large as all .MYI files.",
        disagree="Other advisors go by the ratio of Key_reads to Key_read_requests since the start, which says nothing "
        "about today or about how much is read.",
    ),
)
def key_blocks_from_disk(context: RuleContext) -> Iterator[Finding]:
    """Report a full key buffer with many index blocks read from disk."""
    yield from _disk_read_findings(key_blocks_from_disk, context, KEYS, "convert the tables to InnoDB; otherwise")


@rule(
    "ARI005",
    "idle-aria-page-cache",
    severity=Severity.NOTE,
    summary="Aria's page cache is large, and at most a quarter of it was ever in use.",
    needs=("server",),
    targets=(Span("mariadb"),),
    options=(PAGES.size,),
    evidence=("ENG-10",),
    docs=Docs(
        why="The page cache serves Aria tables: the system tables, and temporary tables that statements create on "
        "disk. Without explicitly created Aria tables it needs little, and Aria_pagecache_blocks_used is the most that "
        "was ever in use.",
        fix="Lower aria_pagecache_buffer_size to the default, or to about twice what was ever in use.",
        risk="Large temporary tables are written to their files sooner.",
        restart=True,
        exceptions="Reports that create large temporary tables and have not run since the server started.",
        reconsider_when="Aria_pagecache_blocks_used that reaches the size at the end of a month.",
    ),
)
def idle_aria_page_cache(context: RuleContext) -> Iterator[Finding]:
    """Report an Aria page cache that was never more than a quarter full."""
    yield from _idle_findings(idle_aria_page_cache, context, PAGES)


@rule(
    "ARI006",
    "aria-pages-from-disk",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Pages of Aria tables are constantly read from their files, and the page cache is full.",
    needs=("server", "workload"),
    targets=(Span("mariadb"),),
    options=(PAGES.size,),
    evidence=("ENG-10",),
    docs=Docs(
        why="Aria tables of the row format PAGE, the default, are read and written through this cache, and so are most "
        "temporary tables that statements create on disk; of tables with other formats only the indexes are. Once it "
        "is full, each page that is not cached is read from its file.",
        fix="First find the statements that create temporary tables on disk (Created_tmp_disk_tables, the slow log "
        "with log_slow_verbosity = query_plan). Enlarge the cache if your own Aria tables are read, within the free "
        "memory.",
        risk="A larger cache takes memory from the buffer pool and the system's cache.",
        restart=True,
        exceptions="A report once a night.",
        reconsider_when="A rate of Aria_pagecache_reads that does not fall with a cache as large as the tables.",
    ),
)
def aria_pages_from_disk(context: RuleContext) -> Iterator[Finding]:
    """Report a full Aria page cache with many pages read from disk."""
    yield from _disk_read_findings(
        aria_pages_from_disk, context, PAGES, "find the statements that create temporary tables on disk; then"
    )


@rule(
    "MOD008",
    "changed-name-case",
    summary="The file changes how table names are compared, which is not possible on a server with data.",
    needs=("server",),
    options=(CASE,),
    evidence=("ENG-19",),
    docs=Docs(
        why="lower_case_table_names belongs to the data directory. MySQL 8.0 and later store the setting in the data "
        "dictionary and do not start with a different one. MySQL 5.7 and MariaDB start, but then do not find tables "
        "whose names contain capitals, or no longer find lowercase tables by names with capitals.",
        fix="Revert the change. To change the setting, dump the data and load it into a new data directory.",
        risk="None.",
        restart=True,
        exceptions="None on MySQL 8.0 and later; elsewhere, servers on which every name is lowercase.",
        reconsider_when="A restart of a copy of this server with the file as it is.",
    ),
)
def changed_name_case(context: RuleContext) -> Iterator[Finding]:
    """Report lower_case_table_names in the file if it differs from the running value."""
    line, running = context.file_verdict.effective.get(CASE), context.text(CASE)
    asked = None if line is None else line.running or line.value
    if line is None or running is None or asked is None or asked == running:
        return
    refuses = context.target.since("mysql", 8, 0)
    what = "the next start will fail" if refuses else "after the next start names with capitals cannot be found"
    yield changed_name_case.finding(
        f"The option file sets {CASE} = {asked}, but the server runs on its data with {running}: {what}.",
        verdict_subject(line),
        severity=Severity.ERROR if refuses else None,
        help=f"write {CASE} = {running}",
    )
