"""Ask one thing, and note why it stays unanswered where it does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.send import NotRead, Rows, send
from advisor.facts import Unavailable
from advisor.facts.snapshot import FARTHEST

if TYPE_CHECKING:
    from advisor.collect.send import Session
    from advisor.collect.statements import Statement

Notes = list[Unavailable]


def ask(session: Session, statement: Statement, part: str, notes: Notes) -> Rows | None:
    """The answer to a statement, or None with the reason noted under the part that it would have filled."""
    try:
        return send(session, statement)
    except NotRead as reason:
        notes.append(Unavailable(part, str(reason)))
        return None


def pairs(answer: Rows | None) -> dict[str, str]:
    """Rows of name and value as a dictionary with lower-case names."""
    rows = answer.rows if answer else ()
    return {row[0].lower(): row[1] or "" for row in rows if row[0]}


# No longer than a server's own: what is, is no server's, and Python counts to no more than 4,300 digits.
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,2})?", re.IGNORECASE)


def number(text: str | None) -> int | None:
    """A whole number as servers print sums (12, 12.00, 1.2e10), None for anything else."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    found = int(text) if text.lstrip("-").isdigit() else int(float(text))
    return found if abs(found) < FARTHEST else None
