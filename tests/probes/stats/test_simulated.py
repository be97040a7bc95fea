"""Experiments whose truth is known, run as real ones are: rounds, order, budget, stop rule."""

from __future__ import annotations

import sys

import pytest
from simulated_experiment import Judged, Noise, Simulated, judge, simulate

from probes.safety.neighbours import CpuSeconds

RUNS = 200
SAMPLING = 0.031  # two standard errors of a share of 5 % in 200 runs


@pytest.fixture(
    scope="module",
    params=[
        (Noise(stalls=0), 8),
        (Noise(), 8),
        (Noise(), 3),
        pytest.param((Noise(spread=0.006, seconds=0.01, drift=0.02, stalls=0), 8), marks=pytest.mark.whole),
        pytest.param((Noise(spread=0.01, seconds=0.02, stalls=0, own={3: 0.08}), 8), marks=pytest.mark.whole),
        (Noise(spread=0.01, seconds=0.02, stalls=0, own={0: 0.08}), 8),
    ],
    ids=["drift", "stalls", "three-variants", "quiet", "noisy-variant", "noisy-baseline"],
)
def judged(request: pytest.FixtureRequest) -> Judged:
    """So many variants at five rounds, 200 runs without a difference and 200 with one."""
    with pytest.MonkeyPatch.context() as patch:
        # A third of the time went into a look at all processes of the host before each of 400 runs.
        patch.setattr(sys.modules["probes.safety"], "find_other_servers", tuple)
        patch.setattr(sys.modules["probes.rounds"], "read_cpu_seconds", lambda: CpuSeconds(0.0, 0.0, 0.0))
        noise, variants = request.param
        return judge(noise, RUNS, variants)


def test_false_claims(judged: Judged) -> None:
    """Of runs without a difference at most one in twenty claims one, whichever variant it is."""
    assert judged.claiming <= 0.05 + SAMPLING


def test_coverage(judged: Judged) -> None:
    """The 95 % intervals hold the truth about as often as they say."""
    assert 0.90 <= judged.covered <= 0.98


def test_the_detectable_is_claimed_in_four_of_five_runs(judged: Judged) -> None:
    """A difference of exactly the size that a run calls detectable is claimed as often as the report says."""
    assert judged.found >= 0.80


def test_stop_rule_is_simulated_too() -> None:
    """The quiet runs above end early, and the loud ones don't; so the figures are those of the stop rule too."""
    quiet = Noise(spread=0.003, seconds=0.004, drift=0, stalls=0)
    ends = [simulate(Simulated(quiet, seed)).ended for seed in range(9)]
    assert ends.count("precise") >= 7
    assert simulate(Simulated(Noise(), 1)).ended == "finished"


def test_equal_seeds_give_equal_runs() -> None:
    """A seed decides everything."""
    first, second = (simulate(Simulated(Noise(), 7)).arms for _ in range(2))
    assert first == second
