"""What experiments showed on the server's own host, as rules may read it: values that were worked out elsewhere."""

from typing import NamedTuple


class LocalArm(NamedTuple):
    """A variant: the settings that make it, its place on the axis, and the seconds that it was measured for."""

    name: str
    settings: dict[str, str]
    point: float | None
    seconds: float


class LocalPair(NamedTuple):
    """One variant beside another in one metric.

    `ratio` is its value over the other's with the 95 % interval, `bound` the largest relative difference that the run
    leaves possible, `claim` more, less or none.
    """

    arm: str
    against: str
    ratio: float
    low: float
    high: float
    bound: float
    claim: str


class LocalAnswer(NamedTuple):
    """The latest result of an experiment that holds for the server in question, in one of its metrics.

    `better` is more, less or neither; `verdict`, `best` and `within` are the conclusion of the whole run. `began_at` is
    UTC in ISO 8601, `server` the target that was started, None for an experiment on the host itself. `facts` are what
    was found beside the samples. `pairs` hold every two variants, both ways round, where they are compared.
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
        """One variant beside the other; None where they weren't compared."""
        return next((pair for pair in self.pairs if (pair.arm, pair.against) == (arm, against)), None)
