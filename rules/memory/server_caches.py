"""BUF, TAB: rules about the query cache, the table cache, the table definition cache and open files."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, connection_limit, help_line, present, service_setting_help, set_default
from rules.core.context import REMOVE_LINE
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext


TABLE_CACHE = "table_open_cache"
# The minimum table_open_cache of a server that the system allows hardly any open files (TAB-01).
FLOOR_MYSQL = 400
FLOOR_MARIADB = 200
DEFAULT_TABLES = 2000  # the default of MySQL 5.7 and MariaDB; half the default of MySQL 8.0 and later
FILES_A_TABLE = 2
RESERVED = 33  # files that servers reserve for themselves: MySQL 10, MariaDB 33 (TAB-01)
MOST_ENTRIES = 524288  # of each cache; every version accepts it
NO_LARGER = "use fewer tables at a time: the cache cannot be larger"
LEAST_FILES = 5000  # the minimum that MySQL requests from the system; it also requests five per connection
FILES_A_CONNECTION = 5


@rule(
    "TAB001",
    "tiny-table-cache",
    severity=Severity.NOTE,
    confidence=Confidence.MEASURED,
    summary="The table cache is smaller than the minimum that the server keeps by itself.",
    options=(TABLE_CACHE,),
    evidence=("TAB-01", "TOC-01", "TAB-02"),
    docs=Docs(
        why="Each session that uses a table takes an entry of the cache for it, and each table of a join one more. "
        "When the cache is full, the server closes a table for each that it opens, under locks that sessions share. "
        "Even when the system's limit on open files is low, MySQL keeps 400 entries and MariaDB 200; a lower value is "
        "usually left over from versions whose default was 64. MySQL's manual asks for at least one entry per table of "
        "a join for each concurrent connection, so fewer entries than connections are reported too: as a warning below "
        "that minimum, or where that many connections were in use at once.",
        fix="Remove the line, or write 2000 or more and at least one for each connection. Where the system allows too "
        "few files, also raise LimitNOFILE in the service's unit: two for each table and one for each connection. "
        "MariaDB asks for as many for each of its table_open_cache_instances.",
        risk="Each open table takes memory and up to two file descriptors.",
        exceptions="Servers with a handful of tables and of sessions, on a machine with very little memory.",
        reconsider_when="Table_open_cache_overflows that does not rise in the busiest hour.",
    ),
)
def tiny_table_cache(context: RuleContext) -> Iterator[Finding]:
    """Report a table cache set below the server's minimum, or below max_connections."""
    value, connections = context.number(TABLE_CACHE), connection_limit(context)
    floor = FLOOR_MARIADB if context.target.is_mariadb else FLOOR_MYSQL
    crowded = value is not None and connections is not None and value < connections
    # On MariaDB a value that was reduced to fit the open files limit does not count as explicitly configured.
    asked = context.is_set(TABLE_CACHE) or TABLE_CACHE in context.file_verdict.effective
    if value is None or not asked or (value >= floor and not crowded) or _is_overflowing(context):
        return
    peak = context.server.counter("max_used_connections") if context.has("server") else None
    action, words_of_it = larger_table_cache(context, value)
    yield tiny_table_cache.finding(
        f"The server keeps {value:,} table{'' if value == 1 else 's'} open"
        + (
            f", fewer than one for each of {connections:,} connections."
            if crowded
            else f"; by default it keeps at least {floor}."
        ),
        variable_subject(context, TABLE_CACHE),
        severity=Severity.WARNING if crowded and (value < floor or (peak or 0) > value) else None,
        help=words_of_it,
        actions=present(action),
    )


def _is_overflowing(context: RuleContext) -> bool:
    """Whether overflowing-table-cache reports the same cache, with the same advice."""
    if not context.has("server") or not context.has("workload"):
        return False
    from rules.core.context import MissingFact
    from rules.core.counters import busy_rate, steady_window

    try:
        return busy_rate(steady_window(context), OVERFLOWS, OPENED) is not None
    except MissingFact:
        return False


