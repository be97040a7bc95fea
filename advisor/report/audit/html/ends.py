"""The parts of a page behind its findings: what is fine, what wasn't looked at, what was put aside, and the facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import __version__
from advisor.report.audit import fact_lines, grant_advice
from advisor.report.audit.html.memory import bars
from advisor.report.audit.text import unseen
from advisor.report.render.markup import Html, code, joined, listed, tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.report.audit.audited import Audited

MOST = 100  # rows of a list
FILES = 40


def since(audited: Audited) -> Html:
    """What came of an earlier audit."""
    if audited.since is None:
        return Html("")
    from advisor.report.audit.since import rows, title

    told = [(name, words) for name, words in rows(audited.since)]
    return joined(
        [tag("p", title(audited.since, audited.facts.taken_at)), _pairs(told) or tag("p", "Nothing has changed.")]
    )


def fine(audited: Audited) -> Html:
    """What was looked at and is as it should be, with the numbers."""
    return _pairs((one.part, one.words) for one in audited.fine)


def unlooked(audited: Audited) -> Html:
    """What could not be looked at, by what it would need."""
    rows = _cut([joined([", ".join(what), ": ", why]) for why, what in unseen(audited).items()])
    grants = [joined([code(sql), " ", why]) for sql, why in grant_advice.helping(audited)]
    return joined([rows, tag("p", f"{grant_advice.HEADING}:"), listed("ul", grants)]) if grants else rows


def aside(audited: Audited) -> Html:
    """What somebody put aside, each with the reason."""
    return _cut([joined([code(f.code), " ", code(f.canonical or f.name), f": {why}"]) for f, why in audited.aside])


def facts(audited: Audited) -> Html:
    """Server, host, memory, storage and workload."""
    server = audited.facts.server
    managed = f"managed by {server.managed}" if server.managed else ""
    about = ", ".join(part for part in (server.version, server.version_comment, server.vendor, managed) if part)
    files = audited.facts.files
    paths = [copy.path for copy in files.files] if files else []
    more = " and more" if len(paths) > FILES else ""
    named = [("Option files", joined([joined(map(code, paths[:FILES]), ", "), more]))] if paths else []
    return joined([_pairs([("Server", about), *fact_lines.rows(audited), *named]), bars(audited.known)])


def version(audited: Audited) -> str:
    """Who says all this: the version, and how many rules were asked."""
    asked = f"{len(audited.asked):,} rules asked for {audited.known.target.label}" if audited.asked else "no rule asked"
    return f"mycnf {__version__} · {asked} · secrets are masked"


def _pairs(rows: Iterable[tuple[str, str]]) -> Html:
    told = [tag("div", tag("dt", name), tag("dd", words)) for name, words in rows]
    return tag("dl", *told, class_="facts") if told else Html("")


def _cut(rows: list[Html]) -> Html:
    more = [joined([f"{len(rows) - MOST:,} more"])] if len(rows) > MOST else []
    return listed("ul", [*rows[:MOST], *more])
