"""Read the sessions of a process list: SHOW PROCESSLIST, `mysqladmin processlist`, or the table of that name."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from advisor.collect.connection.session import whole_number
from advisor.collect.pasted import markup
from advisor.collect.pasted.facts import PastedSessions
from advisor.collect.pasted.json import DEEPEST, as_text
from advisor.collect.server.blocking import LONG_STATEMENT, MOST_SESSIONS, session_of
from advisor.facts.workload import is_wait_state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from advisor.facts.workload import ServerSession


# The first columns in every version; behind Info, whose text may be anything, nothing is read.
_COLUMNS = ("id", "user", "host", "db", "command", "time", "state")
_INFO = "info"
_HEADING = re.compile(r"(?:\| *|\")?{}\b.*".format(r"\"? *(\||\t|,|;) *\"?".join((*_COLUMNS, _INFO))), re.IGNORECASE)
# A row without headings (mysql -N): a connection id, and below a known command and a number of seconds.
_BARE_ROW = re.compile(r"(?:\| *)?\"?\d{1,20}\"? *(\||\t|,|;)")
_COMMANDS = frozenset(
    (
        *("Sleep", "Query", "Execute", "Daemon", "Connect", "Killed", "Binlog Dump", "Binlog Dump GTID", "Prepare"),
        *("Slave_IO", "Slave_SQL", "Slave_worker", "Fetch", "Statistics", "Field List", "Init DB", "Close stmt"),
        *("Reset stmt", "Change user", "Register Slave", "Register Replica", "Reset Connection", "Ping", "Quit"),
    )
)
_CELLS = {bar: re.compile(rf'(?:"((?:[^"]|"")*)"|([^{bar}"]*)){bar}') for bar in ",;"}
_MARK = re.compile(r"\*{5,} (\d{1,9})\. row \*{5,}")
_FIELD = re.compile(rf" *({'|'.join((*_COLUMNS, _INFO))}): ?(.*)", re.IGNORECASE)
_END = re.compile(r"\d+ rows? in set|mysql> |MySQL \[|MariaDB \[|TS \d")
_DUMPS = "Binlog Dump"  # at the start of the command of a session that sends the binary log
_LARGEST = 100_000  # sessions
_LONGEST = 512  # characters of a column; the longest are host names and states
_MOST_STATES = 128  # different waits; servers have fewer


class _LastList:
    """The last process list of a text; no statement is kept."""

    def __init__(self) -> None:
        self.begun = False
        self._kept: list[ServerSession] = []
        self._states: Counter[str] = Counter()
        self._replicas = 0

    def begin(self) -> None:
        """Forget the list before this one."""
        self.begun = True
        self._kept, self._states, self._replicas = [], Counter(), 0

    def take(self, row: Mapping[str, str | None]) -> None:
        """Count the session in a row, and keep it if it waits or its statement is long; NULL is no value."""
        cells = [None if (cell := row[name]) is None or cell == "NULL" else cell[:_LONGEST] for name in _COLUMNS]
        number, user, host, _, command, seconds, state = cells
        key = whole_number(number)
        if key is None:
            return
        session = session_of(key, (user, host, command, seconds, state))
        self._replicas += session.command.startswith(_DUMPS)
        waits = is_wait_state(session.state)
        if waits and (session.state in self._states or len(self._states) < _MOST_STATES):
            self._states[session.state] += 1
        runs = session.command in ("Query", "Execute") and not session.is_server_thread
        if (waits or (runs and session.seconds >= LONG_STATEMENT)) and len(self._kept) < _LARGEST:
            self._kept.append(session)

    @property
    def sessions(self) -> PastedSessions | None:
        """The list; None if the text has none."""
        if not self.begun:
            return None
        kept = sorted(self._kept, key=lambda one: (one.waiting is None, -one.seconds))[:MOST_SESSIONS]
        return PastedSessions(tuple(kept), dict(self._states), self._replicas)


class ProcessListReader:
    """Keeps the last process list from the lines that pass.

    They are vertical rows, XML, HTML, or tables in boxes, by tabs or as CSV, with headings or without.
    """

    def __init__(self) -> None:
        self._bar = ""  # the separator of the table in which the lines are; empty outside
        self._border = ""  # the line below the headings of a table in a box, which is also its last one
        self._bare: set[str] | None = None  # the connection ids of a table without headings; None with them
        self._in_quotes = False  # in CSV, within a statement that began on an earlier line
        self._row: dict[str, str] | None = None  # the vertical row in which the lines are
        self._is_first = False
        self._list = _LastList()
        self._markup = _MarkupRows(self._list)

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines unchanged."""
        for line in lines:
            if self._markup.is_open or (self._bar != "|" and markup.is_heading(line)):
                self._markup.take_line(line)
            elif mark := _MARK.fullmatch(line.rstrip()) if line.startswith("*") else None:
                self._end_row()
                self._row, self._is_first, self._bar = {}, mark[1] == "1", ""
            elif heading := self._heading(line):
                self._end_row()
                self._list.begin()
                self._bar, self._border, self._bare, self._in_quotes = heading[1], "", None, False
            elif self._row is not None:
                self._take_field(line, self._row)
            elif self._bar:
                self._take_line(line)
            elif bare := _bare_row(line):
                self._bar, self._border, self._bare, self._in_quotes = bare, "", set(), False
                self._list.begin()
                self._take_line(line)
            yield line
        self._end_row()

    @property
    def sessions(self) -> PastedSessions | None:
        """The last process list; None without one."""
        return self._list.sessions

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
            if self._is_first or not self._list.begun:
                self._list.begin()
            self._list.take(row)

    def _take_line(self, line: str) -> None:
        """A line of a table: a row, a border, a further line of a statement, or the end."""
        begins = not self._in_quotes
        if self._bar in _CELLS:
            self._in_quotes ^= line.count('"') % 2 == 1
        cells = _cells_of(line, self._bar) if begins else []
        if cells and cells[0].isdecimal():
            self._take_row(cells)
        elif _END.match(line) or (self._border and line == self._border):
            self._bar = ""
        elif line.startswith("+-") and not self._border:
            self._border = line
            self._bar = "" if self._bare else self._bar

    def _take_row(self, cells: list[str]) -> None:
        """Take a session; a repeated connection id begins another list where no headings do."""
        if self._bare is not None:
            if cells[0] in self._bare:
                self._list.begin()
                self._bare.clear()
            if len(self._bare) < _LARGEST:
                self._bare.add(cells[0])
        self._list.take(dict(zip(_COLUMNS, cells, strict=False)))


