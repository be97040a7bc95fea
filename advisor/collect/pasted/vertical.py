"""Parse vertical rows, as \\G and `mysql -E` print them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.pasted.classify import MOST_LINES, NAME, VALUE, complete_answer, is_last, split_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.pasted.classify import Ahead, Row, ServerAnswer

_MARK = re.compile(r"\*{5,} (\d{1,9})\. row \*{5,}")
_NAMED = re.compile(r" *variable_name: (.*)", re.IGNORECASE)
_WORTH = re.compile(rf" *{VALUE}: ?(.*)", re.IGNORECASE)
_BARE = re.compile(rf"({NAME})")  # -N omits the column names
_ANY = re.compile(r"(.*)")
# What follows the last row without a blank line: messages of the client, or another table.
_END = re.compile(r"\d+ rows? in set|mysql> |MySQL \[|MariaDB \[|\+--|variable_name\t", re.IGNORECASE)
_ROW = 3  # lines of a row with a single-line value


def is_heading(line: str) -> bool:
    """Whether the line is the row of stars above a row."""
    return bool(_MARK.fullmatch(line.rstrip()))


def read_answers(ahead: Ahead) -> Iterator[ServerAnswer]:
    """The answers in the rows: one, or several if there are no column names."""
    if _NAMED.fullmatch(ahead.peek(1) or ""):
        yield complete_answer(dict(_rows(ahead, _NAMED, _WORTH)))
    elif _BARE.fullmatch(ahead.peek(1) or ""):
        yield from split_answers(_rows(ahead, _BARE, _ANY), headed=False)


def _rows(ahead: Ahead, names: re.Pattern[str], values: re.Pattern[str]) -> Iterator[Row]:
    """Rows, each below a line of stars with its number; row 1 begins another answer."""
    found = 0
    while mark := _MARK.fullmatch((ahead.peek() or "").rstrip()):
        name, value = names.fullmatch(ahead.peek(1) or ""), values.fullmatch(ahead.peek(2) or "")
        number = int(mark[1])
        if name is None or value is None or ahead.peek(2) is None or (found and number == 1):
            return
        more = _lines_of_value(ahead, number)
        cut = is_last(ahead, _ROW - 1 + more)
        for _ in ("mark", "name", "value"):
            ahead.take()
        text = "\n".join([value[1], *(ahead.take() for _ in range(more))])
        found += 1
        if not cut:
            yield name[1].strip(), text


def _lines_of_value(ahead: Ahead, number: int) -> int:
    """The number of further lines of a value, up to the next row if there is one, because keys contain empty lines."""
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
