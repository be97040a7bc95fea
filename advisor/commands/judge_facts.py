"""Ask the rules about collected facts, as the command line and the configuration say."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.analysis import baseline
from advisor.analysis.audited import Audited
from advisor.analysis.context import build_context
from advisor.analysis.engine import applies_to, run_for_target, select_rules, sort_by_severity
from advisor.commands.connection import declared_host, is_declared
from advisor.commands.suppress_findings import refuse_overwrite
from advisor.core.console import print_notice
from advisor.report.words import plural
from advisor.state.file_lock import lock_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from advisor.analysis.engine import RuleRun
    from advisor.config.read import Configuration
    from advisor.core.model import Finding, Target
    from advisor.facts import Facts
    from rules.core.context import RuleContext
    from rules.core.passed import PassedCheck
    from rules.core.rule import Rule
    from rules.policy.house_rule import HouseRule


SUPPRESSIONS = "SUP"
MAX_TARGETS = 100  # of which it is kept what rules they are asked
COMMENT_MARK = "mycnf:"  # what every comment says that asks for silence


class AuditRequest(NamedTuple):
    """The arguments over the configuration of the folder that mycnf runs in, the rules chosen, and house rules.

    `by_target`, where it is given, keeps which of the rules each target is asked of; `config` leaves rules out by file.
    """

    args: argparse.Namespace
    rules: list[Rule]
    house: tuple[HouseRule, ...] | None
    by_target: dict[Target, list[Rule]] | None = None
    config: Configuration | None = None

    def of(self, known: RuleContext) -> list[Rule]:
        """The rules that are about what is known."""
        if self.by_target is None:
            return [rule for rule in self.rules if applies_to(known, rule)]
        if known.target not in self.by_target:
            if len(self.by_target) >= MAX_TARGETS:
                self.by_target.clear()
            self.by_target[known.target] = [rule for rule in self.rules if applies_to(known, rule)]
        return self.by_target[known.target]


def make_request(args: argparse.Namespace) -> AuditRequest:
    """What is asked for. Raises MycnfError for a configuration or a word that can't be meant."""
    from advisor.commands.apply_config import find_and_read_configuration, merge_arguments

    config = find_and_read_configuration(args, os.getcwd())
    whole, house = (args, None) if config is None else (merge_arguments(args, config), config.house)
    return AuditRequest(whole, select_rules(whole.select, whole.ignore), house, config=config)


def audit_facts(facts: Facts, asked: AuditRequest, *, silent: bool = False) -> Audited:
    """The findings that are neither suppressed nor in the baseline; the user's host options replace a missing host.

    `silent` says nothing of how many the baseline knows.
    """
    audited = judge_facts(facts, asked)
    if not asked.args.baseline and not asked.args.write_baseline:
        return audited

    return apply_baseline(audited, asked.args, silent=silent)


def judge_facts(facts: Facts, asked: AuditRequest, *, brief: bool = False) -> Audited:
    """The same including the findings in the baseline; `brief` leaves out passed checks."""
    if facts.host is None and is_declared(asked.args):
        facts = replace(facts, host=declared_host(asked.args))
    known = build_context(facts, asked.house)
    ran = asked.of(known)
    found = run_for_target(known, ran)
    shown = tuple(sort_by_severity(_not_ignored(_not_suppressed(known, found.findings), asked.config)))
    codes = tuple(rule.code for rule in ran)
    return Audited(facts, known, shown, found.skipped, codes, fine=() if brief else _passed_checks(known, found, ran))


def _not_ignored(findings: Iterable[Finding], config: Configuration | None) -> Iterable[Finding]:
    """The findings that `per-file-ignores` does not exclude; findings without a file stay."""
    if config is None or not config.per_file:
        return findings
    from advisor.commands.apply_config import drop_ignored

    findings = list(findings)
    left = {id(f) for f in drop_ignored((f for f in findings if f.location), config, "")}
    return [f for f in findings if f.location is None or id(f) in left]


def _passed_checks(known: RuleContext, found: RuleRun, ran: list[Rule]) -> tuple[PassedCheck, ...]:
    """What the rules looked at without a word, those aside that lacked something."""
    from rules.core.passed import passed_checks

    lacking = {skip.code for skip in found.skipped}
    return tuple(passed_checks(known, found.findings, {rule.name for rule in ran if rule.code not in lacking}))


def _not_suppressed(known: RuleContext, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings that no comment in the server's own files hides; what is wrong with such comments, lint tells."""
    files = known.files.files if known.has("files") else ()
    if not any(COMMENT_MARK in (copy.text or "") for copy in files):
        return findings
    from advisor.analysis.suppress import suppress
    from advisor.analysis.suppress.comments import FileFindings

    (done,) = suppress([FileFindings(known.file_verdict.resolved, known.target, findings, frozenset())])
    return tuple(f for f in done.kept if f.code[:3] != SUPPRESSIONS)


SERVER = "<server>"  # the place of a finding that no file holds


def apply_baseline(audited: Audited, args: argparse.Namespace, *, silent: bool = False) -> Audited:
    """The audit without what --baseline knows, or without anything once --write-baseline has kept it all.

    `silent` leaves it to the caller to tell how many were left out.
    Raises MycnfError for a file that is no baseline, or holds anything else and would be lost.
    """
    reading = baseline.BaselineReading(SERVER, audited.findings, ())
    if args.write_baseline:
        refuse_overwrite(args.write_baseline)
        from advisor.report.output import write  # the app writes none at its start

        write(baseline.render_baseline([reading], args.write_baseline), args.write_baseline)
        print_notice(f"wrote {plural(len(audited.findings), 'finding')} to {args.write_baseline}")
        return audited._replace(findings=())
    if not args.baseline:
        return audited
    known = baseline.read_baseline(args.baseline)
    (split,) = baseline.apply_baseline(known, [reading])
    if split.known and not silent:
        print_notice(f"{plural(len(split.known), 'finding')} left out: they are in {args.baseline}")
    suppressed = tuple((finding, baseline.describe_known(known, finding, SERVER)) for finding in split.known)
    return audited._replace(findings=split.new, aside=(*audited.aside, *suppressed))


def suppress_in_baseline(path: str, finding: Finding, reason: str) -> None:
    """Write a suppressed finding of a server and the reason into a baseline; without a reason remove it.

    Raises MycnfError for a file that is no baseline or can't be written.
    """
    with lock_file(path):
        from advisor.report.output import write  # the app writes none at its start

        write(baseline.amend_baseline(path, finding, SERVER, reason), path)
