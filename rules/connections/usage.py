"""CON: rules about the connections and threads of a running server, from its counters and its host."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, exact_duration, format_duration, format_size
from advisor.verdict.number import parse_digits
from advisor.verdict.settings import DEFAULT_CONNECTIONS
from rules.connections.threads import advised_thread_cache, uses_thread_pool
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.context import MissingFact
from rules.core.counters import CONNECTIONS, counter_periods, hour_text, require_uptime, steady_window, window_text
from rules.core.subject import variable_subject
from rules.sizing.memory import idle_session, memory_budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.facts import Workload
    from rules.core.context import RuleContext

LIMIT = "max_connections"
NEAR_PERCENT = 85
WEEK = 7 * 86400
LARGE_LIMIT = 1000
TIMES_THE_PEAK = 20
CREATED_A_SECOND = 10
ABORTED = 10  # events in the window; below, a percentage is not reliable
ABORTED_PERCENT = 10
TIMES_THE_CPUS = 2
REFUSED_BY_LIMIT = "connection_errors_max_connections"
RUNNING = "threads_running"
ROWS = "row lock"
USER_LOCK = "user-level lock"
GLOBAL_LOCKS = frozenset({"global read lock", "commit lock", "backup lock"})
ALL_ERRORS = 2  # the log_warnings from which MariaDB logs each aborted connection
BOUND_THEM = "see what they wait for, and limit the clients' pools"


@rule(
    "CON018",
    "connections-refused",
    severity=Severity.ERROR,
    summary="Connections were refused: max_connections was reached.",
    needs=("server",),
    options=(LIMIT,),
    evidence=("CONA-01", "ASK-ERR-12"),
    docs=Docs(
        why="Beyond max_connections the server returns error 1040 and counts it. Each is an error at a client, which "
        "may have tried again. MariaDB counts only those that it refuses while an administrator uses the additional "
        "connection; the others are in Aborted_connects alone (CON023), so more may have been refused. The busiest "
        "hour counts only if max_connections was not raised since.",
        fix="See in the process list which clients hold the connections; limit the size of their pools, and close idle "
        "connections. Raise max_connections only where the memory budget allows it.",
        risk="More connections mean more memory. Beyond twice the number of processors, more sessions that run "
        "statements hardly mean more throughput.",
        exceptions="None.",
        reconsider_when="Connection_errors_max_connections that does not rise on a busy day.",
    ),
)
def connections_refused(context: RuleContext) -> Iterator[Finding]:
    """Report connections that were refused in the busiest hour or in the window."""
    limit = context.number(LIMIT)
    for window, when, hour in counter_periods(context, CONNECTIONS):
        refused = window.delta(REFUSED_BY_LIMIT)
        peak = hour.most("max_used_connections") if hour else None  # the limit of then, which may have been raised
        if refused and limit and (peak is None or peak >= limit):
            yield connections_refused.finding(
                f"{refused:,} connection{'s were' if refused > 1 else ' was'} refused {when}: all {limit:,} were in "
                "use.",
                variable_subject(context, LIMIT),
                help=f"see which clients hold them, and limit the clients' pools{_connection_cost(context)}",
            )
            return


def _connection_cost(context: RuleContext) -> str:
    """The memory that each further connection may take, as the end of a sentence."""
    estimate = memory_budget(context)
    if estimate is None:
        return ""
    idle, most = format_size(idle_session(context)), format_size(estimate.per_session)
    return f"; each further connection takes about {idle} of memory while idle, and up to {most} when active"


@rule(
    "CON019",
    "few-connections-left",
    confidence=Confidence.OPINION,
    summary="Nearly all connections were in use recently, so the next burst may be refused.",
    needs=("server",),
    options=(LIMIT,),
    evidence=("CONN-02",),
    docs=Docs(
        why="A burst a little larger than the last uses up the rest, and then the server refuses connections. The "
        "threshold, 85 percent, is our choice. A peak counts only if it is known to be of the last week: MariaDB "
        "10.11 does not report the time of its peak. If mycnf sample recorded the busiest hour, the rule uses that.",
        fix="Limit the clients' pools and close idle connections; find out which clients held them at the peak.",
        risk="Raising max_connections instead costs memory, and more sessions then compete.",
        exceptions="Clients with pools whose sizes add up to less than max_connections.",
        reconsider_when="A peak that does not change for months.",
        disagree="MySQLTuner advises raising max_connections from 85 percent on, however old the peak is; this rule "
        "shows the memory instead.",
    ),
)
def few_connections_left(context: RuleContext) -> Iterator[Finding]:
    """Report a recent peak of connections near max_connections, or as many connections right now."""
    limit, peak = context.number(LIMIT), context.server.counter("max_used_connections")
    now = context.server.counter("threads_connected")
    if not limit or peak is None or now is None:
        return
    nearly = limit * NEAR_PERCENT
    hour = context.sampled.hour(CONNECTIONS) if context.has("sampled") else None
    most = (hour.most("threads_connected") if hour else None) or 0
    if now * 100 >= nearly or most * 100 >= nearly or (peak * 100 >= nearly and _is_recent_peak(context)):
        busiest = f", {most:,} in the busiest hour, {hour_text(hour)}" if hour and most * 100 >= nearly else ""
        yield few_connections_left.finding(
            f"{peak:,} of {limit:,} connections were in use at once{busiest}, and {now:,} are now; server up "
            f"{format_duration(context.server.uptime)}.",
            variable_subject(context, LIMIT),
            help=f"limit the clients' pools, and close idle connections{_connection_cost(context)}",
        )


def _is_recent_peak(context: RuleContext) -> bool:
    """Whether the connection peak was reached within a week.

    The server gives the time of the peak in its own time zone, so the result may be off by a day.
    """
    from datetime import UTC, datetime

    if context.server.peak_seconds <= WEEK:
        return True
    reached = context.server.status.get("max_used_connections_time", "")
    now = context.host.os.time if context.has("host") and context.host.os else None
    try:
        at = datetime.fromisoformat(reached).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return False
    return now is not None and now - at <= WEEK


@rule(
    "CON020",
    "oversized-connection-limit",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Far more connections are allowed than were ever used, so nothing stops a connection storm.",
    needs=("server",),
    options=(LIMIT,),
    evidence=("TP-01", "CONN-02"),
    docs=Docs(
        why="max_connections is the last limit on concurrent work. On 80 processors MariaDB did 4,199 transactions a "
        "second with 64 clients and 267 with 512, where the data didn't fit in the pool. The memory that the settings "
        "allow and the number of open files grow with the limit too. The thresholds, a thousand connections and twenty "
        "times the peak, are our choice.",
        fix="Set it to about twice the peak, and no lower than the default, 151; look at refused connections "
        "afterwards.",
        risk="A burst beyond it is refused with error 1040.",
        exceptions="Standby servers that take over from others, and servers with a thread pool.",
        reconsider_when="A yearly peak that is higher than the peak that was counted.",
    ),
)
def oversized_connection_limit(context: RuleContext) -> Iterator[Finding]:
    """Report max_connections of a thousand or more if less than a twentieth was used in a week."""
    limit, peak = context.number(LIMIT), context.server.counter("max_used_connections")
    if not limit or not peak or not context.is_set(LIMIT) or uses_thread_pool(context):
        return
    if limit >= LARGE_LIMIT and peak * TIMES_THE_PEAK < limit:
        _require_week_of_peaks(context)
        enough = max(DEFAULT_CONNECTIONS, 2 * peak)
        action = advise(
            context, LIMIT, enough, watch="Connection_errors_max_connections",
            risk="a burst beyond it is refused with error 1040",
        )  # fmt: skip
        help_text, each = help_line(action), context.number("max_user_connections")
        if help_text and each and each >= enough:  # CON001 would follow
            help_text += ", and set max_user_connections below it"
        if help_text and context.target.is_mariadb and (_threads_in_line(context) or 0) > enough:  # OPT006 would follow
            help_text += f", and write thread_cache_size = {enough}, as MariaDB caches no more threads than that"
        yield oversized_connection_limit.finding(
            f"{limit:,} connections are allowed, and at most {peak:,} were in use at once{_peak_period(context)}.",
            variable_subject(context, LIMIT),
            help=help_text,
            actions=present(action),
        )


def _threads_in_line(context: RuleContext) -> int | None:
    """The thread_cache_size that a file's line sets; a running MariaDB shows it limited to max_connections."""
    line = context.file_verdict.effective.get("thread_cache_size")
    return parse_digits(line.value) if line is not None else None


