"""WRK: rules about the statements of a running server, by rates over the window."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_size
from rules.core.advice import advise, default_number, help_line, present
from rules.core.counters import busy_rate, steady_window, window_text
from rules.core.rule import Docs, Span, rule
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
        why="A sort larger than sort_buffer_size is written in parts and merged from a temporary file. Published "
        "tests found one merge pass cheap, and a larger buffer worth having only where it saved passes. Ten "
        "passes a second, our threshold, are more than a report now and then.",
        fix="Find the statements: an index that yields the order, a smaller select list or a LIMIT does away with the "
        "sort. Where one statement needs a larger buffer set it for its session.",
        risk="None from looking. A larger buffer for all is memory for each session that sorts.",
        exceptions="Reports and index builds by night.",
        reconsider_when="A statement that is no faster in a session with a larger buffer.",
        disagree="Advisors raise sort_buffer_size for all when merge passes are 10 percent of sorts, a ratio that one "
        "large sort with many passes can reach, and that does not say how often it happens.",
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
        help=help_line(action) or "find the statements that sort so much; a larger buffer is for their sessions alone",
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
        why="Select_full_join counts joins in which a table has no index for the condition, so that all its rows are "
        "compared, by block or by hash. It costs little for tiny tables: joins are reported where scans read at least "
        "a thousand rows for each of them, and there is one a second or more. Both thresholds are ours.",
        fix="Find the statements (SUM_SELECT_FULL_JOIN in performance_schema, log_queries_not_using_indexes in the "
        "slow log), and index the columns that join.",
        risk="An index costs space, and a little at each change of its columns.",
        exceptions="Joins that want all rows of both tables: there a hash join is the best plan, and no index helps.",
        reconsider_when="EXPLAIN ANALYZE of the statement that is no cheaper with the index.",
        disagree="Advisors raise join_buffer_size as long as there are such joins. It multiplies memory by joins and "
        "sessions, and leaves every row to be read.",
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
        f"{rate:,.0f} joins a second read a table without an index {window_text(window)}; {rows:,.0f} rows a second "
        "come from "
        "scans.",
        help=f"find them ({found_in}) and index the columns that join",
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
        why="Handler_read_rnd_next counts rows read one after the other without an index. At a hundred thousand a "
        "second and nine tenths of all rows, thresholds of ours, most rows that the server reads are not returned.",
        fix="Find the statements that examine many rows for each row that they return: SUM_ROWS_EXAMINED against "
        "SUM_ROWS_SENT in performance_schema, Rows_examined in the slow log. Index what they search by.",
        risk="An index costs space, and a little at each change of its columns.",
        exceptions="Analytic servers and backups, which want all rows. Rows of internal temporary tables count too.",
        reconsider_when="Statements that return most of the rows that they examine.",
        disagree="phpMyAdmin warns at one such row an hour, which every server passes.",
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
        help="find the statements that examine many rows for each that they return, and index what they search by",
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
        why="Without a usable index an UPDATE or DELETE locks each row that it passes, not only those that it "
        "changes, under the default isolation level, and no session inserts into the table meanwhile. MariaDB counts "
        "such statements in Update_scan and Delete_scan. One a second is our threshold.",
        fix="Find them with log_queries_not_using_indexes, and index what they search by.",
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
        updates, deletes = (rate or 0 for rate in rates)
        yield changes_by_full_scan.finding(
            f"{updates:,.0f} UPDATE and {deletes:,.0f} DELETE statements a second look through whole tables "
            f"{window_text(window)}, and lock what they pass.",
            help=f"find them with {UNINDEXED}, and index what they search by",
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
        "close it. That pays where it is executed often; executed once it is slower than plain text. "
        "A hundred a second, and three executions for two statements, are thresholds of ours.",
        fix="Let the driver prepare by itself on the client (emulated prepares), or keep its prepared statements "
        "(cachePrepStmts and the like), or reuse them in the application.",
        risk="Statements that are kept count against max_prepared_stmt_count for each connection.",
        exceptions="Clients that rely on the binary protocol for its types.",
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
        f"{rate:,.0f} statements a second are prepared {window_text(window)}, and each is executed "
        f"{executed / prepared:.1f} times.",
        help="prepare on the client, or keep prepared statements for more than one execution",
    )


@rule(
    "WRK006",
    "prepared-statements-near-limit",
    confidence=Confidence.LIKELY,
    summary="Nearly as many prepared statements are open as the server allows.",
    needs=("server",),
    options=(PREPARED,),
    evidence=("WRK-04",),
    docs=Docs(
        why="At max_prepared_stmt_count every further PREPARE fails with error 1461, for all clients. The limit is one "
        "for the whole server. Many statements for each connection mean a client that doesn't close them; a few mean "
        "that there are many connections. Four fifths of the limit is what others warn at too.",
        fix="Close statements that are done with, or bound the driver's cache of them; raise the limit only where the "
        "connections are meant to hold as many.",
        risk="Each prepared statement takes memory, which MySQL's makers reckon at 2K.",
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
        f"{held:,} of {limit:,} prepared statements are open, {held / clients:,.0f} for each connection.",
        variable_subject(context, PREPARED),
        help="close statements that are done with, or bound the driver's cache of them",
    )


@rule(
    "WRK007",
    "statements-prepared-again",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Prepared statements are prepared again, since their tables were changed or flushed in between.",
    needs=("server", "workload"),
    evidence=("WRK-01", "WRK-05"),
    docs=Docs(
        why="A prepared statement is prepared again when a table of it has changed since. Servers that were asked "
        "did so after ALTER TABLE, and those of MySQL after FLUSH TABLES too. Once a second, our threshold, is no "
        "migration but a habit: temporary tables that are made for each statement, or a job that flushes tables.",
        fix="Look for DDL, FLUSH TABLES and temporary tables in the general work of the clients, and keep them out "
        "of it.",
        risk="None.",
        exceptions="A migration that is under way.",
        reconsider_when="A counter that stands still between migrations.",
    ),
)
def statements_prepared_again(context: RuleContext) -> Iterator[Finding]:
    """Report statements that the server prepares again."""
    window = steady_window(context)
    rate = busy_rate(window, "com_stmt_reprepare", REPREPARED)
    if rate is not None:
        yield statements_prepared_again.finding(
            f"{rate:,.0f} prepared statements a second are prepared again {window_text(window)}: their tables change "
            "or are "
            f"flushed{_definitions_opened(window)}.",
            help="look for ALTER TABLE, FLUSH TABLES and temporary tables in the work of the clients",
        )


def _definitions_opened(window: Workload) -> str:
    """The rate of table definitions read in the window as text; empty if it is not counted."""
    rate = window.rate("opened_table_definitions")
    return f", and {rate:,.0f} definitions a second are read" if rate else ""