def _cells_of(line: str, bar: str) -> list[str]:
    """The cells of the first columns in a line of a table; empty for a line that is no row."""
    if bar in _CELLS:
        return _delimited_cells(line, _CELLS[bar])
    boxed = bar == "|"
    cells = (line.removeprefix("|") if boxed else line).split(bar, len(_COLUMNS))
    is_row = len(cells) > len(_COLUMNS) and line.startswith("|") is boxed
    return [cell.strip(" ") for cell in cells[: len(_COLUMNS)]] if is_row else []


def _delimited_cells(line: str, cell: re.Pattern[str]) -> list[str]:
    cells: list[str] = []
    place = 0
    while len(cells) < len(_COLUMNS) and (match := cell.match(line, place)):
        cells.append(match[2] if match[1] is None else match[1].replace('""', '"'))
        place = match.end()
    return cells if len(cells) == len(_COLUMNS) else []


def _bare_row(line: str) -> str:
    """The separator of a session's row that may stand without headings; empty for other lines."""
    match = _BARE_ROW.match(line)
    cells = _cells_of(line, match[1]) if match else []
    return match[1] if match and cells and _is_session(cells) else ""


def _is_session(cells: list[str]) -> bool:
    """Whether cells without names are those of a session: by its command, and the numbers around it."""
    number, *_, command, seconds, _ = cells
    return number.isdecimal() and command in _COMMANDS and whole_number(seconds) is not None


