"""Words of a ticket: secrets masked once more, nothing that a forge acts on, none longer than a ticket bears."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.core.model import Confidence
from advisor.redaction.secrets import redact_text, redact_value
from advisor.report.render.markdown_text import code, prose

if TYPE_CHECKING:
    from advisor.core.model import Finding, Location
    from rules.core.evidence import Evidence

SENTENCE = 600  # characters of what a rule or a user says
VALUE = 120  # of a name, path or value
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


def place(at: Location | None) -> str:
    """`/etc/mysql/my.cnf:31`; empty for what stands in no file."""
    if at is None:
        return ""
    return shown(f"{at.path}:{at.line}" if at.line else at.path, 2 * VALUE)


def setting(f: Finding) -> str:
    """`read_buffer_size = 8M`; empty for a finding of no option."""
    if not f.option:
        return ""
    return shown(f.option if f.value is None else f"{f.option} = {redact_value(f.option, f.value) or '(empty)'}")


def sure(f: Finding) -> str:
    """How sure the finding is: `measured here` where an experiment on this host stands behind it."""
    here = f.local is not None and f.confidence is Confidence.MEASURED
    return f"{f.confidence.value} here" if here else f.confidence.value


def link(e: Evidence) -> str:
    """The source of evidence, with its address behind it where it has one."""
    words = said(", ".join(part for part in (e.title, e.author) if part), VALUE) or "source"
    return f"[{words}]({e.url})" if _URL.fullmatch(e.url) else words


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
