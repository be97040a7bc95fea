"""House rules take precedence: advice of built-in rules that would violate them is removed."""

from __future__ import annotations

from advisor.core.model import Severity
from rules.policy.house_rule import house_rules_by_option, meets_rules, root_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Action, Finding
    from rules.core.context import RuleContext
    from rules.policy.house_rule import OptionHouseRules

FAMILY = "HOU"


def defer_to_house_rules(context: RuleContext, findings: Iterable[Finding]) -> list[Finding]:
    """The findings without advice that a house rule forbids.

    Findings about refused lines keep their advice, because the server would not start otherwise.
    """
    house = house_rules_by_option(context.house, context.catalog)
    return [_without_forbidden_advice(f, _rules_for(f, context, house), context) for f in findings]


def _rules_for(finding: Finding, context: RuleContext, house: dict[str, OptionHouseRules]) -> OptionHouseRules | None:
    option = context.catalog.get(finding.canonical) if finding.canonical else None
    return house.get(root_name(option)) if option else None


def _without_forbidden_advice(finding: Finding, asked: OptionHouseRules | None, context: RuleContext) -> Finding:
    if asked is None or finding.code.startswith(FAMILY) or finding.severity is Severity.ERROR:
        return finding
    if not _removes_required(finding, asked, context) and all(
        meets_rules(asked.rules, asked.option, value, context.catalog) for value in _advised_values(finding, context)
    ):
        return finding
    asks = "; ".join(r.requirement() for r in asked.rules)
    return finding._replace(help=f"the house rules for {asked.option.name} decide: {asks}", fix=None, actions=())


def _advised_values(finding: Finding, context: RuleContext) -> set[str]:
    """The values that the finding's fix and actions would set for its own option."""
    edits = finding.fix.edits if finding.fix else ()
    texts = {e.text for e in edits if e.text.strip() and "\n" not in e.text and e.text not in context.catalog.options}
    return texts.union(*(_action_values(action, finding.canonical or "") for action in finding.actions))


def _action_values(action: Action, option: str) -> set[str]:
    """The values that an action sets the option to, by its option line, its argument or its statement."""
    settings = [
        (action.option_line or "").partition(" = "),
        (action.argument or "").removeprefix("--").partition("="),
        (action.statement or "").removesuffix(";").split(" ", 2)[-1].partition(" = "),
    ]
    return {value.strip("'") for name, _, value in settings if name.replace("-", "_") == option}


def _removes_required(finding: Finding, asked: OptionHouseRules, context: RuleContext) -> bool:
    """Whether the advice is to remove the effective line of an option that the house rules require."""
    counts = context.file_verdict.effective.get(finding.canonical or "")
    here = counts is not None and finding.location is not None and counts.placed.line.number == finding.location.line
    removes = "remove the line" in finding.help or any(not e.text for e in (finding.fix.edits if finding.fix else ()))
    return here and removes and any(r.required for r in asked.rules)