def larger_table_cache(context: RuleContext, value: int) -> tuple[Action | None, str]:
    """The action that doubles the table cache, at least to the default and max_connections, and the advice as text.

    If a running server has too few open files for that, the advice begins with LimitNOFILE and needs a restart. No
    action if the cache cannot be larger.
    """
    connections = connection_limit(context) or 0
    line = context.file_verdict.effective.get(TABLE_CACHE)
    asked = int(line.value) if line is not None and line.value and line.value.isdecimal() else 0
    wanted = min(
        max(DEFAULT_TABLES, asked if asked > value else value * 2, connections), _most_entries(context, TABLE_CACHE)
    )
    if wanted <= value:
        return None, NO_LARGER
    granted = context.number("open_files_limit") if context.has("server") else None
    fits = not granted or _least_files(connections, wanted) <= granted
    files = files_wanted(connections, wanted)
    risk = "memory and up to two file descriptors for each open table"
    if not fits:
        risk = f"{risk}; needs LimitNOFILE = {files} in the service's unit first"
    action = advise(context, TABLE_CACHE, wanted, live=fits, risk=risk, watch="Table_open_cache_overflows")
    if fits or action is None:
        return action, help_line(action)
    return action, f"{service_setting_help(context, f'LimitNOFILE={files}')}, {help_line(action)}, and restart"


def _most_entries(context: RuleContext, name: str) -> int:
    """The largest size that the version allows for a cache."""
    option = context.catalog.find_variable(name)
    return int(option.max) if option is not None and option.max else MOST_ENTRIES


def files_wanted(connections: int, tables: int) -> int:
    """How many files a server asks the system for at its start, by the settings that decide it."""
    return max(_least_files(connections, tables), LEAST_FILES, FILES_A_CONNECTION * connections)


def _least_files(connections: int, tables: int) -> int:
    """With fewer files the server lowers one of the two."""
    return RESERVED + connections + FILES_A_TABLE * tables


DEFINITIONS = "table_definition_cache"
FILES = "open_files_limit"
OVERFLOWS = "table_open_cache_overflows"
OPENED = 1.0  # tables a second; our choice
NEARLY_ALL_PERCENT = 85  # percent of the open files; other tools begin to warn there as well


@rule(
    "TAB002",
    "overflowing-table-cache",
    confidence=Confidence.MEASURED,
    summary="The table cache overflows: the server closes tables to open others.",
    needs=("server", "workload"),
    options=(TABLE_CACHE,),
    evidence=("TOC-01", "TOC-03", "TAB-02"),
    docs=Docs(
        why="An overflow closes one table so that another can be opened, under locks that sessions share. In a "
        "published run throughput fell once overflows outnumbered hits. The counter does not include tables that are "
        "opened for the first time, or again after FLUSH TABLES. The threshold, one overflow a second, is our choice.",
        fix="Raise table_open_cache, and also LimitNOFILE in the service's unit if the system allows too few files for "
        "that.",
        risk="Each open table takes memory and up to two file descriptors.",
        exceptions="A backup or a job that visits thousands of tables once: any cache overflows then.",
        reconsider_when="An unchanged rate of overflows with twice the cache, in the same hours.",
        disagree="Other advisors compare Opened_tables with the uptime, or warn at a few an hour, which flags every "
        "server that was started or flushed recently.",
    ),
)
def overflowing_table_cache(context: RuleContext) -> Iterator[Finding]:
    """Report table cache overflows at a high rate."""
    from rules.core.counters import busy_rate, events_text, steady_window, window_text  # lazily: lint has no counters

    window, size = steady_window(context), context.number(TABLE_CACHE)
    rate = busy_rate(window, OVERFLOWS, OPENED)
    if rate is None or size is None:
        return
    action, remedy = larger_table_cache(context, size)
    yield overflowing_table_cache.finding(
        f"{events_text(rate)} tables a second are closed to make room for others {window_text(window)}; the cache "
        f"holds {size:,}{_instance_text(context, size)}.",
        variable_subject(context, TABLE_CACHE),
        help=remedy,
        actions=present(action),
    )


def _instance_text(context: RuleContext, size: int) -> str:
    """How many tables an instance of the cache holds, if instances overflow although the cache as a whole is not full.

    A session uses one instance only. MariaDB is left out: it uses a second instance only after contention.
    """
    instances, used = context.number("table_open_cache_instances"), context.server.counter("open_tables")
    if context.target.is_mariadb or not instances or instances == 1 or used is None or used * 2 > size:
        return ""
    return f", of which {used:,} are in use: each of its {instances} instances holds {size // instances:,}"