def _peak_period(context: RuleContext) -> str:
    """The time in which the connection peak was counted, as the end of a sentence."""
    counted, uptime = context.server.peak_seconds, context.server.uptime
    if counted < uptime:
        return f" since the counter was reset {format_duration(counted)} ago"
    return f"; server up {format_duration(uptime)}"


def _require_week_of_peaks(context: RuleContext) -> None:
    """Raise MissingFact if the connection peak was counted for less than a week."""
    require_uptime(context.server.uptime, WEEK)
    counted = context.server.peak_seconds
    if counted < WEEK:
        since = f"it was reset {format_duration(counted)} ago"
        raise MissingFact(f"needs Max_used_connections of {format_duration(WEEK)} or more ({since})")


@rule(
    "CON021",
    "threads-made-anew",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The server constantly creates threads for new connections: thread_cache_size is too small.",
    needs=("server",),
    options=("thread_cache_size",),
    evidence=("CONN-01", "CONA-25"),
    docs=Docs(
        why="Clients that connect for each request need a thread each time. Where fewer threads are cached than end at "
        "once, the rest must be created again. The threshold, ten a second, is our choice, and low: on a busy machine "
        "with two processors ten took 3 to 4 milliseconds of processor time.",
        fix="Cache as many threads as there are connections at the peak, up to 256, or let the clients stay connected.",
        risk="The stacks of threads that wait, of which the kernel keeps the touched pages.",
        exceptions="A thread pool.",
        reconsider_when="A rate of Threads_created near zero.",
        disagree="phpMyAdmin and MySQLTuner use the share of connections since the start that created a thread; what "
        "matters is how many are created per second now.",
    ),
)
def threads_made_anew(context: RuleContext) -> Iterator[Finding]:
    """Report threads that are created every second because thread_cache_size is below the peak.

    A thread_cache_size of 0 is reported by CON003.
    """
    kept, enough = context.number("thread_cache_size"), advised_thread_cache(context)
    for window, when, _ in counter_periods(context, CONNECTIONS, limited_by="thread_cache_size"):
        made = window.rate("threads_created")
        if made is None or not kept or made < CREATED_A_SECOND or kept >= enough or uses_thread_pool(context):
            continue
        action = advise(
            context,
            "thread_cache_size",
            enough,
            watch="Threads_created",
            risk="memory for the stacks of threads that wait",
        )
        yield threads_made_anew.finding(
            f"{made:,.0f} threads a second were created {when}; thread_cache_size keeps {kept:,}.",
            variable_subject(context, "thread_cache_size"),
            help=help_line(action),
            actions=present(action),
        )
        return


