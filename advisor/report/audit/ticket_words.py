"""Words of a ticket: secrets masked once more, nothing that a forge acts on, none longer than a ticket bears."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.redaction.secrets import redact_text, redact_value
from advisor.report.document import Code, Copy, parts
from advisor.report.finding import place, setting
from advisor.report.render.markdown_text import code, prose

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from advisor.report.document import Words
    from rules.core.evidence import Evidence

SENTENCE = 600  # characters of what a rule or a user says
VALUE = 120  # of a name or value
LONG = 2 * VALUE  # of a path
STATEMENT = 400  # of a statement or line to copy, which is whole or not there
_URL = re.compile(r"https?://[\w.~:/?#@!$&'*+,;=%-]+", re.ASCII)


def said(text: str, longest: int = SENTENCE) -> str:
    """A sentence of any origin."""
    return prose(_cut(redact_value("", text), longest))


def shown(text: str, longest: int = VALUE) -> str:
    """A name, path or value of any origin, in a code span."""
    return code(_cut(redact_value("", text), longest))


def to_copy(text: str) -> str:
    """A statement or a line of an option file, in a code span; one that is too long is told of, as half is no use."""
    masked = redact_text(text).text
    if len(masked) > STATEMENT:
        return f"{len(masked):,} characters, too long for a ticket: `mycnf audit --format json` has them"
    return code(masked)


def about(f: Finding) -> str:
    """The setting and its place: `read_buffer_size = 8M`, `/etc/mysql/my.cnf:31`; empty where there is neither."""
    told = ((setting(f), VALUE), (place(f.location), LONG))
    return ", ".join(shown(text, longest) for text, longest in told if text)


def mixed(words: Words) -> str:
    """Words of which some are names or to be copied."""
    made = ""
    for part in parts(words):
        if isinstance(part, Copy):
            made += to_copy(part)
        elif isinstance(part, Code):
            made += shown(part, LONG)
        else:
            made += f"{' ' * part.startswith(' ')}{said(part)}{' ' * part.endswith(' ')}"
    return made


def link(e: Evidence) -> str:
    """The source of evidence, with its address behind it where it has one."""
    words = said(", ".join(part for part in (e.title, e.author) if part), VALUE) or "source"
    return f"[{words}]({e.url})" if _URL.fullmatch(e.url) else words


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
