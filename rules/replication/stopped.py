"""REP: a rule about replication threads that do not run or cannot reach the source, with the meaning of their error."""

from __future__ import annotations

import re

from advisor.core import NamedTuple
from advisor.core.model import Severity, exact_duration, format_duration
from advisor.redaction.scrub import failed_table
from advisor.verdict.number import parse_digits
from rules.core import Docs, rule
from rules.core.advice import replica_statement, source_keyword
from rules.core.network import is_switched_on
from rules.replication import LOGS_UPDATES, channel_name, channel_suffix, channel_times, replica_channels, upper_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


class Cause(NamedTuple):
    """What an error means, as a sentence, and what to do, as the help of a finding."""

    meaning: str
    next_step: str

    @property
    def ends_with_start(self) -> bool:
        """Whether the next step ends with a running replica, or with another one."""
        return "start" in self.next_step or "rebuild" in self.next_step


COMPARE = "compare the row with the source's, and repair or rebuild the replica before you start it"
OLDER_THAN_LOGS = "rebuild the replica from a backup of the source, and keep the source's binary logs for longer"
ALONE = "with SET sql_log_bin = 0"  # else the statement would be a transaction of the replica's own
DEFINITIONS = f"compare the definition with the source's, and make it equal here {ALONE}"
SUCCEEDS = f"{ALONE}, so that the source's statement succeeds"
EXISTS = f"find out what it holds; drop or rename it here {SUCCEEDS}"
MISSING = f"create it here as the source had it, {SUCCEEDS}"
ACCOUNT = (
    "check on the source that the account exists for this host and what it requires (TLS), and give the replica its "
    "password with CHANGE {change} TO"
)
EXPIRED = "set a new password with ALTER USER on the source, and give it to the replica with CHANGE {change} TO"
# By the number of the error; MySQL 8.0 and later have numbers of their own for some.
CAUSES = {
    1007: Cause("The database that the source created exists here already.", EXISTS),
    1008: Cause("The database that the source dropped does not exist here.", MISSING),
    1032: Cause("A row that the source changed is missing here or differs.", COMPARE),
    1040: Cause(
        "The source has no connection left for the replica.",
        "find out what uses the connections of the source (max_connections); the replica connects again by itself",
    ),
    1045: Cause("The source refuses the account or its password.", ACCOUNT),
    1050: Cause("The table that the source created exists here already.", EXISTS),
    1051: Cause("The table that the source dropped does not exist here.", MISSING),
    1054: Cause("A column that the source's statement names does not exist here.", DEFINITIONS),
    1060: Cause("The column that the source added exists here already.", EXISTS),
    1061: Cause("The index that the source added exists here already.", EXISTS),
    1062: Cause("A row that the source inserted has a key that exists here already.", COMPARE),
    1091: Cause("The column or index that the source dropped does not exist here.", MISSING),
    1114: Cause(
        "A table is full here: its disk, or the limit of a MEMORY table (max_heap_table_size).",
        "make room on the disk, or give the replica the source's max_heap_table_size",
    ),
    1129: Cause(
        "The source blocks the replica's host after too many failed connections.",
        "find out why connections failed (performance_schema.host_cache on the source), then empty it with TRUNCATE "
        "TABLE (FLUSH HOSTS on MariaDB)",
    ),
    1130: Cause("The source has no account for the replica's host.", "create the account for this host on the source"),
    1133: Cause("The account that the source's statement names does not exist here.", MISSING),
    1146: Cause(
        "A table that the source changed does not exist here.",
        "its rows are missing too: rebuild the replica, or restore the table from the source if it gets no changes "
        "meanwhile; an empty one can be created as on the source",
    ),
    1153: Cause(
        "An event of the source is larger than the replica accepts.",
        "raise replica_max_allowed_packet (slave_max_allowed_packet) on the replica, at most to 1G",
    ),
    1197: Cause(
        "A transaction of the source is larger than max_binlog_cache_size here.",
        "raise max_binlog_cache_size on the replica to the source's value or more",
    ),
    1205: Cause(
        "The applier waited for a lock longer than innodb_lock_wait_timeout, and used up its retries.",
        "find the session here that holds the lock, end its transaction, and start the replica",
    ),
    1298: Cause(
        "The time zone of the source's session is not known here.",
        "load the time zone tables here as on the source (mysql_tzinfo_to_sql)",
    ),
    1304: Cause("The procedure or function that the source created exists here already.", EXISTS),
    1305: Cause("The procedure or function that the source dropped does not exist here.", MISSING),
    1359: Cause("The trigger that the source created exists here already.", EXISTS),
    1396: Cause(
        "The account that the source created exists here already, or the one that it changed or dropped does not.",
        f"drop or create the account here {SUCCEEDS}",
    ),
    1406: Cause("A value of the source is too long for its column here.", DEFINITIONS),
    1410: Cause("The account to which the source granted privileges does not exist here.", MISSING),
    1452: Cause("A row to which the source's row refers is missing here.", COMPARE),
    1451: Cause("A row that the source removed is still referred to here.", COMPARE),
    1526: Cause("No partition of the table here accepts the source's row.", DEFINITIONS),
    1594: Cause(
        "The relay log cannot be read: it is damaged, or the source's binary log is.",
        "stop the replica and let it fetch the logs again, which the source must still have: CHANGE {change} TO with "
        "{source}_LOG_FILE and {source}_LOG_POS of what is applied ({applied}), or with its GTIDs",
    ),
    1677: Cause("A column here has a type to which the source's values cannot be converted.", DEFINITIONS),
    1820: Cause("The password of the replica's account has expired on the source.", EXPIRED),
    1862: Cause("The password of the replica's account has expired on the source.", EXPIRED),
    1950: Cause(
        "gtid_strict_mode refuses the source's transaction: the replica's binary log has one with the same or a higher "
        "sequence number, as after a write on the replica.",
        "find out with mysqlbinlog what was written here, and rebuild the replica from its source",
    ),
    2003: Cause(
        "The source's host and port refuse connections or cannot be reached.",
        "check that the source runs, its address and port, and firewalls",
    ),
    2005: Cause("The name of the source's host is unknown here.", "check the name, and the name service of this host"),
    2026: Cause(
        "The TLS connection to the source fails.", "check the certificates, and {source}_SSL_CA of the replica"
    ),
    2061: Cause(
        "The account uses caching_sha2_password, which needs TLS or the source's public key.",
        "set {source}_SSL = 1 with CHANGE {change} TO{key}",
    ),
    3032: Cause(
        "The source is in offline mode and refuses the replica's account.",
        "run SET GLOBAL offline_mode = OFF on the source when its maintenance has ended",
    ),
    3118: Cause("The replica's account is locked on the source.", "run ALTER USER … ACCOUNT UNLOCK on the source"),
}
SAME = {13114: 1236, 13117: 1593, 13120: 1597, 13121: 1594, 13125: 1153, 13146: 1677, 4151: 3118}
# Errors 1236, 1593 and 1597 stand for many; the message distinguishes them.
BY_MESSAGE = (
    (
        1236,
        re.compile(r"(?:slave|replica) has more GTIDs than|which is not in the master's binlog", re.IGNORECASE),
        Cause(
            "The replica has transactions that its source does not have.",
            "find out which server has the right data, and rebuild the other from it",
        ),
    ),
    (
        1236,
        re.compile(r"purged", re.IGNORECASE),
        Cause("The source has purged the binary logs from which the replica has to continue.", OLDER_THAN_LOGS),
    ),
    (
        1236,
        re.compile(r"could not find first log", re.IGNORECASE),
        Cause(
            "The source does not have the binary log in which the replica has to continue: it was purged, or the "
            "source was reset or replaced.",
            f"check that this is the right source; if it purged the log, {OLDER_THAN_LOGS}",
        ),
    ),
    (
        1236,
        re.compile(r"position > file size|impossible position"),
        Cause(
            "The replica requests a position beyond the end of the source's binary log: the source lost that end in a "
            "crash, or it is a different server.",
            "compare the data: what the replica has beyond that end is lost on the source; rebuild the replica if they "
            "differ, otherwise let it continue at the beginning of the source's next binary log",
        ),
    ),
    (
        1236,
        re.compile(r"bogus data in log event|truncated in the middle of event|log event entry exceeded"),
        Cause(
            "The source cannot read an event there: its binary log is damaged or cut off, or the replica's position is "
            "not the beginning of an event.",
            "read the source's log there with mysqlbinlog; correct a wrong position, and rebuild the replica if the "
            "log is damaged",
        ),
    ),
    (
        1593,
        re.compile(r"AUTO_POSITION mode: the \w+ has GTID_MODE"),
        Cause(
            "The replica uses GTID auto-positioning, but gtid_mode is not ON on the source.",
            "set gtid_mode = ON on the source, step by step, or {source}_AUTO_POSITION = 0 with file and position",
        ),
    ),
    (
        1597,
        re.compile(r"COM_REGISTER_\w+ failed: Access denied"),
        Cause(
            "The replica's account lacks a privilege on the source.",
            "run GRANT REPLICATION SLAVE ON *.* TO its account on the source",
        ),
    ),
    (
        1236,
        re.compile(r"same server_uuid/server_id", re.IGNORECASE),
        Cause(
            "Another replica of this source has the same server_id or server_uuid, so they disconnect each other.",
            "give each replica its own server_id, and remove auto.cnf from a copied data directory before its start",
        ),
    ),
    (
        1593,
        re.compile(r"equal \w+ server ids", re.IGNORECASE),
        Cause("The replica and its source have the same server_id.", "give the replica another server_id"),
    ),
    (
        1593,
        re.compile(r"'\w+_start' hook"),
        Cause(
            "A plugin refuses to start the thread, as group replication does on a secondary.",
            "in a replication group start the channel on the primary; elsewhere look for the reason in the error log",
        ),
    ),
    (
        1593,
        re.compile(r"equal \w+ server UUIDs", re.IGNORECASE),
        Cause(
            "The replica and its source have the same server_uuid, as after copying a data directory.",
            "stop the replica's server, remove auto.cnf from its data directory, and start the server",
        ),
    ),
)


