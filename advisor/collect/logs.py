"""The server's logs: events in its error log, from performance_schema or the file, and bytes of binary log."""

from __future__ import annotations

import os
import posixpath
import re
import stat
import time
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.collect.connection.session import ask, whole_number
from advisor.collect.connection.statements import BINARY_LOG_BYTES, ERROR_LOG
from advisor.collect.error_log import Entry, Lines, ReadLog, error_log_of, error_log_of_blocks
from advisor.core.model import format_size
from advisor.facts import Unavailable
from advisor.facts.server import ErrorLog, RedoWaits
from advisor.redaction import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.collect.connection.session import Notes, Row, Session
    from advisor.collect.server.server import Greeting

_CAPACITY = "innodb_redo_log_capacity"  # versions with this option log a warning if the redo log is full
_TABLE_SINCE = (8, 0, 22)
REDO = "redo"
PART = "server.error_log"
MAX_BYTES = 64 << 20
MAX_SECONDS = 2.0
BLOCK = 1 << 20
STANDARD_ERROR = ("", "stderr")
PROCESSES = "/proc/"
ROTATED_PART = f"{PART}.rotated"
# What logrotate and others put behind a log's name, or before its extension: .1, -20261129, .2.gz.
_ROTATED = r"[.-](?:\d{1,4}|\d{4}-?\d\d-?\d\d(?:[-T_]?\d{1,10})?|old)"
_PACKED = r"(\.(?:gz|xz|bz2|zst))?"
MOST_ENTRIES = 10_000  # of a directory that is searched for rotated logs
OLDEST = 90 * 86400.0  # seconds; no rule reports older events
LONGEST_PATH = 200  # characters of a path in a reason
LONGEST_LINE = 64 << 10  # bytes that are looked at; page dumps are longer


class LoggedMessages(NamedTuple):
    """What performance_schema.error_log contains: its events, and warnings about a full redo log since startup."""

    error_log: ErrorLog | None = None
    redo_waits: RedoWaits | None = None


def read_error_table(session: Session, greeting: Greeting, notes: Notes) -> LoggedMessages:
    """The events of performance_schema.error_log; None for what the server does not have or did not answer."""
    if not _has_schema(greeting) or greeting.number < _TABLE_SINCE:
        return LoggedMessages()
    answer = ask(session, ERROR_LOG, PART, notes)
    if not answer:
        reason = next((note.reason for note in notes if note.part == PART), "")
        if reason and _CAPACITY in greeting.variables:
            notes.append(Unavailable("server.redo_waits", reason))
        return LoggedMessages()
    redo = None
    if _CAPACITY in greeting.variables:
        redo = _redo_waits([row for row in answer.rows if row[0] == REDO])
    log = error_log_of(reversed([_entry(row) for row in answer.rows]), "table")
    begins = [at for row in answer.rows if (at := whole_number(row[7]))]
    return LoggedMessages(replace(log, since=_stamp(min(begins)) if begins else ""), redo)


def _redo_waits(rows: list[Row]) -> RedoWaits:
    ages = [age for row in rows if (age := whole_number(row[6])) is not None]
    return RedoWaits(sum(whole_number(row[5]) or 0 for row in rows), min(ages, default=None))


def _entry(row: Row) -> Entry:
    first, last = (_stamp(whole_number(text) or 0) for text in row[3:5])
    return Entry(row[0] or "", (row[1] or "").removeprefix("signal "), first, last, whole_number(row[2]) or 0)


