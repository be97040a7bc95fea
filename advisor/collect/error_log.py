"""Count the events of an error log: its lines, or the rows of performance_schema.error_log, become an ErrorLog.

No text of a message is kept: only kinds, times, numbers, and names of tables where a message has one.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.collect.error_log_messages import (
    ABORT,
    BACKTRACE,
    CAUSES,
    CORRUPTION,
    CRASH,
    EXIT,
    EXPLAIN_ONLY,
    FAILED_START,
    KILLED,
    MAJORITY,
    MARKS,
    MISSING,
    NEXT_LOG,
    OF_A_START,
    OF_UNDAMAGED_FILES,
    READY,
    START,
    STOP,
    STOPPING,
    UNCLEAN,
    killed_by,
    recognise,
)
from advisor.facts.server import ErrorLog, LogEvent
from advisor.redaction import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_DETAILS = 3
SHUTTING_DOWN = "while it was shutting down"
LONGEST_REPORT = 500  # characters before the end of a line that reports a signal
LONGEST_PREFIX = 200  # characters before the server's own time stamp, in which a prefix has one or two of its own
MAX_STAMPS = 3
MAX_DETAIL = 100  # characters of a table's name
MAX_NAMES = 1000  # distinct details of a kind, so that a hostile log takes no memory
# Time stamps of MySQL and MariaDB, the short ones of MariaDB's crash reports and old servers, and those of journals and
# containers, with up to nine digits and offsets without a colon.
_STAMP = (
    r"(?P<date>\d{4}-\d\d-\d\d|\d{6})[T ] ?(?P<time>\d{1,2}:\d\d:\d\d)(?:[.,]\d{1,9})?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_HEAD = re.compile(
    rf"{_STAMP} +(?:(?:\d+|0x[0-9a-f]+) +)?(?:\[(?P<level>\w+)\] )?(?:\[MY-(?P<code>\d{{6}})\] \[\w+\] )?(?P<text>.*)"
)
# At the beginning only: clients choose the names that other messages contain.
_ENDED_BY = r"\S{1,300} got (?:signal (\d{1,2})|exception (0x[0-9a-fA-F]{1,8})) ?;"
_SIGNAL = re.compile(rf"(?:(?:\S{{1,30}} )?UTC - )?{_ENDED_BY}")
_BARE_SIGNAL = re.compile(rf"(?:^|[\s:])(\d\d:\d\d:\d\d) UTC - {_ENDED_BY}")
_BEGINS = re.compile(_STAMP)
_JSON = re.compile(r'"(err_code|msg|time|prio)" : (?:(\d+)|"((?:[^"\\]|\\.)*)")')
_VERSION = re.compile(
    r"(?:\((?:mysqld|mariadbd|server) |Starting MariaDB |^Version: ')(\d{1,2}\.\d{1,2}\.\d{1,3}[\w.+-]{0,60})"
)
# A line of systemd or the kernel in a journal or syslog.
_SERVICE = re.compile(r".{0,150}? (?:systemd\[\d{1,10}\]|kernel): (.{0,500})")
_SERIOUS = frozenset({"ERROR", "Error", "Warning"})
_MOST_PRIO_ERROR = 2  # of MySQL's JSON: 1 is an error, 2 a warning

EntryKey = tuple[int, str, str, str]  # start or stop, kind, detail and hour


class Entry(NamedTuple):
    """Messages of one kind and detail within an hour, between two starts or stops."""

    kind: str
    detail: str
    first: str
    last: str
    times: int = 1


@dataclass
class Lines:
    """Entries of consecutive lines of a log, in their order; for each block of a log that is read from its end."""

    entries: dict[EntryKey, Entry] = field(default_factory=dict)
    since: str = ""
    until: str = ""
    zoned: bool = False
    version: str = ""
    _marks: int = 0
    _undated: tuple[EntryKey, str] | None = None  # the last crash, and the time of day in its report

    def read(self, line: str) -> None:
        """Take in one line, with any prefix that a container or journal put before the server's own time stamp."""
        if '"err_code"' in line:
            self._read_json(line)
            return
        head = _HEAD.match(line)
        if head is None or not head["level"]:
            head = _own_head(line)
            if (head is None or not head["level"]) and (service := _service_line(line)):
                self._read_service(service[1], head)
                return
        if not head:
            self._read_bare(line)
            return
        if head["code"] and int(head["code"]) == BACKTRACE:
            return
        text, stamp = head["text"], self._stamp(head)
        self.zoned = self.zoned or bool(head["level"] and head["zone"])
        if head["level"] or not self.until:  # reports of InnoDB's monitor have local times in every log
            self.since, self.until = self.since or stamp, stamp
            self._date_crash(stamp)
        if signal := _SIGNAL.match(text):
            self._add(CRASH, signal[1] or signal[2], stamp)
            return
        if not head["level"]:
            self._read_bare(line)
        event = recognise(text, serious=head["level"] in _SERIOUS)
        if event:
            self._add(event.kind, event.detail, stamp)
            if event.kind in (START, READY) and (version := _VERSION.search(text)):
                self.version = version[1]

    def _read_service(self, text: str, head: re.Match[str] | None) -> None:
        """What systemd or the kernel logged about the server, at the time of the last message before, if any."""
        cause = killed_by(text)
        if cause:
            self._add(KILLED, cause, self.until or (self._stamp(head) if head else ""))

    def _read_bare(self, line: str) -> None:
        """A line without a time stamp: a crash in MySQL 5.7 and 8.0, or the version below a start."""
        if "got " in line and (signal := _BARE_SIGNAL.search(line, 0, LONGEST_REPORT)):
            key = self._add(CRASH, signal[2] or signal[3], self.until)
            self._undated = self._undated or (key, signal[1])
        elif line.startswith("Version: '") and (version := _VERSION.match(line)):
            self.version = version[1]

    def _read_json(self, line: str) -> None:
        fields = {name: number or text for name, number, text in _JSON.findall(line)}
        at = _BEGINS.match(fields.get("time", ""))
        if not at:
            return
        stamp, text = self._stamp(at), fields.get("msg", "")
        self.zoned = self.zoned or bool(at["zone"])
        self.since, self.until = self.since or stamp, stamp
        self._date_crash(stamp)
        if signal := _SIGNAL.match(text):
            self._add(CRASH, signal[1] or signal[2], stamp)
        elif fields.get("err_code") != str(BACKTRACE):
            event = recognise(text, serious=fields.get("prio", "") in ("1", str(_MOST_PRIO_ERROR)))
            if event:
                self._add(event.kind, event.detail, stamp)
                if event.kind == START and (version := _VERSION.search(text)):
                    self.version = version[1]

    def _stamp(self, head: re.Match[str]) -> str:
        """The time in UTC where the log has a time zone, otherwise as logged."""
        date, time, zone = head["date"], head["time"].zfill(8), head["zone"]
        if "-" not in date:
            date = f"20{date[:2]}-{date[2:4]}-{date[4:]}"
        return f"{date} {time}" if zone in (None, "Z") else _in_utc(f"{date} {time}", zone)

    def _date_crash(self, stamp: str) -> None:
        """A crash that was reported with a time of day alone gets the last such time before the next message."""
        if self._undated:
            key, time = self._undated
            at = _last_time_before(stamp, time)
            if at > self.entries[key].first:
                self.entries[key] = self.entries[key]._replace(first=at, last=at)
            self._undated = None

    def _add(self, kind: str, detail: str, stamp: str) -> EntryKey:
        if kind in MARKS:
            self._marks += 1
        key = (self._marks, kind, detail[:MAX_DETAIL], stamp[:13])
        before = self.entries.get(key)
        if before is None:
            self.entries[key] = Entry(kind, detail[:MAX_DETAIL], stamp, stamp)
        else:
            self.entries[key] = before._replace(last=max(before.last, stamp), times=before.times + 1)
        if kind in MARKS:
            self._marks += 1
        return key


