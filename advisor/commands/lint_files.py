"""Checks files in one run: the plan for each, by its configuration, and the results."""

from __future__ import annotations

from advisor.analysis import run_rules, sort_by_place
from advisor.commands.lint_plan import LintPlan, LintResult
from advisor.commands.read_files import folder_of, read_carrier, read_resolved, replace_stdin, require_root
from advisor.redaction import redact_text
from advisor.report import CheckedFile
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules.core.context import RuleContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from advisor.carriers.document import Carrier
    from advisor.core.model import Finding, Target
    from advisor.optionfile.lines import ResolvedFiles

UNREAD_GROUP = "unread-group"
# Rules about lines of any group, which have checked these lines already.
GROUP_INDEPENDENT_RULES = frozenset(
    (
        *("syntax-error", "option-outside-group", "duplicate-option", "server-option-in-client-group", "escaped-path"),
        *("ignored-option-file", "include-problem", "instances-share-place", "plaintext-secret", UNREAD_GROUP),
    )
)
SUPPRESSION = "mycnf:"  # start of a suppression comment


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
    from rules.optionfile.groups import findings_if_read, with_group_read

    findings: list[Finding] = []
    for path, name in unread:
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


def apply_suppressions(results: list[LintResult]) -> list[LintResult]:
    """Remove the findings that are suppressed by comments in the files or by the configuration."""
    if any(SUPPRESSION in line.text for result in results for file in result.resolved.files for line in file.lines):
        from advisor.commands.suppress_findings import apply_comments

        results = apply_comments(results)
    if any(result.plan.config is not None and result.plan.config.per_file for result in results):
        from advisor.commands.suppress_findings import apply_per_file_ignores

        results = apply_per_file_ignores(results)
    return results
