"""Read a replica's status of its sources from a text of any size: vertical rows (\\G), a table, XML, HTML or JSON."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from advisor.collect.pasted import markup
from advisor.collect.pasted.json import DEEPEST, as_text
from advisor.collect.pasted.tables import unescape_value
from advisor.redaction.scrub import mask_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


Row = dict[str, str | None]

# Part of the column names of such rows in every version, and of no other answer.
REPLICA_COLUMNS = "_IO_Running"
_MARK = re.compile(r"^\*{5,} \d{1,9}\. row \*{5,}$", re.MULTILINE)
_END = re.compile(r"^(?:\d+ rows? in set|mysql> |MySQL \[|MariaDB \[|\+--|TS \d)", re.MULTILINE)
_FIELD = re.compile(r"^ *([A-Z][A-Za-z]*(?:_[A-Za-z]+)+): ?(.*)", re.MULTILINE)
EMPTY = "Empty set"
EMPTY_XML, EMPTY_END = '<resultset statement="SHOW +{} +STATUS\\s*;?\\s*"[^>]*></resultset>', "></resultset>"
# MariaDB's SHOW SLAVE STATUS shows one connection only, so an empty answer says nothing about the others.
_NOTHING = re.compile(
    r"^(?!.*MariaDB \[).*\bSHOW +(?:ALL +(?:SLAVES|REPLICAS)|SLAVE|REPLICA) +STATUS *(?:;|\\G|\\g)*\n+Empty set\b"
    r"|^.*\bSHOW +ALL +(?:SLAVES|REPLICAS) +STATUS *(?:;|\\G|\\g)*\n+Empty set\b"
    rf"|{EMPTY_XML.format('ALL +(?:SLAVES|REPLICAS)')}",
    re.IGNORECASE | re.MULTILINE,
)
_SAME = (("channel_name", "connection_name"), ("source_host", "master_host"), ("source_port", "master_port"))
LARGEST = 1 << 18  # maximum characters of a row; GTID sets are its longest values


def replica_rows(text: str) -> tuple[Row, ...] | None:
    """A row for each source in the text, with its last state; empty if the answer is empty, None without a status.

    Statements quoted in errors are removed and passwords masked, as when a server is read.
    """
    if REPLICA_COLUMNS not in text:
        return () if (EMPTY in text or EMPTY_END in text) and _NOTHING.search(text) else None
    whole_lines = text[: text.rfind("\n") + 1]  # a truncated number would be a wrong number
    rows = [*_vertical_rows(whole_lines), *_wide_rows(text), *map(clean_row, filter(is_replica, markup_rows(text)))]
    return latest_rows(rows) or None


def latest_rows(rows: Iterable[Row]) -> tuple[Row, ...]:
    """The last row for each source, in order of first appearance."""
    latest: dict[tuple[str | None, ...], Row] = {}
    for row in rows:
        lower = {name.lower(): value for name, value in row.items()}
        latest[tuple(next((lower[name] for name in names if name in lower), "") for names in _SAME)] = row
    return tuple(latest.values())


def _vertical_rows(text: str) -> Iterator[Row]:
    """Vertical rows (\\G): names before a colon, each with a value that may continue on further lines."""
    marks = [*_MARK.finditer(text)]
    ends = [mark.start() for mark in marks[1:]]
    for mark, end in zip(marks, [*ends, len(text)], strict=False):
        body = text[mark.end() + 1 : min(end, mark.end() + LARGEST)]
        if REPLICA_COLUMNS not in body:
            continue
        cut = _END.search(body)
        row = _fields(body[: cut.start()] if cut else body)
        if is_replica(row):
            yield clean_row(row)


def _fields(body: str) -> dict[str, str]:
    fields = [*_FIELD.finditer(body)]
    values: dict[str, str] = {}
    for one, after in pairwise(fields):
        values.setdefault(one[1], body[one.start(2) : after.start()].rstrip("\n"))
    for last in fields[-1:]:
        values.setdefault(last[1], body[last.start(2) :].partition("\n\n")[0].rstrip("\n"))
    return values


def _wide_rows(text: str) -> Iterator[Row]:
    """Rows of a table with a column per name, separated by tabs or in a box."""
    names: Sequence[str] = ()
    for line in text.split("\n"):
        bar = " | " if line.startswith("| ") else "\t"
        if not names and bar not in line:
            continue
        cells = [cell.strip(" ") for cell in line.strip("\r").removeprefix("| ").removesuffix(" |").split(bar)]
        if REPLICA_COLUMNS in line and is_replica(dict.fromkeys(cells, "")):
            names = cells
        elif names and len(cells) == len(names):
            yield clean_row(dict(zip(names, map(unescape_value, cells) if bar == "\t" else cells, strict=True)))
        elif not line.startswith("+-"):
            names = ()


def is_replica(row: Mapping[str, object]) -> bool:
    """Whether a row is a replica's status of a source, by its column names."""
    names = {name.lower() for name in row}
    return any({f"{word}_io_running", f"{word}_sql_running"} <= names for word in ("slave", "replica"))