# Clients write < in a value as an entity, so that a statement cannot contain a tag. Attributes other than the name of
# a field are not read, and no entity is defined by a text.
_TAG = re.compile(
    r'<(?:(?P<tag>/?(?:resultset|TABLE|row|TR))\b|field name="(?P<name>[^"<>]*)"(?P<nil> xsi:nil="true")?[^<>]*>'
    r"(?P<value>[^<]*)|(?P<cell>T[HD])>(?P<text>[^<]*))"
)
_MOST_NAMES = 64  # columns of a table; MariaDB's process list has 18
_LONGEST_MARKUP = 6 * _LONGEST  # characters of a column with its entities


class _MarkupRows:
    """The rows of the tables that `mysql -X` and `mysql -H` print, tag by tag; statements are not held."""

    def __init__(self, taken: _LastList) -> None:
        self.is_open = False
        self._list = taken
        self._names: list[str] = []  # the headings of a table in HTML
        self._row: dict[str, str | None] = {}
        self._place = 0  # of the next cell of a row in HTML
        self._is_first = True  # no row of this table was a session yet
        self._is_xml = False

    def take_line(self, line: str) -> None:
        """Take the tags of a line; the first line is the heading of a table."""
        for tag in _TAG.finditer(line):
            if tag["cell"] == "TH":
                self._names += [tag["text"].lower()] if len(self._names) < _MOST_NAMES else []
            elif tag["cell"]:
                names = self._names or _COLUMNS
                self._put(names[self._place] if self._place < len(names) else "", tag["text"])
                self._place += 1
            elif tag["name"] is not None:
                self._put(tag["name"].lower(), None if tag["nil"] else tag["value"])
            else:
                self._take_tag(tag["tag"])

    def _take_tag(self, tag: str) -> None:
        if tag in ("/row", "/TR"):
            self._end_row()
        else:
            self._row, self._place = {}, 0
        if tag in ("resultset", "TABLE"):
            self._names, self._is_first, self.is_open, self._is_xml = [], True, True, tag == "resultset"
        elif tag in ("/resultset", "/TABLE"):
            self.is_open = False

    def _put(self, name: str, value: str | None) -> None:
        if name in _COLUMNS:
            self._row.setdefault(name, None if value is None else html.unescape(value[:_LONGEST_MARKUP]))

    def _end_row(self) -> None:
        if not self._row.keys() >= set(_COLUMNS):
            return
        if not self._is_xml and not self._names and not _is_session([self._row[name] or "" for name in _COLUMNS]):
            return
        if self._is_first:
            self._list.begin()
        self._is_first = False
        self._list.take(self._row)


def sessions_in(values: Iterable[Any]) -> PastedSessions | None:
    """The last process list in the values of JSON texts; None without one.

    A list of objects is a process list; MySQL Shell prints each row as a separate JSON text.
    """
    last_list = _LastList()
    loose: set[str | None] = set()  # the connection ids of separate rows, of which a repeated one begins another list
    for value in values:
        if row := _json_row(value):
            if not loose or row["id"] in loose:
                last_list.begin()
                loose.clear()
            loose.add(row["id"])
            last_list.take(row)
        else:
            _take_lists(value, last_list, 0)
    return last_list.sessions


def _take_lists(value: Any, last_list: _LastList, depth: int) -> None:
    """Take the last list of sessions in a value of JSON."""
    rows = [row for one in value if (row := _json_row(one))] if isinstance(value, list) else []
    if rows:
        last_list.begin()
        for row in rows:
            last_list.take(row)
    elif depth < DEEPEST:
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            _take_lists(one, last_list, depth + 1)


def _json_row(value: Any) -> dict[str, str | None] | None:
    if not isinstance(value, dict) or len(value) < len(_COLUMNS):
        return None
    cells = {lower: cell for name, cell in value.items() if (lower := name.lower()) in _COLUMNS}
    if not cells.keys() >= set(_COLUMNS) or any(isinstance(cell, (list, dict)) for cell in cells.values()):
        return None
    return {name: None if cell is None else as_text(cell) for name, cell in cells.items()}
