"""REP: a rule about the lag of a running replica, or why it is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from advisor.core.sizes import format_duration, format_size
from advisor.verdict.number import parse_digits
from rules.core.advice import present
from rules.core.rule import Docs, rule
from rules.core.subject import variable_subject
from rules.replication.settings import (
    ORDER,
    PARALLEL_BY,
    WORKERS,
    advise_while_stopped,
    available_name,
    channel_suffix,
    missing_for_commit_order,
    replica_channels,
    upper_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from advisor.facts.server import ApplierTimes
    from rules.core.context import RuleContext

LAGGING = 60  # seconds behind; noticeable for readers of the replica
VISIBLE = 5  # seconds behind; a smaller lag occurs with each large transaction
SIDE_BY_SIDE = 2  # threads; fewer apply transactions one after the other
THREADS = ("slave_parallel_threads", *WORKERS)
BEHIND = "seconds_behind"


@rule(
    "REP016",
    "replica-lag",
    confidence=Confidence.OPINION,
    summary="The replica is behind its source, or its lag is unknown.",
    needs=("server",),
    options=THREADS,
    evidence=("BLOG-02", "ASK-REP-08"),
    docs=Docs(
        why="Readers of a lagging replica see old data, and what it has not received is lost with the source. "
        "Seconds_Behind_Source (Seconds_Behind_Master) compares the event that is applied with the clock: it covers "
        "what was received, not what the source still has to send. It is NULL while the applier does not run, and "
        "while the receiver is not connected and everything received is applied. MySQL 8.0 and later also time each "
        "transaction from its commit on the first source. A note from 5 seconds and a warning from a minute are our "
        "choice.",
        fix="Look for what holds the applier up: a lock, one large transaction, a slow disk, tables without a primary "
        "key. Where a single thread applies, let four apply.",
        risk="More threads contend for locks. In MySQL before 8.0.27 they need the parallel type LOGICAL_CLOCK to "
        "help, and replica_preserve_commit_order to show readers the source's order.",
        exceptions="A configured delay (SQL_Delay): only what exceeds it counts.",
        reconsider_when="Seconds_Behind_Source of 0, asked several times.",
        disagree="Other advisors report a single applying thread without any lag.",
    ),
)
def replica_lag(context: RuleContext) -> Iterator[Finding]:
    """Report each channel that lags, or whose lag is unknown."""
    for channel in replica_channels(context):
        seconds = channel_lag(context, channel)
        if seconds is None and BEHIND in channel:
            yield replica_lag.finding(
                f"The lag of the replica{channel_suffix(channel)} is unknown: {_lag_column(context)} is NULL, because "
                f"{_why_unknown(channel)}.{_last_lag_text(context, channel)}",
                severity=Severity.NOTE,
                confidence=Confidence.CERTAIN,
                help="start the stopped thread; the lag is known again when the applier has caught up",
            )
        elif seconds is not None and seconds >= VISIBLE:
            yield _seconds_behind(context, channel, seconds)


def channel_lag(context: RuleContext, channel: dict[str, str]) -> int | None:
    """Seconds that a channel lags beyond its configured delay, by the larger of two measures; None if unknown."""
    seconds, delay = parse_digits(channel.get(BEHIND)), parse_digits(channel.get("sql_delay")) or 0
    if seconds is None:
        return None
    times = _applier_times(context, channel)
    return max(0, seconds - delay, (times.applying or 0) - delay if times else 0)


def _seconds_behind(context: RuleContext, channel: dict[str, str], seconds: int) -> Finding:
    delay = parse_digits(channel.get("sql_delay"))
    beyond = f" beyond its configured delay of {format_duration(delay)}" if delay else ""
    threads = parse_digits(upper_value(context, THREADS))
    serial = (
        threads is not None and threads < SIDE_BY_SIDE and seconds >= LAGGING and not _waits_for_lock(context, channel)
    )
    actions = _parallel_actions(context) if serial else ()
    alone = " One thread applies all changes." if serial else ""
    advised = [action.option_line for action in actions if action.option_line]
    return replica_lag.finding(
        f"The replica{channel_suffix(channel)} is {seconds:,} s behind its "
        f"source{beyond}.{alone}{_lag_details(context, channel)}",
        variable_subject(context, available_name(context, THREADS)) if serial else None,
        severity=None if seconds >= LAGGING else Severity.NOTE,
        help=f"write {', '.join(advised)}" if advised else _next_step(context, channel),
        actions=actions,
    )


def _lag_details(context: RuleContext, channel: dict[str, str]) -> str:
    """What is waiting and for what, one sentence each."""
    times, waiting = _applier_times(context, channel), _unapplied_bytes(channel)
    oldest = (times.applying if times else None) or 0
    told = [
        f"The oldest transaction being applied was committed {format_duration(oldest)} ago." if oldest > 0 else "",
        f"Received and not yet applied: {format_size(waiting)} bytes of binary log." if waiting else "",
        "The applier waits for a lock of another session." if _waits_for_lock(context, channel) else "",
    ]
    return "".join(f" {sentence}" for sentence in told if sentence)


def _next_step(context: RuleContext, channel: dict[str, str]) -> str:
    if _waits_for_lock(context, channel):
        return "find the session that holds the lock, and end its transaction"
    return "measure again: if the lag grows, look for locks, large transactions and tables without a primary key"


def _parallel_actions(context: RuleContext) -> tuple[Action, ...]:
    """Actions for four applier threads and, on MySQL, for the settings that they need to keep the commit order."""
    clock = upper_value(context, PARALLEL_BY) == "DATABASE"
    ordered = upper_value(context, ORDER) == "OFF" and all(
        "LOGICAL_CLOCK" in need for need in missing_for_commit_order(context)
    )
    return present(
        advise_while_stopped(context, PARALLEL_BY, "LOGICAL_CLOCK") if clock else None,
        advise_while_stopped(context, ORDER, "ON") if ordered else None,
        advise_while_stopped(context, THREADS, "4", risk="appliers contend for locks"),
    )


def _waits_for_lock(context: RuleContext, channel: dict[str, str]) -> bool:
    """Whether the applier waits for a lock; with workers, their states are used instead of the coordinator's."""
    state, times = channel.get("sql_running_state", "").lower(), _applier_times(context, channel)
    return bool(times and times.locked) or (state.startswith("waiting for") and state.endswith("lock"))


