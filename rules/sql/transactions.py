"""WRK: rules about row lock waits, deadlocks, binary log caches and commits of a running server."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, format_duration, format_size
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.counters import MINIMUM_EVENTS, busy_rate, events_text, steady_window, window_text
from rules.core.subject import variable_subject
from rules.sizing.memory import MIB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core import Rule
    from rules.core.context import RuleContext

TRANSACTIONS = "binlog_cache_size"
OTHERS = "binlog_stmt_cache_size"
WAITING = 1.0  # sessions on average
DEADLOCKS = 0.1  # a second
SPILLS = 1.0  # a second
SPILLED_PERCENT = 5
LARGEST_CACHE = MIB  # every session that writes allocates one
CHANGES = 100.0  # a second
ALONE_PERCENT = 90
TOGETHER_PERCENT = 10
CHANGING = ("com_insert", "com_update", "com_delete", "com_replace")


@rule(
    "WRK008",
    "sessions-waiting-for-rows",
    confidence=Confidence.LIKELY,
    summary="On average at least one session is waiting for a row that another has locked.",
    needs=("server", "workload"),
    evidence=("WRK-01", "WRK-03"),
    docs=Docs(
        why="Innodb_row_lock_time adds up the milliseconds that sessions waited for locked rows. If it grows as fast "
        "as real time, one session is waiting all the time on average. Such waits end statements at "
        "innodb_lock_wait_timeout, hold connections, and grow faster than the load.",
        fix="Find out which session blocks which (sys.innodb_lock_waits, on MariaDB "
        "information_schema.innodb_lock_waits). Commit sooner, keep calls to other services out of transactions, index "
        "the columns that UPDATE and DELETE search by, and avoid rows that all sessions change.",
        risk="None from looking.",
        exceptions="A queue in a table, whose readers wait by design; SKIP LOCKED avoids that where it is supported.",
        reconsider_when="A rate of commits that is the same with and without the waits.",
        disagree="Advisors judge by the average wait since the server started, which one bad night can dominate for "
        "weeks.",
    ),
)
def sessions_waiting_for_rows(context: RuleContext) -> Iterator[Finding]:
    """Report row lock waits if on average at least one session is waiting."""
    window = steady_window(context)
    waits, waited = window.delta("innodb_row_lock_waits"), window.delta("innodb_row_lock_time")
    if waits is None or waited is None or waits < MINIMUM_EVENTS:
        return
    sessions = waited / 1000 / window.seconds
    if sessions >= WAITING:
        yield sessions_waiting_for_rows.finding(
            f"{sessions:,.1f} sessions on average wait for locked rows {window_text(window)}: {waits:,} waits of "
            f"{waited / waits:,.0f} ms.",
            help="find out which session blocks which (innodb_lock_waits), commit sooner, and index the columns that "
            "changes search by",
        )


@rule(
    "WRK009",
    "frequent-deadlocks",
    confidence=Confidence.OPINION,
    summary="Transactions deadlock again and again, and each time one of them is rolled back.",
    needs=("server", "workload"),
    evidence=("WRK-01",),
    docs=Docs(
        why="A deadlock costs the work of one transaction, and a client that does not retry it shows an error. The "
        "threshold, one in ten seconds, is our choice. MariaDB counts them in Innodb_deadlocks; on MySQL the counter "
        "lock_deadlocks is read once, so the rate there is the mean since the server started.",
        fix="Set innodb_print_all_deadlocks to ON for an hour and read the error log. Change rows in the same order "
        "everywhere, keep transactions short, index the columns that they search by, and let clients retry "
        "transactions that were rolled back.",
        risk="The error log grows while all deadlocks are written to it.",
        exceptions="Applications that retry such transactions and lose little by it.",
        reconsider_when="Clients that never show error 1213.",
    ),
)
def frequent_deadlocks(context: RuleContext) -> Iterator[Finding]:
    """Report deadlocks in the window, or since startup if the window does not count them."""
    window = steady_window(context)
    inside = window.delta("innodb_deadlocks")
    total = context.server.innodb_metrics.get("lock_deadlocks", 0)
    count, seconds = (total, float(context.server.uptime)) if inside is None else (inside, window.seconds)
    if count < MINIMUM_EVENTS or count < seconds * DEADLOCKS:
        return
    when = f"since the server started {format_duration(seconds)} ago" if inside is None else window_text(window)
    yield frequent_deadlocks.finding(
        f"{count:,} deadlocks {when}, {_pace(count, seconds)}; each rolled a transaction back.",
        help="let innodb_print_all_deadlocks log them for an hour, and change rows in the same order everywhere",
    )


@rule(
    "WRK010",
    "spilling-binary-log-cache",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Transactions exceed binlog_cache_size and go through a temporary file.",
    needs=("server", "workload"),
    options=(TRANSACTIONS,),
    evidence=("WRK-01",),
    docs=Docs(
        why="A transaction gathers its row changes in binlog_cache_size bytes, by default 32K. A larger transaction "
        "goes through a temporary file, in tmpdir or, on MariaDB 11.8, next to the binary log. The rule reports one "
        "transaction in twenty, and at least one a second; these thresholds are our choice.",
        fix="Double the cache, up to 1M at most, which sessions that are open do not use; split larger transactions "
        "instead.",
        risk="Each session that writes takes as much memory.",
        exceptions="Loads in transactions of many megabytes: no sensible cache holds them.",
        reconsider_when="Binlog_cache_disk_use that rises as fast with twice the cache.",
    ),
)
def spilling_binary_log_cache(context: RuleContext) -> Iterator[Finding]:
    """Report transactions that exceed binlog_cache_size."""
    yield from _spill_findings(spilling_binary_log_cache, context, TRANSACTIONS, "Binlog_cache", "transactions")


@rule(
    "WRK011",
    "spilling-statement-cache",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Nontransactional statements exceed binlog_stmt_cache_size and go through a temporary file.",
    needs=("server", "workload"),
    options=(OTHERS,),
    evidence=("WRK-01",),
    docs=Docs(
        why="What a statement changes in MyISAM, Aria or MEMORY tables is cached in a separate cache of "
        "binlog_stmt_cache_size bytes, by default 32K. Larger changes go through a temporary file, in tmpdir or, on "
        "MariaDB 11.8, next to the binary log. The rule reports one statement in twenty, and at least one a second; "
        "these thresholds are our choice.",
        fix="Double the cache, up to 1M at most, which sessions that are open do not use, or move the tables to "
        "InnoDB.",
        risk="Each session that writes takes as much memory.",
        exceptions="Statements that change many megabytes: no sensible cache holds them.",
        reconsider_when="Binlog_stmt_cache_disk_use that rises as fast with twice the cache.",
    ),
)
def spilling_statement_cache(context: RuleContext) -> Iterator[Finding]:
    """Report nontransactional statements that exceed binlog_stmt_cache_size."""
    yield from _spill_findings(
        spilling_statement_cache, context, OTHERS, "Binlog_stmt_cache", "statements on other engines"
    )


def _pace(count: int, seconds: float) -> str:
    return f"{events_text(count / seconds)} a second" if count > seconds else f"one every {seconds / count:,.1f} s"


def _spill_findings(which: Rule, context: RuleContext, name: str, counter: str, what: str) -> Iterator[Finding]:
    window, size = steady_window(context), context.number(name)
    rate = busy_rate(window, f"{counter}_disk_use".lower(), SPILLS)
    spilled, used = (window.delta(f"{counter}_{kind}".lower()) or 0 for kind in ("disk_use", "use"))
    if rate is None or size is None or spilled * 100 < used * SPILLED_PERCENT:
        return
    action = None
    if size * 2 <= LARGEST_CACHE:
        risk = "as much memory for each session that writes"
        action = advise(context, name, size * 2, size=True, risk=risk, watch=f"{counter}_disk_use")
    yield which.finding(
        f"{events_text(rate)} {what} a second outgrow the {format_size(size)} for the binary log "
        f"{window_text(window)}, {spilled:,} of {max(used, spilled):,}.",
        variable_subject(context, name),
        help=help_line(action) or "make the transactions smaller; more memory for each session does not help",
        actions=present(action),
    )


@rule(
    "WRK012",
    "transaction-for-each-change",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Nearly every change is its own transaction, and by default each commit waits for the disk.",
    needs=("server", "workload"),
    evidence=("WRK-02", "WRK-06"),
    docs=Docs(
        why="A change outside a transaction is committed at once, and by default a commit waits until the redo log is "
        "on disk, and on MySQL the binary log too. 300 inserts of one session took 2 to 11 times as long one by one as "
        "in one transaction. MySQL's manual recommends wrapping related changes in a transaction. The rule uses the "
        "counters of the binary log, so without it there is no finding. The threshold, a hundred changes a second, is "
        "our choice.",
        fix="Put changes that belong together into one transaction, or insert many rows with one statement.",
        risk="Rows stay locked until the commit; a client that fails loses what it hasn't committed.",
        exceptions="Many clients that each make one change: they already commit together, and there is nothing to "
        "combine.",
        reconsider_when="Many active clients, none of which makes two changes in a row.",
    ),
)
def transaction_for_each_change(context: RuleContext) -> Iterator[Finding]:
    """Report changes that are mostly committed one by one."""
    window = steady_window(context)
    changes = sum(window.delta(name) or 0 for name in CHANGING)
    transactions, commits = window.delta("binlog_cache_use"), window.delta("com_commit")
    if transactions is None or commits is None or changes < window.seconds * CHANGES:
        return
    if transactions * 100 >= changes * ALONE_PERCENT and commits * 100 <= changes * TOGETHER_PERCENT:
        yield transaction_for_each_change.finding(
            f"{changes / window.seconds:,.0f} changes a second in {transactions / window.seconds:,.0f} transactions "
            f"{window_text(window)}: each is committed separately.",
            help="put changes that belong together into one transaction, or insert many rows with one statement",
        )
