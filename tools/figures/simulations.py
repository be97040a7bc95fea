"""How often the statistics of probes are right, in simulated probes that run like real ones."""

from __future__ import annotations

from collections.abc import Iterator

from figure import Figure
from simulated_experiment import Noise, judge

RUNS = 200
# With 200 runs and a rate of 5 %, sampling exceeds 8 % only once in forty times.
MOST_CLAIMS = 8
NOISES = {
    "alike blocks, drift": Noise(stalls=0),
    "alike blocks, drift, stalls": Noise(),
    "quiet host (stop rule)": Noise(spread=0.006, seconds=0.01, drift=0.02, stalls=0),
    "one noisy variant": Noise(spread=0.01, seconds=0.02, stalls=0, own={3: 0.08}),
    "noisy baseline": Noise(spread=0.01, seconds=0.02, stalls=0, own={0: 0.08}),
}


def figures(_top: str) -> Iterator[Figure]:
    """False claims, coverage and power with eight variants and five rounds, for each kind of noise."""
    for kind, noise in NOISES.items():
        judged = judge(noise, RUNS)
        name = f"simulated probes, {kind}"
        yield Figure(f"{name}: false claims", 100 * judged.claiming, "% of runs", "<=", MOST_CLAIMS)
        yield Figure(f"{name}: coverage at least", 100 * judged.covered, "%", ">=", 90)
        yield Figure(f"{name}: coverage at most", 100 * judged.covered, "%", "<=", 98)
        yield Figure(f"{name}: detectable difference claimed", 100 * judged.found, "%", ">=", 80)
        yield Figure(f"{name}: detectable", 100 * judged.detectable, "%")