def cause_of(number: int, message: str) -> Cause | None:
    """What the error means; None if its number, or its message where that decides, is not known."""
    number = SAME.get(number, number)
    found = (cause for code, pattern, cause in BY_MESSAGE if code == number and pattern.search(message))
    return next(found, CAUSES.get(number))


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
    summary="A replication thread is stopped, so the replica's data becomes stale.",
    needs=("server",),
    evidence=("ASK-REP-02", "ASK-REP-10", "ASK-REP-17", "ASK-REP-18", "ASK-REP-21", "ASK-REP-22", "CONA-17"),
    docs=Docs(
        why="Without the receiver nothing new arrives, and if the source is lost, so are its later changes. Without "
        "the applier readers see old data, and relay logs accumulate. A thread that stopped with an error does not "
        "restart by itself. The finding shows the table if the error names it, but never statements or values.",
        fix="Fix the cause of the error, which the finding explains for some fifty numbers and messages, and start the "
        "replica. By default a receiver of MySQL 8.4 and later gives up after ten attempts to connect, and must then "
        "be started as well.",
        risk="Skipping the error lets the data diverge.",
        exceptions="A channel of a secondary in a replication group, which runs on the primary only. A replica that "
        "is stopped for a backup or as a delayed copy: if only the applier is stopped, without an error, the finding "
        "is a note, unless other replicas get their changes through this one.",
        reconsider_when="Both threads running.",
    ),
)
def stopped_replica(context: RuleContext) -> Iterator[Finding]:
    """Report replication threads that do not run or cannot reach the source."""
    for channel in replica_channels(context):
        states = stopped_threads(channel)
        errors = {step: parse_digits(channel.get(NUMBERS[step])) or 0 for step in RUNNING}
        if list(states.values()) == ["No", "No"] and not any(errors.values()):
            if not _runs_on_primary_alone(context):
                yield _stopped_without_error(context, channel, "")
            continue
        for step, state in states.items():
            if state in CONNECTING:
                yield _connecting(context, channel, errors[step])
            elif errors[step]:
                yield _stopped_with_error(context, channel, step, errors[step])
            else:
                yield _stopped_without_error(context, channel, step)


