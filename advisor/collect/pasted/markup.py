"""Parse tables as `mysql -X` and `mysql -H` print them: XML and HTML."""

from __future__ import annotations

import html
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from advisor.collect.pasted.classify import NAME, VALUE, complete_answer, split_answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.pasted.classify import Ahead, Row, ServerAnswer

LARGEST = 16 << 20  # maximum characters of one answer
_OPEN = re.compile(r"<resultset\b|<TABLE\b", re.IGNORECASE)
_BEGINS = re.compile(r"\s*(?:<resultset |<TABLE BORDER=1>)")
_CLOSE = re.compile(r"</resultset>|</TABLE>", re.IGNORECASE)
_XML = re.compile(
    rf'<field name="variable_name">({NAME})</field>\s*<field name="{VALUE}"(?:>([^<]*)</field>| xsi:nil="true" ?/>)',
    re.IGNORECASE,
)
_HEAD = re.compile(rf"<TH>variable_name</TH>\s*<TH>{VALUE}</TH>\s*</TR>", re.IGNORECASE)
_HTML = re.compile(rf"<TR>\s*<TD>({NAME})</TD>\s*<TD>([^<]*)</TD>\s*</TR>", re.IGNORECASE)


def is_heading(line: str) -> bool:
    """Whether an answer begins on the line."""
    return bool(_BEGINS.match(line))


def read_answers(ahead: Ahead) -> Iterator[ServerAnswer]:
    """The answers in the element that begins on the next line."""
    text = _take_element(ahead)
    starts = [match.start() for match in _OPEN.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        part = text[start:end]
        rows = {name: html.unescape(value) for name, value in _rows(part)}
        if rows and (part.startswith("<r") or _HEAD.search(part)):
            yield complete_answer(rows)
        elif rows:
            yield from split_answers(rows.items(), headed=False)


def _rows(part: str) -> Iterator[Row]:
    for match in (_XML if part.startswith("<r") else _HTML).finditer(part):
        yield match[1], match[2] or ""


def _take_element(ahead: Ahead) -> str:
    """The lines of the element that begins on the next line."""
    held = [ahead.take()]
    size, depth = len(held[0]), _depth(held[0])
    while depth > 0 and ahead.peek() is not None and size < LARGEST:
        held.append(ahead.take())
        size += len(held[-1]) + 1
        depth += _depth(held[-1])
    return "\n".join(held)


def _depth(line: str) -> int:
    return len(_OPEN.findall(line)) - len(_CLOSE.findall(line))
