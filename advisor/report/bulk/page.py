"""Many snapshots as one page: the rules to filter and sort, each with servers for example, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import __version__
from advisor.core.model import Severity
from advisor.report.audit.html.controls import controls
from advisor.report.audit.html.findings import badge
from advisor.report.bulk.tables import by_server, by_version, summary, title, unread
from advisor.report.document import holds, plain
from advisor.report.render.html import shown_block
from advisor.report.render.markup import Html, code, listed, tag
from advisor.report.render.page import document, section
from advisor.report.words import plural
from rules import all_rules

if TYPE_CHECKING:
    from advisor.report.bulk.tally import Rule, Tally

ORDERS = (("", "weight"), ("servers", "servers"), ("code", "code"))


def report(tally: Tally) -> str:
    """The whole page, whose size doesn't depend on how many snapshots there are."""
    rules = tally.rules
    summaries = {rule.code: rule.summary for rule in all_rules()}
    rows = [_rule(rule, summaries.get(rule.code, "")) for rule in rules]
    counts = {s: sum(rule.severity == s for rule in rules) for s in Severity}
    found = [controls(counts, ORDERS, "rules"), tag("ul", *rows, id="list")] if rows else []
    tables = (by_server(tally), by_version(tally), unread(tally))
    parts = [
        section("rules", "By rule", *found),
        *(section(f"sheet-{n}", plain(s.title), *map(shown_block, s.blocks)) for n, s in enumerate(tables) if holds(s)),
    ]
    head = [tag("p", summary(tally), class_="about")]
    foot = f"mycnf {__version__} · each snapshot counts as a server · secrets are masked"
    return document(title(tally), head, parts, foot)


def _rule(rule: Rule, words: str) -> Html:
    on = f"on {plural(rule.servers, 'server')}, {plural(rule.findings, 'finding')}"
    examples = listed("ul", [_example(*one) for one in rule.examples])
    left = rule.servers - len(rule.examples)
    more = [tag("p", f"and {left:,} more", class_="fine-print")] if left > 0 else []
    return tag(
        "li",
        tag("h3", badge(rule.severity), " ", code(rule.code), f" {rule.name} ", tag("span", on, class_="sure")),
        *([tag("p", words)] if words else []),
        tag("details", tag("summary", f"Servers with {rule.code}"), examples, *more),
        class_=f"finding {rule.severity}",
        data_severity=rule.severity,
        data_code=rule.code,
        data_servers=str(rule.servers),
    )


def _example(server: str, about: str) -> Html:
    return tag("span", code(server), " · ", code(about)) if about else code(server)
