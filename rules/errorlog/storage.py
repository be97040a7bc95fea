"""ERR: rules about damaged and missing data, full and read-only disks, and a full redo log in the error log."""

from __future__ import annotations

from advisor.core.model import Severity
from rules.core import Docs, rule
from rules.errorlog import DAY, event_finding, in_brackets, messages, recent_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


@rule(
    "ERR007",
    "innodb-corruption-logged",
    severity=Severity.ERROR,
    needs=("server",),
    evidence=("ASK-ERR-06", "ASK-ERR-21"),
    summary="InnoDB found corrupted pages or indexes.",
    docs=Docs(
        why="A page failed its checksum, or an index is inconsistent: the disk, its controller, the memory, the file "
        "system, a copied file, or a bug damaged it. Pages from the future were copied at another moment than the "
        "redo log, or the redo log was removed; pages outside the bounds mean that the file was cut off. MySQL ends "
        "with signal 6 when a statement reads such a page; MariaDB returns an error for the table. Backups may "
        "contain the damage.",
        fix="Copy the data directory or take a snapshot before anything else. Then rebuild the server from a replica "
        "or a backup, or restore the table: dump what can be read, drop it, load it. On MySQL, CHECK TABLE reads the "
        "page and may stop the server. Check the disks (smartctl, dmesg) and the memory.",
        risk="innodb_force_recovery from 4 on may destroy more data: only on a copy.",
        exceptions="Files that were damaged on purpose, on a test server.",
        reconsider_when="The table was rebuilt after the last message.",
    ),
)
def innodb_corruption_logged(context: RuleContext) -> Iterator[Finding]:
    """Report messages about corrupted pages and indexes of InnoDB."""
    event = recent_event(context, "corruption")
    if event:
        yield event_finding(
            context,
            innodb_corruption_logged,
            event,
            f"InnoDB found corrupted data{in_brackets(event)}, {messages(event)}",
            "copy the data directory first, then restore the table from a replica or a backup; check disk and memory "
            "(dmesg, smartctl)",
        )


@rule(
    "ERR008",
    "table-marked-as-crashed",
    needs=("server",),
    evidence=("ASK-ERR-07",),
    summary="A MyISAM or Aria table was marked as crashed.",
    docs=Docs(
        why="The table's index or data file is damaged, usually because the server ended while it was open. "
        "Statements on it fail with error 126, 127, 144, 145 or 1034 until it is repaired. With "
        "myisam_recover_options (MariaDB: also aria_recover_options), which are on by default only in MariaDB, the "
        "server repairs it when it is opened.",
        fix="CHECK TABLE name; REPAIR TABLE name; for each of them. Convert tables to InnoDB where possible.",
        risk="REPAIR TABLE locks the table and may remove rows that cannot be read: copy its files first.",
        exceptions="Repaired already: CHECK TABLE says OK.",
        reconsider_when="The table was repaired or converted.",
    ),
)
def table_marked_as_crashed(context: RuleContext) -> Iterator[Finding]:
    """Report MyISAM and Aria tables that were marked as crashed."""
    event = recent_event(context, "crashed_table")
    if event:
        yield event_finding(
            context,
            table_marked_as_crashed,
            event,
            f"Tables were marked as crashed{in_brackets(event)}, {messages(event)}",
            "run CHECK TABLE for each, and REPAIR TABLE if it is not OK; copy the table's files first",
        )


@rule(
    "ERR009",
    "tablespace-missing-logged",
    needs=("server",),
    evidence=("ASK-ERR-08",),
    summary="InnoDB did not find the file of a tablespace.",
    docs=Docs(
        why="The data dictionary names a tablespace whose file is missing: removed by hand, not copied, on a file "
        "system that was not mounted, or left over from an interrupted operation. On MySQL 5.7 and MariaDB it can "
        "also be a .frm file without its table in InnoDB. Statements on the table fail. Without the system tablespace "
        "no server that we tested started; without the redo log MySQL 9.7 and MariaDB did not, without an undo "
        "tablespace MariaDB did not. After a clean shutdown MySQL 5.7 and 8.0 created a new redo log, and 8.0 and 9.7 "
        "new undo tablespaces.",
        fix="Restore the file's table from a backup. If the table is not needed, DROP TABLE removes its entry.",
        risk="DROP TABLE cannot be undone: look for the file first.",
        exceptions="ALTER TABLE … DISCARD TABLESPACE before an import.",
        reconsider_when="The table was restored or dropped.",
    ),
)
def tablespace_missing_logged(context: RuleContext) -> Iterator[Finding]:
    """Report missing tablespace files."""
    event = recent_event(context, "missing")
    if event:
        yield event_finding(
            context,
            tablespace_missing_logged,
            event,
            f"InnoDB did not find tablespace files{in_brackets(event)}, {messages(event)}",
            "look for the file (an unmounted file system, a moved directory); otherwise restore the table from a "
            "backup",
        )