def _own_head(line: str) -> re.Match[str] | None:
    """The server's own time stamp and text, behind the time stamp of a journal or container; None without any."""
    starts = [at.start() for at in islice(_BEGINS.finditer(line, 0, LONGEST_PREFIX), MAX_STAMPS)]
    heads = [head for start in starts if (head := _HEAD.match(line, start))]
    return next((head for head in heads if head["level"]), heads[-1] if heads else None)


def _service_line(line: str) -> re.Match[str] | None:
    return _SERVICE.match(line) if " systemd[" in line or " kernel: " in line else None


def _last_time_before(stamp: str, time: str) -> str:
    """The latest moment with that time of day that is not after the stamp; the stamp itself if it is no time."""
    try:
        before = datetime.fromisoformat(stamp) - timedelta(days=time > stamp[11:])
    except (ValueError, OverflowError):
        return stamp
    return f"{before:%Y-%m-%d} {time}"


def _in_utc(stamp: str, zone: str) -> str:
    hours, minutes = int(zone[:3]), int(zone[0] + zone[-2:])
    try:
        at = datetime.fromisoformat(stamp).replace(tzinfo=timezone(timedelta(hours=hours, minutes=minutes)))
        return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError):
        return stamp


@dataclass
class _Tally:
    count: int = 0
    first: str = ""
    last: str = ""
    hours: Counter[str] = field(default_factory=Counter)
    details: Counter[str] = field(default_factory=Counter)

    def add(self, entry: Entry, *details: str) -> None:
        self.count += entry.times
        self.first = min(filter(None, (self.first, entry.first)), default="")
        self.last = max(self.last, entry.last)
        if len(self.hours) < MAX_NAMES or entry.first[:13] in self.hours:
            self.hours[entry.first[:13]] += entry.times
        for detail in filter(None, details):
            if len(self.details) < MAX_NAMES or detail in self.details:
                self.details[detail] += entry.times


