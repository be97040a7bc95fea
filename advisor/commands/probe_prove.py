"""`mycnf probe prove CODE`: measures the value that a rule reports against the one it recommends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog import load
from advisor.core.errors import MycnfError, did_you_mean, print_notice
from advisor.optionfile.lines import ResolvedFiles
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules import all_rules, find_rule
from rules.core.context import MissingFact, RuleContext
from rules.measured.claims import CLAIMS
from rules.measured.compare import compare_values, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Target
    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.words import Proof
    from probes.experiment import Environment, ProbeRequest
    from probes.sandbox import Binary
    from rules.core import Rule
    from rules.measured.claims import Claim


MOST_WORDS = 2  # the rule and an option file


class ProofTask(NamedTuple):
    """A rule's claim with the two values to compare, and the context of the server.

    `own` says that `before` is the value of the user's server or file, and no example.
    """

    rule: Rule
    claim: Claim
    context: RuleContext
    before: str
    after: str
    own: bool = False

    def wish(self, wanted: ProbeRequest) -> ProbeRequest:
        """Return the user's request, with the parameters that the claim needs where the user set none."""
        return replace(wanted, choices={**self.claim.wish(self.context, self.before, self.after), **wanted.choices})

    def proof(self, result: ProbeResult) -> Proof:
        """Return what the run proves about the claim."""
        from advisor.analysis.local_results import answers
        from advisor.report.probe.words import Proof

        self.context.parts["probes"] = answers([result])
        anywhere = self.claim._replace(fits=lambda _known, _answer: True)  # the user chose what to measure
        judged = compare_values(result.probe, anywhere, self.context, self.after, self.before)
        return Proof(self.rule, self.claim, self.before, self.after, judged, self.own)


def find_claim(words: Sequence[str]) -> tuple[Rule, Claim]:
    """Return the rule named after `prove`, and its claim; raises MycnfError if it has none that can be measured."""
    if not words or len(words) > MOST_WORDS:
        raise MycnfError("prove takes a rule and optionally an option file: mycnf probe prove CODE [FILE]")
    rule = find_rule(words[0])
    if rule is None:
        names = {name for r in all_rules() for name in (r.code, r.name)}
        raise MycnfError(f"unknown rule {words[0]!r}{did_you_mean(words[0], names, '`mycnf rules` lists them')}")
    claim = CLAIMS.get(rule.name)
    if claim is not None and rule.probe is not None:
        return rule, claim
    if rule.probe is None:
        raise MycnfError(f"{rule.code} {rule.name} has no claim that a probe measures; see mycnf explain {rule.code}")
    raise MycnfError(
        f"{rule.code} {rule.name} has no two values to compare; mycnf probe {rule.probe} measures its subject"
    )


def make_task(rule: Rule, claim: Claim, file: str | None, environment: Environment) -> tuple[ProofTask, Environment]:
    """Return the claim and the server to use: with the user's file, the running server's values, or an example.

    Raises MycnfError if no server here is a target of the rule, or if the rule has no finding in the file.
    """
    running = None if file else _running_context(rule)
    binary = _binary(rule, environment, running.target if running else None)
    on = replace(environment, binaries=(binary,))
    if file:
        return _task_from(rule, claim, _file_context(file, binary.target, environment), file), on
    task = _task_from(rule, claim, running, "the running server") if running else None
    if task is None:
        task = ProofTask(rule, claim, _default_context(binary.target), *claim.example)
    print_notice(
        f"comparing {claim.option} {value_text(task.after)} with {value_text(task.before)} on {binary.target.label}"
    )
    return task, on


def _task_from(rule: Rule, claim: Claim, known: RuleContext, source: str) -> ProofTask:
    before, after = known.settings.text(claim.option), claim.instead(known)
    try:
        reports = any(True for _ in rule.check(known))
    except MissingFact as lack:
        raise MycnfError(f"{rule.code} cannot check {source}: {lack}") from lack
    if not reports or before is None or after is None:
        value = f" ({claim.option} is {value_text(before)})" if before else ""
        raise MycnfError(f"{source} has no finding of {rule.code}{value}; without a file mycnf measures an example")
    return ProofTask(rule, claim, known, before, after, own=True)


def _binary(rule: Rule, environment: Environment, running: Target | None) -> Binary:
    """Return a server of the running one's series if there is one, else the first that the rule applies to."""
    fitting = [binary for binary in environment.binaries if rule.concerns(binary.target)]
    if not fitting:
        spans = ", ".join(map(str, rule.targets))
        here = ", ".join(str(binary.target) for binary in environment.binaries) or "none"
        raise MycnfError(f"{rule.code} applies to {spans}, and the servers here are {here}: name another with --server")
    alike = [b for b in fitting if running and (b.target.flavour, b.target.series) == (running.flavour, running.series)]
    return (alike or fitting)[0]


def _running_context(rule: Rule) -> RuleContext | None:
    """Return the context of the server running here, if mycnf can connect and the rule has a finding."""
    from advisor.analysis.context import build_context
    from advisor.collect.collect import CollectRequest, collect
    from probes.safety.neighbours import find_other_servers

    if not find_other_servers():
        return None
    try:
        facts = collect(CollectRequest(window=0.0))
        known = build_context(facts)
        if facts.host is not None and rule.concerns(known.target) and any(True for _ in rule.check(known)):
            return known
    except (MycnfError, MissingFact):
        print_notice(
            "cannot connect to the running server with this user's option files, so mycnf measures an example; "
            "name its option file to measure its value"
        )
    return None


def _file_context(path: str, target: Target, environment: Environment) -> RuleContext:
    from advisor.commands.read_files import read_resolved

    verdict = judge_file(read_resolved([path], target, None, {}), load(target))
    return RuleContext(target, load(target), Settings.from_file(verdict), verdict, host=environment.host)


def _default_context(target: Target) -> RuleContext:
    """Return the context of a server with its defaults only."""
    catalog = load(target)
    verdict = judge_file(ResolvedFiles((), (), ()), catalog)
    return RuleContext(target, catalog, Settings.from_file(verdict), verdict)
