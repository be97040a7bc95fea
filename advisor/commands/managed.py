"""Checks the parameters that documents declare for managed services, and words the findings for these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.analysis.engine import run_rules
from advisor.catalog.load import load
from advisor.verdict.managed import judge_managed, noun
from advisor.verdict.settings import Settings
from rules import all_rules
from rules.core.context import RuleContext

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from advisor.core.model import AbsentPart, Action, Finding, Target
    from advisor.facts import Host
    from advisor.verdict.declared import DeclaredSet, ProviderParameter
    from advisor.verdict.formula import Instance
    from rules.core.rule import Rule
    from rules.policy.house_rule import HouseRule

# Families about the files, directories and the system of a host, which the provider owns, and about comments.
SILENT_FAMILIES = frozenset({"STO", "SUP", "SYS"})
# The only rules about lines of option files that also make sense for parameters.
LINE_RULES = frozenset({"deprecated-option", "duplicate-option"})
# The provider decides these; RDS turns doublewrite off where its storage writes whole pages.
SILENT_RULES = frozenset({"zero-server-id", "no-doublewrite"})


def managed_findings(
    declared: DeclaredSet,
    target: Target,
    rules: Sequence[Rule],
    host: Host | AbsentPart,
    house: tuple[HouseRule, ...] | AbsentPart,
    *,
    parameters: Mapping[str, ProviderParameter] | None = None,
    instance: Instance | None = None,
) -> list[Finding]:
    """Return the findings in the parameters of a managed service.

    `parameters` is the provider's list from another document, `instance` the machine that formulas are evaluated for.
    """
    catalog = load(target)
    verdict = judge_managed(declared, catalog, parameters, instance)
    settings = Settings.from_file(verdict.file)
    context = RuleContext(target, catalog, settings, verdict.file, host=host, house=house)
    context.parts["parameters"] = verdict.problems
    chosen = [*rules, *_parameter_rules(rules)]
    found = run_rules(context, [rule for rule in chosen if _makes_sense(rule)]).findings
    return [_in_its_terms(finding, declared, target) for finding in found]


def _parameter_rules(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules about parameters if all rules of option files are run: lint imports them only for documents."""
    there = {rule.code for rule in rules}
    return [r for r in all_rules() if r.needs == ("parameters",) and r.code not in there] if "OPT001" in there else []


def _makes_sense(rule: Rule) -> bool:
    if rule.family == "OPT":
        return rule.name in LINE_RULES
    if rule.family == "OPT":
        return rule.name in LINE_RULES
    return rule.family not in SILENT_FAMILIES and rule.name not in SILENT_RULES


def _in_its_terms(finding: Finding, declared: DeclaredSet, target: Target) -> Finding:
    """Return the finding in the terms of the document: a line of it instead of one of an option file."""
    help_ = finding.help
    written = re.fullmatch(r"write ([\w.-]+) = (.+)", help_)
    if written:
        help_ = f"write {line_of(written[1], plain_value(written[2]), declared.notation)}"
        if any(action.restart for action in finding.actions):
            help_ += "; it takes effect at the next reboot"
    actions = tuple(_action(action, declared) for action in finding.actions)
    label = noun(target)
    message = finding.message.replace("in [mysqld]", f"as a {label}").replace("[mysqld]", declared.kind)
    return finding._replace(help=help_, message=message, group=None, fix=None, actions=actions)


def _action(action: Action, declared: DeclaredSet) -> Action:
    if action.option_line is None:
        return action
    name, _, value = action.option_line.partition(" = ")
    return action._replace(option_line=line_of(name, plain_value(value), declared.notation))


def plain_value(value: str) -> str:
    """Return a value as services take it: sizes as a number of bytes, booleans as 1 and 0."""
    size = re.fullmatch(r"(\d+)([KMGTPE])", value)
    if size:
        return str(int(size[1]) << 10 * ("KMGTPE".index(size[2]) + 1))
    return {"ON": "1", "OFF": "0"}.get(value, value)


def line_of(name: str, value: str, notation: str) -> str:
    """Return how a document of this notation sets the parameter to the value."""
    if notation == "terraform":
        return f'value = "{value}" for {name}'
    if notation == "json":
        return f'"{value}" as the value of {name}'
    if notation in ("cloudformation", "yaml", "ansible"):
        return f'{name}: "{value}"'
    return f"{name} = {value}"
