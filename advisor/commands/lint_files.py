"""Checks files in one run: the plan for each, by its configuration, and the results."""

from __future__ import annotations

from advisor.analysis import run_rules, select_rules, sort_by_place
from advisor.catalog import load
from advisor.catalog.targets import names_patch, parse_target
from advisor.commands.read_files import folder_of, on_platform, read_carrier, read_resolved, replace_stdin, require_root
from advisor.redaction import redact_text
from advisor.report import CheckedFile
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules import file_rules, rule_modules_for
from rules.core.context import NO_HOST, NO_HOUSE, RuleContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from advisor.carriers.document import Carrier
    from advisor.catalog import Catalog
    from advisor.config.read import Configuration
    from advisor.core.model import AbsentPart, Finding, Target
    from advisor.facts import Host
    from advisor.optionfile.lines import ResolvedFiles
    from advisor.verdict import LineVerdict
    from advisor.verdict.declared import ProviderParameter
    from rules.core import Rule
    from rules.policy.house_rule import HouseRule

UNREAD_GROUP = "unread-group"
# Rules about lines of any group, which have checked these lines already.
GROUP_INDEPENDENT_RULES = frozenset(
    (
        *("syntax-error", "option-outside-group", "duplicate-option", "server-option-in-client-group", "escaped-path"),
        *("ignored-option-file", "include-problem", "instances-share-place", "plaintext-secret", UNREAD_GROUP),
    )
)
SUPPRESSION = "mycnf:"  # start of a suppression comment


class LintPlan:
    """How files with the same configuration are checked: rules, targets and host, merged with the command line."""

    __slots__ = ("_chosen", "_concerned", "_house", "_parameters", "_patches", "args", "config", "host", "targets")

    def __init__(self, args: argparse.Namespace, config: Configuration | None = None) -> None:
        self.args = args
        self.config = config
        self.host = _host(args)
        self._parameters: Mapping[str, ProviderParameter] | None = None
        self._house = config is not None and config.house is not None
        self._chosen = None if self._by_options() else select_rules(args.select, args.ignore)
        self.targets = [parse_target(t) for t in args.target or ()]
        self._patches = {parse_target(t) for t in args.target or () if names_patch(t)}
        self._concerned: dict[tuple[Target, tuple[str, ...] | None], list[Rule]] = {}

    def _by_options(self) -> bool:
        return self.host is NO_HOST and not self.args.select and not self.args.ignore

    @property
    def rules(self) -> list[Rule]:
        """Return the rules that are run on every file."""
        return self._rules(None)

    @property
    def rules_of_services(self) -> list[Rule]:
        """Return the rules that are run on parameters of managed services; --select and --ignore decide about all."""
        from rules import parameter_rules

        return self._chosen if self._chosen is not None else [*self.rules, *parameter_rules()]

    @property
    def rules_with_memory(self) -> list[Rule]:
        """Return the rules that are run where a document sets the memory of its servers."""
        return self._chosen if self._chosen is not None else select_rules(self.args.select, self.args.ignore)

    def rules_for(self, target: Target, lines: Mapping[str, LineVerdict] | None = None) -> list[Rule]:
        """Return the rules that apply to the target.

        With the `lines` in effect in a file, by option, rules that cannot have findings are left out and not imported.
        """
        modules = None if lines is None else rule_modules_for(lines, target)
        key = target, modules
        if key not in self._concerned:
            self._concerned[key] = [rule for rule in self._rules(modules) if rule.concerns(target)]
        return self._concerned[key]

    def _rules(self, modules: tuple[str, ...] | None) -> list[Rule]:
        return file_rules(house=self._house, modules=modules) if self._chosen is None else self._chosen

    def catalog(self, target: Target) -> Catalog:
        """Return the target's catalog; if no patch was named, any vendor's build may be meant."""
        return load(target, any_build=target._replace(platform="") not in self._patches)

    def on_platform(self, target: Target, resolved: ResolvedFiles) -> Target:
        """Return the target on the platform of --platform, else of the paths in the files."""
        return on_platform(target, self.args.platform, resolved, full_version=target in self._patches)

    @property
    def parameters(self) -> Mapping[str, ProviderParameter] | None:
        """Return the provider's list of --parameters by name; raises MycnfError if it cannot be read."""
        path = getattr(self.args, "parameters", None)
        if path and self._parameters is None:
            from advisor.commands.managed import read_parameters

            self._parameters = read_parameters(path)
        return self._parameters

    @property
    def house(self) -> tuple[HouseRule, ...] | AbsentPart:
        """Return the house rules of the configuration."""
        return NO_HOUSE if self.config is None or self.config.house is None else self.config.house


