"""BIN: rules about the binary log and replication settings."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity, exact_duration, format_size
from rules.core import MOST, Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import find_line, variable_subject, verdict_subject
from rules.durability import (
    log_bin_line,
    switches_off,
    writes_binary_log,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext


MONTH = 2592000  # seconds; the default of MySQL 8.0 and later (BLOG-03)
SHORT = 86400
TRANSACTION = "max_binlog_cache_size"
TINY, DEFAULT_SIZE = 1 << 20, 1 << 30  # bytes of max_binlog_size
TOTAL_SIZES = ("max_binlog_total_size", "binlog_space_limit")  # two names of one purge limit, since MariaDB 11.4
MOST_FILES = "max_binlog_files"  # Percona Server 5.7
MOST_NAMED = 8  # error numbers listed in a message
SKIPPED = ("slave_skip_errors", "replica_skip_errors")
PURGE_NEEDS = "slave_connections_needed_for_purge"  # MariaDB 11.4 and later
INTENDED_OFF = frozenset({"OFF", "0", "FALSE", "NO"})


@rule(
    "BIN001",
    "binary-log-never-expires",
    summary="Binary logs are never purged, so they fill the disk.",
    options=("binlog_expire_logs_seconds", "expire_logs_days", "binlog_expire_logs_auto_purge", "log_bin"),
    evidence=("BLOG-03", "BLOG-06", "BLOG-08"),
    docs=Docs(
        why="With an expiry of 0, or with binlog_expire_logs_auto_purge = OFF (MySQL 8.0.29 and later), binary logs "
        "are never purged automatically. 0 is the default of MySQL 5.7 and MariaDB, where the binary log itself is off "
        "until it is configured. MariaDB 11.4 and later also purge by max_binlog_total_size, if enough replicas are "
        "connected (purge-waits-for-replica), and Percona Server by binlog_space_limit or, in 5.7, max_binlog_files.",
        fix="Set an expiry longer than the longest lag of a replica and the time between backups; MySQL 8.0 "
        "keeps 30 days.",
        risk="Older logs are removed at the next rotation or restart: a disconnected replica, or a restore, that still "
        "needs them fails.",
        exceptions="Servers whose logs are purged by other means, such as an archiving job. Managed services, for "
        "which there is no finding: they purge binary logs themselves, Azure with an expiry of 0 as soon as it can.",
        reconsider_when="A job that purges the logs, and its schedule.",
    ),
)
def binary_log_never_expires(context: RuleContext) -> Iterator[Finding]:
    """Report an enabled binary log that is limited by neither age nor size."""
    name, value = expiry_setting(context)
    purged = context.settings.on("binlog_expire_logs_auto_purge") is not False
    if (
        not writes_binary_log(context)
        or value is None
        or (value > 0 and purged)
        or any(map(context.number, (*TOTAL_SIZES, MOST_FILES)))
        or context.is_managed
    ):
        return
    switch = name if purged else "binlog_expire_logs_auto_purge"
    if not (context.is_set(switch) or context.is_set("log_bin")):
        return
    yield binary_log_never_expires.finding(
        "Binary logs are never purged and eventually fill the disk.",
        variable_subject(context, switch if context.is_set(switch) else "log_bin"),
        help=" and ".join(
            ([] if purged else ["switch binlog_expire_logs_auto_purge on again"])
            + ([] if value else ["set an expiry that is longer than any replica's lag and the time between backups"])
        ),
        actions=present(
            None if value else _month_expiry_action(context, name),
            None if purged else _auto_purge_action(context),
            _replica_count_action(context),
        ),
    )


def expiry_setting(context: RuleContext) -> tuple[str, int | None]:
    """The expiry variable that this version uses, and its value in seconds; None if a template fills it in.

    MariaDB and MySQL 8.0 have two variables.
    """
    for name in ("expire_logs_days", "binlog_expire_logs_seconds"):
        if context.is_templated(name):
            return name, None
    seconds = context.number("binlog_expire_logs_seconds")
    days = context.settings.real("expire_logs_days")
    if seconds is None or (context.is_set("expire_logs_days") and (days or _is_set_in_days(context))):
        return "expire_logs_days", None if days is None else int(days * 86400)
    return "binlog_expire_logs_seconds", seconds


def _is_set_in_days(context: RuleContext) -> bool:
    """Whether the expiry is set in days: expire_logs_days alone is set or, on MariaDB, its line is the later one.

    On MariaDB each of the two variables sets the other.
    """
    if not context.is_set("binlog_expire_logs_seconds"):
        return True
    days, seconds = (find_line(context, name) for name in ("expire_logs_days", "binlog_expire_logs_seconds"))
    options = [placed.line for placed in context.file_verdict.resolved.options]
    return (
        context.target.is_mariadb
        and days in options
        and options.index(days) > (options.index(seconds) if seconds in options else -1)
    )


def _month_expiry_action(context: RuleContext, name: str) -> Action | None:
    name = "binlog_expire_logs_seconds" if context.number("binlog_expire_logs_seconds") is not None else name
    days = MONTH // 86400
    value = days if name == "expire_logs_days" else MONTH
    return advise(context, name, value, risk="older logs are removed at the next rotation")


def _auto_purge_action(context: RuleContext) -> Action | None:
    return advise(context, "binlog_expire_logs_auto_purge", "ON", risk="expired logs are removed at the next rotation")


def replicas_missing_for_purge(context: RuleContext) -> int:
    """How many replicas have to be connected before MariaDB purges, if fewer are; otherwise 0."""
    needed = context.number(PURGE_NEEDS)
    connected = context.server.counter("slaves_connected") if context.has("server") else None
    return 0 if not needed or connected is None or connected >= needed else needed


def while_connected(replicas: int) -> str:
    """The condition of MariaDB's purge, for the end of a sentence."""
    return f"while {replicas} replica{'s are' if replicas > 1 else ' is'} connected"


