"""REP: rules about the lag of a running replica, its trend, or why it is unknown, and about the room for relay logs."""

from __future__ import annotations

import re

from advisor.core import NamedTuple
from advisor.core.model import Confidence, Severity, exact_duration, format_duration, format_size
from advisor.verdict.number import parse_digits
from rules.core import Docs, rule
from rules.core.advice import present
from rules.core.subject import variable_subject
from rules.replication import (
    ORDER,
    PARALLEL_BY,
    WORKERS,
    advise_while_stopped,
    available_name,
    channel_name,
    channel_suffix,
    channel_times,
    replica_channels,
    upper_value,
)
from rules.replication.settings import missing_for_commit_order
from rules.replication.stopped import data_age_text, stopped_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from advisor.facts.server import ApplierTimes, ChannelProgress
    from rules.core.context import RuleContext

LAGGING = 60  # seconds behind; noticeable for readers of the replica
VISIBLE = 5  # seconds behind; a smaller lag occurs with each large transaction
SIDE_BY_SIDE = 2  # threads; fewer apply transactions one after the other
THREADS, MODE = ("slave_parallel_threads", *WORKERS), "slave_parallel_mode"
BEHIND = "seconds_behind"
ROUNDING = 1  # seconds; both readings of the lag are rounded
SHORTEST = 5.0  # seconds between two readings of the lag; a trend over less is noise
WAITS = "The applier waits for a lock of another session."


@rule(
    "REP016",
    "replica-lag",
    confidence=Confidence.OPINION,
    summary="The replica is behind its source, or its lag is unknown.",
    needs=("server",),
    options=THREADS,
    evidence=("BLOG-02", "ASK-REP-08", "ASK-REP-20", "ASK-REP-30"),
    docs=Docs(
        why="Readers of a lagging replica see old data, and if the source is lost, so are the changes that the replica "
        "has not received. Seconds_Behind_Source (Seconds_Behind_Master) compares the event that is being applied with "
        "the clock: it covers received changes, not those that the source still has to send. It is NULL while the "
        "applier does not run, and while the receiver is not connected, on MySQL only if everything received is "
        "applied: REP015 reports these. MySQL 8.0 and later also time each transaction from its commit on the first "
        "source and on the replica's own source. The number is based on statement timestamps: it is wrong by hours if "
        "a statement ran for hours on the source, or if a session set its own TIMESTAMP, as a replay of binary logs "
        "does. In that case commit times show the lag, and so do changes that were received before the window and are "
        "still not applied after it. An audit with a window reads the lag at both ends, so the finding has its trend. "
        "A note from 5 seconds and a warning from a minute are our choice.",
        fix="Find out what holds up the applier: a lock, one large transaction, a slow disk, tables without a primary "
        "key. If there is a single applier thread, use four.",
        risk="More threads contend for locks. In MySQL before 8.0.27 they need the parallel type LOGICAL_CLOCK to "
        "help, and replica_preserve_commit_order to show readers the commits in the source's order.",
        exceptions="A configured delay (SQL_Delay): only what exceeds it counts. A replica that has applied everything "
        "it received is not reported, whatever the number. A shrinking lag needs no change.",
        reconsider_when="Seconds_Behind_Source of 0 in several samples.",
        disagree="Other advisors report a single applying thread without any lag.",
    ),
)
def replica_lag(context: RuleContext) -> Iterator[Finding]:
    """Report each channel that lags, or whose lag is unknown although it runs; REP015 reports stopped threads."""
    for channel in replica_channels(context):
        seconds = channel_lag(context, channel)
        if _commit_age(context, channel) is not None and (seconds or 0) < VISIBLE:
            yield _dated_wrongly(context, channel)
        elif seconds is None and BEHIND in channel and not stopped_threads(channel):
            yield replica_lag.finding(
                f"The lag of the replica{channel_suffix(channel)} is unknown: {_lag_column(context)} is NULL although "
                f"both threads run.{data_age_text(context, channel)}",
                severity=Severity.NOTE,
                confidence=Confidence.CERTAIN,
                help="audit again in a minute",
            )
        elif seconds is not None and seconds >= VISIBLE:
            hidden = seconds == _seconds_waited(context, channel)
            yield (_hidden_lag if hidden else _seconds_behind)(context, channel, seconds)


def channel_lag(context: RuleContext, channel: dict[str, str]) -> int | None:
    """Seconds that a channel lags beyond its configured delay, by the larger of two measures; None if unknown.

    0 if everything received is applied: the number is then that of the last event, which can be late by itself.
    """
    seconds, delay = parse_digits(channel.get(BEHIND)), parse_digits(channel.get("sql_delay")) or 0
    if seconds is None:
        return None
    if _unapplied_bytes(channel) == 0:
        return 0
    if (age := _commit_age(context, channel)) is not None:
        return max(0, age - delay)
    worked = _worker_lag(channel_times(context, channel), seconds)
    return max(0, seconds - delay, worked - delay, _seconds_waited(context, channel))