@rule(
    "CON022",
    "more-running-than-processors",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="More than twice as many sessions run statements as there are processors: they wait rather than work.",
    needs=("server", "host"),
    evidence=("TP-01", "CONN-02"),
    docs=Docs(
        why="On 80 processors MariaDB did no more with 256 clients than with 128, and far less where the data "
        "didn't fit in the pool. Sessions beyond what the processors and disks can serve wait for each "
        "other, with their locks held.",
        fix="Find what they wait for, locks, disk or processors; bound the clients' pools. MariaDB has a thread pool. "
        "Sessions that wait for a lock count as running: the finding names the lock, and the session that holds it "
        "must be found instead.",
        risk="Clients wait in their own pool instead.",
        exceptions="Sessions that wait for a disk with many queues, and two samples that happened to fall into a "
        "burst.",
        reconsider_when="Threads_running below that over a busy hour.",
        disagree="A thread pool cost MariaDB 1 to 12 percent of throughput with up to 64 clients, and gained 79 to 142 "
        "percent with 512 where the data didn't fit in memory.",
    ),
)
def more_running_than_processors(context: RuleContext) -> Iterator[Finding]:
    """Report too many running sessions, at each sample of the busiest hour or at both ends of the window."""
    cpus = context.host.usable_cpus
    for window, when, hour in counter_periods(context, CONNECTIONS):
        samples = hour.samples if hour else (window.first, window.last)
        running = [n for n in (sample.status.get(RUNNING) for sample in samples) if n is not None]
        if not cpus or not running or min(running) <= cpus * TIMES_THE_CPUS:
            continue
        # Lock waits are read only at the end of the window, so they say nothing about an earlier hour.
        waits = {} if hour else _lock_waits(context)
        at_work = min(running) - sum(waits.values())
        times = f"at all {len(samples)} samples of the busiest" if hour else "at both ends of a"
        crowd = f"{min(running):,} sessions or more ran statements {times} {_period_rest(when)}"
        processors = f"there {'is' if cpus == 1 else 'are'} {cpus:g} processor{'' if cpus == 1 else 's'}."
        if at_work > cpus * TIMES_THE_CPUS:
            message, remedy = f"{crowd}{_waits_text(waits)}; {processors}", BOUND_THEM
        else:
            message = f"{crowd}{_waits_text(waits)}; no more than {max(0, at_work):,} are active."
            remedy = f"find who holds the lock: {_lock_holder_query(context, waits)}"
        yield more_running_than_processors.finding(message, help=remedy)
        return


