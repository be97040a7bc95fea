"""Rules based on a measurement name the probe that repeats it, and what they claim can be run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from local_results import LOUD, TPS, Variant, measured
from msgspec.structs import replace
from rule_cases import Case, context_of_case

from advisor.analysis.local_results import answers
from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.collect.host import open_root, read_host
from advisor.core.model import Target
from advisor.facts.probes import Metric
from advisor.optionfile.lines import ResolvedFiles
from advisor.report.output import Paper
from advisor.report.probe.words import Proof
from advisor.report.render.text import write
from advisor.report.rules import of_rule
from advisor.verdict import judge_file, judge_value
from advisor.verdict.settings import Settings
from probes import registry
from probes.disk import random_read
from probes.experiment import Environment, ProbeRequest
from probes.sandbox import Binary
from rules import all_rules, find_rule
from rules.core.context import RuleContext
from rules.core.storage import SOLID_STATE_LATENCY
from rules.measured.apply import REMARKS, apply_local_results
from rules.measured.claims import CLAIMS, WORSE
from rules.measured.compare import METRIC_WORDS, compare_values

if TYPE_CHECKING:
    from pathlib import Path

    from rules.core import Rule

TARGETS = ("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11")
# Experiments that no rule is based on, with the reason.
ON_THEIR_OWN = {
    "sequential-read": "it shows the knees of stripes, read-ahead and request sizes, which no option sets",
    "memory-latency": "the caches that it finds are the reason that is given for small read buffers, and never proved",
    "memory-bandwidth": "it shows what the memory itself allows, which no option sets",
    "malloc": "the allocator is chosen where the server is started, by none of its options",
    "file-system": "the file system is chosen before there is a server to audit",
    "range-scan": "no setting changes it: what it shows is a reason for or against an upgrade",
}  # fmt: skip


def test_rules_name_probes_that_there_are() -> None:
    """Every probe that a rule names is on the list, and every experiment is named by a rule or says why not."""
    named = {r.probe for r in all_rules() if r.probe}
    assert named <= set(registry.MODULES)
    assert set(registry.MODULES) - named == set(ON_THEIR_OWN)


def test_claims_and_remarks_are_of_rules_with_a_probe() -> None:
    """What is weighed belongs to a rule; a claim's rule names the experiment, and each metric has its words."""
    rules = {name: find_rule(name) for name in {*CLAIMS, *REMARKS}}
    assert [name for name, rule in rules.items() if rule is None or rule.probe is None] == []
    assert {metric for claim in CLAIMS.values() for metric in claim.metrics} == set(METRIC_WORDS)
    assert SOLID_STATE_LATENCY == random_read.FLASH_MAXIMUM


def bare(target: Target) -> RuleContext:
    """A server with nothing but its defaults."""
    verdict = judge_file(ResolvedFiles((), (), ()), load(target))
    return RuleContext(target, load(target), Settings.from_file(verdict), verdict)


def concerned(rule: Rule) -> Target:
    """The first of the supported versions that the rule applies to."""
    return next(t for t in map(parse_target, TARGETS) if rule.concerns(t))


@pytest.mark.parametrize("name", CLAIMS)
def test_the_experiment_lays_the_two_values_side_by_side(name: str) -> None:
    """With the claim's wishes the experiment has a variant of each value, and a result of it is judged."""
    rule, claim = find_rule(name), CLAIMS[name]
    assert rule is not None
    target = concerned(rule)
    known, (before, after) = bare(target), claim.example
    experiment = registry.load(str(rule.probe))
    binary = Binary(str(target), "/nowhere/server", target, target.number)
    ground = Environment(read_host(open_root("/"), datadir="/"), "here", (binary,))
    plan = experiment.plan(ground, ProbeRequest("/", choices=claim.wish(known, before, after)))
    metric = next(m for m in plan.metrics if m.name in claim.metrics)
    variants = [Variant(v.name, v.settings, 1.0, v.point) for v in plan.variants]
    result = measured(
        experiment.name, metric, variants, noise=LOUD, axis=plan.axis, server=plan.server, parameters=plan.parameters
    )
    known.parts["probes"] = answers([result])
    anywhere = claim._replace(fits=lambda _known, _answer: True)
    judged = compare_values(experiment.name, anywhere, known, after, before)
    assert judged is not None
    assert {b.metric for b in judged.pairs} == {metric.name}