class _Sequence:
    """Follows starts and stops, and counts all other entries.

    What a start logs that fails, and is followed by a successful one, explains the failure and nothing else.
    """

    def __init__(self) -> None:
        self.tallies: dict[str, _Tally] = {}
        self.running = False
        self.last_start = ""
        self._start: Entry | None = None
        self._attempt: list[Entry] = []
        self._of_failed: list[Entry] = []  # until a start succeeds
        self._crashing = False  # until the next start
        self._stopping = False
        self._stops_itself = False  # a failed start also logs a shutdown, even while another server is running
        self._causes: list[str] = []
        self._killed: Entry | None = None  # what systemd or the kernel ended, since the last start
        self._ended_by: Entry | None = None  # the same of the server that ran before the last start
        self._is_whole = True  # no log may be missing since the last successful start

    def take(self, entry: Entry) -> None:
        """Take in the next entry."""
        if entry.kind == START:
            self._note_start(entry)
        elif entry.kind == READY:
            self._note_ready(entry)
        elif entry.kind == STOPPING:
            self._stopping = True
        elif entry.kind == STOP:
            if not self._stops_itself:
                self.running = False
            self._stops_itself = False
        elif entry.kind == ABORT:
            self._note_failure(entry)
            self._stops_itself = True
        elif entry.kind == EXIT and self._start:
            self._note_failure(entry)
        elif entry.kind in (CRASH, EXIT):
            self._crash(entry)
        elif entry.kind == KILLED:
            self._killed = entry
        elif entry.kind == NEXT_LOG:
            self._is_whole = False
        elif self._start:
            self._attempt.append(entry)
        else:
            self._count(entry)
            self._causes = [*self._causes, entry.kind][-MAX_DETAILS:]

    def finish(self) -> None:
        """Count what the last start logged, if nothing shows that it failed and that a later one succeeded."""
        if self._killed and self._start:
            self._note_failure(self._start)
        if self.running and (ended := self._killed or self._ended_by):
            self._tally(UNCLEAN).add(ended, ended.detail)
            self.running = False
        self.running = self.running and not self._start
        for entry in (*self._of_failed, *self._attempt):
            self._count(entry)

    def _note_start(self, entry: Entry) -> None:
        if self._start and (self._attempt or self._killed or self.last_start):  # initialization logs a start too
            self._note_failure(self._start)
        elif self._killed:
            self._ended_by = self._killed
        self._start, self._attempt, self._stops_itself, self._crashing = entry, [], False, False
        self._killed = None

    def _note_ready(self, entry: Entry) -> None:
        if self.running and self._start and self._is_whole:
            killed = self._ended_by.detail if self._ended_by else ""
            self._tally(UNCLEAN).add(self._start, SHUTTING_DOWN if self._stopping else "", killed)
        self.tallies = {kind: tally for kind, tally in self.tallies.items() if kind not in OF_A_START}
        for one in self._attempt:
            self._count(one)
        self.running, self.last_start, self._crashing, self._stopping = True, entry.first, False, False
        self._start, self._attempt, self._of_failed, self._causes = None, [], [], []
        self._killed, self._ended_by, self._is_whole = None, None, True

    def _note_failure(self, at: Entry) -> None:
        kinds = dict.fromkeys(one.kind for one in self._attempt if one.kind in CAUSES)
        if kinds.keys() & OF_UNDAMAGED_FILES:  # such as another page size or version
            kinds = {kind: None for kind in kinds if kind not in (CORRUPTION, MISSING)}
            self._attempt = [one for one in self._attempt if one.kind not in (CORRUPTION, MISSING)]
        details = [*(CAUSES[kind] for kind in kinds), self._killed.detail if self._killed else ""]
        self._tally(FAILED_START).add(at, *details)
        self._of_failed += self._attempt
        self._start, self._attempt, self._killed = None, [], None

    def _crash(self, entry: Entry) -> None:
        logged = [one.kind for one in self._attempt] or self._causes
        for one in self._attempt:
            self._count(one)
        self._start, self._attempt, self._causes = None, [], []
        self.running, self._killed, self._ended_by = False, None, None
        if self._crashing:
            return  # a signal in the report about the first one
        self._crashing = True
        causes = dict.fromkeys(CAUSES[kind] for kind in logged if kind in CAUSES)
        by = f"signal {entry.detail}" if entry.detail else "ended by InnoDB"
        self._tally(CRASH).add(entry, by, *causes)

    def _count(self, entry: Entry) -> None:
        leaves = entry.kind == MAJORITY and self._stopping  # a node that is shut down leaves its cluster
        if entry.kind not in EXPLAIN_ONLY and not leaves:
            self._tally(entry.kind).add(entry, entry.detail)

    def _tally(self, kind: str) -> _Tally:
        return self.tallies.setdefault(kind, _Tally())


