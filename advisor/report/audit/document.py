"""An audit as a document: which server, what was found, what passed, what was skipped, and the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.privileges import PROCESS, grants_for, quote_account, schema_grants_for
from advisor.core.model import Confidence, format_duration
from advisor.report import WIDTH, plural, severity_counts, wrap
from advisor.report.audit import fact_lines
from advisor.report.document import Code, Document, Entries, Facts, Items, Listing, Paragraph, Section
from advisor.report.finding import for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.analysis.audited import AuditResult
    from advisor.report import Page
    from advisor.report.document import Block

NAMES = 14  # columns of a comparison with an earlier audit
COMMENT = 78  # columns of a comment beneath a statement
FEWEST = 3  # codes in a row that are written as a range
NEEDS = "needs "


def in_text(audited: AuditResult, page: Page) -> str:
    """The report for a terminal, at most 80 columns wide where words allow."""
    from advisor.report.output import Paper
    from advisor.report.render.text import write

    blocks: tuple[Block, ...] = (
        Facts(tuple(fact_lines.rows(audited))),
        _tally(audited),
        since(audited),
        Entries(tuple(map(for_terminal, audited.findings))),
        *after(audited),
        Paragraph((Code(next_step(audited)),) if audited.findings else ""),
    )
    return write(Document(tuple(_title(audited)), blocks), Paper(colour=page.colour))


def _title(audited: AuditResult) -> Iterator[str]:
    """`mycnf audit · db1 · MariaDB 10.11.19 · up 41 d · 19 statements, 0.2 s + 10 s window`."""
    facts = audited.facts
    yield "mycnf audit"
    yield facts.server.variables.get("hostname", "")
    yield audited.context.target.label
    yield f"up {format_duration(facts.server.uptime)}" if facts.server.uptime else ""  # a text may leave it out
    spent = f"{plural(facts.statements, 'statement')}, {facts.seconds:.1f} s"
    window = f" + {facts.workload.seconds:.0f} s window" if facts.workload else ""
    yield f"{'read from text' if facts.server.link.via == 'text' else spent}{window}"


def _tally(audited: AuditResult) -> Paragraph:
    """`1 error   3 warnings   12 skipped`."""
    counts = severity_counts(audited.findings) or ["nothing to say"]
    counts += [f"{len(audited.skipped)} skipped"] if audited.skipped else []
    counts += [f"{len(audited.suppressed)} suppressed"] if audited.suppressed else []
    return Paragraph((Code("   ".join(counts)),), indent=2)


def since(audited: AuditResult) -> Section:
    """The comparison with an earlier audit."""
    if audited.since is None:
        return Section("", ())
    from advisor.analysis.audit_comparison import comparison_rows, comparison_title

    rows = tuple(comparison_rows(audited.since))
    blocks = (Facts(rows, NAMES) if rows else Paragraph("nothing has changed"),)
    return Section(comparison_title(audited.since, audited.facts.taken_at), blocks)


def next_step(audited: AuditResult) -> str:
    """What to do after reading, on one line: why of the worst finding, a probe that would settle one, a ticket."""
    from rules import find_rule

    steps = [f"mycnf explain {audited.findings[0].code}"]
    for f in audited.findings:
        rule = find_rule(f.code)
        if rule is not None and rule.probe and f.local is None and f.confidence is not Confidence.CERTAIN:
            steps.append(f"mycnf probe {rule.probe} (tests {f.code})")
            break
    steps.append("--format markdown (a ticket)")
    while len(line := f"next  {' · '.join(steps)}") > WIDTH and len(steps) > 1:
        steps.pop()
    return line


def after(audited: AuditResult, *, brief: bool = False) -> tuple[Section, ...]:
    """What follows the findings: passed checks, what was skipped and what it needs, and suppressed findings.

    A `brief` one names the passed checks without their numbers.
    """
    passed = tuple((check.part, check.words) for check in audited.passed)
    label = max((len(part) for part, _ in passed), default=0) + 2
    skipped = tuple(f"{', '.join(code_ranges(what))}: {why}" for why, what in skipped_by_reason(audited).items())
    suppressed = tuple((Code(f.code), " ", Code(f.canonical or f.name), f": {why}") for f, why in audited.suppressed)
    named = Paragraph(", ".join(part for part, _ in passed))
    return (
        Section("passed checks", (named,))
        if brief
        else Section(f"passed checks{fact_lines.window(audited.facts)}", (Facts(passed, label),)),
        Section("skipped", (Items(skipped),)),
        Section("with these grants the account could see more", tuple(_grants(audited))),
        Section("suppressed", (Items(suppressed),)),
    )


def code_ranges(codes: Sequence[str]) -> list[str]:
    """Codes of rules, three and more in a row as a range: ERR001 to ERR017."""
    rows: list[list[str]] = []
    for code in codes:
        if rows and _follows(rows[-1][-1], code):
            rows[-1].append(code)
        else:
            rows.append([code])
    return [part for row in rows for part in ([f"{row[0]} to {row[-1]}"] if len(row) >= FEWEST else row)]


def _follows(before: str, code: str) -> bool:
    numbers = before[3:], code[3:]
    known = before[:3] == code[:3] and all(number.isascii() and number.isdigit() for number in numbers)
    return known and int(numbers[1]) == int(numbers[0]) + 1


def skipped_by_reason(audited: AuditResult) -> dict[str, list[str]]:
    """The rules and parts of the facts that were skipped, by what they need."""
    reasons: dict[str, list[str]] = {}
    for skip in audited.skipped:
        reasons.setdefault(skip.reason, []).append(skip.code)
    for part in audited.facts.unavailable:
        reasons.setdefault(part.reason, []).append(part.part)
    return reasons


def _grants(audited: AuditResult) -> Iterator[Listing]:
    """Each statement on one line, and below it what to know before it is run."""
    advice = missing_grants(audited)
    if advice:
        lines = (f"{statement}\n{wrap(why, '  -- ', '  -- ', COMMENT)}" for statement, why in advice)
        yield Listing("\n".join(lines), "sql")


def missing_grants(audited: AuditResult) -> list[tuple[str, str]]:
    """The GRANT statements for the parts that were not read, each with what to know before it is run.

    None where the privileges were not what lacked, or the account is not known, as in texts of other tools.
    """
    user = audited.facts.server.link.user
    reasons = [gap.reason for gap in audited.facts.unavailable if gap.reason.startswith(NEEDS)]
    lacking = {privilege for reason in reasons for privilege in reason.removeprefix(NEEDS).split(" and ")}
    if audited.facts.server.innodb_status:
        lacking.discard(PROCESS.needed)  # another part that needs it was read
    return [
        (grant.statement(quote_account(user)), grant.gives if grant.optional else grant.why)
        for grant in (*grants_for(audited.context.target), *schema_grants_for(audited.context.target))
        if user and grant.needed in lacking
    ]