def _lock_waits(context: RuleContext) -> dict[str, int]:
    """The number of waiting sessions by lock type, in descending order."""
    rows = context.workload.last.status.get("innodb_row_lock_current_waits") if context.has("workload") else None
    states = {_lock_name(state): count for state, count in context.server.lock_waits.items() if count}
    waits = states | ({ROWS: rows} if rows else {})
    return dict(sorted(waits.items(), key=lambda wait: -wait[1]))


def _lock_name(state: str) -> str:
    """The lock type in a thread state; servers show GET_LOCK as `User lock`."""
    return USER_LOCK if state == "User lock" else state.removeprefix("Waiting for ")


def _waits_text(waits: dict[str, int]) -> str:
    parts = [f"{count:,}{' waited' if not at else ''} for a {what}" for at, (what, count) in enumerate(waits.items())]
    return f". Of these, {', '.join(parts)}" if parts else ""


def _lock_holder_query(context: RuleContext, waits: dict[str, int]) -> str:
    """Where this version shows the holder of the lock that most sessions wait for."""
    if next(iter(waits)) == ROWS:
        return "information_schema.innodb_lock_waits" if context.target.is_mariadb else "sys.innodb_lock_waits"
    if next(iter(waits)) == USER_LOCK:
        return "SELECT IS_USED_LOCK('name of the lock') names the connection"
    if next(iter(waits)) in GLOBAL_LOCKS:
        granted = "performance_schema.metadata_locks, OBJECT_TYPE GLOBAL, COMMIT or BACKUP LOCK"
        shown = context.target.since("mysql", 8) and context.text("performance_schema") == "ON"
        return granted if shown else "a backup, or a session that ran FLUSH TABLES WITH READ LOCK"
    if not next(iter(waits)).endswith("metadata lock"):
        return "the oldest statement in SHOW FULL PROCESSLIST"
    oldest = "the oldest row of information_schema.innodb_trx"
    if context.target.is_mariadb:
        return f"{oldest}, or the plugin METADATA_LOCK_INFO"
    # The instrument of metadata locks is off by default in 5.7.
    return f"sys.schema_table_lock_waits, or {oldest}" if context.target.since("mysql", 8) else oldest


def _period_rest(when: str) -> str:
    return when.removeprefix("in the busiest ").removeprefix("in a ")


