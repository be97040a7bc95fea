"""A simulated probe for the production code: blocks drawn from realistic noise, with a simulated clock."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from advisor.facts.host import Host
from advisor.facts.probes import Metric, ProbeResult
from probes.experiment import BlockMeasurement, Choice, Cost, Environment, ProbeRequest, RunPlan, Turn, Variant
from probes.rounds import run_experiment
from probes.stats import VariantComparison, compare
from probes.stop import StopSignal

FORCED = frozenset({"busy", "little", "full", "neighbour"})
METRIC = Metric("throughput", "1/s", "more")


class Noise(NamedTuple):
    """The noise of blocks, in logarithms.

    `spread` is the spread of a block, `likeness` the autocorrelation of consecutive blocks. `seconds` is the spread of
    single seconds, which are autocorrelated too. `drift` is the decrease over the whole run, `stalls` the probability
    that a second starts a stall of three seconds with a tenth of the rate. `own` is additional noise of variants, by
    index.
    """

    spread: float = 0.03
    likeness: float = 0.6
    seconds: float = 0.08
    drift: float = 0.10
    stalls: float = 0.004
    own: dict[int, float] = {}  # noqa: RUF012 - never changed


@dataclass
class Simulated:
    """A probe whose benches draw their blocks; `effects` are true ratios by the variant's index."""

    noise: Noise
    seed: int
    variants: int = 8
    rounds: int = 5
    block: float = 10.0
    effects: dict[int, float] = field(default_factory=dict)
    now: float = 0.0

    name = "simulated"
    title = question = "a simulation"
    kind = "host"
    evidence: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    def plan(self, _ground: Environment, _wanted: ProbeRequest) -> RunPlan:
        """Variants v0, v1, …; the first one is the baseline."""
        names = tuple(Variant(f"v{place}", {}) for place in range(self.variants))
        seconds = self.variants * self.rounds * self.block
        return RunPlan(names, "v0", (METRIC,), Cost(0, 0, 0.0, ()), seconds, self.rounds)

    @contextmanager
    def prepare(
        self, _ground: Environment, _wanted: ProbeRequest, plan: RunPlan, _stop: StopSignal
    ) -> Iterator[Simulated]:
        """Initialize only the noise."""
        self._random = random.Random(self.seed)  # noqa: S311 - noise, no secret
        self._state = self._random.gauss(0, 1)
        self._second = self._random.gauss(0, 1)
        self._stalled = 0
        self._length = plan.seconds
        yield self

    def measure(self, variant: Variant, turn: Turn, _stop: StopSignal) -> BlockMeasurement:
        """The mean of the drawn seconds, and these."""
        draw, noise, place = self._random, self.noise, int(variant.name[1:])
        self._state = _next(self._state, noise.likeness, draw)
        level = noise.spread * self._state - noise.drift * self.now / self._length
        level += draw.gauss(0, noise.own.get(place, 0.0)) + math.log(self.effects.get(place, 1.0))
        series = tuple(1000 * math.exp(level + self._one_second()) for _ in range(max(1, round(turn.seconds))))
        self.now += turn.seconds
        return BlockMeasurement({METRIC.name: statistics.fmean(series)}, {METRIC.name: series})

    def _one_second(self) -> float:
        self._second = _next(self._second, self.noise.likeness, self._random)
        if self._stalled == 0 and self._random.random() < self.noise.stalls:
            self._stalled = 3
        stall = math.log(0.1) if self._stalled else 0.0
        self._stalled = max(0, self._stalled - 1)
        return self.noise.seconds * self._second + stall

    def facts(self) -> dict[str, float | str]:
        """Empty."""
        return {}

    def notes(self) -> tuple[str, ...]:
        """Empty."""
        return ()


class Judged(NamedTuple):
    """The results of many simulated runs, as shares of one.

    `claiming` runs claimed a difference without one; `covered` intervals contain the true value, with and without a
    difference; `found` runs claimed a difference of the `detectable` size, the median of the runs without one.
    """

    claiming: float
    covered: float
    found: float
    detectable: float


def judge(noise: Noise, runs: int, variants: int = 8, rounds: int = 5) -> Judged:
    """Run that many simulations without a difference, then as many with one of the detectable size."""
    same = [_compared(Simulated(noise, seed, variants, rounds)) for seed in range(runs)]
    detectable = statistics.median(comparison.detectable for run_experiment in same for comparison in run_experiment)
    effects = {1: 1 + detectable}
    unlike = [_compared(Simulated(noise, 10**6 + seed, variants, rounds, effects=effects)) for seed in range(runs)]
    truths = [(beside, 1.0) for run_experiment in same for beside in run_experiment] + [
        (run_experiment[0], effects[1]) for run_experiment in unlike
    ]
    return Judged(
        claiming=statistics.fmean(
            any(comparison.claim != "none" for comparison in run_experiment) for run_experiment in same
        ),
        covered=statistics.fmean(comparison.low <= truth <= comparison.high for comparison, truth in truths),
        found=statistics.fmean(run_experiment[0].claim == "more" for run_experiment in unlike),
        detectable=detectable,
    )


def _compared(experiment: Simulated) -> tuple[VariantComparison, ...]:
    return compare(simulate(experiment).arms, METRIC, "v0")


def simulate(experiment: Simulated, directory: str = "/") -> ProbeResult:
    """Run the simulation like a user's probe: budget, rounds, order, stop rule."""
    ground = Environment(Host(), "simulated")
    wanted = ProbeRequest(directory, force=FORCED, seed=experiment.seed)
    return run_experiment(experiment, ground, wanted, StopSignal(), clock=lambda: experiment.now)


def _next(state: float, likeness: float, draw: random.Random) -> float:
    return likeness * state + math.sqrt(1 - likeness**2) * draw.gauss(0, 1)