@rule(
    "TAB003",
    "overflowing-definition-cache",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The table definition cache is full, so the server constantly rereads definitions.",
    needs=("server", "workload"),
    options=(DEFINITIONS,),
    evidence=("TAB-03",),
    docs=Docs(
        why="The cache holds one definition for each table that sessions use or used lately. With more tables than "
        "entries, the servers that we tested read a definition for each table that was opened. The same counter also "
        "counts created tables, including temporary ones, so only a full cache is reported. The threshold, one a "
        "second, is our choice, as for opened tables.",
        fix="Raise table_definition_cache to the number of tables in use.",
        risk="Memory for each definition.",
        exceptions="Servers that create and drop tables all day; jobs that visit each of many tables once.",
        reconsider_when="Opened_table_definitions that rises as fast with twice the cache.",
        disagree="MySQLTuner recommends a cache as large as the number of all tables, and counts them by opening each.",
    ),
)
def overflowing_definition_cache(context: RuleContext) -> Iterator[Finding]:
    """Report a full table definition cache with many rereads."""
    from rules.core.counters import busy_rate, events_text, steady_window, window_text

    window, size = steady_window(context), context.number(DEFINITIONS)
    rate = busy_rate(window, "opened_table_definitions", OPENED)
    held = context.server.counter("open_table_definitions")
    if rate is None or size is None or held is None or held < size:
        return
    action = None
    most = _most_entries(context, DEFINITIONS)
    if size < most:
        twice = min(size * 2, most)
        action = advise(
            context, DEFINITIONS, twice, risk="memory for each definition", watch="Opened_table_definitions"
        )
    yield overflowing_definition_cache.finding(
        f"{events_text(rate)} definitions of tables a second are read {window_text(window)}, and the cache of "
        f"{size:,} is full.",
        variable_subject(context, DEFINITIONS),
        help=help_line(action) or NO_LARGER,
        actions=present(action),
    )


@rule(
    "TAB004",
    "open-files-near-limit",
    confidence=Confidence.LIKELY,
    summary="The server has nearly as many files open as the system allows.",
    needs=("server",),
    options=(FILES,),
    evidence=("TAB-02", "TAB-03", "VM-02"),
    docs=Docs(
        why="At the limit tables can't be opened, and clients that connect get errors or no answer. The count is the "
        "sum of Open_files and Innodb_num_open_files, which do not overlap, and one for each connection; logs are not "
        "included.",
        fix="Raise LimitNOFILE in the service's unit (systemctl edit SERVICE, under [Service]) and restart, or lower "
        "table_open_cache. In a container the limit is the runtime's (--ulimit nofile).",
        risk="None.",
        restart=True,
        exceptions="None: what was opened once is likely to be opened again.",
        reconsider_when="A busy day on which the sum stays far below the limit.",
        disagree="Advisors that use Open_files alone miss InnoDB's files, which are the majority.",
    ),
)
def open_files_near_limit(context: RuleContext) -> Iterator[Finding]:
    """Report open file descriptors near open_files_limit."""
    limit = context.number(FILES)
    parts = open_descriptors(context)
    if not limit or sum(parts) * 100 < limit * NEARLY_ALL_PERCENT:
        return
    files, innodb, clients = parts
    yield open_files_near_limit.finding(
        f"At least {sum(parts):,} of {limit:,} file descriptors are in use: InnoDB's files {innodb:,}, other files "
        f"{files:,}, connections {clients:,}.",
        variable_subject(context, FILES),
        help=f"{service_setting_help(context, f'LimitNOFILE={2 * limit}')} and restart, or lower table_open_cache",
    )


def open_descriptors(context: RuleContext) -> list[int]:
    """Numbers of open file descriptors: files outside InnoDB, InnoDB's files, connections."""
    return [context.server.counter(name) or 0 for name in ("open_files", "innodb_num_open_files", "threads_connected")]


