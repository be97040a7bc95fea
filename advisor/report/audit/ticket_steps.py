"""What a ticket asks to be done: each finding's statement, line, risk and way back, the most pressing first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis.engine import RANK
from advisor.core.model import Confidence, Severity
from advisor.report.audit.ticket_words import about, mixed, said, shown
from advisor.report.finding import to_do
from rules.core.statements import kept_by

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding

MOST = 10  # steps that are still "first"; the rest stand with their findings
SURE = list(Confidence)


def first(findings: Sequence[Finding]) -> list[Finding]:
    """Errors, then warnings; of these what is ready to be carried out, then what is surest, then without a restart."""
    pressing = [f for f in findings if f.severity is not Severity.NOTE and (f.actions or f.help)]
    return sorted(pressing, key=_weight)[:MOST]


def _weight(f: Finding) -> tuple[int, bool, int, bool]:
    ready = any(a.statement or kept_by(a) for a in f.actions)
    return RANK[f.severity], not ready, SURE.index(f.confidence), any(a.restart for a in f.actions)


def numbered(number: int, f: Finding) -> str:
    """One step of the list: what is wrong, and what to do about it."""
    where = about(f)
    head = f"{number}. **{f.severity.value}** {shown(f.code)} {said(f.name)}: {said(f.message)}"
    # Four columns are within an item of one digit and of two alike.
    return "\n".join([head, *(f"    - {line}" for line in ([f"**At:** {where}"] if where else [])), *steps(f, "    ")])


def steps(f: Finding, margin: str = "") -> Iterator[str]:
    """The finding's actions as items of a list; its help where these are none to carry out."""
    return (f"{margin}- **{name}:** {mixed(words)}" for name, words in to_do(f))
