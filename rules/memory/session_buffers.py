"""BUF: rules about buffers that are allocated per session or statement."""

from __future__ import annotations

from advisor.core.model import Confidence, Origin, Severity, exact_size, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, connection_limit, default_number, help_line, present
from rules.core.subject import UNSAFE, find_line, replace_value, variable_subject
from rules.memory import memory_table_limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core import Rule
    from rules.core.context import RuleContext

KIB = 1 << 10
MIB = 1 << 20

OLDER_MYSQL = Span("mysql", before=(8, 0))
MYSQL_8 = Span("mysql", since=(8, 0))
MARIADB = Span("mariadb")

# RBS-01, RBS-02 and RBS-13: nothing above 128K was faster. In RBS-13 scans were slower only from 8M on.
FASTEST_READ = 128 * KIB
SLOW_READ = 2 * MIB
LARGE_BLOCK = MIB  # of MEMORY tables
BLOCKS = 10  # of which a MEMORY table of the largest size consists at least
# SORT-04: MySQL's manual names 256K and 2M as steps where allocation gets slower; MariaDB's default is 2M.
LARGE_SORT = {"mysql": 2 * MIB, "mariadb": 4 * MIB}
HUGE_SORT = 16 * MIB
LARGE_JOIN = 4 * MIB
HUGE_JOIN = 32 * MIB
LARGE_RANDOM = MIB
HUGE_RANDOM = 8 * MIB
LARGE_TABLE = 256 * MIB
MOST_TEMPTABLE = 4 << 30  # of temptable_max_ram by default, since MySQL 8.4
FEW_TABLES = 4  # tables of the largest size that fill what TempTable has for all sessions
SMALL_PART = 100  # a hundredth of the memory for all connections together: what a session takes is no risk there
JOIN_LIMIT = "join_buffer_space_limit"
# Options that show, if one is set, that MyISAM tables are in use. Aria's are not read with read_buffer_size by default.
FOR_FILES = ("myisam_recover_options", "myisam_sort_buffer_size")
LARGE_KEYS = 32 * MIB  # a key buffer that was sized for MyISAM tables; MySQL's default is 8M
KEY_REQUESTS = 10_000  # far more than MyISAM system tables cause
TABLE_LIMITS = ("tmp_table_size", "tmp_memory_table_size", "max_heap_table_size")

NEW_SESSIONS = "sessions that are open already keep their own value"


def _explicit_above(context: RuleContext, name: str, limit: int) -> int | None:
    """The variable's value if it is explicitly configured above the limit."""
    value = context.number(name)
    return value if value is not None and value > limit and context.is_set(name) else None


def _is_small_part(context: RuleContext, size: int) -> bool:
    """Whether max_connections sessions with one buffer of this size each take at most 1 % of the usable memory."""
    memory = context.host.usable_memory if context.has("host") else None
    connections = connection_limit(context)
    return memory is not None and connections is not None and size * connections * SMALL_PART <= memory


def _oversized_finding(
    speaker: Rule, context: RuleContext, name: str, message: str, severity: Severity, *, live: bool = True
) -> Finding:
    """A finding that advises the default size; `live` is False if that takes effect only at a restart."""
    default = default_number(context, name)
    line = find_line(context, name)
    action = (
        None
        if default is None
        else advise(context, name, default, size=True, live=live, risk=NEW_SESSIONS if live else "")
    )
    fix = None if line is None or default is None else replace_value(line, exact_size(default), UNSAFE)
    return speaker.finding(
        message,
        variable_subject(context, name),
        severity=severity,
        help=help_line(action),
        fix=fix,
        actions=present(action),
    )


