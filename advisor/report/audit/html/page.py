"""An audit as one page: what to do first, the findings to filter and sort, what wasn't looked at, and the facts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from advisor.core.model import Severity
from advisor.core.sizes import format_duration
from advisor.report.audit.html import ends
from advisor.report.audit.html.controls import controls
from advisor.report.audit.html.ends import measured
from advisor.report.audit.html.findings import actions, anchor, badge, forms
from advisor.report.audit.html.masking import masked
from advisor.report.audit.ticket_findings import first, fitted
from advisor.report.render.markup import Html, code, joined, tag
from advisor.report.render.page import document, section
from advisor.report.words import plural
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding
    from advisor.report import Page

ROOM = 600_000  # bytes of the findings: a page is to be opened by anybody, and sent by mail
ORDERS = (("", "weight"), ("severity", "severity"), ("code", "code"), ("confidence", "how sure"), ("option", "option"))


def report(audited: Audited, page: Page) -> str:  # noqa: ARG001 - every format is called alike
    """The whole page, below 1 MB; where findings would take more, the least important ones are told shorter."""
    audited = audited._replace(findings=tuple(map(masked, audited.findings)))
    parts = [
        section("since", "Since the earlier audit", ends.since(audited)),
        section("first", "Do first", _first(audited)),
        section("findings", "Findings", _findings(audited.findings)),
        section("measured", "Measured on this host", measured(audited.facts.probes)),
        section("fine", "Passed checks", ends.fine(audited)),
        section("unlooked", "Not looked at", ends.unlooked(audited)),
        section("aside", "Suppressed", ends.aside(audited)),
        section("facts", "Facts", ends.facts(audited)),
    ]
    return document(_title(audited), list(_head(audited)), parts, ends.version(audited))


def _title(audited: Audited) -> str:
    host = audited.facts.server.variables.get("hostname", "")
    return f"mycnf audit of {host}" if host else "mycnf audit"


def _head(audited: Audited) -> Iterator[Html]:
    about = audited.facts
    window = f" and a window of {about.workload.seconds:.0f} s" if about.workload else ""
    words = [audited.known.target.label, _when(about.taken_at)]
    words += [f"up {format_duration(about.server.uptime)}"] if about.server.uptime else []  # a text may leave it out
    yield tag("p", " · ".join(words), class_="about")
    if about.lost:
        yield tag("p", tag("strong", "The server was lost during the audit: "), about.lost, class_="lost")
    yield tag("p", *counts([f.severity for f in audited.findings]), class_="counts")
    statements = plural(about.statements, "statement")
    yield tag(
        "p", f"Read with {statements} in {about.seconds:.1f} s{window}; nothing was changed.", class_="fine-print"
    )


def counts(severities: Sequence[Severity]) -> Iterator[Html]:
    """A badge a severity with the number of its findings."""
    for severity in Severity:
        if severity in severities:
            yield tag("span", badge(severity), f" {severities.count(severity):,}", class_="count")
    if not severities:
        yield joined(["nothing found"])


def _when(taken_at: str) -> str:
    try:
        return f"{datetime.fromisoformat(taken_at).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (ValueError, OverflowError):
        return taken_at


def _first(audited: Audited) -> Html:
    """What presses, in the order of need, each step with a link to its finding."""
    places = {id(f): order for order, f in enumerate(audited.findings, 1)}
    steps = first(audited.findings)
    if steps:
        return tag("ol", *(_step(f, places[id(f)]) for f in steps), class_="steps")
    if audited.findings:
        return tag("p", "Nothing presses; what can be done stands with the findings.")
    found = "every check that could run passed" if audited.asked else "no rule was asked"
    return tag("p", f"No findings: {found}.")


def _step(f: Finding, order: int) -> Html:
    name = tag("a", code(f.code), f" {f.name}", href=f"#{anchor(order)}")
    return tag("li", tag("p", badge(f.severity), " ", name, f": {f.message}"), actions(f))


def _findings(findings: Sequence[Finding]) -> Html:
    if not findings:
        return Html("")
    told = fitted(forms(findings, {rule.code: rule for rule in all_rules()}), ROOM, size)
    short = told.named + len(told.lines) + told.without
    left = f", {plural(told.without, 'finding')} not at all" if told.without else ""
    words = f"To fit a page {plural(short, 'finding')} told shorter{left}: mycnf audit --format json has everything."
    rows = (Html(block) for block in (*told.blocks, *told.lines))
    counts = {severity: sum(f.severity is severity for f in findings) for severity in Severity}
    return joined(
        [controls(counts, ORDERS, "findings"), tag("ul", *rows, id="list"), *([tag("p", words)] if short else [])]
    )


def size(words: str) -> int:
    """Bytes of a piece of the page."""
    return len(words.encode())