class LintResult:
    """One file, checked for one target: the findings, the lines read, and the rules that ran.

    `skipped` are the codes of the rules that lacked a fact, None if they were not recorded.
    """

    __slots__ = ("_skipped", "checked", "plan", "resolved")

    def __init__(
        self, checked: CheckedFile, resolved: ResolvedFiles, plan: LintPlan, skipped: Iterable[str] | None = None
    ) -> None:
        self.checked = checked
        self.resolved = resolved
        self.plan = plan
        self._skipped = None if skipped is None else frozenset(skipped)

    @property
    def ran(self) -> frozenset[str]:
        """Return the codes of the rules that ran, including those not imported for lack of their options.

        A selection has rules about servers too. A described host may lack the fact that a rule needs.
        """
        target = self.checked.target
        rules = self.plan.rules_of_services if target.is_managed else self.plan.rules_for(target)
        there = {"findings"} if self.plan.house is NO_HOUSE else {"findings", "house"}
        there |= {"parameters"} if target.is_managed else set()
        there |= {"host"} if self._skipped is not None and self.plan.host is not NO_HOST else set()
        able = (r.code for r in rules if r.concerns(target) and there.issuperset(r.needs))
        return frozenset(able) - (self._skipped or frozenset())

    def with_fields(self, **fields: Any) -> LintResult:
        """Return the result with other fields of `CheckedFile`."""
        return LintResult(self.checked._replace(**fields), self.resolved, self.plan, self._skipped)


def _host(args: argparse.Namespace) -> Host | AbsentPart:
    if args.ram is args.cpus is args.disk is args.host_tar is None:
        return NO_HOST
    from advisor.commands.connection import declared_host

    return declared_host(args)


def make_plans(paths: Sequence[str], args: argparse.Namespace) -> list[LintPlan]:
    """Return the plan for each path, one per configuration; raises MycnfError if one of them or --root is invalid."""
    require_root(args)
    if args.isolated or args.config:
        return [_make_plan(args.config, args)] * len(paths)
    from advisor.config import find_configuration

    folders = [folder_of(args.stdin_filename if path == "-" else path) for path in paths]
    configurations = {folder: find_configuration(folder) for folder in dict.fromkeys(folders)}
    plans = {config: _make_plan(config, args) for config in dict.fromkeys(configurations.values())}
    return [plans[configurations[folder]] for folder in folders]


def _make_plan(config: str | None, args: argparse.Namespace) -> LintPlan:
    if config is None and not (args.isolated and args.baseline):
        return LintPlan(args)
    from advisor.commands import apply_config
    from advisor.config.read import read_configuration

    apply_config.refuse_contradictions(args)
    if config is None:
        return LintPlan(args)
    read_ = read_configuration(config)
    apply_config.configured_root(args, read_)  # a wrong one is reported
    plan = LintPlan(apply_config.merge_arguments(args, read_), read_)
    apply_config.warn_unused_house_rules(args, read_, plan.rules)
    apply_config.warn_ended(read_)
    return plan


def lint_path(path: str, plan: LintPlan, texts: dict[str, bytes] | None = None) -> list[LintResult]:
    """Check one FILE of the command line for each of the plan's targets; raises MycnfError if it cannot be read.

    `texts` holds the text of stdin by its name, if it was read already.
    """
    if path == "-" and texts:
        name, given = plan.args.stdin_filename, texts
    else:
        (name,), given = replace_stdin([path], plan.args.stdin_filename)
    carrier = read_carrier(name, given, plan.args.root)
    if carrier is not None:
        return _lint_carrier(carrier, plan)
    root = plan.args.root
    return [lint_file(name, target, plan, given) for target in plan.targets or [_assume_target(name, root, given)]]


