"""The stop rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from advisor.facts.probes import Arm, Metric
from probes.stats import settled

RATE = Metric("rate", "1/s")
Made = Callable[..., tuple[Arm, ...]]
QUIET = [100, 100.1, 99.9, 100.05]


def test_narrow_is_enough(arms: Made) -> None:
    """Values within a tenth of a percent of each other need no further round; scattered ones do."""
    assert settled(arms(a=QUIET, b=QUIET[::-1]), RATE, "a")
    assert not settled(arms(a=[100, 110, 95, 102], b=[98, 103, 111, 96]), RATE, "a")


@pytest.mark.parametrize("factor", [1, 1.01, 1.5, 30])
def test_never_by_what_is_found(arms: Made, factor: float) -> None:
    """How large the difference is plays no part: the same noise settles the same."""
    noisy = [100, 104, 97, 101]
    assert settled(arms(a=QUIET, b=[value * factor for value in QUIET[::-1]]), RATE, "a")
    assert not settled(arms(a=QUIET, b=[value * factor for value in noisy]), RATE, "a")


def test_one_narrow_round_is_luck(arms: Made) -> None:
    """What was wide a round earlier goes on, and so does a run whose variant has no values."""
    assert not settled(arms(a=[100, 100, 100], b=[100, 101.5, 100.7]), RATE, "a")
    assert not settled(arms(a=QUIET, b=[]), RATE, "a")


def test_alone(arms: Made) -> None:
    """A single variant is settled when its own mean is."""
    assert settled(arms(a=QUIET), RATE, "a")
    assert not settled(arms(a=[100, 130, 90, 80]), RATE, "a")
