"""WRK, OBS: rules about the statements of a running server, by rates over the window and counts since its start."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_duration, format_size
from rules.core import Docs, Span, rule
from rules.core.advice import advise, default_number, help_line, present
from rules.core.counters import (
    MINIMUM_EVENTS,
    MINIMUM_UPTIME,
    busy_rate,
    events_text,
    require_uptime,
    steady_window,
    window_text,
)
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import Workload
    from rules.core.context import RuleContext

SORT = "sort_buffer_size"
PREPARED = "max_prepared_stmt_count"
MERGED = 10.0  # merge passes a second
JOINED = 1.0  # joins without an index a second
ROWS_A_JOIN = 1000  # rows read by each such join; joins of tiny tables need no index
SCANNED = 100_000.0  # rows a second
SCANNED_PERCENT = 90
CHANGED = 1.0  # statements a second
NEARLY_ALL = 80  # percent
PREPARATIONS = 100.0  # a second
REPREPARED = 1.0  # a second
LOCKED_OUT = 1.0  # statements a second
HOUR = 3600
SLOW_LOG = ("slow_query_log", "log_slow_query")  # the name that both flavours have, and MariaDB's second since 10.11
SLOW_TIME = ("long_query_time", "log_slow_query_time")
NEXT_ROW = "handler_read_rnd_next"
ROWS = (
    NEXT_ROW,
    "handler_read_first",
    "handler_read_key",
    "handler_read_last",
    "handler_read_next",
    "handler_read_prev",
    "handler_read_rnd",
)
DIGESTS = "performance_schema.events_statements_summary_by_digest"
UNINDEXED = "log_queries_not_using_indexes"


@rule(
    "WRK001",
    "sorts-in-many-passes",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Sorts exceed sort_buffer_size and merge from temporary files many times a second.",
    needs=("server", "workload"),
    options=(SORT,),
    evidence=("SORT-01", "SORT-02", "SORT-04"),
    docs=Docs(
        why="A sort larger than sort_buffer_size is written in parts and merged from a temporary file. In published "
        "tests one merge pass was cheap, and a larger buffer helped only where it saved passes. Ten passes a second, "
        "our threshold, is more than an occasional report causes.",
        fix="Find the statements: an index that provides the order avoids the sort, and a smaller select list or a "
        "LIMIT makes it smaller. If one statement needs a larger buffer, set it in its session.",
        risk="None from looking. A larger global buffer takes memory for each session that sorts.",
        exceptions="Nightly reports.",
        reconsider_when="A statement that is no faster in a session with a larger buffer.",
        disagree="Advisors raise sort_buffer_size for all when merge passes are 10 percent of sorts, a ratio that one "
        "large sort with many passes can reach, and that does not show how often it happens.",
    ),
)
def sorts_in_many_passes(context: RuleContext) -> Iterator[Finding]:
    """Report a high rate of merge passes."""
    window, size = steady_window(context), context.number(SORT)
    rate = busy_rate(window, "sort_merge_passes", MERGED)
    if rate is None:
        return
    default = default_number(context, SORT)
    action = None
    if size is not None and default is not None and size < default and context.is_set(SORT):
        action = advise(
            context, SORT, default, size=True, risk="memory for each session that sorts", watch="Sort_merge_passes"
        )
    yield sorts_in_many_passes.finding(
        f"Sorts merge their parts from files {rate:,.0f} times a second {window_text(window)}, with buffers of "
        f"{format_size(size or 0)}.",
        variable_subject(context, SORT),
        help=help_line(action) or "find the statements with such large sorts; raise the buffer only in their sessions",
        actions=present(action),
    )


@rule(
    "WRK002",
    "joins-without-index",
    confidence=Confidence.LIKELY,
    summary="Joins without an index read whole tables.",
    needs=("server", "workload"),
    evidence=("WRK-01", "JOIN-01"),
    docs=Docs(
        why="Select_full_join counts joins in which a table has no index for the condition, so all its rows are "
        "compared, by block or by hash. That costs little for tiny tables: joins are reported where scans read at "
        "least a thousand rows for each of them, and there is one a second or more. Both thresholds are our choice.",
        fix="Find the statements (SUM_SELECT_FULL_JOIN in performance_schema, log_queries_not_using_indexes in the "
        "slow log), and index the join columns.",
        risk="An index costs space, and a little at each change of its columns.",
        exceptions="Joins that need all rows of both tables, on MySQL 8.0.18 and later: there a hash join is often the "
        "best plan, and no index helps.",
        reconsider_when="A statement that is no faster with the index.",
        disagree="Advisors raise join_buffer_size as long as there are such joins. That multiplies memory by joins and "
        "sessions, and every row must still be read.",
    ),
)
def joins_without_index(context: RuleContext) -> Iterator[Finding]:
    """Report a high rate of joins without an index that read many rows."""
    window = steady_window(context)
    rate = busy_rate(window, "select_full_join", JOINED)
    rows = window.rate(NEXT_ROW)
    if rate is None or rows is None or rows < rate * ROWS_A_JOIN:
        return
    # Without performance_schema, MariaDB's default, the table of digests is empty.
    digests = context.text("performance_schema") == "ON"
    found_in = f"SUM_SELECT_FULL_JOIN in {DIGESTS}" if digests else f"{UNINDEXED} in the slow log"
    yield joins_without_index.finding(
        f"{events_text(rate)} joins a second read a table without an index {window_text(window)}; {rows:,.0f} rows a "
        "second come from scans.",
        help=f"find them ({found_in}) and index the join columns",
    )


@rule(
    "WRK003",
    "rows-read-by-scans",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Nearly all rows that are read come from scans of whole tables.",
    needs=("server", "workload"),
    evidence=("WRK-01",),
    docs=Docs(
        why="Handler_read_rnd_next counts rows read one after the other without an index. Where clients need only few "
        "of these rows, an index saves most of the work. The thresholds, a hundred thousand a second and nine tenths "
        "of all rows, are our choice.",
        fix="Find the statements that examine many rows for each row that they return: SUM_ROWS_EXAMINED against "
        "SUM_ROWS_SENT in performance_schema, Rows_examined in the slow log. Index the columns that they search by.",
        risk="An index costs space, and a little at each change of its columns.",
        exceptions="Analytic servers and backups, which need all rows. Rows of internal temporary tables count too.",
        reconsider_when="Statements that return most of the rows that they examine.",
        disagree="phpMyAdmin warns at one such row an hour, which every server exceeds.",
    ),
)
def rows_read_by_scans(context: RuleContext) -> Iterator[Finding]:
    """Report rows that scans read, by rate and percentage."""
    window = steady_window(context)
    rate = busy_rate(window, NEXT_ROW, SCANNED)
    scanned, rows = window.delta(NEXT_ROW) or 0, sum(window.delta(name) or 0 for name in ROWS)
    if rate is None or scanned * 100 < rows * SCANNED_PERCENT:
        return
    yield rows_read_by_scans.finding(
        f"{rate:,.0f} rows a second come from scans {window_text(window)}, {scanned * 100 // rows} % of all that are "
        "read.",
        help="find the statements that examine many rows for each that they return, and index the columns that they "
        "search by",
    )


@rule(
    "WRK004",
    "changes-by-full-scan",
    confidence=Confidence.LIKELY,
    summary="UPDATE and DELETE scan whole tables for the rows that they change.",
    needs=("server", "workload"),
    targets=(Span("mariadb"),),
    evidence=("WRK-03", "WRK-01"),
    docs=Docs(
        why="Without a usable index under the default isolation level an UPDATE or DELETE locks each row that it "
        "scans, not only those that it changes, and no session can insert into the table until its transaction ends. "
        "MariaDB counts such statements in Update_scan and Delete_scan. One a second is our threshold.",
        fix="Find them with log_queries_not_using_indexes, and index the columns that they search by.",
        risk="An index costs space, and a little at each change of its columns.",
        exceptions="Small tables, and statements that change most rows.",
        reconsider_when="EXPLAIN of the statement that names a key.",
    ),
)
def changes_by_full_scan(context: RuleContext) -> Iterator[Finding]:
    """Report UPDATE and DELETE statements that scan tables."""
    window = steady_window(context)
    rates = [busy_rate(window, name, CHANGED) for name in ("update_scan", "delete_scan")]
    if any(rates):
        kinds = zip(rates, ("UPDATE", "DELETE"), strict=True)
        counted = " and ".join(f"{events_text(rate)} {kind}" for rate, kind in kinds if rate)
        yield changes_by_full_scan.finding(
            f"{counted} statements a second scan whole tables {window_text(window)}, and lock the rows that they scan.",
            help=f"find them with {UNINDEXED}, and index the columns that they search by",
        )


@rule(
    "WRK005",
    "prepared-for-one-execution",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Clients prepare statements on the server and execute each only once or not at all.",
    needs=("server", "workload"),
    evidence=("WRK-01",),
    docs=Docs(
        why="A statement that is prepared on the server takes a round trip to prepare, one to execute and a message to "
        "close it. That pays off if the statement is executed often; if it is executed once, it is slower than plain "
        "text. The thresholds, a hundred a second and three executions for two statements, are our choice.",
        fix="Let the driver prepare statements on the client (emulated prepares), or keep its prepared statements "
        "(cachePrepStmts and the like), or reuse them in the application.",
        risk="Statements that are kept count against max_prepared_stmt_count for each connection.",
        exceptions="Clients that rely on the data types of the binary protocol, and stored procedures with PREPARE and "
        "EXECUTE, which are counted too.",
        reconsider_when="A response time that doesn't fall with emulated prepares.",
    ),
)
def prepared_for_one_execution(context: RuleContext) -> Iterator[Finding]:
    """Report statements that are prepared about as often as they are executed."""
    window = steady_window(context)
    rate = busy_rate(window, "com_stmt_prepare", PREPARATIONS)
    prepared, executed = (window.delta(f"com_stmt_{name}") for name in ("prepare", "execute"))
    if rate is None or prepared is None or executed is None or executed * 2 >= prepared * 3:
        return
    yield prepared_for_one_execution.finding(
        f"{rate:,.0f} statements a second are prepared {window_text(window)}, and "
        f"{f'each is executed {executed / prepared:.1f} times on average' if executed else 'none is executed'}.",
        help="prepare on the client, or keep prepared statements for more than one execution",
    )


@rule(
    "WRK006",
    "prepared-statements-near-limit",
    confidence=Confidence.LIKELY,
    summary="Nearly as many prepared statements are open as the server allows.",
    needs=("server",),
    options=(PREPARED,),
    evidence=("WRK-04", "WRK-08"),
    docs=Docs(
        why="At max_prepared_stmt_count every further PREPARE fails with error 1461, for all clients. The limit "
        "applies to the whole server. Many statements for each connection mean a client that doesn't close them; a few "
        "mean that there are many connections. Other advisors also warn at four fifths of the limit.",
        fix="Close statements that are no longer needed, or limit the driver's statement cache; raise the limit only "
        "if the connections really need that many.",
        risk="Each prepared statement takes memory: a short SELECT took 16K to 38K on servers that we tested, more "
        "than the 2K that MySQL's developers assume.",
        exceptions="None known.",
        reconsider_when="A number that has stayed the same for weeks.",
    ),
)
def prepared_statements_near_limit(context: RuleContext) -> Iterator[Finding]:
    """Report prepared statements near max_prepared_stmt_count."""
    limit, held = context.number(PREPARED), context.server.counter("prepared_stmt_count")
    if not limit or held is None or held * 100 < limit * NEARLY_ALL:
        return
    clients = max(1, context.server.counter("threads_connected") or 0)
    yield prepared_statements_near_limit.finding(
        f"{held:,} of {limit:,} prepared statements are open, {events_text(held / clients)} for each connection.",
        variable_subject(context, PREPARED),
        help="close statements that are no longer needed, or limit the driver's statement cache",
    )


@rule(
    "WRK007",
    "statements-prepared-again",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Prepared statements are re-prepared because their tables were changed, flushed or evicted in between.",
    needs=("server", "workload"),
    evidence=("WRK-01", "WRK-05"),
    docs=Docs(
        why="A prepared statement is re-prepared if one of its tables has changed since. The servers that we tested "
        "did so after ALTER TABLE, and MySQL servers also after FLUSH TABLES, or after other tables had filled the "
        "table caches. Once a second, our threshold, is not a migration but a regular pattern: temporary tables that "
        "are created for each statement, a job that flushes tables, or on MySQL table caches that are too small.",
        fix="Look for DDL, FLUSH TABLES and temporary tables in the regular work of the clients, and avoid them there. "
        "On MySQL compare Opened_table_definitions with table_definition_cache and table_open_cache.",
        risk="None.",
        exceptions="A migration that is in progress.",
        reconsider_when="A counter that does not rise between migrations.",
    ),
)
def statements_prepared_again(context: RuleContext) -> Iterator[Finding]:
    """Report statements that the server prepares again."""
    window = steady_window(context)
    rate = busy_rate(window, "com_stmt_reprepare", REPREPARED)
    if rate is not None:
        mysql = context.target.is_mysql  # MariaDB re-prepares in neither case (WRK-01)
        flushed, wanted = (", are flushed or leave the table cache", ", FLUSH TABLES") if mysql else ("", "")
        yield statements_prepared_again.finding(
            f"{events_text(rate)} prepared statements a second are prepared again {window_text(window)}: their tables "
            f"change{flushed}{_definitions_opened(window)}.",
            help=f"look for ALTER TABLE{wanted} and temporary tables in the work of the clients"
            + (", or raise table_definition_cache if it is full" if mysql else ""),
        )


def _definitions_opened(window: Workload) -> str:
    """The rate of table definitions read in the window as text; empty if it is not counted."""
    rate = window.rate("opened_table_definitions")
    return f", and {events_text(rate)} definitions a second are read" if rate and rate >= REPREPARED else ""


@rule(
    "WRK013",
    "table-lock-waits",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Statements wait for locks of whole tables, as MyISAM, Aria and MEMORY tables have.",
    needs=("server", "workload"),
    evidence=("WRK-07",),
    docs=Docs(
        why="An UPDATE of a MyISAM, Aria or MEMORY table locks the whole table, so that other statements on it wait. "
        "Table_locks_waited counts these waits, and none for rows of InnoDB. A finding needs one a second, our choice.",
        fix="Find the tables (ENGINE in information_schema.TABLES, or mycnf audit --schema), and move those that are "
        "both read and changed to InnoDB: ALTER TABLE … ENGINE = InnoDB.",
        risk="ALTER TABLE copies the table and, except on MariaDB 11.2 and later, blocks its writes. An InnoDB table "
        "takes more space, and its pages belong into the buffer pool.",
        exceptions="Tables that are loaded in one go and then only read.",
        reconsider_when="Response times that are the same with and without the waits.",
        disagree="MySQLTuner and phpMyAdmin warn when 5 percent of all locks since the start had to wait, whatever the "
        "rate.",
    ),
)
def table_lock_waits(context: RuleContext) -> Iterator[Finding]:
    """Report a high rate of waits for table locks."""
    window = steady_window(context)
    rate = busy_rate(window, "table_locks_waited", LOCKED_OUT)
    if rate is not None:
        yield table_lock_waits.finding(
            f"{events_text(rate)} times a second a statement waits for a lock of a whole table {window_text(window)}.",
            help="find the MyISAM, Aria and MEMORY tables that are both read and changed, and move them to InnoDB",
        )


@rule(
    "OBS010",
    "slow-statements-not-recorded",
    severity=Severity.NOTE,
    summary="Statements take longer than long_query_time, and nothing records which.",
    needs=("server",),
    evidence=("OBS-03", "OBS-13"),
    docs=Docs(
        why="Slow_queries counts the statements that take longer than long_query_time, 10 seconds by default. With the "
        "slow log and Performance Schema off, as on MariaDB by default, nothing tells which statements these are. "
        "There is a finding from one an hour on, and from ten since the server started: both limits are our choice. "
        "MySQL 5.7 and earlier releases of 8.0 count such statements only while the slow log is on.",
        fix="Switch the slow log on, and rotate it. A long_query_time of 1 shows more of them.",
        risk="The log takes disk space and contains the text of statements.",
        exceptions="Reports and backups that may take long.",
        reconsider_when="A proxy or a client that records slow statements.",
        disagree="MySQLTuner and phpMyAdmin ask for the slow log on every server; the former warns of slow statements "
        "from 5 percent of all statements on, which a server that is too slow for its users need not reach.",
    ),
)
def slow_statements_not_recorded(context: RuleContext) -> Iterator[Finding]:
    """Report counted slow statements where neither the slow log nor Performance Schema records them."""
    unrecorded = context.settings.on("performance_schema") is False and not any(map(context.settings.on, SLOW_LOG))
    # With an explicit threshold another rule says that the log is off.
    if not unrecorded or any(map(context.is_set, SLOW_TIME)):
        return
    up, count = context.server.uptime, context.server.counter("slow_queries") or 0
    require_uptime(up, MINIMUM_UPTIME)
    if count < max(MINIMUM_EVENTS, up / HOUR):
        return
    action = advise(
        context, SLOW_LOG[0], "ON", risk="the log takes disk space and needs rotation", watch="Slow_queries"
    )
    limit = next((text for text in map(context.text, SLOW_TIME) if text), "")
    yield slow_statements_not_recorded.finding(
        f"{count:,} statements took longer than {_seconds(limit)} since the server started "
        f"{format_duration(up)} ago, and nothing records which.",
        variable_subject(context, SLOW_LOG[0]),
        help=help_line(action),
        actions=present(action),
    )


def _seconds(limit: str) -> str:
    """A threshold as the server shows it, without the zeros of its fraction: `10.000000` is `10 s`."""
    return f"{limit.rstrip('0').rstrip('.') if '.' in limit else limit} s" if limit else "long_query_time"