QUERY_CACHE_DOCS = Docs(
    why="One lock guards the whole cache, and every change to a table removes its results. MySQL switched it off by "
    "default in 5.6 and removed it in 8.0 because it doesn't scale with processors; MariaDB keeps it, off. On a "
    "machine with two processors it made point selects faster and a mixed load slower.",
    fix="Set query_cache_type to OFF and query_cache_size to 0.",
    risk="Switching it off waits for the cache's lock, which can stall statements for a moment on a busy server; "
    "queries that it answered read the tables again.",
    exceptions="Read-only servers with few processors and the same statements again and again.",
    reconsider_when="Qcache_hits far above the sum of Qcache_inserts and Qcache_not_cached on this server, and a test "
    "without it that is slower.",
    disagree="phpMyAdmin and tuning-primer recommend enabling it; older versions of MySQLTuner enlarge it, newer ones "
    "recommend to disable it.",
)


@rule(
    "BUF008",
    "query-cache",
    confidence=Confidence.LIKELY,
    summary="The query cache is on, and all sessions contend for its single lock.",
    targets=(Span("mysql", before=(8, 0)), Span("mariadb")),
    options=("query_cache_type", "query_cache_size"),
    evidence=("QC-01", "ASK-05"),
    docs=QUERY_CACHE_DOCS,
)
def query_cache(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled query cache with a size above 0."""
    kind = context.text("query_cache_type") or ""
    size = context.number("query_cache_size")
    if (
        kind not in {"ON", "1", "DEMAND", "2"}
        or not size
        or not context.is_set("query_cache_type")
        or _is_rearmed(context)
    ):
        return
    yield query_cache.finding(
        f"The query cache is {kind} with {format_size(size)}: all sessions share one lock, and every change to a table "
        "removes its results.",
        variable_subject(context, "query_cache_type"),
        help=_disable_help(context),
        actions=_disable_actions(context),
    )


def _disable_help(context: RuleContext) -> str:
    """MySQL 5.7 deprecates both lines with any value, and has the cache off by default."""
    if context.target.since("mysql", 5, 7, 20):
        also = " and that of its size" if context.is_set("query_cache_size") else ""
        return f"{REMOVE_LINE}{also}: the cache is off by default"
    return "write query_cache_type = OFF and query_cache_size = 0"


def _disable_actions(context: RuleContext) -> tuple[Action, ...]:
    stall = "can stall statements for a moment while it waits for the cache's lock"
    kind = advise(context, "query_cache_type", "OFF", risk=stall, watch="Qcache_hits")
    size = advise(context, "query_cache_size", 0, risk=stall)
    return (
        *set_default(context, "query_cache_type", "OFF", kind)[1],
        *set_default(context, "query_cache_size", "0", size)[1],
    )


@rule(
    "BUF009",
    "rearmed-query-cache",
    summary="query_cache_type is off, but the size that is set with it turns the query cache on.",
    targets=(Span("mariadb"),),
    options=("query_cache_type", "query_cache_size"),
    evidence=("ASK-05", "QC-01"),
    docs=QUERY_CACHE_DOCS._replace(
        why="MariaDB turns the query cache on at start-up when query_cache_size is set to anything but 0, even to its "
        "default of 1M, and query_cache_type is left off, even where it is written as 0. Without a line for the size "
        "it stays off.",
        fix="Set query_cache_size to 0.",
    ),
)
def rearmed_query_cache(context: RuleContext) -> Iterator[Finding]:
    """Report query_cache_size in a file that leaves query_cache_type off: on MariaDB the size enables the cache."""
    if _is_rearmed(context):
        size = context.number("query_cache_size") or 0
        yield rearmed_query_cache.finding(
            f"MariaDB turns the query cache on because query_cache_size is set to {format_size(size)}, although "
            "query_cache_type is off.",
            variable_subject(context, "query_cache_size"),
            help="write query_cache_size = 0",
            actions=_disable_actions(context),
        )


def _is_rearmed(context: RuleContext) -> bool:
    """Whether MariaDB enables the query cache only because of its size."""
    size, kind = (context.file_verdict.effective.get(f"query_cache_{end}") for end in ("size", "type"))
    if not context.target.is_mariadb or size is None or size.value in {None, "0"}:
        return False
    return kind is None or (kind.placed.line.value or "").upper() in {"OFF", "0"}
