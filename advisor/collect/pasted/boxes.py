"""Parse tables with box borders, as clients print them in interactive use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.pasted.classify import MOST_LINES, NAME, VALUE, is_last

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.pasted.classify import Ahead, Row

_HEAD = re.compile(rf"\| *variable_name *\| *{VALUE} *\|", re.IGNORECASE)
# A heading without its left border.
_OPEN_HEAD = re.compile(rf"variable_name *\|{VALUE} *\|?", re.IGNORECASE)
_OPEN_ROW = re.compile(rf"({NAME}) *\|(.*?)\|?")
_OPEN_LINE = re.compile(r"-+\+-+\+?")
_ROW = re.compile(r"\| ?([^\s|](?:[^|]*[^\s|])?) *\| ?(.*)", re.DOTALL)  # GUI programs copy them without blanks
_LINE = re.compile(r"\|[ :-]+\|[ :-]+\|")  # under the heading in Markdown
_WRAPPED = re.compile(r"^\| *variable_name *(?:\|[^|\n]*)?$", re.IGNORECASE | re.MULTILINE)
_BORDER = re.compile(r"\+-+\+(?:-+\+)?-+\+")
# mysqladmin --vertical prints a row number with a letter (C17) between the two.
_BARE = re.compile(rf"\| ({NAME}) *(\|) (?:[A-Za-z]\d+ *\| )?(.*)\|")
_MIN_ROWS = 3  # fewer rows without a border and a heading are not a table


def is_heading(line: str) -> bool:
    """Whether the line is the heading of variables or counters."""
    return bool(_HEAD.fullmatch(line.rstrip()))


def is_open_heading(line: str) -> bool:
    """Whether the line is such a heading without its left border."""
    return bool(_OPEN_HEAD.fullmatch(line.rstrip()))


def read_open_rows(ahead: Ahead) -> Iterator[Row]:
    """Rows of the form `name   |value|` below their heading, up to the first other line."""
    ahead.take()
    if _OPEN_LINE.fullmatch((ahead.peek() or "").rstrip()):
        ahead.take()
    while (line := ahead.peek()) is not None and (match := _OPEN_ROW.fullmatch(line.rstrip())):
        if is_open_heading(line):
            return
        cut = is_last(ahead) and not line.rstrip().endswith("|")
        ahead.take()
        if not cut:
            yield match[1], match[2].rstrip(" ")


def is_wrapped(text: str) -> bool:
    """Whether a terminal wrapped the lines of a table."""
    return bool(_WRAPPED.search(text))


def starts_without_heading(ahead: Ahead) -> bool:
    """Whether rows without a heading begin here: below their border, or with the top cut off."""
    line = (ahead.peek() or "").rstrip()
    if not line.startswith(("| ", "+-")):
        return False
    if _BORDER.fullmatch(line):
        return _bar_column(ahead.peek(1)) == line.index("+", 1)
    bars = {_bar_column(ahead.peek(by)) for by in range(_MIN_ROWS)}
    return len(bars) == 1 and None not in bars


def _bar_column(line: str | None) -> int | None:
    """The position of the second column in a row of two columns on one line; None for other lines."""
    match = _BARE.fullmatch(line.rstrip()) if line and not is_heading(line) else None
    return match.start(2) if match and " | " not in match[3] else None


def read_bare_rows(ahead: Ahead) -> Iterator[Row]:
    """Rows without a heading, each on one line, as long as the columns have the same position."""
    if _BORDER.fullmatch((ahead.peek() or "").rstrip()):
        ahead.take()
    first = _bar_column(ahead.peek())
    while (
        (line := ahead.peek()) is not None and _bar_column(line) == first and (match := _BARE.fullmatch(line.rstrip()))
    ):
        ahead.take()
        yield match[1], match[3].strip(" ")  # some clients right-align values that look like numbers


def read_rows(ahead: Ahead) -> Iterator[Row]:
    """Rows of the form `| name | value |` below their heading.

    A multi-line value ends with a line that ends in the bar.
    """
    ahead.take()
    begun = False
    while ahead.peek() is not None:
        row = ahead.take().rstrip()
        if row.startswith("+-") or (_LINE.fullmatch(row) and not begun):
            if begun:
                return
            continue
        own = [row]
        while _ROW.fullmatch(row) and not own[-1].endswith("|") and len(own) < MOST_LINES:
            following = ahead.peek()
            if following is None or following.startswith("+-") or is_heading(following):
                break  # the row is truncated, and another table begins
            own.append(ahead.take().rstrip())
        match = _ROW.fullmatch("\n".join(own))
        if match is None or not own[-1].endswith("|"):
            return
        begun = True
        yield match[1], match[2][:-1].rstrip(" ")
