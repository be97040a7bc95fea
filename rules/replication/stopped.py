"""REP: a rule about replication threads that do not run or cannot reach the source, with the meaning of their error."""

from __future__ import annotations

from advisor.core.model import Severity, format_duration
from advisor.redaction.scrub import failed_table
from advisor.verdict.number import parse_digits
from rules.core.advice import replica_keyword
from rules.core.rule import Docs, rule
from rules.replication.settings import LOGS_UPDATES, channel_suffix, channel_times, replica_channels, upper_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext
    from rules.replication.causes import Cause

RECEIVER, APPLIER = "receiver", "applier"
RUNNING = {RECEIVER: "io_running", APPLIER: "sql_running"}
NUMBERS = {RECEIVER: "last_io_errno", APPLIER: "last_sql_errno"}
TEXTS = {RECEIVER: "last_io_error", APPLIER: "last_sql_error"}
# States of a receiver that is not connected and tries to be; MariaDB also has Preparing.
CONNECTING = frozenset({"Connecting", "Preparing"})
SKIPPED_STARTS = ("skip_replica_start", "skip_slave_start")
DAY = 86400
IN_WORKERS = "Coordinator stopped"  # at the start of Last_SQL_Error if the message is that of the workers


@rule(
    "REP015",
    "stopped-replica",
    summary="A replication thread is stopped, so the replica's data gets stale.",
    needs=("server",),
    evidence=("ASK-REP-02", "ASK-REP-10", "ASK-REP-17", "ASK-REP-18", "ASK-REP-21", "ASK-REP-22", "CONA-17"),
    docs=Docs(
        why="Without the receiver nothing new arrives, and what the source then loses is lost. Without the applier "
        "readers see old data, and relay logs pile up. A thread that stopped with an error doesn't start by itself. "
        "The table is shown if the error names it, statements and values never.",
        fix="Fix the cause of the error, which the finding explains for some fifty numbers and messages, and start the "
        "replica. A receiver of MySQL 8.4 and later gives up after ten attempts to connect, and has to be started too.",
        risk="Skipping the error lets the data drift apart.",
        exceptions="A replica that is stopped for a backup or as a delayed copy: an applier that is stopped alone, "
        "without an error, is a note, unless other replicas get their changes through this one.",
        reconsider_when="Both threads running.",
    ),
)
def stopped_replica(context: RuleContext) -> Iterator[Finding]:
    """Report replication threads that do not run or cannot reach the source."""
    for channel in replica_channels(context):
        states = stopped_threads(channel)
        errors = {step: parse_digits(channel.get(NUMBERS[step])) or 0 for step in RUNNING}
        if list(states.values()) == ["No", "No"] and not any(errors.values()):
            yield _stopped_without_error(context, channel, "")
            continue
        for step, state in states.items():
            if state in CONNECTING:
                yield _connecting(context, channel, errors[step])
            elif errors[step]:
                yield _stopped_with_error(context, channel, step, errors[step])
            else:
                yield _stopped_without_error(context, channel, step)


def stopped_threads(channel: dict[str, str]) -> dict[str, str]:
    """The states of the channel's threads that do not run, by thread."""
    return {step: state for step, name in RUNNING.items() if (state := channel.get(name, "Yes")) != "Yes"}


def data_age_text(context: RuleContext, channel: dict[str, str]) -> str:
    """A sentence, after a space, about how old the replica's data is; empty if the server does not show it."""
    times, behind = channel_times(context, channel), parse_digits(channel.get("time_diff"))
    if times and times.applied is not None:
        return f" The newest applied transaction was committed {format_duration(max(0, times.applied))} ago."
    return f" The newest event received is {format_duration(behind)} newer than the newest applied." if behind else ""


def _replicas_behind(context: RuleContext) -> str:
    """A sentence, after a space, about the replicas that get their changes through this one; empty without any."""
    part = context.server.replication
    count = part.replicas_connected if part else 0
    if not count or upper_value(context, LOGS_UPDATES) == "OFF":
        return ""
    if count == 1:
        return " The replica of this server gets no changes either, and shows no lag."
    return f" The {count} replicas of this server get no changes either, and show no lag."


def _stopped_without_error(context: RuleContext, channel: dict[str, str], step: str) -> Finding:
    threads = f"The replica's {step}" if step else "The replica"
    effect = {RECEIVER: "nothing more arrives", APPLIER: "nothing more is applied"}.get(step, "it gets no changes")
    skipped = next((name for name in SKIPPED_STARTS if context.settings.on(name)), None)
    behind = _replicas_behind(context)
    after = f"; with {skipped} = ON a restart of the server does not start it" if skipped else ""
    return stopped_replica.finding(
        f"{threads}{channel_suffix(channel)} is stopped, without an error: {effect}.{behind}"
        f"{data_age_text(context, channel)}",
        severity=Severity.NOTE if step == APPLIER and not behind else None,
        help=f"start it with {_statement(context, channel, 'START')} unless it is stopped on purpose{after}",
    )


