"""A short ticket for a few selected findings, in Markdown: what to do first, then why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.report.audit.masking import masked
from advisor.report.document import Code, Document, Entries, Paragraph, Section
from advisor.report.finding import Lengths, for_ticket
from advisor.report.paper import Paper
from advisor.report.words import counted
from rules.core.advice import advised_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.report.document import Block

LONGEST = 8_000  # characters
LENGTHS = Lengths(120, 80)


def short_ticket(audited: Audited, findings: Sequence[Finding], states: Sequence[str] = ()) -> str:
    """The findings as a ticket of at most 8,000 characters, each finding whole or only named at the end.

    `states` says for each finding what became of it since it was selected, "" if that is unknown.
    """
    from advisor.report.render.markdown import length, write

    selected = [masked(f) for f in findings]
    head = Paragraph(f"Read on {audited.facts.taken_at[:16].replace('T', ' ')} UTC. mycnf changed nothing.")
    shown: list[Block] = []
    left: list[Finding] = []
    room = LONGEST - length(head) - _reserve(selected)
    for at, finding in enumerate(selected):
        block = _entry(finding, states[at] if at < len(states) else "")
        room -= length(block)
        if left or room < 0:
            left.append(finding)
        else:
            shown.append(block)
    foot = (Paragraph(tuple(_omitted(left))),) if left else ()
    return write(Document(tuple(_title(audited, selected)), (head, *shown, *foot), ""), Paper())


def _reserve(findings: Sequence[Finding]) -> int:
    """Characters for the title, and for the codes of all findings if none of them fits."""
    return 400 + sum(len(f.code) + 6 for f in findings)


def _title(audited: Audited, findings: Sequence[Finding]) -> Iterator[str]:
    host = audited.facts.server.variables.get("hostname", "")
    change = advised_value(findings[0]) if len(findings) == 1 else None
    if change is not None:
        yield f"{change.option}: {change.before} → {change.after}"
    elif len(findings) == 1:
        yield f"{findings[0].code} {findings[0].name}"
    else:
        yield counted(findings)
    yield " ".join(part for part in (host[:80], audited.known.target.label) if part)


def _entry(finding: Finding, state: str) -> Section:
    """One finding as in the ticket of an audit, and what became of it."""
    return Section("", (Entries((for_ticket(finding, LENGTHS),)), Paragraph(f"State: {state}." if state else "")))


def _omitted(findings: Sequence[Finding]) -> Iterator[str]:
    yield f"{len(findings)} more do not fit into a short ticket: "
    for at, finding in enumerate(findings):
        yield from [", "] * bool(at)
        yield Code(finding.code)
