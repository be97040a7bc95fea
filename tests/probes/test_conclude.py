"""What a result says, in values and in words."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from simulated_experiment import METRIC, Noise, Simulated, simulate

from advisor.core.model import format_percent
from advisor.facts.probes import PROBE_SCHEMA, Arm, Block, Metric, ProbeResult, RunPlace
from probes.conclusion import conclude, find_answers, format_ratio

CALM = Noise(spread=0.01, seconds=0.02, stalls=0, drift=0)


def _result(metric: Metric, **values: Sequence[float]) -> ProbeResult:
    arms = tuple(
        Arm(name, {}, tuple(Block(place + 1, 0.0, 1.0, {metric.name: value}) for place, value in enumerate(row)))
        for name, row in values.items()
    )
    place, first = RunPlace("h"), next(iter(values))
    began = "2026-01-01T00:00:00Z"
    limits = ("Made by hand.",)
    return ProbeResult(PROBE_SCHEMA, "0", "made", began, 1.0, "finished", place, (metric,), arms, first, limits=limits)


def test_best_variant_with_those_beside_it() -> None:
    """The best variant is named, with those indistinguishable from it, and each claim has its interval."""
    conclusion = conclude(simulate(Simulated(CALM, 3, effects={2: 1.3, 3: 1.3, 4: 0.7})))
    assert (conclusion.verdict, conclusion.best in ("v2", "v3")) == ("better", True)
    assert {conclusion.best, *conclusion.alike} == {"v2", "v3"}
    assert [line[:2] for line in conclusion.sentences[1:]] == ["v2", "v3", "v4"]
    assert all("95 %" in line for line in conclusion.sentences[1:])
    assert conclusion.of("v4").ratio == pytest.approx(0.7, abs=0.05)


@pytest.mark.parametrize(
    ("settings", "risk"),
    [
        ({"innodb_doublewrite": "OFF"}, "torn pages"),
        ({"innodb_doublewrite": "DETECT_ONLY"}, "torn pages"),
        ({"innodb_doublewrite": "0"}, "torn pages"),
        ({"innodb_flush_log_at_trx_commit": "0", "sync_binlog": "1"}, "losing the last commits when the server or its"),
        ({"innodb_flush_log_at_trx_commit": "2", "sync_binlog": "1"}, "losing the last commits when the host crashes"),
        ({"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "0"}, "a binary log that lacks commits"),
        ({"sync_binlog": "1000"}, "a binary log that lacks commits"),
        ({"innodb_flush_method": "nosync"}, "lost commits and damaged tables"),
    ],
)
def test_a_faster_setting_that_risks_data_is_no_recommendation(settings: dict[str, str], risk: str) -> None:
    """The best variant by its numbers is named with its risk; other settings are best without one."""
    result = _result(METRIC, ON=[100, 101, 99, 100, 101], other=[200, 201, 199, 202, 200])
    safe, fast = result.arms
    (answer,) = find_answers(replace(result, arms=(safe, replace(fast, settings=settings))))
    assert f"at the risk of {risk}" in answer
    assert "not a recommendation" in answer
    assert conclude(result).sentences[0].startswith("other has the best")


def test_less_is_better() -> None:
    """Where less is better the variant with less is best."""
    time = Metric("scan time", "s", "less")
    conclusion = conclude(_result(time, a=[10, 10.1, 9.9, 10], b=[8, 8.1, 7.95, 8], c=[12, 12.1, 11.9, 12.05]))
    assert (conclusion.verdict, conclusion.best) == ("better", "b")
    assert conclusion.sentences[1].startswith("b: scan time -20 % against a (95 %: -")
    assert conclusion.sentences[0].startswith("b has the best scan time: -20 % against a (95 %: -")


def test_nothing_beats_the_baseline() -> None:
    """Where others are worse and none is better, the baseline is best."""
    conclusion = conclude(_result(METRIC, a=[100, 101, 99, 100], b=[80, 81, 79.5, 80], c=[100.2, 100.8, 99.3, 99.9]))
    assert (conclusion.verdict, conclusion.best, conclusion.alike) == ("baseline", "a", ("c",))
    assert conclusion.sentences[0] == (
        "No variant is significantly better than a in throughput. c cannot be distinguished from it: noise may hide a "
        f"difference of {format_percent(conclusion.of('c').bound)}."
    )
    alone = conclude(_result(METRIC, a=[100, 101, 99, 100], b=[80, 81, 79.5, 80]))
    assert alone.sentences[0] == "No variant beats a in throughput."


@pytest.mark.parametrize("gain", [1 + step / 500 for step in range(1, 16)])
def test_every_variant_is_claimed_or_said_to_be_unclear(gain: float) -> None:
    """Beside a baseline that others are worse than, no gain is left unsaid, of any size and with any other groups."""
    steady = [100, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1]
    noise = [1.012, 0.99, 1.006, 0.994, 1.013, 0.989, 1.004, 0.992]
    result = _result(
        METRIC,
        **{"1, a": steady, "1, b": [value * 0.7 for value in steady], "1, c": [value * 0.6 for value in steady]},
        **{"8, a": steady, "8, b": [value * 0.7 for value in steady]},
        **{"8, c": [value * factor * gain for value, factor in zip(steady, noise, strict=True)]},
    )
    conclusion = conclude(replace(result, arms=tuple(replace(a, group=a.name[:1]) for a in result.arms)))
    answer, found = conclusion.sentences[0], conclusion.of("8, c")
    assert (found.claim == "more") == ("8, c has the best throughput" in answer)
    assert (found.claim == "none") == ("8, c cannot be distinguished from it: noise may hide" in answer)


def test_outliers_of_all_groups_are_counted() -> None:
    """Each group has a table of its own, and a block drawn in there is reported as in the first group."""
    draw = random.Random(1)  # noqa: S311 - noise, no secret
    rows = {name: [100 * math.exp(draw.gauss(0, 0.01)) for _ in range(8)] for name in "abcdefgh"}
    steady = _result(METRIC, **rows)
    rows["f"][2] = 20.0
    result = _result(METRIC, **rows)
    groups = {name: "1" if name < "e" else "2" for name in rows}
    for run, reported in ((steady, False), (result, True)):
        grouped = replace(run, arms=tuple(replace(arm, group=groups[arm.name]) for arm in run.arms))
        said = "Outliers: 1 block drawn in to the edge of the other blocks (winsorized)." in conclude(grouped).limits
        assert said is reported


def test_no_difference_has_a_size() -> None:
    """Where nothing is claimed it says up to which size a difference is excluded, and what would have been seen."""
    conclusion = conclude(simulate(Simulated(CALM, 5)))
    assert (conclusion.verdict, conclusion.best) == ("none", None)
    assert conclusion.within < 0.1
    (sentence,) = conclusion.sentences
    assert sentence.startswith(f"No difference larger than {format_percent(conclusion.within)} in ")
    assert "5 rounds" in conclusion.limits[0]


def test_blind_run_says_so() -> None:
    """A run whose noise may hide half of everything doesn't call that no difference."""
    conclusion = conclude(_result(METRIC, a=[100, 40, 150], b=[60, 120, 90]))
    assert conclusion.verdict == "unknown"
    assert "give it more time" in conclusion.sentences[0]
    assert conclusion.limits[0] == (
        "With 3 rounds and this noise, 80 % of runs would detect only a difference of many times."
    )


