"""Find tables of names and values in a text, in all formats of clients and exports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.pasted import boxes, markup
from advisor.collect.pasted.classify import (
    MOST_LINES,
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
    elif is_row_mark(line):
        yield from read_vertical(ahead)
    elif _COPIED_HEAD.fullmatch(line.rstrip()):
        yield from split_answers(_read_copied(ahead), headed=True)
    elif is_delimited_heading(line):
        yield from split_answers(read_delimited(ahead), headed=True)
    elif line.startswith('"') and starts_delimited(ahead):
        yield from split_answers(read_bare_delimited(ahead), headed=False)
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
        value = unescape_value(match[2]).rstrip(" ")
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
            yield match[1], unescape_value(match[2] or "")


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


def unescape_value(value: str) -> str:
    """A value without the escapes of batch mode."""
    return re.sub(r"\\([nt0\\])", lambda m: _ESCAPED[m[1]], value) if "\\" in value else value


_MARK = re.compile(r"\*{5,} (\d{1,9})\. row \*{5,}")
_NAMED = re.compile(r" *variable_name: (.*)", re.IGNORECASE)
_WORTH = re.compile(rf" *{VALUE}: ?(.*)", re.IGNORECASE)
_BARE_NAME = re.compile(rf"({NAME})")  # -N omits the column names
_ANY = re.compile(r"(.*)")
# What follows the last row without a blank line: messages of the client, or another table.
_END = re.compile(r"\d+ rows? in set|mysql> |MySQL \[|MariaDB \[|\+--|variable_name\t", re.IGNORECASE)
_ROW_LINES = 3  # lines of a row with a single-line value


def is_row_mark(line: str) -> bool:
    """Whether the line is the row of stars above a row."""
    return bool(_MARK.fullmatch(line.rstrip()))


def read_vertical(ahead: Ahead) -> Iterator[ServerAnswer]:
    """The answers in the rows: one, or several if there are no column names."""
    if _NAMED.fullmatch(ahead.peek(1) or ""):
        yield complete_answer(dict(_vertical_rows(ahead, _NAMED, _WORTH)))
    elif _BARE_NAME.fullmatch(ahead.peek(1) or ""):
        yield from split_answers(_vertical_rows(ahead, _BARE_NAME, _ANY), headed=False)


def _vertical_rows(ahead: Ahead, names: re.Pattern[str], values: re.Pattern[str]) -> Iterator[Row]:
    """Rows, each below a line of stars with its number; row 1 begins another answer."""
    count = 0
    while mark := _MARK.fullmatch((ahead.peek() or "").rstrip()):
        name, value = names.fullmatch(ahead.peek(1) or ""), values.fullmatch(ahead.peek(2) or "")
        number = int(mark[1])
        if name is None or value is None or ahead.peek(2) is None or (count and number == 1):
            return
        more = _lines_of_value(ahead, number)
        cut = is_last(ahead, _ROW_LINES - 1 + more)
        for _ in ("mark", "name", "value"):
            ahead.take()
        text = "\n".join([value[1], *(ahead.take() for _ in range(more))])
        count += 1
        if not cut:
            yield name[1].strip(), text


def _lines_of_value(ahead: Ahead, number: int) -> int:
    """The number of further lines of a value, up to the next row if there is one, because keys contain empty lines."""
    empty = None
    for count in range(MOST_LINES):
        line = ahead.peek(_ROW_LINES + count)
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


_DELIMITED_HEAD = re.compile(rf"(\"?)variable_name\1([,;\t|])\1{VALUE}\1", re.IGNORECASE)
_BARE_DELIMITED = re.compile(rf'"{NAME}"([,;])')
_QUOTED = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)


def is_delimited_heading(line: str) -> bool:
    """Whether the line is the heading of variables or counters."""
    return bool(_DELIMITED_HEAD.fullmatch(line.strip()))


def starts_delimited(ahead: Ahead) -> bool:
    """Whether rows without a heading, with quoted names, begin here."""
    bars = {match[1] if (match := _BARE_DELIMITED.match(ahead.peek(by) or "")) else "" for by in range(_LEAST)}
    return len(bars) == 1 and "" not in bars


def read_bare_delimited(ahead: Ahead) -> Iterator[Row]:
    """Rows without a heading."""
    match = _BARE_DELIMITED.match(ahead.peek() or "")
    return _read_delimited(ahead, match[1] if match else ",")


def read_delimited(ahead: Ahead) -> Iterator[Row]:
    """Rows below their heading. An unquoted value extends to the end of its line, commas included."""
    head = _DELIMITED_HEAD.fullmatch(ahead.take().strip())
    return _read_delimited(ahead, head[2] if head else ",")


def _read_delimited(ahead: Ahead, bar: str) -> Iterator[Row]:
    first = re.compile(rf"(\"?)({NAME})\1{re.escape(bar)}(.*)")
    while (line := ahead.peek()) is not None and (match := first.fullmatch(line)) and not is_delimited_heading(line):
        held = _continued_value(match[3], ahead)
        cut = is_last(ahead, len(held) - 1)
        for _ in held:
            ahead.take()
        value = "\n".join(held)
        if (whole := _QUOTED.fullmatch(value.rstrip())) is not None:
            yield match[2], whole[1].replace('""', '"')
        elif value.startswith('"'):
            return
        elif not cut:
            yield match[2], value


def _continued_value(begun: str, ahead: Ahead) -> list[str]:
    """The lines of a value that begins on the next line; a quoted value may continue below."""
    held = [begun]
    marks = begun.count('"')
    while begun.startswith('"') and marks % 2 and len(held) < MOST_LINES:
        following = ahead.peek(len(held))
        if following is None:
            break
        held.append(following)
        marks += following.count('"')
    return held


# Rows as MySQL Workbench copies them, by version with quotes or without: # Variable_name, Value / 'port', '3306'.
_COPIED_HEAD = re.compile(rf"# variable_name, {VALUE}", re.IGNORECASE)
_COPIED_ROW = re.compile(rf"'({NAME})', '(.*)|({NAME}),(?: (.*))?")


def _read_copied(ahead: Ahead) -> Iterator[Row]:
    """Rows below their heading, up to the first other line; a value in quotes may continue below."""
    ahead.take()
    while (line := ahead.peek()) is not None and (match := _COPIED_ROW.fullmatch(line)):
        cut = is_last(ahead)
        ahead.take()
        if match[1] is None:
            value = (match[4] or "").rstrip(" ")
            if value.startswith(_KEY_BEGINS):
                value, cut = _key(value, ahead)
            if not cut:
                yield match[3], value
            continue
        held = [match[2].rstrip(" ")]
        while not held[-1].endswith("'") and len(held) < _LONGEST and ahead.peek() is not None:
            held.append(ahead.take().rstrip(" "))
        if not held[-1].endswith("'"):
            return
        yield match[1], re.sub(r"\\([\\'])", r"\1", "\n".join(held)[:-1])
