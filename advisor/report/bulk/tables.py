"""Many snapshots as a document: what to fix first, by rule, server and version, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import __version__
from advisor.core.model import Severity
from advisor.report import plural
from advisor.report.document import Code, Document, Entries, Entry, Items, Paragraph, Section, Table
from advisor.report.fleet import LEGEND, fixes, matrix

if TYPE_CHECKING:
    from advisor.report.bulk.counts import Rule, Tally
    from advisor.report.document import Words

ORDERS = (("", "weight"), ("servers", "servers"), ("code", "code"))


def document(tally: Tally) -> Document:
    """The whole report."""
    tables = (fix_first(tally), by_rule(tally), by_server(tally), by_area(tally), by_version(tally), unread(tally))
    return Document((title(tally),), (Paragraph(summary(tally), indent=2), *tables))


def page(tally: Tally) -> Document:
    """The report as a page, whose size doesn't depend on how many snapshots there are: rules to filter and sort."""
    from rules import all_rules

    summaries = {rule.code: rule.summary for rule in all_rules()}
    entries = tuple(_entry(rule, summaries.get(rule.code, "")) for rule in tally.rules)
    rules = Section("By rule", (Entries(entries, what="rules", orders=ORDERS),), name="rules")
    foot = f"mycnf {__version__} · each snapshot counts as a server · secrets are masked"
    return Document(
        (title(tally), summary(tally)),
        (fix_first(tally), by_area(tally), rules, by_server(tally), by_version(tally), unread(tally)),
        foot,
    )


def _entry(rule: Rule, words: str) -> Entry:
    """A rule with servers for example."""
    examples: tuple[Words, ...] = tuple(
        (Code(server), " · ", Code(about)) if about else (Code(server),) for server, about in rule.examples
    )
    left = rule.servers - len(rule.examples)
    servers = (Items(examples), Paragraph(f"and {left:,} more" if left > 0 else ""))
    return Entry(
        rule.severity,
        Severity(rule.severity),
        (Code(rule.code), f" {rule.name}"),
        (Paragraph(words), Section(f"servers with {rule.code}", servers, folded=True)),
        f"on {plural(rule.servers, 'server')}, {plural(rule.findings, 'finding')}",
        keys=(("code", rule.code), ("servers", str(rule.servers))),
    )


def title(tally: Tally) -> str:
    """`mycnf report of 10,000 snapshots`."""
    return f"mycnf report of {plural(tally.read + tally.broken, 'snapshot')}"


def summary(tally: Tally) -> str:
    """`9,998 read, 2 broken; 12 errors, 30 warnings; nothing found on 7; 3 findings in the baseline`."""
    broken = f", {tally.broken:,} broken" if tally.broken else ""
    lost = f", {tally.lost:,} incomplete" if tally.lost else ""
    finding_counts = [plural(tally.severities[s.value], s.value) for s in Severity if tally.severities[s.value]]
    found = "nothing new" if tally.suppressed else "nothing found"
    clean = [f"{found} on {plural(tally.clean, 'server')}"] if tally.clean else []
    known = [f"{plural(tally.suppressed, 'finding')} in the baseline"] if tally.suppressed else []
    counts = [", ".join(finding_counts)] if finding_counts else []
    return "; ".join([f"{tally.read:,} read{broken}{lost}", *counts, *clean, *known])


def fix_first(tally: Tally) -> Section:
    """The advice that most servers need."""
    return Section("Fix first", (fixes(tally.fixes, tally.read),), name="fix")


def by_rule(tally: Tally) -> Section:
    """How many servers each rule has findings on."""
    rows = tuple((r.severity, r.code, r.name, f"{r.servers:,}", f"{r.findings:,}") for r in tally.rules)
    return Section("By rule", (Table(("severity", "code", "rule", "servers", "findings"), rows, (3, 4)),))


def by_server(tally: Tally) -> Section:
    """The servers that need most."""
    shown = tally.worst
    rows = tuple(
        (Code(s.server), s.target, Code(s.path), f"{s.errors:,}", f"{s.warnings:,}", f"{s.notes:,}") for s in shown
    )
    left = tally.read - tally.clean - len(shown)
    more = f"{plural(left, 'more server')} with findings; --format jsonl and parquet have all" if left > 0 else ""
    heads = ("server", "target", "snapshot", "errors", "warnings", "notes")
    return Section("Servers that need most", (Table(heads, rows, (3, 4, 5), more),))


def by_area(tally: Tally) -> Section:
    """In which areas these servers have findings."""
    cells = matrix((server.server, server.areas) for server in tally.worst)
    return Section("Servers by area", (cells, Paragraph(LEGEND if tally.worst else "")), name="areas")


def by_version(tally: Tally) -> Section:
    """How many servers run each version."""
    counts = sorted(tally.versions.items(), key=lambda version: (-version[1], version[0]))
    rows = tuple((target, f"{count:,}") for target, count in counts)
    return Section("Versions", (Table(("target", "servers"), rows, (1,)),))


def unread(tally: Tally) -> Section:
    """What could not be read, and why."""
    left = tally.broken - len(tally.reasons)
    more = f"{left:,} more; stderr and --format jsonl name all" if left else ""
    rows = tuple((Code(path), why) for path, why in tally.reasons)
    return Section("Could not be read", (Table(("snapshot", "why"), rows, more=more),))