@rule(
    "ERR010",
    "disk-full-logged",
    needs=("server",),
    evidence=("ASK-ERR-09",),
    summary="A file system was full, or a quota was used up.",
    docs=Docs(
        why="Error 28 (ENOSPC) or 122 (quota). Statements fail or wait until there is space; temporary files of one "
        "statement can fill tmpdir and disappear with it. MySQL 8.0.15 and MariaDB ended with signal 6 when a "
        "rollback found no space; MySQL 9.7.4 did not.",
        fix="Find which file system it was: the data directory, tmpdir, the directory of the binary or relay logs. "
        "Free space; limit binary logs by their expiry; set an alarm that fires before the disk is full.",
        risk="Never remove files of the data directory by hand. With PURGE BINARY LOGS, remove only what every replica "
        "has.",
        exceptions="There is space now, and the cause was a single statement.",
        reconsider_when="The file system was enlarged.",
    ),
)
def disk_full_logged(context: RuleContext) -> Iterator[Finding]:
    """Report messages about a full disk."""
    event = recent_event(context, "disk_full")
    if event:
        yield event_finding(
            context,
            disk_full_logged,
            event,
            f"A file system of the server was full, {messages(event)}",
            "see which one with df -h for datadir, tmpdir and the binary logs; free space or enlarge it",
        )


@rule(
    "ERR011",
    "read-only-file-system-logged",
    severity=Severity.ERROR,
    needs=("server",),
    evidence=("ASK-ERR-10",),
    summary="A file system of the server was read-only.",
    docs=Docs(
        why="Error 30 (EROFS). The kernel remounts ext4 read-only after an error of its metadata or disk if it is "
        "mounted with errors=remount-ro; XFS returns input/output errors instead. No write succeeds; the server ends "
        "or fails to start.",
        fix="Read dmesg for the first error of the disk, replace the disk if needed, run fsck while it is unmounted, "
        "then mount it again.",
        risk="fsck may remove damaged files: copy the device first.",
        exceptions="A directory that is read-only on purpose, such as a plugin directory in an image.",
        reconsider_when="The disk was checked or replaced.",
    ),
)
def read_only_file_system_logged(context: RuleContext) -> Iterator[Finding]:
    """Report messages about a read-only file system."""
    event = recent_event(context, "read_only")
    if event:
        yield event_finding(
            context,
            read_only_file_system_logged,
            event,
            f"A file system of the server was read-only, {messages(event)}",
            "look for disk errors in dmesg; check the file system before it is mounted again",
        )


@rule(
    "ERR012",
    "redo-log-full-logged",
    needs=("server",),
    evidence=("SRC-ERR-11",),
    summary="InnoDB reported that the redo log is too small.",
    docs=Docs(
        why="The age of the last checkpoint exceeded the log, or a crash could not have been recovered: one huge row, "
        "or writes faster than pages are flushed. A large transaction of small rows alone does not need a larger log. "
        "LOG002 covers MySQL 8.0.30 and later.",
        fix="Enlarge the redo log: at least ten times the largest row, and an hour of writes (LOG001 to LOG003).",
        risk="A larger log takes disk space, and recovery takes longer.",
        exceptions="A single import of huge rows.",
        reconsider_when="The log was enlarged since.",
    ),
)
def redo_log_full_logged(context: RuleContext) -> Iterator[Finding]:
    """Report warnings about a small redo log, except those that LOG002 reports."""
    event = recent_event(context, "redo")
    if event and context.server.redo_waits is None:
        size = "innodb_redo_log_capacity" if context.target.since("mysql", 8, 0, 30) else "innodb_log_file_size"
        yield event_finding(
            context,
            redo_log_full_logged,
            event,
            f"InnoDB reported a full redo log, {messages(event)}",
            f"enlarge {size} to an hour of writes, and at least ten times the largest row",
        )