def _commit_age(context: RuleContext, channel: dict[str, str]) -> int | None:
    """Seconds since the commit of the transaction that is applied, or was last, if the server's number contradicts it.

    None if it does not, if nothing waits, or if no time of a commit is known. A negative age is that of a source whose
    clock is ahead, and says nothing.
    """
    times, seconds = channel_times(context, channel), parse_digits(channel.get(BEHIND))
    if times is None or seconds is None or _unapplied_bytes(channel) == 0:
        return None
    age = times.applied if times.applying is None else times.applying
    return age if age is not None and age >= 0 and seconds - age >= LAGGING else None


def _dated_wrongly(context: RuleContext, channel: dict[str, str]) -> Finding:
    locked = _waits_for_lock(context, channel)
    number = "compare the GTIDs of source and replica meanwhile; do not base alarms on this number"
    return replica_lag.finding(
        f"{_lag_column(context)}{channel_suffix(channel)} is {channel[BEHIND]}, but the newest transactions were "
        f"committed {format_duration(_commit_age(context, channel) or 0)} ago: the number is based on statement "
        "timestamps. The statements ran long on the source, or its sessions set the timestamps (TIMESTAMP), as in a "
        f"replay of binary logs.{f' {WAITS}' if locked else ''}",
        severity=Severity.NOTE,
        confidence=Confidence.LIKELY,
        help=_next_step(context, channel, None) if locked else number,
    )


def _seconds_waited(context: RuleContext, channel: dict[str, str]) -> int:
    """The length of the window if something received before it is not applied after it, although the number is small.

    This holds whatever the clocks and the times of the events are. 0 with a configured delay.
    """
    part, before = context.server.replication, _state_before(context, channel)
    applied = channel.get("relay_log_file", ""), parse_digits(channel.get("exec_log_pos"))
    hidden = (parse_digits(channel.get(BEHIND)) or 0) < VISIBLE and not parse_digits(channel.get("sql_delay"))
    if not hidden or part is None or before is None or before.received is None or applied[1] is None:
        return 0
    received = before.received_file, before.received
    waits = len(applied[0]) == len(received[0]) and (applied[0], applied[1]) < received
    return int(part.earlier_seconds) if waits and part.earlier_seconds >= SHORTEST else 0


def _worker_lag(times: ApplierTimes | None, seconds: int) -> int:
    """The age of the oldest transaction that is being applied, in seconds.

    The clocks of source and replica may differ, which Seconds_Behind_Source takes into account and commit times don't:
    where it is 0, only the time counts for which a worker has been at the transaction.
    """
    if times is None:
        return 0
    age = times.applying if seconds or times.applying_here is None else times.applying_here
    return age or 0


class Trend(NamedTuple):
    """How a channel's lag changed in the window: seconds by which it grew, and whether nothing was applied."""

    grew: int
    window: float
    stuck: bool

    @property
    def shrinks(self) -> bool:
        """Whether the lag became smaller."""
        return self.grew < -ROUNDING

    def sentence(self, lag: int) -> str:
        """The trend in words; `lag` is the lag now, in seconds."""
        over = f"in the window of {self.window:.0f} s"
        nothing = " Nothing was applied in it." if self.stuck else ""
        if self.shrinks:
            left = format_duration(lag * self.window / -self.grew)
            return f" It shrank by {-self.grew:,} s {over}; at this rate it is gone in about {left}."
        return (
            f" It grew by {self.grew:,} s {over}.{nothing}"
            if self.grew > ROUNDING
            else f" It was steady {over}.{nothing}"
        )


def lag_trend(context: RuleContext, channel: dict[str, str]) -> Trend | None:
    """The trend of a channel's lag; None if it was not read twice, or too soon again."""
    part, before = context.server.replication, _state_before(context, channel)
    seconds = parse_digits(channel.get(BEHIND))
    if part is None or before is None or before.behind is None or seconds is None or part.earlier_seconds < SHORTEST:
        return None
    place = channel.get("relay_log_file"), parse_digits(channel.get("exec_log_pos"))
    return Trend(seconds - before.behind, part.earlier_seconds, place == (before.log_file, before.position))


def _state_before(context: RuleContext, channel: dict[str, str]) -> ChannelProgress | None:
    part = context.server.replication
    name = channel_name(channel)
    return next((state for state in (part.earlier if part else None) or () if state.channel == name), None)