def _unapplied_bytes(channel: dict[str, str]) -> int | None:
    """Bytes received but not applied; None unless both positions are in the same file of the source.

    `relay_log_file` is Relay_Source_Log_File, which every server sends after Relay_Log_File.
    """
    received, applied = parse_digits(channel.get("read_log_pos")), parse_digits(channel.get("exec_log_pos"))
    if received is None or applied is None or channel.get("log_file") != channel.get("relay_log_file"):
        return None
    return max(0, received - applied)


def _why_unknown(channel: dict[str, str]) -> str:
    if channel.get("sql_running") == "No":
        return "the applier does not run"
    if channel.get("io_running") != "Yes":
        return "the receiver is not connected, and everything received is applied"
    return "the server does not know it yet"


def _last_lag_text(context: RuleContext, channel: dict[str, str]) -> str:
    times, behind = _applier_times(context, channel), parse_digits(channel.get("time_diff"))
    if times and times.applied is not None:
        return f" The newest applied transaction was committed {format_duration(max(0, times.applied))} ago."
    return f" The newest event received is {format_duration(behind)} newer than the newest applied." if behind else ""


def _applier_times(context: RuleContext, channel: dict[str, str]) -> ApplierTimes | None:
    part = context.server.replication
    name = channel.get("channel_name", "")
    return next((times for times in (part.applier_times if part else ()) if times.channel == name), None)


def _lag_column(context: RuleContext) -> str:
    return "Seconds_Behind_Source" if context.target.since("mysql", 8, 0, 22) else "Seconds_Behind_Master"