def _stamp(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return ""


def read_binary_log_bytes(session: Session, greeting: Greeting, notes: Notes) -> int | None:
    """Bytes of binary log since startup; None without a binary log, if a status counter has it, or on failure."""
    if not _has_schema(greeting) or greeting.variables.get("log_bin") != "ON":
        return None
    answer = ask(session, BINARY_LOG_BYTES, "server.binary_log_bytes", notes)
    return whole_number(answer.rows[0][0]) if answer and answer.rows else None


def _has_schema(greeting: Greeting) -> bool:
    return not greeting.is_mariadb and greeting.variables.get("performance_schema", "").upper() == "ON"


def read_error_file(
    variables: Mapping[str, str], pid: int, notes: Notes, *, tabled: ErrorLog | None
) -> ErrorLog | None:
    """The events in the error log's file of a server on this host, or those of the table if that begins earlier.

    A log that is not a regular file (journald, a container's log, a FIFO) is not read; without a table the reason is
    noted.
    """
    path = _log_path(variables, pid)
    log = read_log_file(path, rotated=True) if path else ""
    if isinstance(log, str):
        if tabled is None and not any(note.part == PART for note in notes):
            notes.append(Unavailable(PART, log or _not_a_file(variables)))
        return tabled
    notes[:] = [note for note in notes if note.part != PART]
    if tabled and tabled.since and (not log.since or (log.zone and tabled.since < log.since)):
        return tabled
    if log.cut:
        notes.append(Unavailable(f"{PART}.older", log.cut))
    before, unread = rotated_logs(path)
    unread = [before, *unread] if log.cut and before else unread
    if unread:
        notes.append(Unavailable(ROTATED_PART, f"{unread_logs(unread)}: mycnf audit --from FILE reads rotated logs"))
    return log


def rotated_logs(path: str) -> tuple[str, list[str]]:
    """The newest rotated file beside a log that is not packed, empty if there is none; and the others, newest first.

    Files that are older than any event that a rule reports are left out.
    """
    folder, name = os.path.split(path)
    stem, extension = os.path.splitext(name)
    pattern = re.compile(rf"(?:{re.escape(name)}{_ROTATED}|{re.escape(stem)}{_ROTATED}{re.escape(extension)}){_PACKED}")
    if path.startswith(PROCESSES):
        return "", []
    try:
        with os.scandir(folder or ".") as entries:
            matches = [(pattern.fullmatch(entry.name), entry) for entry in islice(entries, MOST_ENTRIES)]
            rotated = [(entry.stat().st_mtime, entry.name, bool(match[1])) for match, entry in matches if match]
    except OSError:
        return "", []
    since = time.time() - OLDEST
    newest_first = sorted((one for one in rotated if one[0] >= since), key=lambda one: (-one[0], one[1]))
    plain = next((name for _, name, packed in newest_first if not packed), "")
    others = [os.path.join(folder, name) for _, name, _ in newest_first if name != plain]
    return os.path.join(folder, plain) if plain else "", others


def unread_logs(paths: Sequence[str]) -> str:
    """Which rotated files are not read, as the beginning of a sentence."""
    newest = escape_text(os.path.basename(paths[0]))[:LONGEST_PATH]
    if len(paths) == 1:
        return f"the rotated error log {newest} is not read"
    return f"rotated error logs are not read ({newest} and {len(paths) - 1} more)"


def _log_path(variables: Mapping[str, str], pid: int) -> str:
    """The file that holds the error log; empty if it is not a file."""
    place, services = variables.get("log_error", ""), variables.get("log_error_services", "log_sink_internal")
    if place in STANDARD_ERROR:
        return f"{PROCESSES}{pid}/fd/2"
    path = posixpath.join(variables.get("datadir", ""), place)
    if not path.startswith("/"):
        return ""
    if "log_sink_internal" in services:
        return path
    return f"{path}.00.json" if "log_sink_json" in services else ""


def _not_a_file(variables: Mapping[str, str]) -> str:
    unit = "mariadb" if "mariadb" in variables.get("version", "").lower() else "mysql"
    place = variables.get("log_error", "")
    where = (
        "the server logs to its standard error, for journald or a container's log"
        if place in STANDARD_ERROR
        else f"log_error ({escape_text(place)[:LONGEST_PATH]}) is not a regular file"
    )
    return f"{where}: journalctl -u {unit} > FILE, or docker logs, then mycnf audit --from FILE"


def read_log_file(
    path: str, *, max_bytes: int = MAX_BYTES, max_seconds: float = MAX_SECONDS, rotated: bool = False
) -> ErrorLog | str:
    """The events in the last part of a log file; see read_log."""
    read = read_log(path, max_bytes=max_bytes, max_seconds=max_seconds, rotated=rotated)
    return read if isinstance(read, str) else read.log


def read_log(
    path: str, *, max_bytes: int = MAX_BYTES, max_seconds: float = MAX_SECONDS, rotated: bool = False
) -> ReadLog | str:
    """The last part of a log file; the reason if it cannot be read, empty if it is not a regular file.

    Reads from the end, at most `max_bytes` and for `max_seconds`. `rotated` also reads the file before it, such as
    FILE.1, unless it is packed.
    """
    budget = _Budget(max_bytes, time.monotonic() + max_seconds)
    of_process = path.startswith(PROCESSES)
    try:
        blocks, size = _read_blocks(path, budget)
    except (OSError, ValueError) as error:
        if of_process:
            return ""
        reason = getattr(error, "strerror", "") or "no such path"
        return f"{escape_text(path)} can't be read ({reason}): run as root, or give it with mycnf audit --from"
    if size is None:
        return ""
    if rotated and budget.read == size and (before := rotated_logs(path)[0]):
        with suppress(OSError, ValueError):
            older, more = _read_blocks(before, budget)
            blocks, size = [*blocks, *older], size + (more or 0)
    in_order = tuple(reversed(blocks))
    log = error_log_of_blocks(in_order, "file", "" if of_process else escape_text(path))
    if budget.read < size:
        part = f"its last {format_size(budget.read)} were read{f', from {log.since} on' if log.since else ''}"
        log = replace(log, cut=f"the error log has {format_size(size)}: {part}")
    return ReadLog(log, in_order)


def _read_blocks(path: str, budget: _Budget) -> tuple[list[Lines], int | None]:
    """The blocks of a file, the last first, and its size, which is None if it is not a regular file."""
    # O_NONBLOCK: opening a FIFO without a writer must not hang.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    try:
        status = os.fstat(handle)
        return (list(_blocks(handle, budget)), status.st_size) if stat.S_ISREG(status.st_mode) else ([], None)
    finally:
        os.close(handle)


class _Budget:
    """The bytes that may be read, and the time until when."""

    def __init__(self, most: int, until: float) -> None:
        self.most, self.until, self.read = most, until, 0

    def bytes_left(self) -> int:
        """Bytes that may still be read."""
        return max(0, self.most - self.read) if time.monotonic() < self.until else 0


def _blocks(handle: int, budget: _Budget) -> Iterator[Lines]:
    """The lines of a file in blocks, the last first."""
    end, rest = os.fstat(handle).st_size, b""
    while end > 0 and (allowed := budget.bytes_left()):
        start = max(0, end - min(BLOCK, allowed))
        data = os.pread(handle, end - start, start)
        budget.read += end - start
        whole = data + rest
        first, newline, body = whole.partition(b"\n") if start else (b"", b"", whole)
        rest = (first + newline)[-LONGEST_LINE:] if newline else whole[:LONGEST_LINE]
        end = start
        if start and not newline:
            continue
        yield _lines_of(body)


def _lines_of(data: bytes) -> Lines:
    block = Lines()
    # Host crashes leave null bytes in a log, and Windows writes lines that end with a carriage return.
    for line in data.replace(b"\0", b"").decode("utf-8", "replace").split("\n"):
        block.read(line[:LONGEST_LINE].removesuffix("\r"))
    return block