def _runs_on_primary_alone(context: RuleContext) -> bool:
    """Whether this member is a secondary, on which its group lets no channel start."""
    part = context.server.replication
    return any(member.own and member.role == "SECONDARY" for member in (part.members or () if part else ()))


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
    skipped = next((name for name in SKIPPED_STARTS if is_switched_on(context, name)), None)
    behind = _replicas_behind(context)
    after = f"; with {skipped} = ON a restart of the server does not start it" if skipped else ""
    return stopped_replica.finding(
        f"{threads}{channel_suffix(channel)} is stopped, without an error: {effect}.{behind}"
        f"{data_age_text(context, channel)}",
        severity=Severity.NOTE if step == APPLIER and not behind else None,
        help=f"start it with {_statement(context, channel, 'START')} unless it is stopped on purpose{after}",
    )


def _connecting(context: RuleContext, channel: dict[str, str], number: int) -> Finding:
    cause = cause_of(number, channel.get(TEXTS[RECEIVER], ""))
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
    return f" It gives up after {times:,} attempts, one every {exact_duration(pause)}, and must then be started."


def _reconnecting_help(context: RuleContext, channel: dict[str, str]) -> str:
    """What to do where the state of the receiver is all that is known; MariaDB logs the reason only (ASK-REP-12)."""
    if context.target.is_mariadb and "failed" in channel.get("io_state", ""):
        return "look for the reason in the replica's error log: another replica may have the same server_id"
    return "check that the source runs and can be reached"


def _stopped_with_error(context: RuleContext, channel: dict[str, str], step: str, number: int) -> Finding:
    cause, table = cause_of(number, channel.get(TEXTS[step], "")), ""
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


def _meaning(cause: Cause | None) -> str:
    return f" {cause.meaning}" if cause else ""


def _next_step(context: RuleContext, channel: dict[str, str], step: str, cause: Cause | None) -> str:
    source = source_keyword(context)
    key = f", or GET_{source}_PUBLIC_KEY = 1 in a trusted network" if context.target.since("mysql", 8, 0, 4) else ""
    words = {"change": "REPLICATION SOURCE" if source == "SOURCE" else source, "source": source, "key": key}
    details = f"details are in {_details(context, channel, step)}"
    if cause is None:
        return f"{details}; fix the cause, then start the replica"
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
    what, several = (" STATUS", False) if verb == "SHOW" else ("", len(replica_channels(context)) > 1)
    return replica_statement(context, verb, channel_name(channel), what, several=several)
