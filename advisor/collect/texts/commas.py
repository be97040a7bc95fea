"""Tables as programs with windows export them: names and values parted by commas or semicolons, perhaps in quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.texts.forms import MOST_LINES, NAME, VALUE, is_last

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.texts.ahead import Ahead
    from advisor.collect.texts.kinds import Row

_HEAD = re.compile(rf"(\"?)variable_name\1([,;\t|])\1{VALUE}\1", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"', re.DOTALL)


def begins(line: str) -> bool:
    """Whether it is the heading of variables or counters."""
    return bool(_HEAD.fullmatch(line.strip()))


def rows(ahead: Ahead) -> Iterator[Row]:
    """Rows below their heading. What is in no quotes goes to the end of its line, commas or not."""
    head = _HEAD.fullmatch(ahead.take().strip())
    bar = head[2] if head else ","
    first = re.compile(rf"(\"?)({NAME})\1{re.escape(bar)}(.*)")
    while (line := ahead.peek()) is not None and (match := first.fullmatch(line)) and not begins(line):
        held = _held(match[3], ahead)
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


def _held(begun: str, ahead: Ahead) -> list[str]:
    """The lines of a value that begins so on the next line: quotes may end below."""
    held = [begun]
    marks = begun.count('"')
    while begun.startswith('"') and marks % 2 and len(held) < MOST_LINES:
        following = ahead.peek(len(held))
        if following is None:
            break
        held.append(following)
        marks += following.count('"')
    return held
