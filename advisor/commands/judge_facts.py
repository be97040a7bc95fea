"""Runs the rules on collected facts, as selected by the command line and the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.analysis import applies_to, baseline, run_for_target, select_rules, sort_by_severity
from advisor.analysis.audited import AuditResult
from advisor.analysis.context import build_context
from advisor.commands.connection import declared_host, is_declared
from advisor.commands.suppress_findings import refuse_overwrite
from advisor.core.errors import MycnfError, print_notice
from advisor.report import plural
from advisor.state.private_file import lock_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from advisor.analysis import RuleRun
    from advisor.config.read import Configuration
    from advisor.core.model import Finding, Target
    from advisor.facts import Facts
    from rules.core import Rule
    from rules.core.context import RuleContext
    from rules.core.passed import PassedCheck
    from rules.policy.house_rule import HouseRule
    from rules.replication.chain import Chain


SUPPRESSIONS = "SUP"
EXPIRED = "expired-suppression"
MAX_TARGETS = 100  # targets for which the applicable rules are cached
COMMENT_MARK = "mycnf:"  # start of every suppression comment


class AuditRequest(NamedTuple):
    """The arguments merged with the configuration of the working directory, the selected rules, and house rules.

    `by_target`, if given, caches the rules that apply to each target; `config` excludes rules by file.
    """

    args: argparse.Namespace
    rules: list[Rule]
    house: tuple[HouseRule, ...] | None
    by_target: dict[Target, list[Rule]] | None = None
    config: Configuration | None = None

    def of(self, known: RuleContext) -> list[Rule]:
        """Return the rules that apply to the context."""
        if self.by_target is None:
            return [rule for rule in self.rules if applies_to(known, rule)]
        if known.target not in self.by_target:
            if len(self.by_target) >= MAX_TARGETS:
                self.by_target.clear()
            self.by_target[known.target] = [rule for rule in self.rules if applies_to(known, rule)]
        return self.by_target[known.target]


def make_request(args: argparse.Namespace, *, one_host: bool = True) -> AuditRequest:
    """Return the request of the arguments; raises MycnfError for an invalid configuration or rule name.

    The keys of the configuration that describe a host count only with `one_host`: other commands have several servers.
    """
    from advisor.commands.apply_config import find_and_read_configuration, merge_arguments, warn_ended
    from advisor.commands.read_files import folder_of
    from advisor.config import OWN_FILE

    config = find_and_read_configuration(args, folder_of(OWN_FILE))
    if config is None:
        whole, house = args, None
    else:
        warn_ended(config)
        whole, house = merge_arguments(args, config, one_host=one_host), config.house
    return AuditRequest(whole, select_rules(whole.select, whole.ignore), house, config=config)


def audit_facts(facts: Facts, asked: AuditRequest, *, silent: bool = False) -> AuditResult:
    """Judge facts without findings that are suppressed or in the baseline; host options replace a missing host.

    `silent` omits the notice on the number of findings in the baseline.
    """
    audited = judge_facts(facts, asked)
    if not asked.args.baseline and not asked.args.write_baseline:
        return audited

    return apply_baseline(audited, asked.args, silent=silent)


def judge_facts(facts: Facts, asked: AuditRequest, *, brief: bool = False, chain: Chain | None = None) -> AuditResult:
    """Judge facts, including findings in the baseline; `brief` omits passed checks, `chain` has the server's fleet."""
    if facts.host is None and is_declared(asked.args):
        facts = replace(facts, host=declared_host(asked.args))
    known = build_context(facts, asked.house)
    known.parts["chain"] = chain or known.parts["chain"]
    ran = asked.of(known)
    rule_run = run_for_target(known, ran)
    left, commented = _split_by_comments(known, rule_run.findings, asked)
    return AuditResult(
        facts,
        known,
        tuple(sort_by_severity(_not_ignored(left, asked.config))),
        rule_run.skipped,
        tuple(rule.code for rule in ran),
        passed=() if brief else _passed_checks(known, rule_run, ran),
        commented=tuple(_not_ignored(commented, asked.config)),
    )


