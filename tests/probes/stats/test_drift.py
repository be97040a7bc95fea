"""What changed while a run went on."""

from __future__ import annotations

import pytest
from simulated_experiment import METRIC, Noise, Simulated, simulate

from advisor.facts.probes import Arm, Block, Metric
from probes.stats.table import drift_notes

CALM = Noise(spread=0.01, seconds=0.02, stalls=0, drift=0)


def test_tiring_machine() -> None:
    """A machine that loses a fifth over the run is reported, with the direction; a calm one is not."""
    tired = simulate(Simulated(CALM._replace(drift=0.4), 1))
    (sentence,) = drift_notes(tired.arms, METRIC, "v0")
    assert "fell by" in sentence
    assert drift_notes(simulate(Simulated(CALM, 1)).arms, METRIC, "v0") == ()


@pytest.mark.parametrize(
    ("steps", "where"), [((0.7, 0.75, 0.8, 0.72), "in all variants"), ((0.7, 0.75, 1.01, 0.72), "on average")]
)
def test_a_change_of_most_variants_is_not_called_one_of_all(steps: tuple[float, ...], where: str) -> None:
    """What only some variants did is the average's."""
    arms = tuple(
        Arm(f"v{n}", {}, tuple(Block(k, 0, 1, {"tps": 100.0 * (step if k > 10 else 1)}) for k in range(1, 21)))
        for n, step in enumerate((*steps, *([0.74] * 12)))
    )
    (sentence,) = drift_notes(arms, Metric("tps", ""), "v0")
    assert where in sentence


@pytest.mark.parametrize(("last", "word"), [(50, "fell by 4"), (150, "rose by 5")])
def test_within_blocks(last: float, word: str) -> None:
    """Blocks whose end differs from their beginning are reported."""
    series = tuple(float(value) for value in (100, 101, 99, 100, last, last + 5, last, last))
    arms = tuple(
        Arm(name, {}, tuple(Block(number, 0, 8, {"throughput": 100 + number}, {"throughput": series[shift:]})
                            for number, shift in ((1, 0), (2, 1))))
        for name in "ab"
    )  # fmt: skip
    (sentence,) = drift_notes(arms, METRIC, "a")
    assert word in sentence
