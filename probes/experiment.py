"""What an experiment is: variants, what it costs, and a bench on which one variant at a time is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from advisor.facts.host import Host
    from advisor.facts.probes import Metric
    from probes.safety.neighbours import OtherServer
    from probes.safety.watch import LatencyProbe
    from probes.sandbox import Binary
    from probes.stop import StopSignal


class ProbeError(MycnfError):
    """An experiment can't be run, or broke off; the message is one line with what to do."""


class Variant(NamedTuple):
    """One of the things that are compared: `settings` are the options that make it, `point` its place on an axis.

    Variants of one `group` are compared with that group's first variant, and with the plan's baseline in its own.
    """

    name: str
    settings: dict[str, str]
    point: float | None = None
    group: str = ""


class Choice(NamedTuple):
    """Something that the user may choose for one experiment, as `--option NAME=VALUE`.

    `kind` is size, number, seconds, word, or a list of these with an s: sizes, numbers, words.
    """

    name: str
    kind: str
    default: str
    words: str


class Cost(NamedTuple):
    """What a run takes: bytes on disk and in memory at its peak, seconds of preparation, and the things it creates.

    `elsewhere` are directories that it uses besides the one under test; the bytes on disk are shared out evenly.
    """

    disk: int
    memory: int
    prepare: float
    creates: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What a run would do.

    `seconds` is its time besides preparation and `rounds` how often each variant has its turn; `overhead` is what a
    block takes besides measuring (a restart), in seconds, `warm_up` what the first block of a variant takes besides
    that. `shortest` is the least seconds of measuring that a block makes sense with, `grain` the steps in which its
    driver can be told how long, 0 for any. The first of `metrics` answers the question. `limits` are
    sentences on what such a run can't show.
    """

    variants: tuple[Variant, ...]
    baseline: str
    metrics: tuple[Metric, ...]
    cost: Cost
    seconds: float
    rounds: int
    overhead: float = 0.0
    warm_up: float = 0.0
    shortest: float = 0.2
    grain: float = 0.0
    axis: str = ""
    driver: str = "mycnf"
    server: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    limits: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Turn(NamedTuple):
    """One block to measure: its round from 1 on, the seconds to measure, and seeds for what it draws.

    `round_seed` is shared by the variants of a round, for variants with a server and data of their own. `block_seed`
    is this block's alone, for variants that share a server: a load that repeats the draws of the block before it finds
    its pages cached and its updates made already.
    """

    round: int
    seconds: float
    round_seed: int = 1
    block_seed: int = 2


class BlockMeasurement(NamedTuple):
    """What one block gave: metrics by name, per-second values by name of the metric, counters with units in the name.

    `invalid` says why the block did not exercise what it measures, empty where it did.
    """

    metrics: dict[str, float]
    series: dict[str, tuple[float, ...]]
    counters: dict[str, float] = {}  # noqa: RUF012 - nobody adds to a value type's default
    invalid: str = ""


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """What the user asked for.

    `seconds` and `rounds` are None for the plan's own; `directory` is the file system under test; `choices` are
    the experiment's own; `force` holds the names of refusals that are overridden; equal `seed`s give equal orders.
    """

    directory: str
    seconds: float | None = None
    rounds: int | None = None
    choices: dict[str, str] = field(default_factory=dict)
    force: frozenset[str] = frozenset()
    seed: int = 0

    def budget(self, seconds: float, rounds: int) -> float:
        """Seconds that the rounds may take: the user's, or as many as so many rounds of a plan that takes `seconds`."""
        return self.seconds or seconds * (self.rounds or rounds) / rounds


@dataclass(frozen=True, slots=True)
class Environment:
    """Where an experiment takes place: the host as it was read, and the server programs that may be started.

    `host_id` tells this machine from others. `report` takes one line for the user while things are prepared.
    `templates` is a folder of initialised data directories to copy from, None to initialize each one.
    `open_latency_session` opens a session that times the answers of another server of this host, or gives None.
    `remove_leftovers` takes the directories of a run, and removes what killed runs left there and elsewhere.
    """

    host: Host
    host_id: str
    binaries: tuple[Binary, ...] = ()
    report: Callable[[str], None] = print
    templates: str | None = None
    open_latency_session: Callable[[OtherServer], LatencyProbe | None] = lambda _: None
    remove_leftovers: Callable[[tuple[str, ...]], None] = lambda _: None


class Bench(Protocol):
    """A prepared experiment."""

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one variant for about so long; returns early, with whatever is whole, once `stop` is set.

        Raises ProbeError where it breaks off for good.
        """

    def facts(self) -> dict[str, float | str]:
        """Single findings beside the samples, asked once after the last round."""

    def notes(self) -> tuple[str, ...]:
        """Sentences for the reader on what happened, asked once after the last round."""


class Experiment(Protocol):
    """One experiment of the list; modules of this package offer one each under the name EXPERIMENT."""

    name: str
    title: str
    question: str
    kind: str  # host or server
    evidence: tuple[str, ...]
    choices: tuple[Choice, ...]

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """What a run would do and cost; touches nothing. Raises ProbeError where it refuses, with the override."""

    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> AbstractContextManager[Bench]:
        """Make what the run needs; leaving the context removes it all, whatever happened."""


class ProbeEntry(NamedTuple):
    """An experiment as it would run in `directory`, chosen for the reason `why`; without a plan `refused` says why."""

    experiment: Experiment
    directory: str
    why: str
    plan: RunPlan | None
    refused: tuple[str, ...] = ()