@pytest.mark.parametrize("name", CLAIMS)
def test_examples_are_values_that_the_server_takes(name: str) -> None:
    """Both are accepted by a server that the rule applies to, and differ."""
    rule, claim = find_rule(name), CLAIMS[name]
    assert rule is not None
    catalog = load(concerned(rule))
    taken = [judge_value(claim.option, value, catalog) for value in claim.example]
    assert [t.outcome.value for t in taken] == ["accepted", "accepted"]
    assert taken[0].value != taken[1].value
    assert claim.kind != WORSE or claim.option in rule.options


def test_a_metric_that_only_describes_is_never_compared() -> None:
    """A result whose metrics are neither good nor bad is carried with its facts alone."""
    variants = [Variant("a", {}), Variant("b", {})]
    (answer,) = answers([measured("made", Metric("size", "bytes", "neither"), variants)])
    assert (answer.metric, answer.pairs) == ("size", ())
    (answer,) = answers([measured("made", TPS, variants)])
    assert {(p.arm, p.against) for p in answer.pairs} == {("a", "b"), ("b", "a")}


@pytest.mark.parametrize(("code", "says"), [
    ("BUF001", "mycnf probe read-buffer, or mycnf probe prove BUF001"),
    ("INN005", "mycnf probe prove INN005"),
    ("INN006", "mycnf probe random-write"),
])  # fmt: skip
def test_explain_shows_how_to_measure(code: str, says: str) -> None:
    """The page of a rule names the command that repeats the measurement, and the one that runs its claim."""
    rule = find_rule(code)
    assert rule is not None
    assert f"Measure it here\n  {says}\n" in write(of_rule(rule, []), Paper())


@pytest.mark.parametrize(("pool", "wanted"), [("4G", "4"), ("1G", "1"), ("512M", None)])
def test_many_instances_are_compared_with_one_a_gigabyte(pool: str, wanted: str | None, tmp_path: Path) -> None:
    """A pool that can't be divided has nothing to be compared with, and its finding is unchanged."""
    known = context_of_case(Case("", "", "mysql-8.0.15", file=f"innodb_buffer_pool_size = {pool}"), tmp_path)
    name = "many-buffer-pool-instances"
    assert CLAIMS[name].instead(known) == wanted
    rule = find_rule(name)
    assert rule is not None
    finding = rule.finding("Many.")
    assert apply_local_results(known, [finding]) == [finding]


def test_variants_that_were_not_compared_are_no_answer() -> None:
    """A result may hold variants that no pair lays side by side, as one of many does."""
    claim = CLAIMS["random-read-ahead"]
    known = bare(parse_target("mysql-8.0"))
    variants = [Variant(word, {claim.option: word}) for word in claim.example]
    (answer,) = answers([measured("read-ahead", TPS, variants, server="mysql-8.0.43")])
    anywhere = claim._replace(fits=lambda _known, _answer: True)
    known.parts["probes"] = (answer,)
    assert compare_values("read-ahead", anywhere, known, *claim.example) is not None
    known.parts["probes"] = (answer._replace(pairs=()),)
    assert compare_values("read-ahead", anywhere, known, *claim.example) is None


@pytest.mark.parametrize(("effect", "seconds", "short"), [
    (1.0, 60.0, True), (1.0, 3600.0, False), (1.5, 60.0, True), (1.5, 3600.0, False), (0.5, 60.0, False),
])  # fmt: skip
def test_a_proof_says_what_it_is_too_short_for(effect: float, seconds: float, short: bool) -> None:
    """What audits don't take as a contradiction is none in `prove` either; a confirmation takes no hours."""
    name = "few-buffer-pool-instances"
    rule, claim = find_rule(name), CLAIMS[name]._replace(fits=lambda _known, _answer: True)
    assert rule is not None
    variants = [
        Variant(count, {claim.option: count}, ratio, float(count)) for count, ratio in (("1", 1.0), ("8", effect))
    ]
    made = measured(
        str(rule.probe), Metric("variation", "%", "less"), variants, server="mysql-8.0.43", axis=claim.option
    )
    each = seconds / made.rounds
    arms = tuple(replace(a, blocks=tuple(replace(b, seconds=each) for b in a.blocks)) for a in made.arms)
    known = bare(parse_target("mysql-8.0"))
    known.parts["probes"] = answers([replace(made, arms=arms)])
    judged = compare_values(str(rule.probe), claim, known, "8", "1")
    answer = Proof(rule, claim, "1", "8", judged).answer
    assert answer.endswith("; the run is too short to contradict the finding.") is short