def _lint_carrier(carrier: Carrier, plan: LintPlan) -> list[LintResult]:
    from advisor.commands.carrier_texts import resolved_text
    from advisor.commands.carriers import check_carrier

    resolved = resolved_text(carrier)
    rules = plan.rules_with_memory if any(one.memory for one in carrier.sets) else plan.rules
    rules = plan.rules_of_services if any(one.declared for one in carrier.sets) else rules
    done = check_carrier(carrier, plan.targets, rules, plan.host, plan.house, parameters=plan.parameters)
    return [LintResult(checked, resolved, plan) for checked in done]


def lint_file(path: str, target: Target, plan: LintPlan, given: Mapping[str, bytes]) -> LintResult:
    """Judge a file with its includes for the target and run the rules; raises OptionFileError if it cannot be read."""
    resolved = read_resolved([path], target, plan.args.root, given)
    target = plan.on_platform(target, resolved)
    if target.is_managed:
        from advisor.commands.managed import declared_lines, managed_findings

        declared, rules = declared_lines(resolved, target), plan.rules_of_services
        made = managed_findings(declared, target, rules, plan.host, plan.house, parameters=plan.parameters)
        found = tuple(sort_by_place(made))
        return LintResult(CheckedFile(path, target, found, _sources(resolved, found)), resolved, plan)
    from rules.optionfile.structure import unread_groups

    catalog = plan.catalog(target)
    verdict = judge_file(resolved, catalog)
    known = RuleContext(target, catalog, Settings.from_file(verdict), verdict, host=plan.host, house=plan.house)
    done = run_rules(known, plan.rules_for(target, verdict.effective))
    unread = [(f.location.path, f.group or "") for f in done.findings if f.name == UNREAD_GROUP and f.location]
    unread += [(path, group.name) for path, group in unread_groups(known) if group.of_multi]
    more = _findings_as_if_read(unread, known, plan) if unread else []
    findings = tuple(sort_by_place((*done.findings, *more)))
    checked = CheckedFile(path, target, findings, _sources(resolved, findings))
    return LintResult(checked, resolved, plan, [s.code for s in done.skipped])


def _findings_as_if_read(unread: list[tuple[str, str]], known: RuleContext, plan: LintPlan) -> list[Finding]:
    """Return the findings in groups that the target does not read, as if their options were in [mysqld].

    The groups are pairs of a file's path and a name.
    """
    from rules.optionfile.groups import findings_if_read, script_meant_by, with_group_read

    findings: list[Finding] = []
    for path, name in unread:
        if script_meant_by(name.lower()):
            continue
        verdict = judge_file(with_group_read(known.file_verdict.resolved, path, name), known.catalog)
        as_read = RuleContext(
            known.target, known.catalog, Settings.from_file(verdict), verdict, host=plan.host, house=plan.house
        )
        rules = [
            rule for rule in plan.rules_for(known.target, verdict.effective) if rule.name not in GROUP_INDEPENDENT_RULES
        ]
        findings += findings_if_read(run_rules(as_read, rules).findings, known.file_verdict.resolved, path, name)
    return findings


def _assume_target(path: str, root: str | None, given: dict[str, bytes]) -> Target:
    from advisor.commands.guess_target import assume_target

    return assume_target([path], root, given)


def _sources(resolved: ResolvedFiles, findings: tuple[Finding, ...]) -> dict[tuple[str, int], str]:
    wanted = {(f.location.path, f.location.line) for f in findings if f.location}
    lines = (((f.path, line.number), line.text) for f in resolved.files for line in f.lines)
    return {place: redact_text(text).text for place, text in lines if place in wanted}


def has_comments(results: Sequence[LintResult]) -> bool:
    """Whether comments in the files suppress findings."""
    return any(SUPPRESSION in line.text for result in results for file in result.resolved.files for line in file.lines)


def has_ignores(results: Sequence[LintResult]) -> bool:
    """Whether the configuration excludes findings of some files."""
    return any(result.plan.config is not None and result.plan.config.per_file for result in results)
