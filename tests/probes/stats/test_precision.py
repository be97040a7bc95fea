"""The stop rule."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from advisor.facts.probes import Arm, Metric
from probes.stats import compare, is_precise

RATE = Metric("rate", "1/s")
RUNS = 1000
Made = Callable[..., tuple[Arm, ...]]
QUIET = [100, 100.1, 99.9, 100.05, 100.02, 99.95, 100.08]
NOISY = [100, 104, 97, 101, 95, 103, 99]


def test_narrow_is_enough(arms: Made) -> None:
    """Values within a tenth of a percent of each other need no further round; scattered ones do."""
    assert is_precise(arms(a=QUIET, b=QUIET[::-1]), RATE, "a")
    assert not is_precise(arms(a=NOISY, b=NOISY[::-1]), RATE, "a")


@pytest.mark.parametrize(("variants", "rounds"), [(2, 7), (3, 5)])
def test_few_rounds_do_not_know_their_noise(arms: Made, variants: int, rounds: int) -> None:
    """Two variants need more rounds than three, whose noise two differences show; groups need as many."""
    row = {chr(ord("a") + place): QUIET[place % 3 :] + QUIET[: place % 3] for place in range(variants)}
    for least in (rounds - 1, rounds):
        made = arms(**{name: values[:least] for name, values in row.items()})
        assert is_precise(made, RATE, "a") is (least == rounds)
        twice = (*made, *(replace(arm, name=f"other {arm.name}", group="other") for arm in made))
        assert is_precise(twice, RATE, "a") is (least == rounds)


def test_early_ends_claim_nothing_that_is_not_there(arms: Made) -> None:
    """Two variants alike, of which most runs end before their tenth round: at most one in twenty claims."""
    draw, claiming, early = random.Random(1), 0, 0  # noqa: S311 - noise, no secret
    for _ in range(RUNS):
        row = {name: [math.exp(draw.gauss(0, 0.007)) for _ in range(10)] for name in ("a", "b")}
        runs = (arms(**{name: values[:rounds] for name, values in row.items()}) for rounds in range(3, 11))
        ended = next((run for run in runs if is_precise(run, RATE, "a")), arms(**row))
        early += len(ended[0].blocks) < 10
        claiming += compare(ended, RATE, "a")[0].claim != "none"
    assert early / RUNS > 0.5
    assert claiming / RUNS <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / RUNS)  # two standard errors


@pytest.mark.parametrize("factor", [1, 1.01, 1.5, 30])
def test_never_by_what_is_found(arms: Made, factor: float) -> None:
    """How large the difference is plays no part: the same noise settles the same."""
    assert is_precise(arms(a=QUIET, b=[value * factor for value in QUIET[::-1]]), RATE, "a")
    assert not is_precise(arms(a=QUIET, b=[value * factor for value in NOISY]), RATE, "a")


def test_one_narrow_round_is_luck(arms: Made) -> None:
    """What was wide a round earlier goes on, and so does a run whose variant has no values."""
    assert not is_precise(arms(a=[*QUIET, 100], b=[*QUIET[:-1], 104, 100]), RATE, "a")
    assert not is_precise(arms(a=QUIET, b=[]), RATE, "a")


def test_alone(arms: Made) -> None:
    """A single variant is settled when its own mean is."""
    assert is_precise(arms(a=QUIET), RATE, "a")
    assert not is_precise(arms(a=[100, 130, 90, 80]), RATE, "a")
