"""Check files as one run does: the plan for each, by its configuration, and what came of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from advisor.analysis.engine import by_place, choose
from advisor.analysis.engine import run as run_rules
from advisor.catalog.load import load
from advisor.catalog.targets import names_patch, parse_target
from advisor.commands.read_files import read_carrier, read_resolved, replace_stdin
from advisor.redaction import secrets
from advisor.report import Checked
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules import file_rules, rule_modules_for
from rules.core.context import NO_HOST, NO_HOUSE, RuleContext

if TYPE_CHECKING:
    import argparse
    from collections.abc import Container, Iterable, Mapping, Sequence

    from advisor.carriers.sets import Carrier
    from advisor.catalog.load import Catalog
    from advisor.config.read import Configuration
    from advisor.core.model import Absent, Finding, Target
    from advisor.facts import Host
    from advisor.optionfile.lines import Resolved
    from rules.core.rule import Rule
    from rules.policy.house_rule import HouseRule

UNREAD_GROUP = "unread-group"
# Rules about lines of any group: they have spoken of these lines already.
GROUP_INDEPENDENT_RULES = frozenset(
    (
        *("syntax-error", "option-outside-group", "duplicate-option", "server-option-in-client-group", "escaped-path"),
        *("ignored-option-file", "include-problem", "plaintext-secret", UNREAD_GROUP),
    )
)
SUPPRESSION = "mycnf:"  # how a comment begins that asks to leave a finding out


class LintPlan:
    """How files are checked that share a configuration: its rules, targets and host, the command line put over it."""

    __slots__ = ("_chosen", "_concerned", "_house", "_patches", "args", "config", "host", "targets")

    def __init__(self, args: argparse.Namespace, config: Configuration | None = None) -> None:
        self.args = args
        self.config = config
        self.host = _host(args)
        self._house = config is not None and config.house is not None
        self._chosen = None if self._by_options() else choose(args.select, args.ignore)
        self.targets = [parse_target(t) for t in args.target or ()]
        self._patches = {parse_target(t) for t in args.target or () if names_patch(t)}
        self._concerned: dict[tuple[Target, tuple[str, ...] | None], list[Rule]] = {}

    def _by_options(self) -> bool:
        return self.host is NO_HOST and not self.args.select and not self.args.ignore

    @property
    def rules(self) -> list[Rule]:
        """The rules that are asked of every file."""
        return self._rules(None)

    def rules_for(self, target: Target, options: Container[str] | None = None) -> list[Rule]:
        """The rules that have something to say about the target.

        With the `options` that a file sets rules may be left out, and not even imported, that can't speak of it.
        """
        modules = None if options is None else rule_modules_for(options)
        key = target, modules
        if key not in self._concerned:
            self._concerned[key] = [rule for rule in self._rules(modules) if rule.concerns(target)]
        return self._concerned[key]

    def _rules(self, modules: tuple[str, ...] | None) -> list[Rule]:
        return file_rules(house=self._house, modules=modules) if self._chosen is None else self._chosen

    def catalog(self, target: Target) -> Catalog:
        """What the target knows; where no patch of it was named the file may be for any vendor's build."""
        return load(target, any_build=target not in self._patches)

    @property
    def house(self) -> tuple[HouseRule, ...] | Absent:
        """The house rules of the configuration."""
        return NO_HOUSE if self.config is None or self.config.house is None else self.config.house


class LintResult:
    """One file, checked for one target: what to report, the lines that were read, and the rules that looked."""

    __slots__ = ("_skipped", "checked", "plan", "resolved")

    def __init__(self, checked: Checked, resolved: Resolved, plan: LintPlan, skipped: Iterable[str] = ()) -> None:
        self.checked = checked
        self.resolved = resolved
        self.plan = plan
        self._skipped = frozenset(skipped)

    @property
    def ran(self) -> frozenset[str]:
        """The codes of the rules that looked, or would have, had the file set what they are about."""
        return frozenset(r.code for r in self.plan.rules_for(self.checked.target)) - self._skipped

    def with_fields(self, **fields: Any) -> LintResult:
        """The same with other findings, or whatever of `Checked` is named."""
        return LintResult(self.checked._replace(**fields), self.resolved, self.plan, self._skipped)


def make_plans(paths: Sequence[str], args: argparse.Namespace) -> list[LintPlan]:
    """The plan for each path: files that find the same configuration share one; MycnfError for a bad one."""
    from advisor.config import find_configuration

    if args.isolated or args.config:
        return [_make_plan(args.config, args)] * len(paths)
    folders = [_folder(args.stdin_filename if path == "-" else path) for path in paths]
    found = {folder: find_configuration(folder) for folder in dict.fromkeys(folders)}
    plans = {config: _make_plan(config, args) for config in dict.fromkeys(found.values())}
    return [plans[found[folder]] for folder in folders]