def _connecting(context: RuleContext, channel: dict[str, str], number: int) -> Finding:
    cause = _cause_of(number, channel.get(TEXTS[RECEIVER], ""))
    why = f"with error {number}: nothing more arrives.{_meaning(cause)}" if number else "without an error yet."
    return stopped_replica.finding(
        f"The replica's receiver{channel_suffix(channel)} is not connected and tries to connect, {why}"
        f"{_gives_up(channel)}{_replicas_behind(context)}{data_age_text(context, channel)}",
        severity=Severity.ERROR if number else None,
        help=_next_step(context, channel, RECEIVER, cause) if number else _reconnecting_help(context, channel),
    )


def _gives_up(channel: dict[str, str]) -> str:
    """A sentence, after a space, about when the receiver stops for good; empty if that is a day away or unknown."""
    times, pause = parse_digits(channel.get("retry_count")), parse_digits(channel.get("connect_retry"))
    if not times or not pause or times * pause >= DAY:
        return ""
    return f" It gives up after {times:,} attempts, one every {format_duration(pause)}, and then has to be started."


def _reconnecting_help(context: RuleContext, channel: dict[str, str]) -> str:
    """What to do where the state of the receiver is all that is known; MariaDB logs the reason only (ASK-REP-12)."""
    if context.target.is_mariadb and "failed" in channel.get("io_state", ""):
        return "look for the reason in the replica's error log: another replica may have the same server_id"
    return "check that the source runs and can be reached"


def _stopped_with_error(context: RuleContext, channel: dict[str, str], step: str, number: int) -> Finding:
    cause, table = _cause_of(number, channel.get(TEXTS[step], "")), ""
    if step == APPLIER:
        times = channel_times(context, channel)
        table = failed_table(channel.get(TEXTS[step], "")) or (times.failed_table if times else "")
    effect = "arrives" if step == RECEIVER else "is applied"
    return stopped_replica.finding(
        f"The replica's {step}{channel_suffix(channel)} stopped with error {number}"
        f"{f' at table {table}' if table else ''}: nothing more {effect}.{_meaning(cause)}"
        f"{_replicas_behind(context)}{data_age_text(context, channel)}",
        severity=Severity.ERROR,
        help=_next_step(context, channel, step, cause),
    )


def _cause_of(number: int, text: str) -> Cause | None:
    from rules.replication.causes import cause_of  # lazily: explain needs no errors

    return cause_of(number, text)


def _meaning(cause: Cause | None) -> str:
    return f" {cause.meaning}" if cause else ""


def _next_step(context: RuleContext, channel: dict[str, str], step: str, cause: Cause | None) -> str:
    new_words = context.target.since("mysql", 8, 0, 23)
    words = (
        {"change": "REPLICATION SOURCE", "source": "SOURCE"} if new_words else {"change": "MASTER", "source": "MASTER"}
    )
    details = f"details are in {_details(context, channel, step)}"
    if cause is None:
        return f"{details}; fix the cause, start the replica"
    applied = f"{channel.get('relay_log_file', '')}, {channel.get('exec_log_pos', '')}"
    after = "" if cause.ends_with_start or channel.get(RUNNING[step]) != "No" else ", then start the replica"
    return f"{cause.next_step.format(applied=applied, **words)}{after}; {details}"


def _details(context: RuleContext, channel: dict[str, str], step: str) -> str:
    """Where the server shows the whole error: the workers' messages are in a table of MySQL, if it is filled."""
    if step == APPLIER and channel.get(TEXTS[APPLIER], "").startswith(IN_WORKERS):
        if context.text("performance_schema") == "OFF":
            return "the replica's error log"
        return "performance_schema.replication_applier_status_by_worker (LAST_ERROR_MESSAGE)"
    return f"{_statement(context, channel, 'SHOW')} (Last_{'IO' if step == RECEIVER else 'SQL'}_Error)"


def _statement(context: RuleContext, channel: dict[str, str], verb: str) -> str:
    """SHOW … STATUS or START … for this channel, in the words of the target."""
    status = " STATUS" if verb == "SHOW" else ""
    if context.target.is_mariadb:
        name = channel.get("connection_name", "")
        return f"{verb} SLAVE{quoted(name)}{status}"
    name = channel.get("channel_name", "")
    return f"{verb} {replica_keyword(context)}{status}{' FOR CHANNEL' if name else ''}{quoted(name)}"


def quoted(name: str) -> str:
    """A channel's name for a statement, after a space; empty for the default channel."""
    return " '{}'".format(name.replace("'", "''")) if name else ""
