"""Checks the parameters that documents declare for managed services, and words the findings for these."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.analysis import run_rules
from advisor.catalog import load
from advisor.commands.carrier_texts import in_document_terms
from advisor.core.errors import print_notice
from advisor.core.model import AbsentPart, Location, format_size
from advisor.optionfile import groups_read, normalise
from advisor.verdict.declared import DeclaredOption, DeclaredSet, Instance, noun, service_settings
from advisor.verdict.managed import judge_managed
from rules.core.context import RuleContext
from rules.core.statements import service_value

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from advisor.core.model import Finding, Target
    from advisor.facts import Host
    from advisor.optionfile.lines import PlacedLine, ResolvedFiles
    from advisor.verdict.declared import ProviderParameter
    from advisor.verdict.managed import ManagedVerdict
    from advisor.verdict.outcome import FileVerdict
    from advisor.verdict.settings import Settings
    from rules.core import Rule
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
) -> list[Finding]:
    """Return the findings in the parameters of a managed service.

    `parameters` is the provider's list from another document. Formulas are evaluated for the memory and the processors
    of `host`.
    """
    catalog = load(target)
    instance = None if isinstance(host, AbsentPart) else Instance(host.usable_memory, _processors(host))
    verdict = judge_managed(declared, catalog, parameters, instance)
    _print_memory(declared, instance)
    settings = service_settings(verdict.file, target, declared.ranges or parameters or {}, instance)
    context = RuleContext(target, catalog, settings, verdict.file, host=host, house=house)
    context.parts["parameters"] = verdict.problems
    found = run_rules(context, [rule for rule in rules if _makes_sense(rule)]).findings
    return [_in_its_terms(finding, declared, target) for finding in found if _is_wanted(finding, verdict, settings)]


def managed_verdict(declared: DeclaredSet, target: Target, instance: Instance | None) -> FileVerdict:
    """Return how the service takes the parameters, with formulas evaluated for an instance, if it is known.

    The lines have no groups, as those of option files do.
    """
    _print_memory(declared, instance)
    verdict = judge_managed(declared, load(target), None, instance).file
    return verdict._replace(catalog=load(target), resolved=verdict.resolved._replace(files=()))


def _print_memory(declared: DeclaredSet, instance: Instance | None) -> None:
    if instance and instance.memory and any("DBInstanceClassMemory" in (one.value or "") for one in declared.options):
        print_notice(
            f"{declared.kind}: formulas are evaluated with {format_size(instance.memory)} of memory; the service "
            "reserves a part of it, so the real results are somewhat lower"
        )


def instance_of(args: argparse.Namespace) -> Instance | None:
    """Return what formulas read of the server that --ram, --cpus or --instance-class describe; None without them."""
    if args.ram is None and args.cpus is None:
        return None
    from advisor.collect.host.host import host_from_options

    host = host_from_options(ram=args.ram, cpus=args.cpus, disk=None, tar=None)
    return Instance(host.usable_memory, _processors(host))


def read_parameters(path: str) -> dict[str, ProviderParameter]:
    """Read a provider's list of parameters, by name; raises MycnfError for any other file."""
    from advisor.carriers.document import CarrierError, document_of
    from advisor.carriers.provider_lists import parameters_of
    from advisor.core.errors import MycnfError
    from advisor.optionfile import load as load_bytes

    document = document_of(load_bytes(path).data, path)
    try:
        parameters = parameters_of(document)
    except CarrierError:  # neither JSON nor YAML
        parameters = {}
    if not parameters:
        raise MycnfError(
            f"{path}: not a provider's list of parameters; give the JSON of aws rds "
            "describe-engine-default-parameters, az mysql flexible-server parameter list or gcloud sql flags list"
        )
    return parameters


def _is_wanted(finding: Finding, verdict: ManagedVerdict, settings: Settings) -> bool:
    """Whether the finding is about a value in the document.

    What the document does not set, or sets to an unknown value, may be the service's default, which can differ from the
    server's.
    """
    if finding.code.startswith("PAR"):
        return True
    if finding.canonical is None:
        return not finding.code.startswith("MEM") or settings.number("max_connections") is not None
    line = verdict.file.effective.get(finding.canonical)
    if line is None or line.placed.line.templated:
        return False
    refused = {problem.line.canonical for problem in verdict.problems}
    return finding.name != "deprecated-option" or finding.canonical not in refused


def declared_lines(resolved: ResolvedFiles, target: Target) -> DeclaredSet:
    """Return the lines of an option file as if they were parameters of the service."""
    groups = groups_read(target.base)
    placed = [at for at in resolved.options if (at.line.group or "").lower() in groups]
    return DeclaredSet("parameter group", target, tuple(_option_of_line(at) for at in placed))


def _option_of_line(at: PlacedLine) -> DeclaredOption:
    """Return the parameter that a line of an option file stands for; an option without a value is switched on."""
    line = at.line
    name = Location(at.path, line.number, line.column, line.number, line.name_end_column)
    value = Location(at.path, line.number, line.value_column, line.number, line.value_end_column)
    plain = normalise(line.name or "").removeprefix("loose_")
    given = None if line.templated else "1" if line.value is None else line.value
    return DeclaredOption(plain, given, name, value)


def _processors(host: Host) -> int | None:
    return None if host.usable_cpus is None else int(host.usable_cpus)


def _makes_sense(rule: Rule) -> bool:
    if rule.family == "OPT":
        return rule.name in LINE_RULES
    return rule.family not in SILENT_FAMILIES and rule.name not in SILENT_RULES


def _in_its_terms(finding: Finding, declared: DeclaredSet, target: Target) -> Finding:
    """Return the finding in the terms of the document: a line of it instead of one of an option file."""
    adapted = in_document_terms(finding, declared, lambda name, value: _service_value(name, value, target))
    help_ = adapted.help
    if help_ != finding.help and any(action.restart for action in finding.actions):
        help_ += "; it takes effect at the next reboot"
    if help_ == "plan to remove the line":
        help_ = f"plan to remove the {noun(target)}"
    message = finding.message.replace("in [mysqld]", f"as a {noun(target)}")
    message = message.replace("group [mysqld]", declared.kind).replace("[mysqld]", declared.kind)
    again = re.match(r"(Line \d+) sets the (?:option|same value) again", message)
    if again:  # the order of parameters does not count
        message = f"{again[1]} sets the same {noun(target)}."
    return adapted._replace(help=help_, message=message, group=None, fix=None)


def _service_value(name: str, value: str, target: Target) -> str:
    return service_value(target, load(target).get(name), value)