def _not_ignored(findings: Iterable[Finding], config: Configuration | None) -> Iterable[Finding]:
    """Return the findings that `per-file-ignores` does not exclude; findings without a file stay."""
    if config is None or not config.per_file:
        return findings
    from advisor.commands.apply_config import drop_ignored

    findings = list(findings)
    left = {id(f) for f in drop_ignored((f for f in findings if f.location), config, "")}
    return [f for f in findings if f.location is None or id(f) in left]


def _passed_checks(known: RuleContext, rule_run: RuleRun, ran: list[Rule]) -> tuple[PassedCheck, ...]:
    """Return the checks that passed, without those that were skipped."""
    from rules.core.passed import passed_checks

    lacking = {skip.code for skip in rule_run.skipped}
    return tuple(passed_checks(known, rule_run.findings, {rule.name for rule in ran if rule.code not in lacking}))


def _split_by_comments(
    known: RuleContext, findings: tuple[Finding, ...], asked: AuditRequest
) -> tuple[tuple[Finding, ...], ...]:
    """Return the findings to report, and those that comments in the server's files suppress.

    Faults in such comments are left to lint, except that a comment has expired: it says why findings are back.
    """
    files = known.files.files if known.has("files") else ()
    if not any(COMMENT_MARK in (copy.text or "") for copy in files):
        return findings, ()
    from advisor.analysis.suppress import FileFindings, suppress
    from advisor.report.output import today

    (done,) = suppress([FileFindings(known.file_verdict.resolved, known.target, findings, frozenset())], today())
    selected = any(rule.name == EXPIRED for rule in asked.rules)
    kept = (f for f in done.kept if f.code[:3] != SUPPRESSIONS or (selected and f.name == EXPIRED))
    return tuple(kept), done.hidden


SERVER = baseline.SERVER


def apply_baseline(audited: AuditResult, args: argparse.Namespace, *, silent: bool = False) -> AuditResult:
    """Return the audit without the findings in the baseline, or without any after --write-baseline.

    `silent` omits the notice on the number of findings left out. Raises MycnfError if the file is not a baseline; it is
    not overwritten then.
    """
    reading = baseline.BaselineReading(SERVER, audited.findings, ())
    if args.write_baseline and audited.facts.lost:
        print_notice(f"{args.write_baseline} is not written: not all facts could be read")
        return audited
    if args.write_baseline:
        refuse_overwrite(args.write_baseline)
        from advisor.report.output import write  # not needed when the app starts

        write(baseline.render_baseline([reading], args.write_baseline), args.write_baseline)
        print_notice(f"wrote {plural(len(audited.findings), 'finding')} to {args.write_baseline}")
        why = f"written to {args.write_baseline}"
        suppressed = tuple((finding, why) for finding in audited.findings)
        return audited._replace(findings=(), suppressed=(*audited.suppressed, *suppressed))
    if not args.baseline:
        return audited
    from advisor.commands.suppress_findings import current_baseline

    known = current_baseline(args.baseline, silent=silent)
    (split,) = baseline.apply_baseline(known, [reading])
    if split.known and not silent:
        print_notice(f"{plural(len(split.known), 'finding')} suppressed: they are in {args.baseline}")
    suppressed = tuple((finding, baseline.describe_known(known, finding, SERVER)) for finding in split.known)
    return audited._replace(findings=split.new, suppressed=(*audited.suppressed, *suppressed))


def suppress_in_baseline(path: str, finding: Finding, reason: str) -> None:
    """Add a finding of a server and the reason to a baseline; without a reason, remove it.

    Raises MycnfError if the file is not a baseline or cannot be written, and for a date that is wrong or past.
    """
    from advisor.analysis.suppress import reason_fault
    from advisor.report.output import today

    if fault := reason_fault(reason, today()):
        raise MycnfError(f"{path}: {fault}")
    with lock_file(path):
        from advisor.report.output import write  # not needed when the app starts

        write(baseline.amend_baseline(path, finding, SERVER, reason), path)
