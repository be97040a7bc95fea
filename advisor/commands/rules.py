"""`mycnf rules`: lists every rule, with the facts it needs."""

from __future__ import annotations

from advisor.core import errors
from advisor.report import plural, wrap
from advisor.report.findings_json import dumps
from advisor.report.formats import by_hand
from advisor.report.output import write
from rules import all_rules
from rules.core import EVERY

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from rules.core import Rule

END = "mycnf explain CODE explains why, with the evidence."


def run(args: argparse.Namespace) -> int:
    """List the rules by code, as text, JSON, or Markdown with everything that explain prints."""
    rules = all_rules()
    own = {
        "text": lambda: _text(rules),
        "json": lambda: dumps({"version": 1, "rules": [fields(r) for r in rules]}),
        "markdown": lambda: _render_markdown(rules),
    }
    write(by_hand("rules", args.format, own), args.output)
    return errors.OK


def _render_markdown(rules: list[Rule]) -> str:
    from advisor.report.rules import reference
    from rules.core.areas import all_evidence

    return reference(rules, all_evidence())


def fields(rule: Rule) -> dict[str, Any]:
    """Return a rule as JSON data, with the field names of the documented format."""
    return {
        "code": rule.code,
        "name": rule.name,
        "family": rule.family,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "summary": rule.summary,
        "targets": [str(span) for span in rule.targets],
        "needs": list(rule.needs),
        "evidence": list(rule.evidence),
        "probe": rule.probe,
        "fix": rule.fix,
    }


def _text(rules: list[Rule]) -> str:
    width = max(len(r.name) for r in rules)
    rows = [f"{r.code}  {r.name:<{width}}  {r.severity.value:<7}  {_conditions(r)}".rstrip() for r in rules]
    head = (
        f"{plural(len(rules), 'rule')}: code, name, usual severity, what it needs besides option files, and the only "
        "servers that it is for"
    )
    return "\n".join([*wrap(head).split("\n"), "", *rows, "", END]) + "\n"


def _conditions(rule: Rule) -> str:
    """Return what a rule needs and, if it is not for all servers, which it is for."""
    from advisor.report.rules import targets

    only = () if rule.targets == EVERY else (targets(rule),)
    return ", ".join([*rule.needs, *only])
