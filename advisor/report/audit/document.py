"""An audit as a document: which server, what was found, what passed, what was skipped, and the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Severity
from advisor.core.sizes import format_duration
from advisor.report.audit import fact_lines, grant_advice
from advisor.report.document import Code, Document, Entries, Facts, Items, Listing, Paragraph, Section
from advisor.report.finding import for_terminal
from advisor.report.words import plural, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import Audited
    from advisor.report import Page
    from advisor.report.document import Block

NAMES = 14  # columns of a comparison with an earlier audit
COMMENT = 78  # columns of a comment beneath a statement


def in_text(audited: Audited, page: Page) -> str:
    """The report for a terminal, at most 80 columns wide where words allow."""
    from advisor.report.paper import Paper
    from advisor.report.render.text import write

    blocks: tuple[Block, ...] = (
        Facts(tuple(fact_lines.rows(audited))),
        _tally(audited),
        since(audited),
        Entries(tuple(map(for_terminal, audited.findings))),
        *after(audited),
    )
    return write(Document(tuple(_title(audited)), blocks), Paper(colour=page.colour))


def _title(audited: Audited) -> Iterator[str]:
    """`mycnf audit · db1 · MariaDB 10.11.19 · up 41 d · 19 statements, 0.2 s + 10 s window`."""
    facts = audited.facts
    yield "mycnf audit"
    yield facts.server.variables.get("hostname", "")
    yield audited.known.target.label
    yield f"up {format_duration(facts.server.uptime)}" if facts.server.uptime else ""  # a text may leave it out
    spent = f"{plural(facts.statements, 'statement')}, {facts.seconds:.1f} s"
    window = f" + {facts.workload.seconds:.0f} s window" if facts.workload else ""
    yield f"{'read from text' if facts.server.link.via == 'text' else spent}{window}"


def _tally(audited: Audited) -> Paragraph:
    """`1 error   3 warnings   12 skipped`."""
    severities = [f.severity for f in audited.findings]
    counts = [plural(severities.count(s), s.value) for s in Severity if s in severities] or ["nothing to say"]
    counts += [f"{len(audited.skipped)} skipped"] if audited.skipped else []
    counts += [f"{len(audited.suppressed)} suppressed"] if audited.suppressed else []
    return Paragraph((Code("   ".join(counts)),), indent=2)


def since(audited: Audited) -> Section:
    """The comparison with an earlier audit."""
    if audited.since is None:
        return Section("", ())
    from advisor.analysis.audit_comparison import comparison_rows, comparison_title

    rows = tuple(comparison_rows(audited.since))
    blocks = (Facts(rows, NAMES) if rows else Paragraph("nothing has changed"),)
    return Section(comparison_title(audited.since, audited.facts.taken_at), blocks)


def after(audited: Audited) -> tuple[Section, ...]:
    """What follows the findings: passed checks, what was skipped and what it needs, and suppressed findings."""
    passed = tuple((check.part, check.words) for check in audited.passed)
    label = max((len(part) for part, _ in passed), default=0) + 2
    skipped = tuple(f"{', '.join(what)}: {why}" for why, what in skipped_by_reason(audited).items())
    suppressed = tuple((Code(f.code), " ", Code(f.canonical or f.name), f": {why}") for f, why in audited.suppressed)
    return (
        Section(f"passed checks{fact_lines.window(audited.facts)}", (Facts(passed, label),)),
        Section("not looked at", (Items(skipped),)),
        Section(grant_advice.HEADING.lower(), tuple(_grants(audited))),
        Section("suppressed", (Items(suppressed),)),
    )


def skipped_by_reason(audited: Audited) -> dict[str, list[str]]:
    """The rules and parts of the facts that were skipped, by what they need."""
    reasons: dict[str, list[str]] = {}
    for skip in audited.skipped:
        reasons.setdefault(skip.reason, []).append(skip.code)
    for part in audited.facts.unavailable:
        reasons.setdefault(part.reason, []).append(part.part)
    return reasons


def _grants(audited: Audited) -> Iterator[Listing]:
    """Each statement on one line, and below it what to know before it is run."""
    advice = grant_advice.helping(audited)
    if advice:
        lines = (f"{statement}\n{wrap(why, '  -- ', '  -- ', COMMENT)}" for statement, why in advice)
        yield Listing("\n".join(lines), "sql")
