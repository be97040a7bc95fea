"""What SARIF says of a rule, and how it writes a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from advisor.model import Confidence, Severity
from advisor.redact import clean
from rules import find

if TYPE_CHECKING:
    from rules.registry import Rule

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
    lines = (clean(line) for line in text.split("\n"))
    plain = "\n".join(lines).replace("{", "{{").replace("}", "}}").replace("](", "] (")
    return {"text": plain}


def descriptor(code: str, name: str) -> dict[str, Any]:
    """The rule as its own documentation has it; a rule of a team's own configuration has a code and a name alone."""
    rule = find(code)
    if rule is None:
        return {"id": clean(code), "name": clean(name)}
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.docs.why},
        "help": {"text": _help(rule, "{}: {}"), "markdown": _help(rule, "**{}**: {}")},
        "defaultConfiguration": {"level": rule.severity.value},
        "properties": {
            "confidence": rule.confidence.value,
            "precision": PRECISION[rule.confidence],
            "problem.severity": PROBLEM[rule.severity],
            "tags": [rule.family],
            "evidence": list(rule.evidence),
        },
    }


def _help(rule: Rule, form: str) -> str:
    docs = rule.docs
    parts = [
        ("What happens", docs.why),
        ("How to fix", docs.fix + (" It needs a restart." if docs.restart else "")),
        ("Risk", docs.risk),
        ("Exceptions", docs.exceptions),
        ("More", f"mycnf explain {rule.code}"),
    ]
    return "\n\n".join(form.format(title, text) for title, text in parts if text)
