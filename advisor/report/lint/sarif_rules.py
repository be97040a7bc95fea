"""What SARIF says of a rule, and how it writes a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.core.model import Confidence, Severity
from advisor.redaction.secrets import escape_text
from advisor.report.render.markdown_text import prose
from rules import find_rule

if TYPE_CHECKING:
    from rules.core.rule import Rule

# The words that code scanning sorts alerts by.
PRECISION = {
    Confidence.CERTAIN: "very-high",
    Confidence.MEASURED: "high",
    Confidence.LIKELY: "medium",
    Confidence.OPINION: "low",
}
PROBLEM = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}


def message(text: str) -> dict[str, str]:
    """A message in plain text; what would be a placeholder or a link in it is written so that it is none."""
    lines = (escape_text(line) for line in text.split("\n"))
    return {"text": _literal("\n".join(lines)).replace("](", "] (")}


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def descriptor(code: str, name: str) -> dict[str, Any]:
    """The rule as its own documentation has it; a rule of a team's own configuration has a code and a name alone."""
    rule = find_rule(code)
    if rule is None:
        return {"id": escape_text(code), "name": escape_text(name)}
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": message(rule.summary),
        "fullDescription": message(rule.docs.why),
        "help": {**message(_help(rule)), "markdown": _literal(_help_in_markdown(rule))},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {
            "confidence": rule.confidence.value,
            "precision": PRECISION[rule.confidence],
            "problem.severity": PROBLEM[rule.severity],
            "tags": [rule.family],
            "evidence": list(rule.evidence),
        },
    }


def _help(rule: Rule) -> str:
    return "\n\n".join(f"{title}: {text}" for title, text in _parts(rule))


def _help_in_markdown(rule: Rule) -> str:
    return "\n\n".join(f"**{title}**: {prose(text)}" for title, text in _parts(rule))


def _parts(rule: Rule) -> list[tuple[str, str]]:
    docs = rule.docs
    parts = [
        ("What happens", docs.why),
        ("How to fix", docs.fix + (" It needs a restart." if docs.restart else "")),
        ("Risk", docs.risk),
        ("Exceptions", docs.exceptions),
        ("More", f"mycnf explain {rule.code}"),
    ]
    return [(title, text) for title, text in parts if text]
