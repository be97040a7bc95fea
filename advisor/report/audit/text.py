"""The report of an audit for people: the facts, then each finding with its evidence and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Severity
from advisor.redaction.secrets import escape_text, redact_value
from advisor.report.audit import fact_lines, grant_advice
from advisor.report.finding import in_brief, place, setting, sure
from advisor.report.words import WIDTH, bold, painted, plural, wrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import Audited
    from advisor.core.model import Action, Finding
    from advisor.report import Page


def report(audited: Audited, page: Page) -> str:
    """The whole report, at most 80 columns wide where words allow."""
    facts, target, colour = audited.facts, audited.known.target, page.colour
    parts = [
        fact_lines.title(facts, target.label, colour),
        fact_lines.head(audited),
        tally(audited),
        *_since(audited),
        *(_block(f, colour) for f in audited.findings),
        *_fine(audited),
        *skips(audited),
        *_grants(audited),
        *_aside(audited),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def concise(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """One line a finding."""
    lines = [f"{f.severity.value}: {f.code} {f.name} {f.canonical or ''}: {f.message}" for f in audited.findings]
    return "".join(escape_text(line.replace(" : ", ": ")) + "\n" for line in lines)


def tally(audited: Audited) -> str:
    """`1 error   3 warnings   12 skipped`."""
    severities = [f.severity for f in audited.findings]
    counts = [plural(severities.count(s), s.value) for s in Severity if s in severities] or ["nothing to say"]
    counts += [f"{len(audited.skipped)} skipped"] if audited.skipped else []
    return "  " + "   ".join([*counts, *([f"{len(audited.aside)} suppressed"] if audited.aside else [])])


def unseen(audited: Audited) -> dict[str, list[str]]:
    """The rules and parts of the facts that could not be looked at, by what they would need."""
    reasons: dict[str, list[str]] = {}
    for skip in audited.skipped:
        reasons.setdefault(skip.reason, []).append(skip.code)
    for part in audited.facts.unavailable:
        reasons.setdefault(part.reason, []).append(part.part)
    return reasons


def skips(audited: Audited) -> Iterator[str]:
    """What could not be looked at, by what it would need."""
    reasons = unseen(audited)
    if reasons:
        yield "\n".join(["not looked at", *(_skip(what, why) for why, what in reasons.items())])


def _grants(audited: Audited) -> Iterator[str]:
    """What would let the account see more; a statement stays on one line, to be copied."""
    told = grant_advice.helping(audited)
    if told:
        rows = (f"  {escape_text(sql)}\n{wrap(why, '    -- ', '    -- ')}" for sql, why in told)
        yield "\n".join([grant_advice.HEADING.lower(), *rows])


def _since(audited: Audited) -> Iterator[str]:
    """What came of an earlier audit."""
    if audited.since is not None:
        from advisor.analysis.since import rows, title

        told = [wrap(escape_text(words), f"  {name:<12}  ", " " * 16) for name, words in rows(audited.since)]
        yield "\n".join([title(audited.since, audited.facts.taken_at), *(told or ["  nothing has changed"])])


def _fine(audited: Audited) -> Iterator[str]:
    """What was looked at and is as it should be, with the numbers."""
    if audited.fine:
        width = max(len(one.part) for one in audited.fine)
        rows = [wrap(one.words, f"  {one.part:<{width}}  ", " " * (width + 4)) for one in audited.fine]
        yield "\n".join([f"passed checks{fact_lines.window(audited.facts)}", *rows])


def _aside(audited: Audited) -> Iterator[str]:
    """What the user suppressed, each with the reason."""
    if audited.aside:
        told = (_skip([f"{f.code} {f.canonical or f.name}"], redact_value("", why)) for f, why in audited.aside)
        yield "\n".join(["suppressed", *told])


def _skip(what: list[str], why: str) -> str:
    return wrap(escape_text(f"{', '.join(what)}: {why}"), "  ", "    ")


def _block(f: Finding, colour: bool) -> str:
    head = f"{f.severity.value}  {f.code} {f.name}"
    certainty = sure(f)
    room = max(2, WIDTH - len(head) - len(certainty))
    lines = [f"{painted(f.severity.value, f.severity, colour)}  {f.code} {bold(f.name, colour)}{' ' * room}{certainty}"]
    lines += [escape_text(f"  {about}") for about in _about(f)]
    lines.append(wrap(escape_text(f.message), "  "))
    if f.help and not f.actions:
        lines.append(wrap(escape_text(f.help), "  help      "))
    if f.evidence:
        lines.append(wrap(f"{', '.join(f.evidence)} · mycnf explain {f.code}", "  evidence  "))
    if f.local:
        lines.append(wrap(escape_text(f.local.words), " " * 12 if f.evidence else "  evidence  "))
    for action in f.actions:
        lines += _action(action)
    return "\n".join(lines)


def _about(f: Finding) -> list[str]:
    """The setting and its place on one line of the page, or on a line each."""
    where = place(f.location) if f.location and f.location.line else ""
    parts = [x for x in (setting(f), where) if x]
    joined = ", ".join(parts)
    return parts if len(joined) > WIDTH - 2 else [joined][: len(parts)]


def _action(a: Action) -> Iterator[str]:
    for name, words in in_brief(a):
        lead = f"  {name:<10}"
        if words:
            yield wrap(escape_text(words), lead) if name in ("risk", "watch") else lead + escape_text(words)
