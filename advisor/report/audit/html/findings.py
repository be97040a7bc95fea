"""The findings of a page, each in three lengths: with its evidence, with the names of it, and on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence
from advisor.redaction.secrets import redact_text
from advisor.report.audit.html.evidence import names, passages
from advisor.report.audit.ticket_findings import Forms
from advisor.report.document import Code, Copy, parts
from advisor.report.finding import place, setting, sure, to_do
from advisor.report.render.markup import Html, code, joined, tag
from advisor.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.core.model import Finding, Severity
    from advisor.report.document import Words
    from rules.core.rule import Rule

SIGNS = {"error": "✖", "warning": "▲", "note": "●"}  # as in the app: no severity is told by its colour alone
VALUE = 300  # characters of a setting
BRIEF = 160  # characters of a finding's words where one line must do
STATEMENT = 4_000  # characters of a statement or line to copy, which is whole or not there


def forms(findings: Sequence[Finding], rules: Mapping[str, Rule]) -> list[Forms]:
    """All of them; evidence and rules are told in full once, and then pointed at."""
    cited: set[str] = set()
    told: set[str] = set()
    return [_forms(order, f, rules, cited, told) for order, f in enumerate(findings, 1)]


def _forms(order: int, f: Finding, rules: Mapping[str, Rule], cited: set[str], told: set[str]) -> Forms:
    head = [*_head(f), actions(f), *_here(f)]
    evidence = [tag("h4", "Evidence"), passages(f.evidence, cited)] if f.evidence else []
    rule = _rule(rules[f.code]) if f.code in rules and f.code not in told else Html("")
    told.add(f.code)
    more = [tag("details", tag("summary", f"Why: {_topics(f)}"), *evidence, rule)] if evidence or rule else []
    named = [tag("p", "Evidence: ", names(f.evidence), class_="fine-print")] if f.evidence else []
    return Forms(_item(order, f, *head, *more), _item(order, f, *head, *named), _item(order, f, *_brief(f)))


def badge(severity: Severity | str) -> Html:
    """The severity as a sign and a word."""
    word = str(severity)
    return tag("span", tag("span", SIGNS[word], aria_hidden="true"), f" {word}", class_=f"badge {word}")


def anchor(order: int) -> str:
    """The name of a finding's place on the page, by its number from 1."""
    return f"finding-{order}"


def _setting(f: Finding) -> str:
    words = setting(f)
    return words if len(words) <= VALUE else f"{words[: VALUE - 1]}…"


def _item(order: int, f: Finding, *inside: str) -> Html:
    return tag(
        "li",
        *inside,
        class_=f"finding {f.severity.value}",
        id=anchor(order),
        data_severity=f.severity.value,
        data_code=f.code,
        data_confidence=str(list(Confidence).index(f.confidence)),
        data_option=f.canonical or f.option or "",
    )


def _head(f: Finding) -> Iterator[Html]:
    yield tag("h3", badge(f.severity), " ", code(f.code), " ", f.name, " ", tag("span", sure(f), class_="sure"))
    about = [code(words) for words in (_setting(f), place(f.location)) if words]
    if about:
        yield tag(
            "p",
            joined(about, " in " if len(about) > 1 and f.location and not f.location.line else " at "),
            class_="about",
        )
    yield tag("p", f.message, class_="message")


def _here(f: Finding) -> Iterator[Html]:
    if f.local:
        yield tag("p", tag("strong", "Measured here"), f" on {f.local.began_at[:10]}: {f.local.words}", class_="local")


def _topics(f: Finding) -> str:
    return f"{', '.join(f.evidence)}, {f.code}" if f.evidence else f.code


def _rule(rule: Rule) -> Html:
    """What the rule says for itself."""
    docs = rule.docs
    parts = [
        ("What happens", docs.why),
        ("Exceptions", docs.exceptions),
        ("Sources disagree", docs.disagree),
        ("Reconsider when", docs.reconsider_when),
        ("Measure it here", f"mycnf probe {rule.probe}" if rule.probe else ""),
    ]
    rows = [tag("div", tag("dt", name), tag("dd", words)) for name, words in parts if words]
    return joined([tag("h4", f"Rule {rule.code}"), tag("p", rule.summary), tag("dl", *rows, class_="rule")])


def _brief(f: Finding) -> Iterator[Html]:
    about = _setting(f) or place(f.location)
    words = f.message if len(f.message) <= BRIEF else f"{f.message[: BRIEF - 1]}…"
    yield tag(
        "p", badge(f.severity), " ", code(f.code), " ", *([code(about)] if about else []), f": {words}", class_="brief"
    )


def actions(f: Finding) -> Html:
    """The finding's actions in their order; its help where there is none to carry out."""
    rows = [tag("div", tag("dt", name), tag("dd", _mixed(words))) for name, words in to_do(f)]
    return tag("dl", *rows, class_="actions") if rows else Html("")


def _mixed(words: Words) -> Html:
    """Words of which some are names or to be copied."""
    return joined(_part(part) for part in parts(words))


def _part(part: str) -> str:
    if not isinstance(part, Copy):
        return code(part) if isinstance(part, Code) else part
    if len(part) > STATEMENT:
        return f"{plural(len(part), 'character')}, too long for a page: mycnf audit --format json has them"
    return tag("code", redact_text(part).text, class_="copy")
