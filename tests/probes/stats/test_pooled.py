"""Pooled runs of equal variants claim a difference as rarely as single runs do."""

from __future__ import annotations

import math
import random

import pytest
from msgspec.structs import replace
from simulated_experiment import METRIC, Noise, Simulated, simulate

from advisor.facts.probes import ProbeResult
from probes.pooling import pool_runs
from probes.stats import compare_in_groups

TIMES = 400
SAMPLING = 0.022  # two standard errors of a share of 5 % in as many


def drawn(run: ProbeResult, draw: random.Random, day: int) -> ProbeResult:
    """The run with values of two equal variants, and its date."""
    arms = tuple(
        replace(arm, blocks=tuple(
            replace(block, metrics={METRIC.name: math.exp(draw.gauss(7, 0.03))}, series={}) for block in arm.blocks
        ))
        for arm in run.arms
    )  # fmt: skip
    return replace(run, arms=arms, began_at=f"2026-01-{day:02d}T00:00:00Z")


@pytest.mark.parametrize("rounds", [(3, 3, 3), (12, 3, 3)], ids=str)
def test_pooled_runs_claim_no_more(rounds: tuple[int, ...]) -> None:
    """A run is not left out, and no long one preferred, for a scatter that chance explains."""
    draw = random.Random(11)  # noqa: S311 - noise, no secret
    runs = {number: simulate(Simulated(Noise(), 1, 2, number, block=2.0)) for number in rounds}
    claiming = 0
    for _ in range(TIMES):
        pooled = pool_runs([drawn(runs[number], draw, 9 - day) for day, number in enumerate(rounds)])
        claiming += any(found.claim != "none" for found in compare_in_groups(pooled.arms, METRIC, pooled.baseline))
    assert claiming / TIMES <= 0.05 + SAMPLING
