"""Probe results from the server's own host, in the form that rules read."""

from __future__ import annotations

from advisor.core import NamedTuple


class LocalArm(NamedTuple):
    """A variant of a probe: its settings, its point on the axis, and the seconds that it was measured for."""

    name: str
    settings: dict[str, str]
    point: float | None
    seconds: float


class LocalPair(NamedTuple):
    """The comparison of one variant with another in one metric.

    `ratio` is the first value divided by the second, with its 95 % interval. `bound` is the largest relative
    difference that is compatible with the run. `claim` is more, less or none.
    """

    arm: str
    against: str
    ratio: float
    low: float
    high: float
    bound: float
    claim: str


class LocalAnswer(NamedTuple):
    """The latest result of a probe that applies to this server, in one metric.

    `better` is more, less or neither; `verdict`, `best` and `within` are the conclusion of the whole run. `began_at`
    is UTC in ISO 8601. `server` is the target that was started, None for a probe of the host itself. `facts` are
    single numbers found besides the samples. `pairs` hold all compared pairs of variants, in both directions.
    """

    probe: str
    metric: str
    better: str
    verdict: str
    best: str | None
    within: float | None
    began_at: str
    server: str | None
    rounds: int
    axis: str
    arms: tuple[LocalArm, ...]
    pairs: tuple[LocalPair, ...]
    facts: dict[str, float | str]
    parameters: dict[str, str]

    @property
    def day(self) -> str:
        """The date of the run."""
        return self.began_at[:10]

    def pair(self, arm: str, against: str) -> LocalPair | None:
        """The comparison of two variants; None if they were not compared."""
        return next((pair for pair in self.pairs if (pair.arm, pair.against) == (arm, against)), None)
