"""Variants beside a baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from advisor.facts.probes import Arm, Block, Metric
from probes.stats import compare, compare_variation
from probes.stats.estimate import estimate_differences

RATE = Metric("rate", "1/s")
Made = Callable[..., tuple[Arm, ...]]


def test_difference_is_found_and_measured(arms: Made) -> None:
    """A variant that is a tenth faster in every round is claimed to be, with the ratio inside its interval."""
    (found,) = compare(arms(a=[100, 103, 99, 101, 98], b=[110, 113.5, 108.5, 111.4, 107.9]), RATE, "a")
    assert (found.arm, found.claim) == ("b", "more")
    assert found.low < 1.1 < found.high
    assert found.detectable < 0.05
    assert (found.median, found.baseline_median) == (110, 100)


def test_spell_of_the_machine_falls_out(arms: Made) -> None:
    """A machine that halves its speed between rounds hides no difference, for rounds are compared within themselves."""
    (found,) = compare(arms(a=[100, 50, 101, 49, 75], b=[110, 55.2, 110.9, 54, 82.6]), RATE, "a")
    assert found.claim == "more"
    assert found.detectable < 0.05


def test_noise_is_no_difference(arms: Made) -> None:
    """Values that scatter by more than they differ claim nothing, and say what they could not have seen."""
    (found,) = compare(arms(a=[100, 120, 80, 105], b=[115, 95, 100, 110]), RATE, "a")
    assert found.claim == "none"
    assert found.low < 1 < found.high
    assert found.detectable > 0.3


def test_claims_begin_where_the_interval_leaves_zero_out(arms: Made) -> None:
    """A difference is claimed where its interval leaves no doubt, which is below what four of five runs claim."""
    steady, beside = [100.0, 101, 99, 100.5, 99.5], [100, 103.02, 98.01, 101.5, 97.5]
    for step in range(1, 40):
        faster = [value * (1 + step / 200) for value in beside]
        (found,) = compare(arms(a=steady, b=faster), RATE, "a")
        assert (found.claim == "more") == (found.low > 1)
        assert found.ratio - 1 < found.detectable or found.claim == "more"
        assert found.mean / found.baseline_mean == pytest.approx(found.ratio)


def test_many_variants_make_it_harder(arms: Made) -> None:
    """The more variants one baseline has, the larger a difference must be; the single 95 % interval is unchanged."""
    one = {"a": [100, 103, 98], "b": [104, 105, 103]}
    few = compare(arms(**one), RATE, "a")[0]
    many = compare(arms(**one, **{f"c{n}": one["b"] for n in range(8)}), RATE, "a")[0]
    assert many.detectable > few.detectable * 0.999
    assert many.low == pytest.approx(few.low, rel=0.1)


def test_one_round_says_nothing(arms: Made) -> None:
    """Of a single round everything is possible."""
    (found,) = compare(arms(a=[100], b=[300]), RATE, "a")
    assert (found.claim, found.low, found.high) == ("none", 0, math.inf)
    assert math.isinf(found.detectable)


def test_zeros_are_compared_by_difference(arms: Made) -> None:
    """Values of zero, which have no logarithm, are compared by their differences; a baseline of zeros can't be."""
    (found,) = compare(arms(a=[4, 5, 4, 5, 4], b=[0, 0.1, 0, 0, 0.1]), RATE, "a")
    assert (found.claim, found.low >= 0) == ("less", True)
    assert compare(arms(a=[0, 0, 0], b=[1, 2, 1]), RATE, "a") == ()


def test_one_stall_decides_nothing(arms: Made) -> None:
    """One block of forty that stalls is drawn in: it neither makes a difference nor hides a real one."""
    steady = {f"v{n}": [100 + (n * 7 + r * 3) % 5 / 2 for r in range(5)] for n in range(8)}
    steady["v3"] = [value * 1.2 for value in steady["v3"]]
    steady["v5"] = [*steady["v5"][:2], 20, *steady["v5"][3:]]
    claims = {found.arm: found.claim for found in compare(arms(**steady), RATE, "v0")}
    assert claims.pop("v3") == "more"
    assert set(claims.values()) == {"none"}


@pytest.mark.parametrize(("missing", "left"), [("b", ["c"]), ("a", [])])
def test_variants_without_the_metric(arms: Made, missing: str, left: list[str]) -> None:
    """A variant without the metric is left out; without the baseline there is no comparison."""
    made = arms(a=[1, 2, 1], b=[1, 2, 1], c=[2, 1, 2])
    made = tuple(replace(arm, blocks=()) if arm.name == missing else arm for arm in made)
    assert [found.arm for found in compare(made, RATE, "a")] == left


def test_equal_samples_give_equal_answers(arms: Made) -> None:
    """Nothing is drawn by lot."""
    made = arms(a=[1, 2, 1.5], b=[1.2, 2.1, 1.4])
    assert compare(made, RATE, "a") == compare(made, RATE, "a")


def test_variation_is_a_result() -> None:
    """Two variants of equal means, one of which stalls every few seconds, differ in their variation."""
    made = (_with_series("even", (100, 101, 99)), _with_series("stalling", (140, 150, 10)))
    (level,) = compare(made, RATE, "even")
    (varied,) = compare_variation(made, RATE, "even")
    assert (level.claim, varied.claim) == ("none", "more")
    assert varied.ratio > 10


def _with_series(name: str, cycle: Sequence[float]) -> Arm:
    def block(number: int) -> Block:
        return Block(number, 0.0, 9.0, {"rate": 100.0}, {"rate": tuple(value + number for value in cycle) * 3})

    return Arm(name, {}, tuple(block(number) for number in range(1, 5)))


@pytest.mark.parametrize(("rounds", "wider"), [(9, False), (10, True)])
def test_autocorrelation_counts_from_ten_rounds_on(rounds: int, wider: bool) -> None:
    """Of fewer it is noise: differences that persist from round to round widen the interval of longer runs alone."""
    row = [math.sin(place / 2) for place in range(rounds)]
    (estimate,) = estimate_differences([row])
    plain = math.sqrt(sum((value - sum(row) / rounds) ** 2 for value in row) / (rounds - 1) / rounds)
    assert (estimate.error > 1.2 * plain) is wider
    assert wider or estimate.error == pytest.approx(plain)
