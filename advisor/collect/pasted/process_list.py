"""Read the sessions of a process list: SHOW PROCESSLIST, `mysqladmin processlist`, or the table of that name."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection.session import whole_number
from advisor.collect.server.blocking import LONG_STATEMENT, MOST_SESSIONS, session_of
from advisor.facts.blocking import Blocking, ServerSession, is_wait_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# The first columns in every version; behind Info, whose text may be anything, nothing is read.
_COLUMNS = ("id", "user", "host", "db", "command", "time", "state")
_INFO = "info"
_HEADING = re.compile(r"(?:\| *)?{}\b.*".format(r" *(\||\t) *".join((*_COLUMNS, _INFO))), re.IGNORECASE)
_MARK = re.compile(r"\*{5,} (\d{1,9})\. row \*{5,}")
_FIELD = re.compile(rf" *({'|'.join((*_COLUMNS, _INFO))}): ?(.*)", re.IGNORECASE)
_END = re.compile(r"\d+ rows? in set|mysql> |MySQL \[|MariaDB \[|TS \d")
_DUMPS = "Binlog Dump"  # at the start of the command of a session that sends the binary log
_LARGEST = 100_000  # sessions


class PastedSessions(NamedTuple):
    """The sessions of a process list that wait or run a long statement, and what is counted over all.

    `states` has the number of sessions by the lock that they wait for, `replicas` is the number of servers that read
    the binary log.
    """

    sessions: tuple[ServerSession, ...]
    states: dict[str, int]
    replicas: int

    @property
    def blocking(self) -> Blocking:
        """What rules on blocking know: neither transactions nor who blocks whom."""
        return Blocking(self.sessions, rows_read=False, metadata_read=False, transactions_read=False)


class ProcessListReader:
    """Keeps the last process list from the lines that pass; no statement is kept."""

    def __init__(self) -> None:
        self._bar = ""  # the separator of the table in which the lines are; empty outside
        self._border = ""  # the line below the headings of a table in a box, which is also its last one
        self._row: dict[str, str] | None = None  # the vertical row in which the lines are
        self._is_first = False
        self._kept: list[ServerSession] | None = None
        self._states: Counter[str] = Counter()
        self._replicas = 0

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines unchanged."""
        for line in lines:
            if mark := _MARK.fullmatch(line.rstrip()) if line.startswith("*") else None:
                self._end_row()
                self._row, self._is_first, self._bar = {}, mark[1] == "1", ""
            elif heading := self._heading(line):
                self._end_row()
                self._begin()
                self._bar, self._border = heading[1], ""
            elif self._row is not None:
                self._take_field(line, self._row)
            elif self._bar:
                self._take_line(line)
            yield line
        self._end_row()

    @property
    def sessions(self) -> PastedSessions | None:
        """The last process list; None without one."""
        if self._kept is None:
            return None
        kept = sorted(self._kept, key=lambda one: (one.waiting is None, -one.seconds))[:MOST_SESSIONS]
        return PastedSessions(tuple(kept), dict(self._states), self._replicas)

    def _begin(self) -> None:
        self._kept, self._states, self._replicas = [], Counter(), 0

    def _heading(self, line: str) -> re.Match[str] | None:
        """The headings of a process list; a statement may contain such a line."""
        if ("ost" not in line and "OST" not in line) or (self._row and _INFO in self._row):
            return None
        return _HEADING.fullmatch(line)

    def _take_field(self, line: str, row: dict[str, str]) -> None:
        """A line of a vertical row; after Info come the lines of a statement."""
        if _END.match(line):
            self._end_row()
        elif _INFO not in row and (field := _FIELD.fullmatch(line.rstrip())):
            row.setdefault(field[1].lower(), field[2])

    def _end_row(self) -> None:
        row, self._row = self._row, None
        if row is not None and {*_COLUMNS, _INFO} <= row.keys():
            if self._is_first or self._kept is None:
                self._begin()
            self._take_session([row[name] for name in _COLUMNS])

    def _take_line(self, line: str) -> None:
        """A line of a table: a row, a border, a further line of a statement, or the end."""
        boxed = self._bar == "|"
        cells = (line.removeprefix("|") if boxed else line).split(self._bar, len(_COLUMNS))
        if len(cells) > len(_COLUMNS) and cells[0].strip().isdecimal() and line.startswith("|") is boxed:
            self._take_session([cell.strip(" ") for cell in cells])
        elif _END.match(line) or (self._border and line == self._border):
            self._bar = ""
        elif line.startswith("+-") and not self._border:
            self._border = line

    def _take_session(self, cells: list[str]) -> None:
        number, user, host, _, command, seconds, state = (None if cell == "NULL" else cell for cell in cells[:7])
        key = whole_number(number)
        if key is None or self._kept is None:
            return
        session = session_of(key, (user, host, command, seconds, state))
        self._replicas += session.command.startswith(_DUMPS)
        waits = is_wait_state(session.state)
        self._states.update([session.state] if waits else ())
        runs = session.command in ("Query", "Execute") and not session.is_server_thread
        if (waits or (runs and session.seconds >= LONG_STATEMENT)) and len(self._kept) < _LARGEST:
            self._kept.append(session)
