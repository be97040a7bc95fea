"""Put fillers of the same length where a template engine will write, so that the rest can be parsed in its places."""

from __future__ import annotations

import re

from advisor.carriers.piece import FILLER

_CLOSED_BY = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>"}
_OPENING = r"\{\{|\{%|\{#|<%"
_BLANKS = r"[^\S\n]*"


def filled(text: str) -> str:
    """The text with fillers for expressions; a line that holds nothing else becomes blank."""
    if not re.search(_OPENING, text):
        return text
    alone = re.sub(rf"(?m)^{_BLANKS}\0[\0\s]*?$", lambda m: re.sub(r"[^\n]", " ", m[0]), _marked(text))
    return alone.replace("\0", FILLER)


def _marked(text: str) -> str:
    """With a NUL for each character of an expression; an opening that nothing closes is text."""
    parts: list[str] = []
    done = 0
    never: set[str] = set()
    for opening in re.finditer(_OPENING, text):
        begin, kind = opening.start(), opening[0]
        if begin < done or kind in never:
            continue
        end = text.find(_CLOSED_BY[kind], begin + 2)
        if end < 0:
            never.add(kind)
            continue
        parts += (text[done:begin], re.sub(r"[^\n]", "\0", text[begin : end + 2]))
        done = end + 2
    return "".join((*parts, text[done:]))