def _replica_count_action(context: RuleContext) -> Action | None:
    """An action for MariaDB if fewer replicas are connected than slave_connections_needed_for_purge requires."""
    if not replicas_missing_for_purge(context):
        return None
    return advise(context, PURGE_NEEDS, 0, risk="logs that a replica needs may be removed")


@rule(
    "BIN002",
    "zero-server-id",
    summary="server_id is 0: the server refuses replicas and cannot be a replica.",
    targets=(Span("mysql"),),
    options=("server_id",),
    quiet={"server_id": (1, MOST)},
    evidence=("ASK-13",),
    docs=Docs(
        why="MySQL starts with server_id = 0 and a binary log, and then refuses replicas (error 1236) and to be one "
        "(error 1794). MariaDB uses 1 instead. Without any server_id MySQL 5.7 does not start with a binary log, which "
        "invalid-value reports.",
        fix="Set server_id to a number that no other server of the topology has.",
        risk="Two servers with the same number break replication between them.",
        exceptions="Servers that never take part in replication.",
        reconsider_when="A replica that connects.",
    ),
)
def zero_server_id(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured server_id = 0 on a server with a binary log."""
    if context.number("server_id") == 0 and context.is_set("server_id") and writes_binary_log(context):
        yield zero_server_id.finding(
            "With server_id = 0 the server refuses replicas, although it writes a binary log for them.",
            variable_subject(context, "server_id"),
            help="set server_id to a number that no other server of the topology has",
        )


@rule(
    "BIN004",
    "short-binary-log",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="Binary logs are kept for less than a day.",
    options=("binlog_expire_logs_seconds", "expire_logs_days"),
    evidence=("BLOG-03",),
    docs=Docs(
        why="A replica that is disconnected for longer must be rebuilt, and a backup older than the logs cannot be "
        "rolled forward to the present.",
        fix="Keep the logs longer than the longest lag and the time between backups.",
        risk="Disk space.",
        exceptions="Servers without replicas whose backups are taken more often, logs that are also archived "
        "elsewhere, and disks that hold no more.",
        reconsider_when="The time between backups, and the longest time that a replica was disconnected.",
    ),
)
def short_binary_log(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured expiry of less than a day."""
    name, value = expiry_setting(context)
    if value and value < SHORT and context.is_set(name) and writes_binary_log(context):
        needed = context.number(PURGE_NEEDS)  # MariaDB purges nothing while its only replica is away
        away = f" {while_connected(needed)}: another one that" if needed else ": a replica that"
        yield short_binary_log.finding(
            f"Binary logs are removed after {exact_duration(value)}{away} is disconnected for longer may have to be "
            "rebuilt.",
            variable_subject(context, name),
            help="keep them longer than the longest lag and the time between backups",
        )


@rule(
    "BIN005",
    "skipped-replication-errors",
    confidence=Confidence.LIKELY,
    summary="The replica skips errors, so its data can silently diverge from the source.",
    options=SKIPPED,
    evidence=("ASK-14",),
    docs=Docs(
        why="An error while applying a change mostly shows that the replica's data differs already. Skipping it leaves "
        "out that change too: replication runs on, and the difference grows.",
        fix="Remove the line, compare the data and rebuild the replica where it differs.",
        risk="Replication stops at the next error, as it should.",
        restart=True,
        exceptions="Error 1061 or 1062 for an hour of repair.",
        reconsider_when="A comparison of all tables that finds no difference.",
    ),
)
def skipped_replication_errors(context: RuleContext) -> Iterator[Finding]:
    """Report replication errors that the replica is configured to skip."""
    # A server that knows both names shows both as set; the name in the file is reported first.
    for name in sorted(SKIPPED, key=lambda name: name not in context.file_verdict.effective):
        value = context.text(name)
        if value and value not in ("OFF", "0") and context.is_set(name):  # 0 is the number of no error
            yield skipped_replication_errors.finding(
                f"{_error_list(value)} skipped while changes are applied: the data can diverge silently.",
                variable_subject(context, name),
                help="remove the line, and compare the data with the source's",
            )
            return


def _error_list(value: str) -> str:
    """The skipped errors as text; only a count if there are many."""
    numbers = value.split(",")
    if value == "ALL" or len(numbers) > MOST_NAMED:
        return "All errors are" if value == "ALL" else f"{len(numbers)} errors are"
    return f"Error {value} is" if len(numbers) == 1 else f"Errors {', '.join(numbers)} are"


@rule(
    "BIN006",
    "binary-log-named-off",
    summary="The line is meant to disable the binary log, but it sets the log's file name and enables it.",
    options=("log_bin",),
    evidence=("ASK-15",),
    docs=Docs(
        why="log_bin takes the name of a file. With log_bin = OFF or 0 all six servers that we tested wrote a binary "
        "log to the file OFF.000001 or 0.000001.",
        fix="Write skip_log_bin instead.",
        risk="Without a binary log there are no replicas and no restore to a point in time.",
        restart=True,
        exceptions="None.",
        reconsider_when="A server that starts with the line and shows log_bin as OFF.",
    ),
)
def binary_log_named_off(context: RuleContext) -> Iterator[Finding]:
    """Report a binary log whose file name is OFF or 0."""
    line = log_bin_line(context)
    if line is None or switches_off(line):
        return
    name = line.placed.line.value or ""
    if name.upper() in INTENDED_OFF:
        yield binary_log_named_off.finding(
            f"log_bin takes a file name, so the server writes a binary log, in files from {name}.000001 on.",
            verdict_subject(line),
            help="write skip_log_bin to switch the binary log off",
        )


@rule(
    "BIN007",
    "purge-waits-for-replica",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Binary logs are purged only while a replica is connected, and none is.",
    needs=("server",),
    targets=(Span("mariadb", since=(11, 4)),),
    options=(PURGE_NEEDS,),
    evidence=("BLOG-04", "BLOG-06"),
    docs=Docs(
        why="From MariaDB 11.4 on binary logs are purged, by age and by size, only while as many replicas are "
        "connected as slave_connections_needed_for_purge requires, by default 1. Where a server has no replica its "
        "binary logs are never purged automatically, whatever the expiry and max_binlog_total_size; PURGE BINARY LOGS "
        "still works.",
        fix="Set slave_connections_needed_for_purge to 0 on servers without replicas.",
        risk="Logs that a replica still needs may be removed while it is away.",
        exceptions="A replica that is only temporarily disconnected.",
        reconsider_when="Logs older than the expiry, or beyond the total size, that were purged.",
    ),
)
def purge_waits_for_replica(context: RuleContext) -> Iterator[Finding]:
    """Report an age or size limit that does not purge because too few replicas are connected."""
    wanted, connected = replicas_missing_for_purge(context), context.server.counter("slaves_connected")
    name, expiry = expiry_setting(context)
    limited = any(map(context.number, TOTAL_SIZES)) or (expiry and context.is_set(name))
    if wanted and limited and writes_binary_log(context):
        now = {0: "none is", 1: "1 is"}.get(connected or 0, f"{connected} are")
        action = _replica_count_action(context)
        yield purge_waits_for_replica.finding(
            f"Binary logs are purged only {while_connected(wanted)}; now {now}.",
            variable_subject(context, PURGE_NEEDS),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "BIN008",
    "tiny-binary-logs",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="The server starts a new binary log after less than 1M of changes.",
    options=("max_binlog_size",),
    quiet={"max_binlog_size": (TINY, MOST)},
    evidence=("ASK-BIN-01",),
    docs=Docs(
        why="Each new binary log costs a sync of the old one and of the index, and one more file to list, copy and "
        "purge. With 4096 bytes, 100 inserts of one row filled six or seven files. The default is 1G; that less than "
        "1M is too small is our opinion.",
        fix="Remove the line.",
        risk="A single log takes more of the disk until it is purged.",
        exceptions="Tests.",
        reconsider_when="A tool that needs small logs.",
    ),
)
def tiny_binary_logs(context: RuleContext) -> Iterator[Finding]:
    """Report max_binlog_size below one megabyte."""
    size = context.number("max_binlog_size")
    if size is not None and 0 < size < TINY and context.is_set("max_binlog_size") and writes_binary_log(context):
        action = advise(context, "max_binlog_size", DEFAULT_SIZE, risk="a single log takes more of the disk")
        yield tiny_binary_logs.finding(
            f"The server starts a new binary log after every {format_size(size)}; the default is "
            f"{format_size(DEFAULT_SIZE)}.",
            variable_subject(context, "max_binlog_size"),
            help="remove the line",
            actions=present(action),
        )


@rule(
    "BIN018",
    "small-transaction-limit",
    summary="Transactions of ordinary size fail: max_binlog_cache_size is less than a statement of a dump.",
    options=(TRANSACTION,),
    evidence=("ASK-BIN-32",),
    docs=Docs(
        why="A transaction's changes are cached before they go to the binary log. A statement that takes them beyond "
        "max_binlog_cache_size fails with error 1197; the earlier statements of its transaction can still be "
        "committed. Dumps write statements of up to 1022K (packet-below-dump), so with less than a megabyte dumps of "
        "larger tables cannot be loaded. The default is no limit.",
        fix="Remove the line.",
        risk="A huge transaction takes space in tmpdir, or on MariaDB 11.8 in #binlog_cache_files of the binary log's "
        "directory.",
        exceptions="Servers that are meant to refuse such transactions.",
        reconsider_when="Binlog_cache_disk_use of zero over weeks.",
    ),
)
def small_transaction_limit(context: RuleContext) -> Iterator[Finding]:
    """Report max_binlog_cache_size below one megabyte."""
    limit = context.number(TRANSACTION)
    if limit is not None and limit < TINY and context.is_set(TRANSACTION) and writes_binary_log(context):
        yield small_transaction_limit.finding(
            f"A statement that gives its transaction more than {format_size(limit)} of changes for the binary log "
            "fails with error 1197.",
            variable_subject(context, TRANSACTION),
            help="remove the line: by default there is no limit",
        )


@rule(
    "BIN010",
    "binary-log-switched-off",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="No binary log is written, so a restore ends at the last backup, and no replica can follow.",
    targets=(Span("mysql", since=(8, 0)),),
    options=("log_bin",),
    evidence=("REPL-15",),
    docs=Docs(
        why="MySQL 8.0 and later write a binary log by default. Without it, changes since the last backup cannot be "
        "restored, and the server cannot be a source. An option file cannot show whether that is intended.",
        fix="Remove the line, if you need point-in-time recovery or a replica.",
        risk="Each commit is written and synced once more, and the logs take disk space until they expire.",
        restart=True,
        exceptions="Replicas that are never promoted, data that can be loaded again, and tests.",
        reconsider_when="A restore plan without binary logs.",
    ),
)
def binary_log_switched_off(context: RuleContext) -> Iterator[Finding]:
    """Report a line that disables the binary log, unless a template decides whether the line applies."""
    line = log_bin_line(context)
    if line is not None and switches_off(line) and not line.placed.line.conditional:
        yield binary_log_switched_off.finding(
            "No binary log is written: a restore ends at the last backup, and no replica can follow this server.",
            verdict_subject(line),
            help="remove the line, if you need point-in-time recovery or a replica",
        )


OVERRULED = {
    "binlog_cache_size": "max_binlog_cache_size is lower, and limits it",
    "binlog_stmt_cache_size": "max_binlog_stmt_cache_size is lower, and limits it",
    "expire_logs_days": "binlog_expire_logs_seconds is set too, and takes precedence",
}


@rule(
    "BIN019",
    "overruled-binary-log-setting",
    summary="Another option overrules a setting of the binary log.",
    targets=(Span("mysql"),),
    options=tuple(OVERRULED),
    evidence=("ASK-BIN-33",),
    docs=Docs(
        why="A cache of the binary log gets no larger than its maximum, and expire_logs_days becomes 0 where "
        "binlog_expire_logs_seconds is set to more than 0. The server reports this in its error log at most, so the "
        "file shows a value that is not in use.",
        fix="Remove the line, or change the option that overrules it.",
        risk="A cache without a line has its default size, 32K. The line of expire_logs_days has no effect already.",
        exceptions="A file that MySQL 5.7 reads as well needs expire_logs_days.",
        reconsider_when="A server that runs with the value.",
    ),
)
def overruled_binary_log_setting(context: RuleContext) -> Iterator[Finding]:
    """Report lines about the binary log whose value another option replaces at the start."""
    for name, why in OVERRULED.items():
        line = context.file_verdict.effective.get(name)
        if line is not None and line.running and line.value and line.value not in {"0", line.running}:
            shown = str if name == "expire_logs_days" else _size_text
            yield overruled_binary_log_setting.finding(
                f"The server runs with {shown(line.running)} instead of {shown(line.value)}: {why}.",
                variable_subject(context, name),
                help="remove the line" if shown is str else "remove the line, or raise the maximum",
            )


def _size_text(number: str) -> str:
    return format_size(int(number))