@rule(
    "CON023",
    "aborted-connects",
    confidence=Confidence.LIKELY,
    summary="Many connection attempts fail before a session begins.",
    needs=("server", "workload"),
    evidence=("CONA-10", "CONA-21", "CONA-26"),
    docs=Docs(
        why="Aborted_connects counts connections that ended before a session began: a wrong password, no privilege for "
        "the database, a broken handshake, a timeout. A constant share points to a program with old settings, password "
        "guessing, or a check that only opens the port. The thresholds, a tenth of the connections and ten of them, "
        "are our choice.",
        fix="Find the host: MySQL counts errors by host in performance_schema.host_cache, which is empty with "
        "skip_name_resolve or without the host cache. With log_error_verbosity = 3 MySQL writes refused passwords to "
        "its error log. MariaDB writes all these errors to it with log_warnings = 2 or more.",
        risk="None.",
        exceptions="Load balancers that check the port without logging in.",
        reconsider_when="Aborted_connects that does not rise.",
        disagree="MySQLTuner warns at 3 percent since the start, so one week of password guessing long ago keeps the "
        "warning.",
    ),
)
def aborted_connects(context: RuleContext) -> Iterator[Finding]:
    """Report a high percentage of failed connection attempts in the window."""
    window = steady_window(context)
    failed, attempts = _failed_connections(context, window), window.delta("connections")
    if _is_high_share(failed, attempts):
        yield aborted_connects.finding(
            f"{failed:,} connection attempts failed before a session began{_error_reasons(window)} "
            f"{window_text(window)}, with {attempts:,} new connections.",
            help=f"find the hosts they come from{_place_of_errors(context)}",
        )


def _place_of_errors(context: RuleContext) -> str:
    """Where the server shows the hosts; with skip_name_resolve the host cache is empty (CONA-26)."""
    if context.target.is_mariadb:
        silent = (context.number("log_warnings") or 0) < ALL_ERRORS
        return f", in the error log{f' with log_warnings = {ALL_ERRORS}' if silent else ''}"
    off = "skip_name_resolve" if context.settings.on("skip_name_resolve") else ""
    off = off or ("host_cache_size = 0" if context.number("host_cache_size") == 0 else "")
    if off:
        return f", in the error log with log_error_verbosity = 3 (with {off} the host cache is empty)"
    return " (performance_schema.host_cache)"


def _failed_connections(context: RuleContext, window: Workload) -> int | None:
    """Aborted_connects, without those that max_connections refused, which MariaDB counts too (CONA-21)."""
    failed = window.delta("aborted_connects")
    refused = window.delta(REFUSED_BY_LIMIT) or 0 if context.target.is_mariadb else 0
    return None if failed is None else max(0, failed - refused)


def _is_high_share(ended: int | None, attempts: int | None) -> bool:
    return ended is not None and attempts is not None and ended >= max(ABORTED, attempts * ABORTED_PERCENT / 100)


def _error_reasons(window: Workload) -> str:
    """The causes of failed connections that MariaDB counts, as text."""
    parts = {
        "access_denied_errors": "with access denied",
        "aborted_connects_preauth": "before they named an account",
    }
    reasons = [f"{n:,} {words_of_it}" for name, words_of_it in parts.items() if (n := window.delta(name))]
    return f" ({' and '.join(reasons)})" if reasons else ""


@rule(
    "CON024",
    "aborted-clients",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Many sessions end without closing the connection: a timeout, a network failure or a program that crashed.",
    needs=("server", "workload"),
    options=("wait_timeout",),
    evidence=("CONA-10",),
    docs=Docs(
        why="Aborted_clients counts sessions that the client did not close: wait_timeout or KILL ended them, a "
        "firewall cut them, a statement was too long, or the program died. Uncommitted changes are lost. The "
        "thresholds, a tenth of the connections and ten of them, are our choice.",
        fix="Let programs close their connections, and keep the lifetime of pools below wait_timeout.",
        risk="None.",
        exceptions="Programs that are known to end without closing their connections, and lose nothing by it.",
        reconsider_when="Aborted_clients that does not rise.",
        disagree="MySQLTuner and phpMyAdmin use counters since the start, which one bad day can dominate.",
    ),
)
def aborted_clients(context: RuleContext) -> Iterator[Finding]:
    """Report a high percentage of aborted sessions in the window."""
    window = steady_window(context)
    cut, attempts, idle = window.delta("aborted_clients"), window.delta("connections"), context.number("wait_timeout")
    if _is_high_share(cut, attempts):
        limit = f"; idle sessions end after {exact_duration(idle)}" if idle and context.is_set("wait_timeout") else ""
        yield aborted_clients.finding(
            f"{cut:,} sessions ended without closing the connection {window_text(window)}, with {attempts:,} new "
            f"connections{limit}.",
            variable_subject(context, "wait_timeout"),
            help="let programs close their connections, and keep the lifetime of pools below wait_timeout",
        )
