"""An audit as a ticket: what to do first, the findings with their evidence, what wasn't looked at, and the facts."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.core.sizes import lasted
from advisor.report.audit.ticket_ends import facts, fine, since, unlooked, version
from advisor.report.audit.ticket_findings import forms
from advisor.report.audit.ticket_fit import BETWEEN, MOST, Fitted, fitted, length, within
from advisor.report.audit.ticket_steps import first, numbered
from advisor.report.audit.ticket_words import VALUE, said, shown
from advisor.report.words import counted, plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report import Page
    from advisor.report.audit.audited import Audited

STEPS = MOST // 3  # characters for the first steps
NAMED = 40  # rules of which findings were left out
SPARE = 400 + NAMED * 25  # for the titles of the findings, and the words that say what is told shorter


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
    parts = [f"Up {lasted(about.server.uptime)}."] if about.server.uptime else []  # a text may leave it out
    parts.append(f"Read with {plural(about.statements, 'statement')}")
    parts.append(f"in {about.seconds:.1f} s{window}; nothing was changed.")
    parts += [f"{plural(len(audited.asked), 'rule')} asked."] if audited.asked else []
    if audited.aside:
        parts.append(f"Left out: {plural(len(audited.aside), 'finding')} that somebody put aside, see below.")
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
        found = "every rule that could look found this server in order" if audited.asked else "no rule was asked"
        yield f"Nothing to say: {found}."


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