def test_a_blind_run_says_how_many_rounds_it_needs() -> None:
    """So many rounds of the same scatter have an answer; of two rounds the scatter is unknown, so none are named."""
    row = {"a": [100.0, 40, 150, 90], "b": [60.0, 120, 90, 70]}
    blind = replace(_result(METRIC, **row), seconds=240.0)  # a minute for each of the four rounds
    named = re.search(
        r"--rounds (\d+) \(about (\d+) min\) would detect or exclude a difference of 50 %", conclude(blind).sentences[0]
    )
    assert named is not None
    assert named[1] == named[2]
    times = math.ceil(int(named[1]) / 4)
    assert 1 < times < 100
    longer = _result(METRIC, **{name: values * times for name, values in row.items()})
    assert conclude(longer).verdict != "unknown"
    shorter = conclude(_result(METRIC, **{name: values[:2] for name, values in row.items()})).sentences[0]
    assert "give it more time" in shorter
    assert "--rounds" not in shorter


def test_the_rounds_that_a_blind_run_names_are_enough() -> None:
    """Most runs of so many rounds show that three variants are equal within 50 %."""
    draw, done, enough = random.Random(3), 0, 0  # noqa: S311 - noise, no secret
    while done < 60:
        rounds = 5
        for again in (False, True):
            row = {name: [100 * math.exp(draw.gauss(0, 0.3)) for _ in range(rounds)] for name in "abc"}
            answer = conclude(replace(_result(METRIC, **row), seconds=60.0 * rounds))  # a minute a round
            named = re.search(r"--rounds (\d+) .* would detect or exclude", answer.sentences[0])
            if again:
                done += 1
                enough += answer.verdict != "unknown"
            elif named is None:
                break
            else:
                rounds = int(named[1])
    assert enough / done > 0.6


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"a": [100], "b": [300]}, "Only one round finished"),
        ({"a": [100, 102]}, "throughput is 101 1/s (a)."),
        ({"a": [0, 0, 0], "b": [1, 2, 1]}, "missing or zero"),
    ],
)
def test_too_little_to_say(values: dict[str, list[float]], words: str) -> None:
    """One round, one variant or a baseline of zeros have words of their own, and no verdict."""
    conclusion = conclude(_result(METRIC, **values))
    assert (conclusion.verdict, conclusion.best) == ("unknown", None)
    assert words in conclusion.sentences[0]


def test_describing_metric_has_no_best() -> None:
    """A metric that is neither good nor bad is described, from its least to its most, with the plan's limits."""
    latency = Metric("latency", "ns", "neither")
    conclusion = conclude(_result(latency, a=[1, 1.1, 1], b=[80, 81, 82]))
    assert (conclusion.verdict, conclusion.best) == ("described", None)
    assert conclusion.sentences[0] == "latency is from 1.03 ns (a) to 81 ns (b)."
    assert conclusion.limits[-1] == "Made by hand."


@pytest.mark.parametrize(
    ("ratio", "words"), [(1.12, "+12 %"), (0.966, "-3.4 %"), (5.13, "5.1 times"), (1.0035, "+0.35 %")]
)
def test_ratios_in_words(ratio: float, words: str) -> None:
    """Ratios read as percent near one and as times far from it."""
    assert format_ratio(ratio) == words
