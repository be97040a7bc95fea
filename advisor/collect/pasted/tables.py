"""Find tables of names and values in a text, in all formats of clients and exports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.pasted import boxes, delimited, markup, vertical
from advisor.collect.pasted.classify import (
    NAME,
    VALUE,
    WORD,
    Ahead,
    complete_answer,
    is_known,
    is_last,
    join_answers,
    split_answers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.collect.pasted.classify import Row, ServerAnswer

_HEAD = re.compile(rf"variable_name\t{VALUE}", re.IGNORECASE)
_ROW = re.compile(rf"({NAME})\t([^\t]*)\t*")  # some programs end each row with tabs
# For texts in which a ticket system replaced tabs by blanks.
_SPACED_HEAD = re.compile(rf"variable_name +{VALUE} *", re.IGNORECASE)
_SPACED = re.compile(rf"({WORD})(?: +(.*)|)")
_LEAST = 3  # fewer rows without a heading are not a table
_LEAST_SPACED = 8  # with blanks as separators, which also occur in sentences
_SPACED_ROW = re.compile(r"([A-Za-z_][\w.]*)(?: +(?![=:])(\S.*))? *")
_ESCAPED = {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}
# Multi-line values, which --raw prints unescaped: keys, and statements in variables.
_KEY_BEGINS, _KEY_ENDS = "-----BEGIN ", "-----END "
_STATEMENTS = re.compile(r"init_(?:connect|slave|replica)", re.IGNORECASE)
_LONGEST = 100  # lines


def tables(lines: Iterable[str]) -> Iterator[ServerAnswer]:
    """Each answer with the columns variable and value, in order; names as printed, values unescaped.

    Only a few lines are held at a time. A last row that may be truncated is left out.
    """
    yield from join_answers(_read_tables(Ahead(lines)))


def _read_tables(ahead: Ahead) -> Iterator[ServerAnswer]:
    while (line := ahead.peek()) is not None:
        before = ahead.taken
        yield from (one for one in _answers_at(line, ahead) if one.rows)
        if ahead.taken == before:
            ahead.take()


def _answers_at(line: str, ahead: Ahead) -> Iterator[ServerAnswer]:
    """The answers that begin on this line; empty if no table begins here."""
    if boxes.is_heading(line):
        yield complete_answer(dict(boxes.read_rows(ahead)))
    elif boxes.is_open_heading(line):
        yield complete_answer(dict(boxes.read_open_rows(ahead)))
    elif boxes.starts_without_heading(ahead):
        yield from split_answers(boxes.read_bare_rows(ahead), headed=False)
    elif _HEAD.fullmatch(line.rstrip()):
        ahead.take()
        yield from split_answers(_read_tabbed(ahead), headed=True)
    elif _SPACED_HEAD.fullmatch(line):
        ahead.take()
        yield from split_answers(_read_spaced(ahead), headed=True)
    elif vertical.is_heading(line):
        yield from vertical.read_answers(ahead)
    elif delimited.is_heading(line):
        yield from split_answers(delimited.read_rows(ahead), headed=True)
    elif line.startswith('"') and delimited.starts_without_heading(ahead):
        yield from split_answers(delimited.read_bare_rows(ahead), headed=False)
    elif markup.is_heading(line):
        yield from markup.read_answers(ahead)
    elif all((row := ahead.peek(by)) is not None and _ROW.fullmatch(row) for by in range(_LEAST)):
        yield from split_answers(_read_tabbed(ahead), headed=False)
    elif _are_spaced(ahead):
        yield from split_answers(_read_spaced(ahead), headed=False)


def _read_tabbed(ahead: Ahead) -> Iterator[Row]:
    """Rows in batch format, up to another heading or format."""
    while (line := ahead.peek()) is not None and (match := _ROW.fullmatch(line)) and not _HEAD.fullmatch(line.rstrip()):
        cut = is_last(ahead)
        ahead.take()
        value = unescaped(match[2]).rstrip(" ")
        if "\n" not in value and value.startswith(_KEY_BEGINS):
            value, cut = _key(value, ahead)
        elif not cut and _STATEMENTS.fullmatch(match[1]):
            value += _continuation(ahead)
        if not cut:
            yield match[1], value


def _are_spaced(ahead: Ahead) -> bool:
    """Whether rows separated by blanks begin here: all their names are known, and some have values."""
    with_value = 0
    for by in range(_LEAST_SPACED):
        row = _SPACED_ROW.fullmatch(ahead.peek(by) or "")
        if row is None or not is_known(row[1]):
            return False
        with_value += row[2] is not None
    return with_value >= _LEAST


def _read_spaced(ahead: Ahead) -> Iterator[Row]:
    while (line := ahead.peek()) is not None and (match := _SPACED.fullmatch(line.rstrip(" "))):
        if _SPACED_HEAD.fullmatch(line):
            return
        cut = is_last(ahead)
        ahead.take()
        if not cut:
            yield match[1], unescaped(match[2] or "")


def _key(first: str, ahead: Ahead) -> tuple[str, bool]:
    """A key that continues on the lines below its row, and whether its end is missing."""
    held = [first]
    for _ in range(_LONGEST):
        line = ahead.peek()
        if line is None or _ROW.fullmatch(line):
            return "", True
        held.append(ahead.take())
        if line.startswith(_KEY_ENDS):
            if ahead.peek() == "" and not is_last(ahead):
                held.append(ahead.take())
            return "\n".join(held), False
    return "", True


def _continuation(ahead: Ahead) -> str:
    """The lines that continue a value, up to the next row; empty if no row follows."""
    for count in range(_LONGEST):
        line = ahead.peek(count)
        if line is None:
            return ""
        if _ROW.fullmatch(line):
            return "".join(f"\n{ahead.take()}" for _ in range(count))
    return ""


def unescaped(value: str) -> str:
    """A value without the escapes of batch mode."""
    return re.sub(r"\\([nt0\\])", lambda m: _ESCAPED[m[1]], value) if "\\" in value else value
