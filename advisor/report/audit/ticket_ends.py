"""The end of a ticket: what wasn't looked at and why, the facts, and which rules were asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import __version__
from advisor.report.audit import fact_lines, grant_advice
from advisor.report.audit.text import unseen
from advisor.report.audit.ticket_fit import within
from advisor.report.audit.ticket_words import said, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report.audit.audited import Audited

ROOM = 4_000  # characters of each list
FILES = 40


def fine(audited: Audited) -> Iterator[str]:
    """What was looked at and is as it should be, with the numbers."""
    if audited.fine:
        yield f"### Looked at, and fine{fact_lines.window(audited.facts)}"
        yield _listed([f"- **{said(one.part)}:** {said(one.words)}" for one in audited.fine])


def since(audited: Audited) -> Iterator[str]:
    """What came of an earlier audit."""
    if audited.since is not None:
        from advisor.report.audit.since import rows, title

        yield f"### S{title(audited.since, audited.facts.taken_at)[1:]}"
        told = [f"- **{name}:** {said(words)}" for name, words in rows(audited.since)]
        yield _listed(told) if told else "Nothing has changed."


def unlooked(audited: Audited) -> Iterator[str]:
    """What could not be looked at, by what it would need, and what somebody put aside."""
    reasons = unseen(audited)
    if reasons:
        yield "### Not looked at"
        yield _listed([f"- {said(', '.join(what))}: {said(why)}" for why, what in reasons.items()])
    if grants := grant_advice.helping(audited):
        yield f"{grant_advice.HEADING}:"
        yield _listed([f"- {shown(sql)} {said(why)}" for sql, why in grants])
    if audited.aside:
        yield "### Put aside"
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
