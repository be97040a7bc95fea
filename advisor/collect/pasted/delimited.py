"""Parse tables as GUI programs export them: names and values separated by commas or semicolons, optionally quoted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.pasted.classify import MOST_LINES, NAME, VALUE, is_last

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.pasted.classify import Ahead, Row

_HEAD = re.compile(rf"(\"?)variable_name\1([,;\t|])\1{VALUE}\1", re.IGNORECASE)
_BARE = re.compile(rf'"{NAME}"([,;])')
_MIN_ROWS = 3  # fewer rows without a heading are not a table
_QUOTED = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)


def is_heading(line: str) -> bool:
    """Whether the line is the heading of variables or counters."""
    return bool(_HEAD.fullmatch(line.strip()))


def starts_without_heading(ahead: Ahead) -> bool:
    """Whether rows without a heading, with quoted names, begin here."""
    bars = {match[1] if (match := _BARE.match(ahead.peek(by) or "")) else "" for by in range(_MIN_ROWS)}
    return len(bars) == 1 and "" not in bars


def read_bare_rows(ahead: Ahead) -> Iterator[Row]:
    """Rows without a heading."""
    match = _BARE.match(ahead.peek() or "")
    return _read_rows(ahead, match[1] if match else ",")


def read_rows(ahead: Ahead) -> Iterator[Row]:
    """Rows below their heading. An unquoted value extends to the end of its line, commas included."""
    head = _HEAD.fullmatch(ahead.take().strip())
    return _read_rows(ahead, head[2] if head else ",")


def _read_rows(ahead: Ahead, bar: str) -> Iterator[Row]:
    first = re.compile(rf"(\"?)({NAME})\1{re.escape(bar)}(.*)")
    while (line := ahead.peek()) is not None and (match := first.fullmatch(line)) and not is_heading(line):
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