@rule(
    "BUF001",
    "oversized-read-buffer",
    confidence=Confidence.LIKELY,
    summary="read_buffer_size is above the fastest size for scans of MyISAM tables.",
    targets=(OLDER_MYSQL, MARIADB),
    options=("read_buffer_size",),
    evidence=("RBS-01", "RBS-02", "RBS-13", "RBS-05", "RBS-08", "ASK-04", "MALLOC-01", "RBS-11"),
    probe="read-buffer",
    fix=UNSAFE,
    docs=Docs(
        why="On these versions a scan of a MyISAM table reads the data file in pieces of exactly read_buffer_size, "
        "and so does one of an Aria table with ROW_FORMAT FIXED or DYNAMIC. Aria's default, PAGE, is read page by "
        "page through the page cache. In a published test of 2007 128K was fastest; 2M took 52 percent longer from "
        "disk and 9 percent longer from cache. In mycnf's own runs on a virtual disk 2M was as fast as 128K within "
        "the noise, and 32M took 31 to 69 percent longer. The cause is not confirmed; it may be the processor's "
        "cache, the size from which malloc maps fresh pages, or the stripe of the disks. On MySQL 5.7 the value at "
        "start-up also sets how much a small MEMORY table takes. The finding is a warning above 2M, and a note where "
        "nothing shows MyISAM tables: the default engine, a line that sizes their caches, 10,000 requests to the key "
        "buffer.",
        fix="Go back to 128K, for all sessions. A session that scans in bulk may set its own value; LOAD DATA does "
        "not use it.",
        risk="None known. Open sessions keep their own value. If a nightly scan matters, measure it before and after.",
        exceptions="Servers that scan MyISAM from network storage with a high latency per request. InnoDB never reads "
        "with this buffer, so a server with InnoDB alone gains little from a lower value.",
        reconsider_when="A sweep on this host in which a larger piece is faster by more than the noise.",
        disagree="Configuration templates of the 2000s set 1M to 8M without a measurement. For writing SELECT INTO "
        "OUTFILE, which uses the value at start-up, a 32M buffer was 8 percent faster than 8K (RBS-11).",
    ),
)
def oversized_read_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report read_buffer_size above the fastest published size, if scans use it."""
    value = _explicit_above(context, "read_buffer_size", FASTEST_READ)
    if value is not None:
        yield _oversized_finding(
            oversized_read_buffer,
            context,
            "read_buffer_size",
            f"MyISAM tables are scanned {format_size(value)} at a time. No size above 128K was faster in "
            "tests, and 32M took 31 to 69 % longer in mycnf's own.",
            Severity.WARNING if value > SLOW_READ and _has_file_tables(context) else Severity.NOTE,
        )


def _has_file_tables(context: RuleContext) -> bool:
    """Whether there is evidence of MyISAM tables other than system tables."""
    if context.text("default_storage_engine") == "MYISAM":
        return True
    if context.has("server"):
        return (context.server.counter("key_read_requests") or 0) >= KEY_REQUESTS
    keys = context.number("key_buffer_size") if context.is_set("key_buffer_size") else None
    return any(map(context.is_set, FOR_FILES)) or (keys or 0) >= LARGE_KEYS


@rule(
    "BUF002",
    "pointless-read-buffer",
    summary="No table scan reads with this buffer any more; it only makes small MEMORY tables large.",
    targets=(MYSQL_8,),
    options=("read_buffer_size",),
    evidence=("RBS-06", "RBS-08", "ASK-04"),
    probe="read-buffer",
    fix=UNSAFE,
    docs=Docs(
        why="Since MySQL 8.0 nothing reads the session's read_buffer_size: scans of MyISAM tables were observed to "
        "read pieces of the table's row length, whatever its value. The value at start-up still bounds the block size "
        "of MEMORY tables: a table of one row takes that much, but no more than a tenth of max_heap_table_size. That "
        "is a warning only where internal temporary tables are MEMORY tables too. Before 8.0.22 the value at start-up "
        "is also the buffer of SELECT INTO OUTFILE; later versions have select_into_buffer_size.",
        fix="Remove the line; the default is 128K.",
        risk="MEMORY tables allocate in smaller steps. Before 8.0.22 SELECT INTO OUTFILE writes in smaller pieces.",
        restart=True,
        exceptions="MEMORY tables that are filled with many rows at once allocate a little faster in large steps.",
        reconsider_when="A trace of a server of this version that reads a table in pieces of this size.",
        disagree="The manual still describes the buffer as the one for sequential scans of MyISAM tables.",
    ),
)
def pointless_read_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report an increased read_buffer_size on a version whose table scans do not use it."""
    value = _explicit_above(context, "read_buffer_size", FASTEST_READ)
    if value is None:
        return
    if _is_set_at_runtime(context, "read_buffer_size"):
        yield pointless_read_buffer.finding(
            "Since MySQL 8.0 no table scan reads with this buffer, and MEMORY tables use its value at start-up, so the "
            "value set at run time has no effect.",
            variable_subject(context, "read_buffer_size"),
            severity=Severity.NOTE,
            help="leave it: setting it has no benefit",
        )
        return
    block = min(value, (context.number("max_heap_table_size") or value * BLOCKS) // BLOCKS)
    yield _oversized_finding(
        pointless_read_buffer,
        context,
        "read_buffer_size",
        "Since MySQL 8.0 no table scan reads with this buffer. It still sets the block size of MEMORY tables, so a "
        f"table of one row can take up to {format_size(block)}.",
        Severity.WARNING if block > LARGE_BLOCK and _uses_memory_engine(context) else Severity.NOTE,
        live=False,
    )


def _uses_memory_engine(context: RuleContext) -> bool:
    """Whether internal temporary tables use the MEMORY engine."""
    return context.text("internal_tmp_mem_storage_engine") == "MEMORY"


def _is_set_at_runtime(context: RuleContext, name: str) -> bool:
    """Whether the running value was set at run time, so that no file sets it."""
    setting = context.settings.get(name)
    return setting is not None and setting.origin is Origin.RUNTIME


@rule(
    "BUF003",
    "oversized-sort-buffer",
    confidence=Confidence.LIKELY,
    summary="sort_buffer_size is large for every session, but few sorts use all of it.",
    options=("sort_buffer_size",),
    evidence=("SORT-01", "SORT-02", "SORT-03", "SORT-04", "SORT-07", "SORT-08", "MALLOC-01", "CS-02"),
    probe="session-buffers",
    fix=UNSAFE,
    docs=Docs(
        why="It is the limit for each sort of each session. Before MySQL 8.0.12 and on MariaDB a sort allocates at "
        "once what the estimated number of its rows needs, up to the limit: a sort of ten rows took less than 100K, "
        "one of 64,000 rows of InnoDB twice as much as on MySQL 8.0. Since 8.0.12 memory is allocated step by step, "
        "so a large value costs only what a sort really uses, and matters only for the maximum that all sessions can "
        "take. MySQL's manual says that raising it for all slows most sorting queries, and a published measurement "
        "got slower with large buffers although merge passes fell. A larger buffer helps where it reduces a sort from "
        "many passes to one. Where all connections together can take no more than a hundredth of the host's memory, "
        "there is no finding on 8.0.12 and later, and a note instead of a warning on older versions.",
        fix="Leave the default for all, and raise it with SET SESSION for statements with large sorts.",
        risk="A large sort that took one pass may need several; watch Sort_merge_passes.",
        exceptions="A reporting server with few sessions that all do large sorts.",
        reconsider_when="Sort_merge_passes that rises with the smaller value, together with slower statements.",
        disagree="MySQLTuner and others raise it when a tenth of all sorts need merge passes, whatever that costs; "
        "a performance engineer of Oracle set 512K for utf8mb4 (CS-02).",
    ),
)
def oversized_sort_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report sort_buffer_size set far above the default for all sessions."""
    stepwise = context.target.since("mysql", 8, 0, 12)
    value = _explicit_above(context, "sort_buffer_size", HUGE_SORT if stepwise else LARGE_SORT[context.target.flavour])
    if value is None:
        return
    cost = (
        "A sort allocates it step by step, so only large sorts cost this much."
        if stepwise
        else "A sort allocates at once what its estimated rows need, up to this size."
    )
    small = _is_small_part(context, value)
    if stepwise and small:
        return
    severity = Severity.WARNING if value > HUGE_SORT and not stepwise and not small else Severity.NOTE
    message = f"Each sort in each session may allocate {format_size(value)}. {cost}"
    yield _oversized_finding(oversized_sort_buffer, context, "sort_buffer_size", message, severity)


@rule(
    "BUF004",
    "oversized-join-buffer",
    confidence=Confidence.LIKELY,
    summary="join_buffer_size is large for every session, but joins that use it need an index instead.",
    options=("join_buffer_size",),
    evidence=("JOIN-01", "JOIN-02", "JOIN-03", "SORT-04"),
    probe="session-buffers",
    fix=UNSAFE,
    docs=Docs(
        why="One buffer is taken for each join without a usable index, so a statement may take several. A buffer "
        "larger than the rows of the join brings nothing. From MySQL 8.0.20 on such joins are hash joins, some of them "
        "already from 8.0.18 on: memory is taken as rows need it, up to join_buffer_size, and what doesn't fit goes to "
        "files. MariaDB lets all joins of a statement have join_buffer_space_limit together, 2M by default, unless "
        "optimize_join_buffer_size is off in optimizer_switch. Where all connections together can take no more than a "
        "hundredth of the host's memory, the buffer of hash joins is not reported, and that of other joins is a note.",
        fix="Leave the default for all, find the statements that join without an index, and set the buffer with SET "
        "SESSION for those that need it.",
        risk="A hash join that fitted in memory may spill to disk.",
        exceptions="An analytic server on MySQL 8.0.18 or later with few sessions that join large tables.",
        reconsider_when="Joins without an index that are slower with the smaller buffer, on this server.",
        disagree="tuning-primer and older versions of MySQLTuner raise this buffer as long as they see joins without "
        "indexes: they never stop.",
    ),
)
def oversized_join_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report join_buffer_size set far above the default for all sessions."""
    value = _explicit_above(context, "join_buffer_size", LARGE_JOIN)
    if value is None:
        return
    small = _is_small_part(context, value)
    limit, severity = join_memory_limit(context), Severity.WARNING if value > HUGE_JOIN and not small else Severity.NOTE
    if limit is not None and limit < value:
        small = _is_small_part(context, limit)
        severity = Severity.WARNING if limit > HUGE_JOIN and not small else Severity.NOTE
        message = (
            f"All joins of a statement together may take {format_size(limit)} ({JOIN_LIMIT}); the rest of "
            f"{format_size(value)} has no effect."
        )
    elif context.target.since("mysql", 8, 0, 18):
        if small:
            return
        severity = Severity.NOTE
        message = (
            f"Each hash join may take up to {format_size(value)} of memory, as its rows need it; a larger join spills "
            "to files. An index helps such joins more than memory."
        )
    else:
        message = (
            f"Each join without a usable index may take {format_size(value)}, several in one "
            "statement. An index helps such "
            "joins more than a buffer."
        )
    yield _oversized_finding(oversized_join_buffer, context, "join_buffer_size", message, severity)


def join_memory_limit(context: RuleContext) -> int | None:
    """The limit for all join buffers of a statement together on MariaDB; None if there is none."""
    unbounded = "OPTIMIZE_JOIN_BUFFER_SIZE=OFF" in (context.text("optimizer_switch") or "")
    return None if unbounded else context.number(JOIN_LIMIT)


@rule(
    "BUF005",
    "oversized-read-rnd-buffer",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="read_rnd_buffer_size is large for every session.",
    options=("read_rnd_buffer_size",),
    evidence=("RND-01", "RND-02", "RND-03"),
    fix=UNSAFE,
    docs=Docs(
        why="Before MySQL 8.0.20 and on MariaDB a sort that does not carry its rows, which is rare, reads them "
        "through this buffer, and allocates all of it. On MySQL multi-range reads use it too, and allocate what their "
        "estimated rows need, up to its size; MariaDB has mrr_buffer_size for these. On 9.7.4 no sort that we tested "
        "used the buffer: from 8.0.20 on the finding is a note. Where all connections together can take no more than "
        "a hundredth of the host's memory, only 8M and more are reported, as a note.",
        fix="Leave the default for all; set it with SET SESSION for statements that benefit.",
        risk="Multi-range reads on MySQL use smaller batches.",
        exceptions="MySQL servers with large multi-range reads from spinning disks.",
        reconsider_when="A statement with a multi-range read that is measurably slower with the default.",
    ),
)
def oversized_read_rnd_buffer(context: RuleContext) -> Iterator[Finding]:
    """Report read_rnd_buffer_size set far above the default for all sessions."""
    value = _explicit_above(context, "read_rnd_buffer_size", LARGE_RANDOM)
    if value is None:
        return
    small, huge = _is_small_part(context, value), value >= HUGE_RANDOM
    of_ranges = context.target.since("mysql", 8, 0, 20)
    user = "multi-range read" if of_ranges else "sort that fetches its rows afterwards"
    if huge or not small:
        yield _oversized_finding(
            oversized_read_rnd_buffer,
            context,
            "read_rnd_buffer_size",
            f"Each {user} may take {format_size(value)}; few statements do that.",
            Severity.WARNING if huge and not small and not of_ranges else Severity.NOTE,
        )


@rule(
    "BUF006",
    "oversized-temporary-tables",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Each internal temporary table may take a quarter of a gigabyte or more before it goes to disk.",
    options=TABLE_LIMITS,
    evidence=("TMP-01", "TMP-02"),
    probe="session-buffers",
    docs=Docs(
        why="The limit applies to each temporary table, and a statement may have several. On MySQL 5.7 and MariaDB "
        "the smaller of tmp_table_size and max_heap_table_size is the limit, and all sessions together can take it "
        "many times over; so it is on MySQL 8.0 and later with internal_tmp_mem_storage_engine = MEMORY. With "
        "TempTable, the default there, temptable_max_ram limits the sum for all sessions, and before 8.0.28 it is the "
        "only limit: with tmp_table_size at 1M a table took 18M on 8.0.15, and went to disk on 9.7.4. On these "
        "versions the rule reports a limit of which four tables fill temptable_max_ram, so that tables of other "
        "sessions go to disk.",
        fix="Lower it to what the memory budget allows, and rewrite the statements that need such tables.",
        risk="More temporary tables go to disk; watch Created_tmp_disk_tables.",
        exceptions="Servers with few sessions and large reports.",
        reconsider_when="A rate of Created_tmp_disk_tables that rises with the lower limit, together with slower "
        "statements.",
        disagree="Other advisors raise this together with max_heap_table_size whenever tables go to disk.",
    ),
)
def oversized_temporary_tables(context: RuleContext) -> Iterator[Finding]:
    """Report a limit for in-memory temporary tables so high that a few sessions can fill the memory."""
    if not any(map(context.is_set, TABLE_LIMITS)) or context.settings.on("big_tables"):
        return
    names = memory_table_limits(context)
    sizes = [size for size in map(context.number, names) if size is not None]
    # A limit that is unknown may be the lower one.
    if names and len(sizes) == len(names) and min(sizes) >= LARGE_TABLE and context.is_set(names[0]):
        is_shared = len(names) == 1  # TempTable; since MySQL 8.4 its memory is 3 % of the machine's, within bounds
        shared = context.number("temptable_max_ram") if is_shared else None
        if is_shared and (context.is_templated("temptable_max_ram") or (shared and sizes[0] * FEW_TABLES < shared)):
            return
        size = format_size(min(sizes[0], shared or MOST_TEMPTABLE) if is_shared else min(sizes))
        many = f"{size} of memory, and each session may have several"
        if shared:
            part = "all" if shared <= sizes[0] else f"of the {format_size(shared)}"
            many = f"{size} of memory, {part} that TempTable has for all sessions"
        elif is_shared:
            many = f"up to {size} of the 1G to 4G that TempTable has for all sessions"
        yield oversized_temporary_tables.finding(
            f"Each internal temporary table may take {many}.",
            variable_subject(context, names[0]),
            help="lower it, so that the tables of several sessions fit in temptable_max_ram"
            if is_shared
            else "lower it to what the memory allows: concurrent sessions times tables per session times this size",
        )


@rule(
    "BUF007",
    "capped-temporary-tables",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="tmp_table_size is above max_heap_table_size, which caps it.",
    targets=(OLDER_MYSQL, MARIADB),
    options=("tmp_table_size", "max_heap_table_size"),
    evidence=("TMP-02",),
    docs=Docs(
        why="Internal temporary tables in memory are MEMORY tables here, and the smaller of the two limits counts: "
        "5.7, 10.11 and 11.8 moved a table to disk at 16K whichever of the two was 16K.",
        fix="Set both to the size that you want.",
        risk="A higher max_heap_table_size also lets users' MEMORY tables grow to that size.",
        exceptions="None.",
        reconsider_when="A server of this version that keeps a larger temporary table in memory.",
    ),
)
def capped_temporary_tables(context: RuleContext) -> Iterator[Finding]:
    """Report tmp_table_size above max_heap_table_size."""
    cap = context.number("max_heap_table_size")
    value = _explicit_above(context, "tmp_table_size", cap) if cap is not None else None
    if value is not None and cap is not None:
        yield capped_temporary_tables.finding(
            f"The effective limit is max_heap_table_size, {format_size(cap)}; the rest of {format_size(value)} has no "
            "effect.",
            variable_subject(context, "tmp_table_size"),
            help="set both to the size that you want",
        )
