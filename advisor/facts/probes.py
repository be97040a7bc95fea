"""What was measured on a host: the samples of experiments, as they are kept, carried in snapshots and read by rules.

Only samples and their circumstances are stored; what follows from them is worked out anew whenever it is read.
"""

from dataclasses import field

from advisor.record import record

ANSWER = "answer"
PROBE_SCHEMA = "1.0"


@record(frozen=True)
class Metric:
    """Something that an experiment measures; `better` is more, less, or neither where it only describes."""

    name: str
    unit: str
    better: str = "more"


@record(frozen=True)
class Block:
    """One turn of one variant: the round that it belongs to, and its metrics.

    `began` is seconds since the first block of the run, `seconds` how long it took; `series` are values over time
    within the block, one a second.
    """

    round: int
    began: float
    seconds: float
    metrics: dict[str, float]
    series: dict[str, tuple[float, ...]] = field(default_factory=dict)


@record(frozen=True)
class Arm:
    """A variant with its blocks: `settings` are the options that make it, `point` its place on the chart's axis."""

    name: str
    settings: dict[str, str]
    blocks: tuple[Block, ...]
    point: float | None = None


@record(frozen=True)
class Place:
    """Where a run took place; sizes in bytes, None where it can't be told.

    `host` tells this machine from others (a hash, no name), `path` is the directory that was measured, `device` the
    disks beneath it.
    """

    host: str
    cpu: str | None = None
    cpus: int | None = None
    memory: int | None = None
    kernel: str | None = None
    path: str | None = None
    file_system: str | None = None
    device: str | None = None


@record(frozen=True)
class ProbeResult:
    """One run of one experiment.

    `began_at` is UTC in ISO 8601. `ended` says why it stopped: finished, precise (further rounds would add nothing),
    time, cancelled, or what went wrong. The first of `metrics` is the one that answers the question; `baseline` names
    the variant that the others are compared with. `server` is a target such as mysql-8.0.45, `driver` who made the
    load. `facts` are single findings beside the samples (a cache size inferred, a request size seen); the one called
    ANSWER is the answer in a sentence, where counters answer the question better than the first metric. `limits` are
    what this run could not have seen.
    """

    schema: str
    tool: str
    probe: str
    began_at: str
    seconds: float
    ended: str
    place: Place
    metrics: tuple[Metric, ...]
    arms: tuple[Arm, ...]
    baseline: str
    axis: str = ""
    server: str | None = None
    driver: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    facts: dict[str, float | str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def rounds(self) -> int:
        """How many rounds every variant finished."""
        return min((len(arm.blocks) for arm in self.arms), default=0)

    def arm(self, name: str) -> Arm | None:
        """The variant of that name."""
        return next((arm for arm in self.arms if arm.name == name), None)
