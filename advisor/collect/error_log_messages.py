"""The error log's messages by kind: their texts in every flavour, MySQL's codes, and the details read from them.

The texts are those of MySQL 5.7, 8.0 and 9.7 and of MariaDB 10.11 to 11.8, from logs of these servers and from their
programs. A code is listed only if MySQL uses it for nothing else.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from typing import NamedTuple

# Starts and stops, from whose sequence UNCLEAN and FAILED_START are derived.
START, READY, STOPPING, STOP, ABORT, EXIT, CRASH = "start", "ready", "stopping", "stop", "abort", "exit", "crash"
UNCLEAN, FAILED_START = "unclean", "failed_start"
# Kinds that only explain a failed start or a crash.
OPTION, IN_USE, DENIED_FILE, ASSERTION, HANG = "option", "in_use", "denied_file", "assertion", "hang"
VERSION, KEY, BINARY_LOG, PEERS, TRANSFER = "version", "key", "binary_log", "peers", "transfer"
BOOTSTRAP = "bootstrap"
KILLED, NEXT_LOG = "killed", "next_log"  # what systemd or the kernel logged; the beginning of another log
MEMORY, THREADS, SEMAPHORE, REDO = "memory", "threads", "semaphore", "redo"
CORRUPTION, CRASHED_TABLE, MISSING = "corruption", "crashed_table", "missing"
DISK_FULL, READ_ONLY, IO_ERROR, FILES, LOG_OFF = "disk_full", "read_only", "io_error", "files", "log_off"
DENIED, ABORTED, CONNECTIONS = "denied", "aborted", "connections"
REPLICATION, MAJORITY = "replication", "majority"
TABLE_FULL, PLUGIN, SYSTEM_TABLES = "table_full", "plugin", "system_tables"
BACKTRACE = 13951  # MySQL's code for the lines of a crash report that it copies at the next start
MARKS = frozenset({START, READY, STOPPING, STOP, ABORT, EXIT, CRASH})
EXPLAIN_ONLY = frozenset(
    (OPTION, IN_USE, DENIED_FILE, ASSERTION, HANG, VERSION, KEY, BINARY_LOG, PEERS, TRANSFER, BOOTSTRAP)
)
OF_A_START = frozenset({PLUGIN, SYSTEM_TABLES})  # states that end with the next start, unless it logs them again
OF_UNDAMAGED_FILES = frozenset({OPTION, VERSION, KEY, IN_USE})  # with them, files look corrupted or missing
CAUSES = {
    OPTION: "wrong option",
    VERSION: "data of another version",
    KEY: "encryption key missing",
    IN_USE: "data directory, socket or port in use",
    DENIED_FILE: "permission denied",
    ASSERTION: "failed assertion",
    HANG: "semaphore wait beyond the limit",
    BINARY_LOG: "binary log could not be written",
    PEERS: "other nodes of the cluster not reached",
    BOOTSTRAP: "not safe to bootstrap",
    TRANSFER: "state transfer failed",
    MEMORY: "out of memory",
    CORRUPTION: "corrupted data",
    MISSING: "missing tablespace file",
    DISK_FULL: "disk full",
    READ_ONLY: "read-only file system",
    IO_ERROR: "input/output error",
    FILES: "too many open files",
}


class Message(NamedTuple):
    """One kind of message.

    `texts` are patterns for the beginning of a message without the program's name; each begins with a plain letter,
    and a group is the detail. `codes` are MySQL's codes, `like` a pattern for LIKE if no code is specific.
    """

    kind: str
    texts: tuple[str, ...]
    codes: tuple[int, ...] = ()
    like: str = ""


MESSAGES = (
    Message(START, ("Starting MariaDB .* as process \\d",), (10116,)),
    Message(READY, ("ready for connections",), (10931,)),
    Message(
        STOPPING,
        ("Normal shutdown", "Received SHUTDOWN from user ", r"Giving \d+ client threads a chance to die gracefully"),
        (13172,),
    ),
    Message(STOP, ("Shutdown complete(?!d)",), (10910,)),
    Message(ABORT, (r"Aborting['\"]?,?$",), (10119,)),
    Message(EXIT, ("Cannot continue operation",), (12981,)),
    Message(
        OPTION, ("unknown (?:variable|option) '", r"Data file '[^']{1,200}' uses page size \d+, but"), (67, 68, 12222)
    ),
    Message(
        IN_USE,
        (
            r"Unable to lock \S+ error: 11",
            r"Do you already have another (?:\S+ )?server running",
            r"Can't lock aria control file",
            r"Another process with pid \d+ is using unix socket",
        ),
        (10257, 10259, 10262, 12574),
    ),
    Message(
        VERSION,
        (
            r"Invalid MySQL server (?:up|down)grade",
            r"Cannot boot server version \d+ on data directory built by version \d+",
            "Upgrade (?:after a crash is not supported|is not supported after a crash)",
            "Unsupported redo log format",
            r"MySQL-8\.0 tablespace in",
            "Cannot upgrade server earlier than 5.7",
        ),
        (12525, 12526, 13090, 13168, 14058, 14060, 14061),
    ),
    Message(KEY, ("Encryption can't find master key", "Encryption key is not found for")),
    Message(BINARY_LOG, ("Binary logging not possible",), (11072,)),
    Message(PEERS, ("WSREP: failed to open gcomm backend connection",)),
    Message(BOOTSTRAP, ("WSREP: It may not be safe to bootstrap the cluster from this node",)),
    Message(TRANSFER, ("WSREP: (?:SST failed|State transfer to .{1,300} failed|Failed to prepare for ')",)),
    Message(
        LOG_OFF,
        (r"Could not (?:use|open) \S{1,300} for logging \(error \d{1,4}\b.{0,100}\)\. Turning logging off",),
        (10816, 10824, 10861),
    ),
    Message(FILES, ("Error in accept: Too many open files",), (), "Error in accept: Too many open files%"),
    Message(ASSERTION, ("Assertion failure",), (13183,)),
    Message(HANG, ("Semaphore wait has lasted", "innodb_fatal_semaphore_wait_threshold was exceeded"), (12872,)),
    Message(
        SEMAPHORE,
        ("A long semaphore wait", r"Long wait \(\d+ seconds\) for ", r"A long wait \(\d+ seconds\) was observed"),
        (),
        "A long semaphore wait%",
    ),
    Message(
        MEMORY,
        (
            r"Out of memory(?! ?\?)",
            r"Cannot allocate \d+ bytes",
            "Cannot allocate memory for the buffer pool",
            "Cannot allocate$",
            "Cannot map innodb_buffer_pool",
        ),
        (10134, 10934, 10935, 12956),
    ),
    Message(
        THREADS,
        (
            r"Can't create thread to handle new connection ?\(errno[:=] ?1[12]\b",
            r"Can't create a new thread \(errno 1[12]\b",
        ),
        (10249,),
    ),
    Message(
        REDO,
        (
            "Threads are unable to reserve space in redo log",
            "Redo log is running out of free space, pausing user threads",
            "Redo log writer is waiting for a new redo log file",
            "Out of space in the redo log",
            r"The age of the last checkpoint is \d+, which exceeds the log",
            "Crash recovery is broken due to insufficient innodb_log_file_size",
        ),
    ),
    Message(
        CORRUPTION,
        (
            "Database page corruption on disk or a failed",
            r"Failed to read page \d+ from file '\./([^']{1,200})\.ibd': Page read from tablespace is corrupted",
            r"File '\./([^']{1,200})\.ibd' is corrupted",
            "We detected index corruption in an InnoDB",
            r"Corrupted page \[page id: ",
            "Probable data corruption on page",
            "No valid checkpoint (?:was )?found",
            "Apparent corruption of an index page",
            "The redo log file may have been corrupt",
            r"Unable to read page \[page id: .{1,100} into the buffer pool after",
            "Aborting because of a corrupt database page",
            "The page in the doublewrite (?:file|buffer) is corrupt",
            # Files that were cut off, or copied at another moment than the redo log.
            r"Trying to access page number \d+ in space \d+, space name ([^,]{1,200}), which is outside the tablespace",
            r"Trying to read \d+ bytes at \d+ outside the bounds of the file: \./([^']{1,200})\.ibd",
            r"Tablespace '([^']{1,200})' Page \[page id: .{1,100}\] log sequence number \d+ is in the future",
            r"Page \[page id: .{1,100}\] log sequence number \d+ is in the future",
            r"The first page of file \./([^']{1,200})\.ibd is corrupted",
        ),
        (11906, 12237, 12519, 12523, 12531, 12965, 13535, 14048),
    ),
    Message(CORRUPTION, (), (), "Trying to access page number % outside the tablespace bounds%"),
    Message(CORRUPTION, (), (), "%log sequence number % is in the future%"),
    Message(
        CRASHED_TABLE,
        (
            r"Table '(?:\./)?([^'#]{1,200})' is marked as crashed and",
            r"Incorrect key file for table '(?:\./)?([^'#]{1,200}?)(?:\.MY[ID])?'; try to repair",
            r"Index for table '(?:\./)?([^'#]{1,200}?)\.M[YA]I' is corrupt; try to repair it",
            r"Got error '(?:126|127|145|176) [^']{1,100}' for '(?:\./)?([^']{1,200}?)(?:\.MA[ID])?'",
        ),
        (),
        "Incorrect key file for table %; try to repair it",
    ),
    Message(CRASHED_TABLE, (), (), "Table % is marked as crashed and %"),
    Message(
        MISSING,
        (
            r"Could not find a valid tablespace file for `?([^\s`.]{1,200})",
            r"Tablespace \d+, name '([^']{1,200})', file '[^']{1,300}' is missing",
            "Failed to open the undo tablespace",
            "Cannot find undo tablespace",
            r"Tablespace \d+ was not found at \S+(?: when restoring|, and innodb_force|\.$)",
            r"Cannot open table (\S{1,200}) from the internal data dictionary of InnoDB though",
            "Cannot start InnoDB. The tail of the system tablespace is missing",
            "Missing redo log file",
            "Found existing redo log files, but at least one is missing",
        ),
        (12131, 12351, 12973, 12975, 13590, 13882, 13893),
    ),
    Message(
        DISK_FULL,
        (
            "Disk is full writing",
            r"Error \(Out of disk space\)",
            "Create table/tablespace '.{1,200}' failed, as disk is full",
        ),
        (13133, 35),
    ),
    Message(TABLE_FULL, ("The table '([^']{1,200})' is full",), (13132,)),
    Message(
        PLUGIN,
        (
            r"Can't open shared library '(?:[^']{0,300}[/\\])?([^'/\\]{1,100})' \(errno",
            r"Couldn't load plugins? (?:named )?'[^']{1,100}' (?:with soname|from) '([^']{1,100})'",
            "Couldn't load plugins from '([^']{1,100})'",
            # InnoDB and Aria end the start, whose cause is another message.
            r"Plugin '(?!InnoDB'|Aria')([^']{1,100})' (?:init function returned error|registration as a .* failed)",
        ),
        (10736, 10901),
    ),
    Message(
        SYSTEM_TABLES,
        (
            r"Missing system table (mysql\.\w{1,64})",
            r"Column count of (mysql\.\w{1,64}) is wrong",
            r"Cannot load from (mysql\.\w{1,64})\. The table is probably corrupted",
            r"Incorrect definition of table (mysql\.\w{1,64}):",
            r"Can't open and lock privilege tables: Table '(mysql\.\w{1,64})' doesn't exist",
            r"Can't open the (mysql\.\w{1,64}) table\. Please run",
            r"Fatal error: (mysql\.user) table is damaged",
        ),
    ),
    Message(
        CONNECTIONS,
        (
            "Too many connections$",
            r"Aborted connection 0 to db: 'unconnected' user: 'unauthenticated' host: '[^']{1,80}' \(Too many conn",
        ),
    ),
    Message(DENIED, ("Access denied for user ",), (10925, 10926, 10927, 13525)),
    Message(ABORTED, (r"Aborted connection \d+ to db: ",), (10914, 13104, 13130)),
    Message(
        REPLICATION,
        (
            r"Slave (?:SQL|I/O).{0,2000}?[Ee]rror[_ ]code: (?:MY-0*)?([1-9]\d{0,5})",
            # MariaDB's channels with a name
            r"Master '.{1,200}?': Slave (?:SQL|I/O).{0,2000}?[Ee]rror[_ ]code: ([1-9]\d{0,5})",
            r"Replica (?:SQL|I/O).{0,2000}?[Ee]rror_code: (?:MY-0*)?([1-9]\d{0,5})",
            r"Slave SQL thread retried transaction \d+ time\(s\).{1,20}giving up",  # MariaDB, without a number
        ),
    ),
    Message(
        MAJORITY,
        (
            "This server is not able to reach a majority of members",
            "Member was expelled from the group",
            "Plugin group_replication reported: '(?:This server is not able to reach a maj|Member was expelled)",
            r"WSREP: Shifting (?:SYNCED|DONOR/DESYNCED|JOINED|JOINER) -> OPEN ",
            "WSREP: (Inconsistency detected): ",
            "Plugin group_replication reported: 'The member (contains transactions not present in the group)",
        ),
        (11495, 11496, 11505, 11522),
    ),
)
# Error numbers of the operating system in the words of these servers: ENOSPC, EROFS, EACCES, EMFILE, EIO.
_ERRNO = re.compile(
    r"(?:[Ee]rrcode: |errno[:=]? |[Ee]rror number |failed with error |\) returned )(28|30|13|24|5)(?=[ ).,;]|$)"
    r"|Disk quota exceeded"
)
_OF_ERRNO = {"28": DISK_FULL, "30": READ_ONLY, "13": DENIED_FILE, "24": FILES, "5": IO_ERROR, None: DISK_FULL}
# Replication errors of connections, which a restart of the source causes: the client's, except those of TLS and of
# authentication plugins, and 1053, 1158 to 1161.
_CONNECTION_LOST = re.compile(r"2(?!0(?:26|54|58|59|61))\d{3}|1053|115[89]|116[01]")
_RETRIED = ("1205", "1213")  # lock wait time-out, deadlock
GIVES_UP = "giving up. Consider"
NOT_RETRIED = f"(DATA NOT REGEXP 'Error_code: MY-001(205|213)' OR DATA LIKE '%{GIVES_UP}%')"  # in MySQL's table
# The path of the program may contain blanks, as in C:\Program Files.
_PATH = r"(?:(?:[A-Za-z]:\\|/)[^:]{1,300}|\S{1,300})"
_PROGRAM = re.compile(
    r"(?:InnoDB: )?(\[FATAL\] )?(?:InnoDB: )?"
    r"(?:(?:(?:[A-Za-z]:\\|/)[^:]{0,300}|\S{0,300}?)(?:mysqld|mariadbd?)\S{0,60}: )?"
)
# MariaDB 10.6.11 and older, and 10.7 to 10.10, write `mariadbd (server 10.6.11-MariaDB)`.
_STARTING = re.compile(rf"{_PATH} \((?:mysqld|mariadbd|server) \S{{1,80}}(?: as \S{{1,80}})?\) starting as process \d")
_STOPPING = re.compile(rf"{_PATH} \(initiated by: .{{1,200}}\): Normal shutdown$")
_REASON = re.compile(
    r"\((Got (?:timeout|an error) (?:reading|writing) communication packets|Got packets out of order"
    r"|Got a packet bigger than 'max_allowed_packet' bytes|The client was disconnected by the server"
    r"|This connection closed normally without authentication)"
)


class MessageKind(NamedTuple):
    """The kind of a message, and the detail that its text contains."""

    kind: str
    detail: str = ""


def recognise(text: str, *, serious: bool) -> MessageKind | None:
    """The kind of a message; `serious` ones, errors and warnings, are also searched for error numbers."""
    begins = _PROGRAM.match(text)
    text = text[begins.end() :] if begins else text
    for kind, pattern in _by_letter().get(text[:1], ()):
        if match := pattern.match(text):
            detail = _detail(kind, match, text)
            return None if _is_harmless(kind, detail, text) else MessageKind(kind, detail)
    if _STARTING.match(text):
        return MessageKind(START)
    if _STOPPING.match(text):
        return MessageKind(STOPPING)
    number = _ERRNO.search(text) if serious else None
    if number:
        return MessageKind(_OF_ERRNO[number[1]])
    return MessageKind(ASSERTION) if begins and begins[1] else None


# What systemd and the kernel log about the server's process, by the cause.
_UNIT = r"\S{0,100}(?:mysql|maria|percona)\S{0,100}\.service: "
_KILLS = (
    (
        "killed by the kernel for lack of memory",
        re.compile(
            rf"{_UNIT}(?:A process of this unit has been killed by the OOM killer|Failed with result 'oom-kill')"
            r"|.{0,60}Killed process \d{1,10}[^()]{0,30}\((?:mysqld|mariadbd)\b"
        ),
    ),
    ("killed at systemd's stop time-out", re.compile(rf"{_UNIT}(?:State 'stop-\w+'|stop-\w+) timed out. Killing")),
    ("ended at systemd's start time-out", re.compile(rf"{_UNIT}start operation timed out")),
)


def killed_by(text: str) -> str:
    """What ended the server, in a text that systemd or the kernel logged; empty for other texts."""
    return next((cause for cause, pattern in _KILLS if pattern.match(text)), "")


def _is_harmless(kind: str, detail: str, text: str) -> bool:
    """Whether a message has no lasting effect.

    A replica reconnects, and repeats a transaction that waited too long for a lock until it gives up; ALTER TABLE
    leaves files over.
    """
    if kind == REPLICATION:
        return _CONNECTION_LOST.fullmatch(detail) is not None or (detail in _RETRIED and GIVES_UP not in text)
    return kind == MISSING and "#sql" in detail


def _detail(kind: str, match: re.Match[str], text: str) -> str:
    if kind == ABORTED:
        reason = _REASON.search(text)
        return reason[1] if reason else ""
    return (match[match.lastindex] or "") if match.lastindex else ""


@cache
def _by_letter() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    """The patterns by the first letter of the texts that they match."""
    patterns = defaultdict(list)
    for message in MESSAGES:
        for text in message.texts:
            patterns[text[0]].append((message.kind, re.compile(text)))
    return dict(patterns)