def clean_row(row: Mapping[str, str | None]) -> Row:
    """A row without statements quoted in errors and without passwords; NULL becomes None."""
    return mask_sql({name: None if value == "NULL" else value for name, value in row.items()})


_MARKUP_FIELD = re.compile(r'<field name="(\w+)"(?:>([^<]*)</field>| xsi:nil="true" ?/>)')
_CELL = re.compile(r"<T[HD]>([^<]*)</T[HD]>")


def markup_rows(text: str) -> Iterator[Row]:
    """The complete rows of all tables in the text, each by column name."""
    for part in text.split("<row>")[1:]:
        row, end, _ = part.partition("</row>")
        if end:
            fields = (match.groups() for match in _MARKUP_FIELD.finditer(row))
            yield {name: None if value is None else html.unescape(value) for name, value in fields}
    for table in text.split("<TABLE BORDER=1>")[1:]:
        head, *rows = [_CELL.findall(row) for row in table.partition("</TABLE>")[0].split("<TR>")[1:]] or [[]]
        for cells in rows:
            if len(cells) == len(head):
                yield dict(zip(head, map(html.unescape, cells), strict=True))


_STARS = "*****"


class ReplicaSources:
    """Keeps the last row for each source from the lines that pass; `rows` is None if there is no replica status.

    Only a possible status is held in memory: from a row mark, a table's names or tag, or the statement on.
    """

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] | None = None
        self._part: list[str] = []
        self._size = 0
        self._marked = False

    def watch(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines unchanged."""
        for line in lines:
            marks = REPLICA_COLUMNS in line or EMPTY in line or EMPTY_END in line
            if line.startswith(_STARS) or markup.is_heading(line) or _is_statement(line) or (marks and _is_wide(line)):
                self._close(whole=True)
                self._part, self._size = [line], len(line)
                self._marked = marks
            elif self._part:
                self._part.append(line)
                self._size += len(line)
                self._marked = self._marked or marks
                if self._size > LARGEST:
                    self._close(whole=True)
            yield line
        self._close(whole=False)

    def _close(self, *, whole: bool) -> None:
        """Keep the status in the held lines; `whole` is whether the last line is complete."""
        rows = replica_rows("\n".join([*self._part, ""] if whole else self._part)) if self._marked else None
        if rows is not None:
            self.rows = latest_rows([*(self.rows or ()), *rows])
        self._part, self._marked = [], False


def _is_wide(line: str) -> bool:
    return REPLICA_COLUMNS in line and ("\t" in line or line.startswith("| ")) and "<field " not in line


def _is_statement(line: str) -> bool:
    upper = line.upper() if "tatus" in line or "TATUS" in line else ""
    return "SHOW " in upper and ("SLAVE" in upper or "REPLICA" in upper)


_LEVELS = 3  # Ansible nests rows under the host, port and user of the source


def replicas_in(values: Iterable[Any]) -> tuple[Row, ...] | None:
    """A row for each source in the values, with its last state; None if there is no replica status."""
    rows = [clean_row(row) for value in values for row in _rows(value, ())]
    return latest_rows(rows) if rows else None


def _rows(value: Any, keys: tuple[str, ...]) -> Iterator[Row]:
    if isinstance(value, dict) and is_replica(value):
        plain = {name: one for name, one in value.items() if not isinstance(one, (list, dict))}
        yield {**_source(plain, keys), **{name: None if one is None else as_text(one) for name, one in plain.items()}}
    elif len(keys) < DEEPEST:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, one in inner:
            yield from _rows(one, (*keys, str(key)))


def _source(row: Row, keys: tuple[str, ...]) -> Row:
    """Host, port and user of the source, if a row has them only as keys of the objects around it."""
    word = "Source" if "Source_Log_File" in row else "Master"
    if f"{word}_Host" in row or len(keys) < _LEVELS:
        return {}
    return dict(zip((f"{word}_Host", f"{word}_Port", f"{word}_User"), keys[-_LEVELS:], strict=True))
