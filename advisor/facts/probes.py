"""Results of probes on a host, as they are saved, included in snapshots and read by rules.

Only samples and their circumstances are stored; what follows from them is calculated whenever it is read.
"""

from msgspec import Struct, field

ANSWER = "answer"
OTHER_PROCESSES = "processor time of other processes, share of all"
PROBE_SCHEMA = "1.1"
MAX_INVALID_SHARE = 0.05  # the share of invalid blocks above which a run has no result


class Metric(Struct, frozen=True):
    """Something that a probe measures; `better` is more, less, or neither for a value that only describes."""

    name: str
    unit: str
    better: str = "more"


class Block(Struct, frozen=True):
    """One block of one variant: its round and its metrics.

    `began` is seconds since the first block of the run, `seconds` how long it took; `series` are values over time
    within the block, one a second. `counters` say what the server and the host did meanwhile, by name with the unit.
    `invalid` says why the block did not exercise what it measures; such a block has no metrics and no series.
    """

    round: int
    began: float
    seconds: float
    metrics: dict[str, float]
    series: dict[str, tuple[float, ...]] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    invalid: str = ""


class Arm(Struct, frozen=True):
    """A variant with its blocks: `settings` are the options that make it, `point` its place on the chart's axis.

    Variants of one `group` are compared with the group's own baseline (see `baselines`): ways of flushing under one
    number of threads, settings under one kind of load.
    """

    name: str
    settings: dict[str, str]
    blocks: tuple[Block, ...]
    point: float | None = None
    group: str = ""

    def values(self, metric: str) -> list[float]:
        """The values of a metric, one for each block that has it; invalid blocks have none."""
        return [block.metrics[metric] for block in self.blocks if metric in block.metrics]


class RunPlace(Struct, frozen=True):
    """The host of a run; sizes in bytes, None if unknown.

    `host` identifies this machine (a hash, no name), `path` is the directory that was measured, `device` the
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


class ProbeResult(Struct, frozen=True):
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
    place: RunPlace
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
    def is_void(self) -> bool:
        """Whether too many blocks did not exercise what they measure, so that the run has no result."""
        return has_no_result(self.arms)

    @property
    def rounds(self) -> int:
        """The number of rounds that every variant finished."""
        return min((len(arm.blocks) for arm in self.arms), default=0)

    def arm(self, name: str) -> Arm | None:
        """The variant with this name."""
        return next((arm for arm in self.arms if arm.name == name), None)


def has_no_result(arms: tuple[Arm, ...]) -> bool:
    """Whether more than one block and 5 % of all are invalid, or all blocks of one variant."""
    flags = [[bool(block.invalid) for block in arm.blocks] for arm in arms if arm.blocks]
    invalid, blocks = sum(map(sum, flags)), sum(map(len, flags))
    return any(map(all, flags)) or invalid > max(1.0, MAX_INVALID_SHARE * blocks)


def baselines(arms: tuple[Arm, ...], baseline: str) -> dict[str, str]:
    """The variant that each group is compared with: `baseline` in its own group, the first one in every other."""
    by_group: dict[str, str] = {}
    for arm in arms:
        if arm.name == baseline:
            by_group[arm.group] = arm.name
        else:
            by_group.setdefault(arm.group, arm.name)
    return by_group