def _hidden_lag(context: RuleContext, channel: dict[str, str], seconds: int) -> Finding:
    trend = lag_trend(context, channel)
    stuck = trend is not None and trend.stuck
    return replica_lag.finding(
        f"{_lag_column(context)}{channel_suffix(channel)} is {channel[BEHIND]}, but the replica is {seconds:,} s or "
        f"more behind its source: changes received before the window of {seconds} s were not yet applied at its "
        f"end.{' Nothing was applied in it.' if stuck else ''}{_lag_details(context, channel)}",
        severity=None if stuck or seconds >= LAGGING else Severity.NOTE,
        help=_next_step(context, channel, None),
    )


def _seconds_behind(context: RuleContext, channel: dict[str, str], seconds: int) -> Finding:
    delay = parse_digits(channel.get("sql_delay"))
    beyond = f" beyond its configured delay of {exact_duration(delay)}" if delay else ""
    upstream = _arises_upstream(context, channel)
    # A trend of a number that is wrong says nothing.
    trend = lag_trend(context, channel) if _commit_age(context, channel) is None else None
    serial = _is_serial(context, channel, seconds) and not upstream and not (trend and trend.shrinks)
    actions = _parallel_actions(context) if serial else ()
    alone = " One thread applies all changes." if serial else ""
    advised = [action.option_line for action in actions if action.option_line]
    return replica_lag.finding(
        f"The replica{channel_suffix(channel)} is {seconds:,} s behind its "
        f"{'first ' if upstream else ''}source{beyond}.{trend.sentence(seconds) if trend else ''}{alone}"
        f"{_lag_details(context, channel)}",
        variable_subject(context, available_name(context, THREADS)) if serial else None,
        severity=None if seconds >= LAGGING else Severity.NOTE,
        help=f"write {', '.join(advised)}" if advised else _next_step(context, channel, trend),
        actions=actions,
    )


def _is_serial(context: RuleContext, channel: dict[str, str], seconds: int) -> bool:
    """Whether a single thread applies, is far behind, and does not wait for a lock."""
    threads = parse_digits(upper_value(context, THREADS))
    single = threads is not None and threads < SIDE_BY_SIDE
    return single and seconds >= LAGGING and not _waits_for_lock(context, channel)


def _arises_upstream(context: RuleContext, channel: dict[str, str]) -> bool:
    """Whether the oldest transaction reached the replica's own source late, as behind a replica that lags itself."""
    times = channel_times(context, channel)
    if times is None or times.applying is None or times.from_source is None:
        return False
    return times.applying >= VISIBLE and 0 <= times.from_source < VISIBLE


def _lag_details(context: RuleContext, channel: dict[str, str]) -> str:
    """What is waiting and for what, one sentence each."""
    times, waiting = channel_times(context, channel), _unapplied_bytes(channel)
    oldest = (times.applying if times else None) or 0
    at_it = (times.applying_here if times else None) or 0
    sentences = [
        f"The oldest transaction being applied was committed {format_duration(oldest)} ago." if oldest > 0 else "",
        f"The replica's own source committed it {format_duration(times.from_source)} ago: that source itself lags."
        if times and times.from_source is not None and _arises_upstream(context, channel)
        else "",
        f"A worker has been applying it for {format_duration(at_it)}." if at_it >= VISIBLE else "",
        f"Busy workers: {times.busy} of {times.workers}; used since their start: {times.used}."
        if times and times.workers > 1
        else "",
        f"Received and not yet applied: {_bytes_text(waiting)} of binary log." if waiting else "",
        WAITS if _waits_for_lock(context, channel) else "",
    ]
    return "".join(f" {sentence}" for sentence in sentences if sentence)


def _bytes_text(size: int) -> str:
    """`27.5M`, `100 bytes`, `1 byte`."""
    return format_size(size) if size >= 1 << 10 else f"{size} byte{'' if size == 1 else 's'}"


def _next_step(context: RuleContext, channel: dict[str, str], trend: Trend | None) -> str:
    if _waits_for_lock(context, channel):
        return "find the session that holds the lock, and end its transaction"
    if _arises_upstream(context, channel):
        return "look at the lag of this replica's own source first"
    if trend and trend.shrinks:
        return "wait, and measure again: the replica catches up"
    return "measure again: if the lag grows, look for locks, large transactions and tables without a primary key"


def _parallel_actions(context: RuleContext) -> tuple[Action, ...]:
    """Actions for four applier threads, and for the settings that they need: the mode, or the order of commits."""
    clock = upper_value(context, PARALLEL_BY) == "DATABASE"
    ordered = upper_value(context, ORDER) == "OFF" and all(
        "LOGICAL_CLOCK" in need for need in missing_for_commit_order(context)
    )
    idle = context.text(MODE) == "NONE"  # MariaDB: one thread applies, however many there are
    return present(
        advise_while_stopped(context, PARALLEL_BY, "LOGICAL_CLOCK") if clock else None,
        advise_while_stopped(context, ORDER, "ON") if ordered else None,
        advise_while_stopped(context, (MODE,), "optimistic") if idle else None,
        advise_while_stopped(context, THREADS, "4", risk="appliers contend for locks"),
    )