@rule(
    "ERR018",
    "disk-errors-logged",
    severity=Severity.ERROR,
    needs=("server",),
    evidence=("ASK-ERR-16",),
    summary="A disk of the server returned input/output errors.",
    docs=Docs(
        why="Error 5 (EIO): the kernel could not read or write a block. The disk, its controller, the network volume "
        "or the thin pool below it failed. What could not be written is lost, and InnoDB ends the server or returns "
        "errors for the table. The next backup may fail at the same block.",
        fix="Read dmesg for the device, and check it (smartctl, the state of the volume or pool). Fail over to a "
        "replica on another disk, replace the disk, and rebuild the server from a replica or a backup.",
        risk="More reads and repairs on a failing disk can destroy what is still readable: copy the data first.",
        exceptions="A network volume that was detached and is attached again: check the tables.",
        reconsider_when="The disk was replaced.",
    ),
)
def disk_errors_logged(context: RuleContext) -> Iterator[Finding]:
    """Report input/output errors of the operating system."""
    event = recent_event(context, "io_error")
    if event:
        yield event_finding(
            context,
            disk_errors_logged,
            event,
            f"A disk of the server returned input/output errors, {messages(event)}",
            "look for the device in dmesg, and copy the data or fail over before anything else",
        )


@rule(
    "ERR019",
    "logging-turned-off",
    severity=Severity.ERROR,
    needs=("server",),
    evidence=("ASK-ERR-17",),
    summary="The server could not write one of its logs, and turned it off.",
    docs=Docs(
        why="The server could not open a new file of the binary log, the general log or the slow log, for example on "
        "a full disk, and goes on without that log. A binary log stays off until the next start, although log_bin is "
        "still ON; no change reaches a replica any more, and point-in-time recovery ends there. With "
        "binlog_error_action = ABORT_SERVER, its default, MySQL stops instead. The general and the slow log can be "
        "turned on again at run time, on MariaDB too, whose message asks for a restart.",
        fix="Find the file in the error log, and free space or correct its permissions. For the binary log, restart "
        "the server, rebuild the replicas, and take a full backup. For the others, SET GLOBAL slow_query_log or "
        "general_log to OFF and to ON again.",
        risk="None in looking. Replicas that are not rebuilt lack changes without any error.",
        exceptions="A slow or general log that is not needed.",
        reconsider_when="The log is written again, and after a gap in the binary log the replicas were rebuilt.",
    ),
)
def logging_turned_off(context: RuleContext) -> Iterator[Finding]:
    """Report logs that the server turned off because it could not write them."""
    event = recent_event(context, "log_off")
    if event:
        yield event_finding(
            context,
            logging_turned_off,
            event,
            f"The server could not write a log, and turned it off, {messages(event)}",
            "see in the error log which file it was; if it was the binary log, restart the server, rebuild the "
            "replicas and take a full backup; the general and slow log can be turned on by SET GLOBAL",
        )


@rule(
    "ERR021",
    "table-full-logged",
    needs=("server",),
    evidence=("ASK-ERR-23",),
    summary="Tables were full, and statements failed with error 1114.",
    docs=Docs(
        why="The server logs 'The table … is full' if a table cannot grow: a MEMORY table, temporary or not, has "
        "reached max_heap_table_size, a temporary table on disk its limit (tmp_disk_table_size, the maximum of "
        "innodb_temp_data_file_path on 5.7 and MariaDB) or a full tmpdir, an InnoDB table the maximum in "
        "innodb_data_file_path or a full disk. The statement fails. An internal temporary table that reaches "
        "tmp_table_size or temptable_max_ram goes to disk instead. The brackets contain names without their database.",
        fix="Find what kind of table it is, and raise its limit, or free space. Let a statement with huge temporary "
        "tables read fewer rows. Convert a MEMORY table that keeps growing to InnoDB.",
        risk="A higher limit takes memory or disk space for each table and session.",
        exceptions="A MEMORY table whose limit is intended, such as a cache that the application empties. Messages of "
        "days on which the log also has a full disk are not reported: that is another finding.",
        reconsider_when="The limit was raised since, or the statement changed.",
    ),
)
def table_full_logged(context: RuleContext) -> Iterator[Finding]:
    """Report messages about full tables."""
    event, disk = recent_event(context, "table_full"), recent_event(context, "disk_full")
    if event and not (disk and disk.first[:DAY] <= event.first[:DAY] and event.last[:DAY] <= disk.last[:DAY]):
        yield event_finding(
            context,
            table_full_logged,
            event,
            f"Tables were full{in_brackets(event).replace('(temporary)', 'temporary')}, {messages(event)}",
            "see what kind of table it is: MEMORY (max_heap_table_size), temporary (tmpdir, limits of temporary "
            "tables), or InnoDB (free disk space, a maximum in innodb_data_file_path)",
        )