def _folder(path: str) -> str:
    try:
        return os.path.dirname(os.path.abspath(path))
    except OSError:  # the folder that we run in was removed, and stdin can be checked all the same
        return os.sep


def _make_plan(config: str | None, args: argparse.Namespace) -> LintPlan:
    if config is None and not (args.isolated and args.baseline):
        return LintPlan(args)
    from advisor.commands.apply_config import merge_arguments, refuse_contradictions, warn_unused_house_rules
    from advisor.config.read import read_configuration

    refuse_contradictions(args)
    if config is None:
        return LintPlan(args)
    read_ = read_configuration(config)
    plan = LintPlan(merge_arguments(args, read_), read_)
    warn_unused_house_rules(args, read_, plan.rules)
    return plan


def _host(args: argparse.Namespace) -> Host | Absent:
    if args.ram is args.cpus is args.disk is args.host_tar is None:
        return NO_HOST
    from advisor.commands.connection import declared_host

    return declared_host(args)


def lint_path(path: str, plan: LintPlan, texts: dict[str, bytes] | None = None) -> list[LintResult]:
    """Check one FILE of the command line for each of the plan's targets; MycnfError where it can't be read.

    `texts` holds the text that stands for stdin, by its name, where that was read already.
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
    done = check_carrier(carrier, plan.targets, plan.rules, plan.host, plan.house)
    return [LintResult(checked, resolved, plan) for checked in done]


def lint_file(path: str, target: Target, plan: LintPlan, given: Mapping[str, bytes]) -> LintResult:
    """Judge a file with its includes for the target and ask the rules; OptionFileError where it can't be read."""
    resolved = read_resolved([path], target, plan.args.root, given)
    catalog = plan.catalog(target)
    verdict = judge_file(resolved, catalog)
    known = RuleContext(target, catalog, Settings.from_file(verdict), verdict, host=plan.host, house=plan.house)
    done = run_rules(known, plan.rules_for(target, verdict.effective))
    unread = [f for f in done.findings if f.name == UNREAD_GROUP and f.location]
    more = _findings_as_if_read(unread, known, plan) if unread else []
    findings = tuple(by_place((*done.findings, *more)))
    checked = Checked(path, target, findings, _sources(resolved, findings))
    return LintResult(checked, resolved, plan, [s.code for s in done.skipped])


def _findings_as_if_read(unread: list[Finding], known: RuleContext, plan: LintPlan) -> list[Finding]:
    """What would be found in groups that the target doesn't read, had their options stood in [mysqld]."""
    from rules.optionfile.groups import as_main_group, judged_as_read

    found: list[Finding] = []
    for group in unread:
        name, path = group.group or "", group.location.path if group.location else ""
        verdict = judge_file(as_main_group(known.file_verdict.resolved, path, name), known.catalog)
        as_read = RuleContext(
            known.target, known.catalog, Settings.from_file(verdict), verdict, host=plan.host, house=plan.house
        )
        rules = [
            rule for rule in plan.rules_for(known.target, verdict.effective) if rule.name not in GROUP_INDEPENDENT_RULES
        ]
        found += judged_as_read(run_rules(as_read, rules).findings, known.file_verdict.resolved, path, name)
    return found


def _assume_target(path: str, root: str | None, given: dict[str, bytes]) -> Target:
    from advisor.commands.guess_target import assume_target

    return assume_target([path], root, given)


def _sources(resolved: Resolved, findings: tuple[Finding, ...]) -> dict[tuple[str, int], str]:
    wanted = {(f.location.path, f.location.line) for f in findings if f.location}
    lines = (((f.path, line.number), line.text) for f in resolved.files for line in f.lines)
    return {place: secrets.redact_text(text).text for place, text in lines if place in wanted}


def apply_suppressions(results: list[LintResult]) -> list[LintResult]:
    """The findings without those that comments in the files, or the configuration, ask to leave out."""
    if any(SUPPRESSION in line.text for result in results for file in result.resolved.files for line in file.lines):
        from advisor.commands.suppress_findings import apply_comments

        results = apply_comments(results)
    if any(result.plan.config is not None and result.plan.config.per_file for result in results):
        from advisor.commands.suppress_findings import apply_per_file_ignores

        results = apply_per_file_ignores(results)
    return results
