"""Put fillers of the same length where a template engine will write, so that the rest can be parsed in its places."""

from __future__ import annotations

import re

from advisor.carriers.piece import FILLER

_EXPRESSION = r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<%.*?%>"
_BLANKS = r"[^\S\n]*"


def filled(text: str) -> str:
    """The text with fillers for expressions; a line that holds nothing else becomes blank."""
    if "{{" not in text and "{%" not in text and "<%" not in text and "{#" not in text:
        return text
    marked = re.sub(f"(?s){_EXPRESSION}", lambda m: re.sub(r"[^\n]", "\0", m[0]), text)
    alone = re.sub(rf"(?m)^{_BLANKS}\0[\0\s]*?$", lambda m: re.sub(r"[^\n]", " ", m[0]), marked)
    return alone.replace("\0", FILLER)
