"""Tables of names and values in a text: in boxes, by tabs, or one row below the other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.texts.ahead import Ahead

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Table = dict[str, str]

_VALUE = r"(?:variable_)?value"
_BOX_HEAD = re.compile(rf"\| *variable_name *\| *{_VALUE} *\|", re.IGNORECASE)
_BOX_ROW = re.compile(r"\| (\S+) *\| (.*)", re.DOTALL)
_TAB_HEAD = re.compile(rf"variable_name\t{_VALUE}", re.IGNORECASE)
_TAB_ROW = re.compile(r"([A-Za-z_][\w.-]*)\t([^\t]*)")
_MARK = re.compile(r"\*{5,} (\d{1,9})\. row \*{5,}")
_NAME = re.compile(r" *variable_name: (.*)", re.IGNORECASE)
_WORTH = re.compile(rf" *{_VALUE}: ?(.*)", re.IGNORECASE)
# What follows the last row of \G without a blank line between: the client's own words, or another table.
_END = re.compile(r"\d+ rows? in set|mysql> |MariaDB \[|\+--|variable_name\t", re.IGNORECASE)
MOST_LINES = 1000  # of one value; what goes on for longer is no row
_LEAST = 3  # rows of a table without a heading: fewer are no table
_ROW = 3  # lines of one in \G whose value has a single one
_ESCAPED = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}


def tables(lines: Iterable[str]) -> Iterator[Table]:
    """Each table of two columns, variable and value, in order; names as printed, the escapes of batch mode undone.

    Of the lines only a few are held at a time.
    """
    ahead = Ahead(lines)
    while (line := ahead.peek()) is not None:
        before = ahead.taken
        found = _table_at(line, ahead)
        if found:
            yield found
        if ahead.taken == before:
            ahead.take()


def _table_at(line: str, ahead: Ahead) -> Table:
    """The table that begins on this line, its lines taken; an empty one where none does."""
    if _BOX_HEAD.fullmatch(line.rstrip()):
        ahead.take()
        return _boxed(ahead)
    if _TAB_HEAD.fullmatch(line.rstrip()):
        ahead.take()
        return _tabbed(ahead)
    if _MARK.fullmatch(line.rstrip()):
        return _vertical(ahead)
    if all((row := ahead.peek(by)) is not None and _TAB_ROW.fullmatch(row) for by in range(_LEAST)):
        return _tabbed(ahead)
    return {}


def _boxed(ahead: Ahead) -> Table:
    """Rows as `| name | value |`; a value of many lines goes on until one ends in the bar."""
    found: Table = {}
    while ahead.peek() is not None:
        row = ahead.take().rstrip()
        if row.startswith("+-"):
            if found:
                break
            continue
        own = [row]
        while _BOX_ROW.fullmatch(row) and not own[-1].endswith("|") and len(own) < MOST_LINES:
            following = ahead.peek()
            if following is None or following.startswith("+-") or _BOX_HEAD.fullmatch(following.rstrip()):
                break  # the row was cut off, and another table begins
            own.append(ahead.take().rstrip())
        match = _BOX_ROW.fullmatch("\n".join(own))
        if match is None or not own[-1].endswith("|"):
            break
        found[match[1]] = match[2][:-1].rstrip(" ")
    return found


def _tabbed(ahead: Ahead) -> Table:
    found: Table = {}
    while (line := ahead.peek()) is not None and (match := _TAB_ROW.fullmatch(line)):
        found[match[1]] = unescaped(match[2])
        ahead.take()
    return found


def unescaped(value: str) -> str:
    """A value without the escapes of batch mode."""
    return re.sub(r"\\([nt0\\])", lambda m: _ESCAPED[m[1]], value) if "\\" in value else value


def _vertical(ahead: Ahead) -> Table:
    """Rows of \\G, each under a line of stars with its number."""
    found: Table = {}
    while mark := _MARK.fullmatch((ahead.peek() or "").rstrip()):
        name, value = _NAME.fullmatch(ahead.peek(1) or ""), _WORTH.fullmatch(ahead.peek(2) or "")
        if name is None or value is None:
            break
        more = _lines_of_value(ahead, int(mark[1]))
        for _ in ("mark", "name", "value"):
            ahead.take()
        found[name[1].strip()] = "\n".join([value[1], *(ahead.take() for _ in range(more))])
    return found


def _lines_of_value(ahead: Ahead, number: int) -> int:
    """How many lines more a value has: up to the next row where there is one, for keys hold empty ones."""
    empty = None
    for count in range(MOST_LINES):
        line = ahead.peek(_ROW + count)
        if line is None:
            return count if empty is None else empty
        mark = _MARK.fullmatch(line.rstrip())
        if mark and int(mark[1]) == number + 1:
            return count
        if mark or _END.match(line):
            return count if empty is None else empty
        if not line and empty is None:
            empty = count
    return MOST_LINES if empty is None else empty