def _waits_for_lock(context: RuleContext, channel: dict[str, str]) -> bool:
    """Whether the applier waits for a lock; with workers, their states are used instead of the coordinator's."""
    state, times = channel.get("sql_running_state", "").lower(), channel_times(context, channel)
    return bool(times and times.locked) or (state.startswith("waiting for") and state.endswith("lock"))


def _unapplied_bytes(channel: dict[str, str]) -> int | None:
    """Bytes received but not applied; None unless both positions are in the same file of the source.

    `relay_log_file` is Relay_Source_Log_File, which every server sends after Relay_Log_File.
    """
    received, applied = parse_digits(channel.get("read_log_pos")), parse_digits(channel.get("exec_log_pos"))
    if received is None or applied is None or channel.get("log_file") != channel.get("relay_log_file"):
        return None
    return max(0, received - applied)


# A state of the receiver, with the word enough in all but MySQL 8.0.26 and later.
WAITS_FOR_ROOM = re.compile(r"SQL thread to free (?:enough )?relay log space")
FILLING = 24 * 3600  # seconds until the disk is full, at the rate of the window


@rule(
    "REP025",
    "relay-logs-out-of-room",
    confidence=Confidence.LIKELY,
    summary="Relay logs reach their limit or fill the disk, so the replica stops receiving changes.",
    needs=("server",),
    options=("relay_log_space_limit",),
    evidence=("REPL-06", "ASK-REP-11"),
    docs=Docs(
        why="Received changes stay in relay logs until they are applied. At relay_log_space_limit the receiver waits "
        "until the applier has freed space; if the source is lost, so are the changes that the replica has not "
        "received. Without a limit the relay logs grow until the disk is full, and the server then waits or stops. The "
        "rate is that of the audit's window, reported only if the applier does not keep up.",
        fix="Find out why the applier is stopped or slow. Raise the limit if the disk has room, which needs a restart.",
        risk="A higher limit lets relay logs take more of the disk.",
        exceptions="A replica that catches up: its relay logs shrink again.",
        reconsider_when="Relay logs that shrink from one audit to the next.",
    ),
)
def relay_logs_out_of_room(context: RuleContext) -> Iterator[Finding]:
    """Report a receiver that waits for room, and relay logs that fill the disk while nothing is applied fast enough."""
    for channel in replica_channels(context):
        space = parse_digits(channel.get("relay_log_space"))
        if space is None:
            continue
        if WAITS_FOR_ROOM.search(channel.get("io_state", "")):
            yield relay_logs_out_of_room.finding(
                f"The replica's receiver{channel_suffix(channel)} waits: relay logs of {format_size(space)} reach "
                "relay_log_space_limit. It fetches nothing until the applier has freed space.",
                variable_subject(context, "relay_log_space_limit"),
                confidence=Confidence.CERTAIN,
                help="find out why the applier is stopped or slow; raise relay_log_space_limit if the disk has room",
            )
        elif context.has("host") and _falls_behind(context, channel):
            yield from _filling_disk(context, channel, space)


def _falls_behind(context: RuleContext, channel: dict[str, str]) -> bool:
    """Whether the applier is stopped, or lags and does not catch up."""
    trend = lag_trend(context, channel)
    lags = (channel_lag(context, channel) or 0) >= LAGGING and not (trend and trend.shrinks)
    return channel.get("sql_running") == "No" or lags


def _filling_disk(context: RuleContext, channel: dict[str, str], space: int) -> Iterator[Finding]:
    free = _free_for_relay_logs(context)
    if free is None:
        return
    part, before = context.server.replication, _state_before(context, channel)
    grown = space - before.relay_log_space if before and before.relay_log_space is not None else 0
    window = part.earlier_seconds if part else 0.0
    left = free * window / grown if grown > 0 and window >= SHORTEST else None
    if space < free and (left is None or left > FILLING):
        return
    soon = (
        f" They grew by {format_size(grown)} in {window:.0f} s: full in about {format_duration(left)}." if left else ""
    )
    yield relay_logs_out_of_room.finding(
        f"The applier does not keep up: relay logs{channel_suffix(channel)} take {format_size(space)}, and "
        f"{format_size(free)} of their disk is free.{soon}",
        help="start the applier, or find out what holds it up; stop the receiver before the disk is full",
    )


def _free_for_relay_logs(context: RuleContext) -> int | None:
    """Free bytes of the file system that holds the relay logs; None if unknown."""
    host = context.host
    own = next((place.storage for place in host.places if place.variable == "relay_log_basename"), host.storage)
    return own.space.free if own and own.space else None


def _lag_column(context: RuleContext) -> str:
    return "Seconds_Behind_Source" if context.target.since("mysql", 8, 0, 22) else "Seconds_Behind_Master"
