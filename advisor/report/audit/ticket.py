"""An audit as a ticket: what to do first, the findings with their evidence, what wasn't looked at, and the facts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor import __version__
from advisor.core.sizes import format_duration
from advisor.report.audit import fact_lines, grant_advice
from advisor.report.audit.document import skipped_by_reason
from advisor.report.audit.ticket_findings import BETWEEN, MOST, Fitted, first, fitted, forms, length, numbered, within
from advisor.report.audit.ticket_words import VALUE, said, shown
from advisor.report.words import counted, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.analysis.audited import Audited
    from advisor.report import Page


STEPS = MOST // 3  # characters for the first steps
NAMED = 40  # rules of which findings were left out
SPARE = 400 + NAMED * 25  # for the titles of the findings, and the words that say what is told shorter
ROOM = 4_000  # characters of each list
FILES = 40


def report(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole ticket, at most as long as the description of an issue may be in GitHub, GitLab and Jira."""
    pressing = first(audited.findings)
    steps = within([numbered(number, f) for number, f in enumerate(pressing, 1)], STEPS)
    before = [*_head(audited), *since(audited), *_first(audited, steps)]
    behind = [*fine(audited), *unlooked(audited), facts(audited), version(audited)]
    room = MOST - SPARE - sum(length(block) + BETWEEN for block in (*before, *behind))
    numbers = {id(f): number for number, f in enumerate(pressing[: len(steps)], 1)}
    step = {order: numbers[id(f)] for order, f in enumerate(audited.findings) if id(f) in numbers}
    found = _findings(audited, fitted(forms(audited.findings, step), room))
    return "\n\n".join([*before, *(found if audited.findings else ()), *behind]) + "\n"


def _head(audited: Audited) -> Iterator[str]:
    about = audited.facts
    host = about.server.variables.get("hostname", "")
    title = [f"mycnf audit of {said(host, VALUE)}" if host else "mycnf audit", audited.known.target.label]
    yield f"## {' · '.join([*title, _when(about.taken_at), counted(audited.findings)])}"
    if about.lost:
        yield f"**The server was lost during the audit:** {said(about.lost)}. What follows is what was read until then."
    window = f" and a window of {about.workload.seconds:.0f} s" if about.workload else ""
    parts = [f"Up {format_duration(about.server.uptime)}."] if about.server.uptime else []  # a text may leave it out
    parts.append(f"Read with {plural(about.statements, 'statement')}")
    parts.append(f"in {about.seconds:.1f} s{window}; nothing was changed.")
    parts += [f"{plural(len(audited.asked), 'rule')} asked."] if audited.asked else []
    if audited.aside:
        parts.append(f"Left out: {plural(len(audited.aside), 'finding')} suppressed, see below.")
    yield " ".join(parts)


def _when(taken_at: str) -> str:
    try:
        return f"{datetime.fromisoformat(taken_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return said(taken_at, VALUE)


def _first(audited: Audited, steps: list[str]) -> Iterator[str]:
    more = sum(bool(f.actions or f.help) for f in audited.findings) - len(steps)
    if steps:
        yield "### Do first"
        yield "\n".join(steps)
    if more:
        words = f"{plural(more, 'more step' if steps else 'step')} with the findings below"
        yield f"{words}." if steps else f"{words}; none presses."
    elif not audited.findings:
        found = "every check that could run passed" if audited.asked else "no rule was asked"
        yield f"No findings: {found}."


def _findings(audited: Audited, found: Fitted) -> Iterator[str]:
    yield "### Findings"
    yield from found.blocks
    if found.lines:
        yield "#### In short"
        yield "\n".join(found.lines)
    told = [
        f"{plural(found.named, 'finding')} with the names of their evidence alone" if found.named else "",
        f"{plural(len(found.lines), 'finding')} on one line" if found.lines else "",
        f"{plural(found.without, 'finding')} not at all ({_rules(audited, found.without)})" if found.without else "",
    ]
    if any(told):
        yield f"To fit a ticket this tells {', '.join(filter(None, told))}: `mycnf audit --format json` has everything."


def _rules(audited: Audited, last: int) -> str:
    """`TST001 3 times, TST002, …` of the last findings."""
    counts = Counter(f.code for f in audited.findings[-last:])
    told = [shown(code) if count == 1 else f"{shown(code)} {count:,} times" for code, count in counts.items()]
    return ", ".join(told if len(told) <= NAMED else [*told[:NAMED], "…"])


def fine(audited: Audited) -> Iterator[str]:
    """What was looked at and is as it should be, with the numbers."""
    if audited.fine:
        yield f"### Passed checks{fact_lines.window(audited.facts)}"
        yield _listed([f"- **{said(one.part)}:** {said(one.words)}" for one in audited.fine])


def since(audited: Audited) -> Iterator[str]:
    """What came of an earlier audit."""
    if audited.since is not None:
        from advisor.analysis.since import rows, title

        yield f"### S{title(audited.since, audited.facts.taken_at)[1:]}"
        told = [f"- **{name}:** {said(words)}" for name, words in rows(audited.since)]
        yield _listed(told) if told else "Nothing has changed."


def unlooked(audited: Audited) -> Iterator[str]:
    """What could not be looked at, by what it would need, and what somebody put aside."""
    reasons = skipped_by_reason(audited)
    if reasons:
        yield "### Not looked at"
        yield _listed([f"- {said(', '.join(what))}: {said(why)}" for why, what in reasons.items()])
    if grants := grant_advice.helping(audited):
        yield f"{grant_advice.HEADING}:"
        yield _listed([f"- {shown(sql)} {said(why)}" for sql, why in grants])
    if audited.aside:
        yield "### Suppressed"
        yield _listed([f"- {shown(f.code)} {shown(f.canonical or f.name)}: {said(why)}" for f, why in audited.aside])


def facts(audited: Audited) -> str:
    """Server, host, memory, storage and workload, folded; a tracker that can't fold shows the list."""
    rows = [
        f"- **{name}:** {_chained(words)}" for name, words in [("Server", _server(audited)), *fact_lines.rows(audited)]
    ]
    files = audited.facts.files
    if files and files.files:
        paths = ", ".join(shown(copy.path) for copy in files.files[:FILES])
        rows.append(f"- **Option files:** {paths}{' and more' if len(files.files) > FILES else ''}")
    # Between empty lines it is Markdown again.
    return "\n".join(["<details>", "<summary>Facts</summary>", "", _listed(rows), "", "</details>"])


def version(audited: Audited) -> str:
    """Who says all this: the version, and the rules that were asked, by family."""
    families: dict[str, int] = {}
    for code in audited.asked:
        families[code[:3]] = families.get(code[:3], 0) + 1
    rules = ", ".join(f"{family} {count}" for family, count in sorted(families.items()))
    asked = f"asked for {audited.known.target.label}: {rules}" if rules else "none asked"
    return f"mycnf {__version__} · rules {asked} · secrets are masked"


def _listed(lines: list[str]) -> str:
    kept = within(lines, ROOM)
    more = [f"- {len(lines) - len(kept):,} more"] if len(kept) < len(lines) else []
    return "\n".join([*kept, *more])


def _server(audited: Audited) -> str:
    server = audited.facts.server
    managed = f"managed by {server.managed}" if server.managed else ""
    return ", ".join(part for part in (server.version, server.version_comment, server.vendor, managed) if part)


def _chained(words: str) -> str:
    return " ← ".join(said(part) for part in words.split(" ← "))