def error_log_of(entries: Iterable[Entry], read_from: str, path: str = "", zone: str = "UTC") -> ErrorLog:
    """The events in these entries, which are in the order of the log."""
    sequence = _Sequence()
    since = until = ""
    for entry in entries:
        since, until = since or entry.first, max(until, entry.last)
        sequence.take(entry)
    sequence.finish()
    return ErrorLog(
        read_from=read_from,
        events=tuple(_event(kind, tally) for kind, tally in sequence.tallies.items()),
        path=path,
        zone=zone,
        since=since,
        until=until,
        last_start=sequence.last_start,
        running=sequence.running,
    )


def _event(kind: str, tally: _Tally) -> LogEvent:
    details = tuple(escape_text(detail) for detail, _ in tally.details.most_common(MAX_DETAILS))
    return LogEvent(kind, tally.count, tally.first, tally.last, max(tally.hours.values(), default=0), details)


def read_log_lines(lines: Iterable[str], read_from: str, path: str = "") -> ReadLog:
    """The log in these lines."""
    block = Lines()
    for line in lines:
        block.read(line)
    return ReadLog(error_log_of_blocks([block], read_from, path), (block,))


def error_log_of_blocks(blocks: Iterable[Lines], read_from: str, path: str = "") -> ErrorLog:
    """The events in consecutive blocks of a log, the oldest first."""
    held = list(blocks)
    zoned = any(block.zoned for block in held)
    entries = [entry for block in held for entry in block.entries.values()]
    log = error_log_of(entries, read_from, path, "UTC" if zoned else "")
    return replace(
        log,
        since=next((block.since for block in held if block.since), ""),
        until=next((block.until for block in reversed(held) if block.until), ""),
        version=next((block.version for block in reversed(held) if block.version), ""),
    )


class ReadLog(NamedTuple):
    """A log that was read from a text: its events, and the blocks with its entries, the oldest first."""

    log: ErrorLog
    blocks: tuple[Lines, ...]


_BOUNDARY = Lines({(0, NEXT_LOG, "", ""): Entry(NEXT_LOG, "", "", "")})


def merge_logs(logs: Iterable[ReadLog]) -> ErrorLog | None:
    """One log of several that belong to one server, such as rotated files; None if there are none."""
    held = _without_copies(list(logs))
    if len(held) < 2:  # noqa: PLR2004 - a single log is unchanged
        return held[0].log if held else None
    blocks = [block for one in held for block in (_BOUNDARY, *one.blocks)]
    merged = error_log_of_blocks(blocks, held[-1].log.read_from, held[-1].log.path)
    return replace(merged, cut=next((one.log.cut for one in held if one.log.cut), ""))


def _without_copies(logs: list[ReadLog]) -> list[ReadLog]:
    """The logs without those that begin and end within another one: the same messages, such as the part in pt-stalk."""
    kept: list[ReadLog] = []
    latest_first = sorted(logs, key=lambda one: one.log.until, reverse=True)
    for copy in sorted(latest_first, key=lambda one: one.log.since):
        if not any(other.log.since <= copy.log.since and copy.log.until <= other.log.until for other in kept):
            kept.append(copy)
    return sorted(kept, key=lambda one: one.log.until)


_LEVEL = re.compile(rf"{_STAMP} .{{0,40}}\[(?:Note|System|Warning|ERROR)\] ")
_TABLE = re.compile(r"^\W*variable_name\b", re.IGNORECASE)
_LINES_LOOKED_AT, _ENOUGH = 200, 3


def is_error_log(head: str) -> bool:
    """Whether a text with this beginning is an error log, with or without the prefix of a journal."""
    lines = [line for line in head.split("\n")[:_LINES_LOOKED_AT] if line.strip()]
    if any(map(_TABLE.match, lines)):
        return False
    logged = sum(bool('"err_code"' in line or _LEVEL.search(line[:300])) for line in lines)
    return logged >= min(_ENOUGH, (len(lines) + 1) // 2) and logged > 0
