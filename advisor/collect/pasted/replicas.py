"""Parse a replica's status of its sources: vertical rows (\\G), a table, XML or HTML."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.collect.pasted.tables import unescaped
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
    found: dict[tuple[str | None, ...], Row] = {}
    for row in rows:
        lower = {name.lower(): value for name, value in row.items()}
        found[tuple(next((lower[name] for name in names if name in lower), "") for names in _SAME)] = row
    return tuple(found.values())


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
    found: dict[str, str] = {}
    for one, after in pairwise(fields):
        found.setdefault(one[1], body[one.start(2) : after.start()].rstrip("\n"))
    for last in fields[-1:]:
        found.setdefault(last[1], body[last.start(2) :].partition("\n\n")[0].rstrip("\n"))
    return found


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
            yield clean_row(dict(zip(names, map(unescaped, cells) if bar == "\t" else cells, strict=True)))
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
