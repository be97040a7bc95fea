"""BIN: rules about how commits get into the binary log: delays, caches, and errors of its writes."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject
from rules.durability import writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

LONG_DELAY = 10_000  # microseconds; about as long as a sync of a slow disk
LEAST_DELAY, MICROSECONDS = 100, 1_000_000  # below, a delay is hardly noticed
DELAY, DELAY_COUNT = "binlog_group_commit_sync_delay", "binlog_group_commit_sync_no_delay_count"
WAIT_COUNT = "binlog_commit_wait_count"


@rule(
    "BIN009",
    "delayed-commits",
    confidence=Confidence.LIKELY,
    summary="Each commit waits for others to join it before the binary log is synced.",
    options=(DELAY, WAIT_COUNT),
    evidence=("ASK-BIN-01", "ASK-BIN-31", "ASK-BIN-36"),
    probe="commit",
    docs=Docs(
        why="The delay is added to every group of commits, even that of a single session, and locks are held "
        "meanwhile; with sync_binlog = 10 it is added to one group in ten. With 1,000,000 microseconds each INSERT "
        "took a second. It saves syncs only where many sessions commit at once. The threshold, 10 ms, is our choice. A "
        "shorter delay is a note where on average fewer than one commit arrives within it. MariaDB waits up to "
        "binlog_commit_wait_usec for binlog_commit_wait_count commits: with 1,000,000 and a count of 100 each INSERT "
        "took a second. MariaDB ends the wait when another transaction needs a lock of one that waits. An option file "
        "is reported from 10 ms on; a measured window, where most groups waited the whole time and held fewer than "
        "half of these commits. With 20,000 microseconds and a count of 20, MariaDB 11.8 did 333 transactions a second "
        "with eight sessions instead of 5,513; with 2,000 microseconds, MySQL 9.7 did 80 instead of 125 with one "
        "session.",
        fix="Set it to 0, the default, or to less than the time that a sync takes. MariaDB: set "
        "binlog_commit_wait_count to 0.",
        risk="More syncs of the binary log.",
        exceptions="Sources whose replicas benefit from larger commit groups, with a few hundred microseconds. Quiet "
        "hours of a server that is otherwise busy.",
        reconsider_when="A measurement of commits with and without the delay.",
    ),
)
def delayed_commits(context: RuleContext) -> Iterator[Finding]:
    """Report a delay of commits that is long, or that hardly any other commit uses."""
    if not writes_binary_log(context):
        return
    if context.target.is_mariadb:
        yield from _idle_waits(context)
        return
    delay, rate, period = context.number(DELAY), None, context.number("sync_binlog") or 1
    if delay is None or not context.is_set(DELAY) or context.number(DELAY_COUNT) == 1:
        return  # with a count of 1 the first commit ends the wait
    if LEAST_DELAY <= delay < LONG_DELAY:
        rate = _commit_rate(context)
    if delay >= LONG_DELAY or (rate is not None and rate * delay < MICROSECONDS):
        action = advise(context, DELAY, 0, risk="more syncs of the binary log", watch="Com_commit")
        alone = (
            ""
            if rate is None
            else f"; at {rate:,.0f} commits a second, on average less than one other arrives meanwhile"
        )
        groups = "Each commit" if period == 1 else f"One group of commits in {period:,}"
        yield delayed_commits.finding(
            f"{groups} may wait up to {_milliseconds(delay)} for others before the binary log is synced{alone}.",
            variable_subject(context, DELAY),
            severity=None if rate is None else Severity.NOTE,
            help=help_line(action),
            actions=present(action),
        )


def _milliseconds(count: int) -> str:
    """A number of microseconds as text, `10.5 ms`."""
    return f"{count / 1000:,.1f}".removesuffix(".0") + " ms"


def _commit_rate(context: RuleContext) -> float | None:
    """Transactions that are written to the binary log, a second; None without a window in which there were enough."""
    from rules.core.counters import busy_rate, steady_window

    return busy_rate(steady_window(context), "binlog_cache_use", 1.0) if context.has("workload") else None


def _idle_waits(context: RuleContext) -> Iterator[Finding]:
    """Report a wait of MariaDB's commits that mostly ends without another commit."""
    from rules.core.counters import MINIMUM_EVENTS, steady_window, window_text

    count, wait = context.number(WAIT_COUNT), context.number("binlog_commit_wait_usec")
    if not count or not wait or wait < LEAST_DELAY:
        return
    if not context.has("workload"):
        yield from _long_wait(context, count, wait)
        return
    window = steady_window(context)
    commits, groups, ended = (
        window.delta(f"binlog_{name}") or 0 for name in ("commits", "group_commits", "group_commit_trigger_timeout")
    )
    if ended < MINIMUM_EVENTS or 2 * ended < groups or 2 * commits >= count * groups:
        return
    action = advise(context, WAIT_COUNT, 0, risk="more syncs of the binary log", watch="Binlog_group_commits")
    yield delayed_commits.finding(
        f"{ended:,} of {groups:,} groups of commits waited {_milliseconds(wait)} for {count:,} commits and held "
        f"{commits / groups:.1f} on average {window_text(window)}.",
        variable_subject(context, WAIT_COUNT),
        severity=None if wait >= LONG_DELAY else Severity.NOTE,
        help=help_line(action),
        actions=present(action),
    )


def _long_wait(context: RuleContext, count: int, wait: int) -> Iterator[Finding]:
    """Report an explicitly configured long wait of MariaDB's commits where nothing is known of the load."""
    if count > 1 and wait >= LONG_DELAY and context.is_set(WAIT_COUNT):
        action = advise(context, WAIT_COUNT, 0, risk="more syncs of the binary log", watch="Binlog_group_commits")
        yield delayed_commits.finding(
            f"Each commit waits up to {_milliseconds(wait)} for a group of {count:,} commits.",
            variable_subject(context, WAIT_COUNT),
            help=help_line(action),
            actions=present(action),
        )


ERROR_ACTION = "binlog_error_action"


@rule(
    "BIN020",
    "unlogged-after-write-error",
    confidence=Confidence.LIKELY,
    summary="After a binary log error the server continues without the log, and replicas silently miss the rest.",
    targets=(Span("mysql"),),
    options=(ERROR_ACTION,),
    evidence=("BLOG-07", "ASK-BIN-34"),
    docs=Docs(
        why="If the binary log cannot be written or synced, as after an I/O error, IGNORE_ERROR lets the server go on "
        "without it until a restart: replicas and a restore to a point in time miss all later changes. ABORT_SERVER, "
        "the default, stops the server instead, so that a failover can begin. On a full disk commits wait for space "
        "with either value, and the server retries every minute.",
        fix="Remove the line, or set ABORT_SERVER.",
        risk="The server then stops at such an error.",
        exceptions="Servers without replicas whose binary log is not needed.",
        reconsider_when="A server that should rather lose its log than stop.",
    ),
)
def unlogged_after_write_error(context: RuleContext) -> Iterator[Finding]:
    """Report binlog_error_action = IGNORE_ERROR on a server that writes a binary log."""
    if context.is_set(ERROR_ACTION) and context.text(ERROR_ACTION) == "IGNORE_ERROR" and writes_binary_log(context):
        action = advise(context, ERROR_ACTION, "ABORT_SERVER", risk="a binary log error stops the server")
        yield unlogged_after_write_error.finding(
            "After an error of the binary log, such as an I/O error, the server continues without it until a restart: "
            "replicas miss all later changes.",
            variable_subject(context, ERROR_ACTION),
            help=help_line(action),
            actions=present(action),
        )
