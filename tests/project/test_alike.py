"""The tool that runs probes with variants that are the same, and counts what they claim."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest
from simulated_experiment import FORCED, Noise, Simulated

from advisor.facts.host import Host
from advisor.facts.probes import ProbeResult
from probes.experiment import Environment, ProbeRequest
from probes.rounds import run_experiment
from probes.stop import StopSignal

PLACE = Path(__file__).resolve().parents[2] / "tools" / "figures" / "alike.py"
CALM = Noise(spread=0.01, seconds=0.02, stalls=0, drift=0)


@pytest.fixture(scope="module")
def alike() -> ModuleType:
    """The tool as a module."""
    spec = importlib.util.spec_from_file_location("alike", PLACE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ran(alike: ModuleType, seed: int) -> ProbeResult:
    """An experiment whose other variants do twice as much, run as if all were its baseline."""
    simulated = Simulated(CALM, seed, variants=3, effects={1: 2.0, 2: 2.0})
    wanted = ProbeRequest("/", force=FORCED, seed=seed)
    return run_experiment(
        alike.Alike(simulated), Environment(Host(), "here"), wanted, StopSignal(), clock=lambda: simulated.now
    )


def test_all_variants_are_the_baseline(alike: ModuleType) -> None:
    """No run claims the difference of variants that were never measured; an effect as large as detectable is found."""
    results = [ran(alike, seed) for seed in range(20)]
    assert [arm.name for arm in results[0].arms] == ["v0", "v0, again"]
    count = alike.count_claims(results)
    assert (count.runs, count.void) == (20, 0)
    assert count.valid == count.blocks > 0
    assert count.claiming <= 3
    assert count.found >= 14
    assert count.line("simulated").startswith("simulated              20 runs; 100.0% of ")


def test_shuffled_copies_keep_their_rounds_and_rarely_claim(alike: ModuleType) -> None:
    """Blocks change places within their round alone; an effect is gone, and the noise is seldom taken for one."""
    loud = Simulated(Noise(spread=0.1, seconds=0.02, stalls=0, drift=0), 1, variants=3, effects={1: 2.0, 2: 0.5})
    wanted = ProbeRequest("/", force=FORCED, rounds=8, seed=1)
    result = run_experiment(loud, Environment(Host(), "here"), wanted, StopSignal(), clock=lambda: loud.now)
    assert alike.claiming_share([result]) == 1.0
    copies = [alike.shuffle(result, random.Random(seed)) for seed in range(100)]  # noqa: S311 - a simulation, no secret
    for blocks in zip(*(arm.blocks for arm in (*result.arms, *copies[0].arms)), strict=True):
        assert sorted(map(repr, blocks[:3])) == sorted(map(repr, blocks[3:]))
    assert len({repr(copy.arms) for copy in copies}) == 100
    assert alike.claiming_share(copies) <= 0.1
