"""The interface of probes: variants, costs, a bench that measures one variant at a time, and the user's choices."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from advisor.core.errors import MycnfError
from advisor.core.model import UNITS, exact_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractContextManager
    from typing import TypeVar

    from advisor.facts.host import Host
    from advisor.facts.probes import Arm, Metric
    from probes.safety.neighbours import OtherServer
    from probes.safety.watch import LatencyProbe
    from probes.sandbox import Binary
    from probes.stop import StopSignal

    Read = TypeVar("Read")


class ProbeError(MycnfError):
    """A probe cannot run, or failed; the message is one line that says what to do."""


class Variant(NamedTuple):
    """One of the compared alternatives: `settings` are its options, `point` its position on an axis.

    Variants of one `group` are compared with the group's first variant; in the baseline's group, with the baseline.
    """

    name: str
    settings: dict[str, str]
    point: float | None = None
    group: str = ""


class Choice(NamedTuple):
    """A user option of one probe, given as `--option NAME=VALUE`.

    `kind` is size, number, seconds or word, or a list of these: sizes, numbers, words.
    """

    name: str
    kind: str
    default: str
    words: str


class Cost(NamedTuple):
    """The cost of a run: peak bytes on disk and in memory, seconds of preparation, and what it creates.

    `elsewhere` are further directories that it uses; the bytes on disk are divided equally among all directories.
    """

    disk: int
    memory: int
    prepare: float
    creates: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The plan of a run.

    `seconds` is the measuring time without preparation, `rounds` the number of rounds. `overhead` is the time of a
    block besides measuring (a restart) in seconds, `warm_up` the additional time of the first block of a variant.
    A run that is longer than planned has more rounds, because these differ by more than the noise within their blocks;
    with `long_blocks` it has longer blocks instead, because the effect takes minutes to show.
    `shortest` is the minimum measuring time of a block, `grain` the time resolution of the driver, 0 for any. The
    first of `metrics` answers the question. `limits` are sentences on what such a run cannot show.
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
    long_blocks: bool = False


class Turn(NamedTuple):
    """One block to measure: its round, starting at 1, the seconds to measure, and random seeds.

    `round_seed` is the same for all variants of a round; use it for variants with their own server and data.
    `block_seed` is different for each block; use it for variants that share a server: a load that repeats the random
    draws of the previous block would find its pages cached and its updates already done.
    """

    round: int
    seconds: float
    round_seed: int = 1
    block_seed: int = 2


class BlockMeasurement(NamedTuple):
    """The measurements of one block: metrics by name, per-second values by metric, counters with units in their names.

    `invalid` is the reason why the block did not exercise what it measures; empty if it did.
    """

    metrics: dict[str, float]
    series: dict[str, tuple[float, ...]]
    counters: dict[str, float] = {}  # noqa: RUF012 - a value type's default is never changed
    invalid: str = ""


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """The user's request.

    `seconds` and `rounds` are None for the plan's own values. `directory` is the file system under test, `choices` are
    the probe's options. `force` holds the names of overridden objections. The same `seed` gives the same order of
    variants.
    """

    directory: str
    seconds: float | None = None
    rounds: int | None = None
    choices: dict[str, str] = field(default_factory=dict)
    force: frozenset[str] = frozenset()
    seed: int = 0

    def budget(self, seconds: float, rounds: int) -> float:
        """Seconds for all rounds: as requested, or the requested number of rounds at the plan's time per round."""
        return self.seconds or seconds * (self.rounds or rounds) / rounds


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a probe runs: the facts of the host, and the server programs that may be started.

    `host_id` distinguishes this machine from others. `report` prints one line for the user during preparation.
    `templates` is a folder of initialized data directories to copy from; None initializes each one.
    `open_latency_session` opens a session that measures the response time of another server on this host, or returns
    None. `remove_leftovers` takes the directories of a run and removes what killed runs left there and elsewhere.
    """

    host: Host
    host_id: str
    binaries: tuple[Binary, ...] = ()
    report: Callable[[str], None] = print
    templates: str | None = None
    open_latency_session: Callable[[OtherServer], LatencyProbe | None] = lambda _: None
    remove_leftovers: Callable[[tuple[str, ...]], None] = lambda _: None


class Bench(Protocol):
    """A prepared probe."""

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Measure one variant for about the turn's seconds; returns early with complete data if `stop` is set.

        Raises ProbeError if the run cannot continue.
        """

    def facts(self) -> dict[str, float | str]:
        """Facts found besides the samples; called once after the last round."""

    def notes(self) -> tuple[str, ...]:
        """Sentences for the reader on what happened; called once after the last round."""


@runtime_checkable
class CollectingBench(Protocol):
    """A bench whose facts come from the measurements of its blocks."""

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """Forget all other measurements: those of invalid blocks and of a round that is not complete.

        Called once, before the facts and notes.
        """


class Experiment(Protocol):
    """A probe; each module of a probe has one in the constant EXPERIMENT."""

    name: str
    title: str
    question: str
    kind: str  # host or server
    evidence: tuple[str, ...]
    choices: tuple[Choice, ...]

    def plan(self, environment: Environment, request: ProbeRequest) -> RunPlan:
        """The plan and cost of a run, without any side effect.

        Raises ProbeError, which names the override, if the probe refuses.
        """

    def prepare(
        self, environment: Environment, request: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> AbstractContextManager[Bench]:
        """Prepare the run; leaving the context removes everything again."""


class ProbeEntry(NamedTuple):
    """A probe with its plan for `directory`.

    `why` is the reason for the directory, `refused` the reason for a missing plan.
    """

    experiment: Experiment
    directory: str
    why: str
    plan: RunPlan | None
    refused: tuple[str, ...] = ()


def list_names(names: Iterable[str], last: str = "") -> str:
    """The names of variants in a row, with `last` before the last one; with semicolons where a name has a comma."""
    listed = list(names)
    separator = "; " if any(", " in name for name in listed) else ", "
    if not last or len(listed) == 1:
        return separator.join(listed)
    return f"{separator.join(listed[:-1])} {last} {listed[-1]}"


SIZE_FACTORS = {letter: step for step, letter in UNITS} | {"": 1}
UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


class ChosenOptions:
    """The options of one run; a name that the probe does not offer is a programming error."""

    def __init__(self, offered: tuple[Choice, ...], request: ProbeRequest) -> None:
        """Raises ProbeError for an option that the probe does not offer."""
        self._values = {choice.name: choice.default for choice in offered}
        for name in request.choices:
            if name not in self._values:
                known = ", ".join(self._values) or "nothing"
                raise ProbeError(f"this probe has no option {name!r}; its options: {known}")
        self._values.update(request.choices)

    def word(self, name: str, *among: str) -> str:
        """A word, one of `among` if given."""
        return self._parse(name, self._values[name].strip(), lambda text: _require_one_of(text, among))

    def words(self, name: str, *among: str) -> list[str]:
        """A comma-separated list of words."""
        return self._parse_list(name, lambda text: _require_one_of(text, among))

    def size(self, name: str, least: int = 1) -> int:
        """Bytes; accepts sizes such as 128K and 1.5G, and plain digits."""
        return self._parse(name, self._values[name], lambda text: _parse_size(text, least))

    def sizes(self, name: str, least: int = 1) -> list[int]:
        """A comma-separated list of sizes."""
        return self._parse_list(name, lambda text: _parse_size(text, least))

    def number(self, name: str, least: int = 0) -> int:
        """An integer."""
        return self._parse(name, self._values[name], lambda text: _require_minimum(int(text), least))

    def numbers(self, name: str, least: int = 0) -> list[int]:
        """A comma-separated list of integers."""
        return self._parse_list(name, lambda text: _require_minimum(int(text), least))

    def _parse_list(self, name: str, read: Callable[[str], Read]) -> list[Read]:
        parts = [part.strip() for part in self._values[name].split(",") if part.strip()]
        if not parts:
            raise ProbeError(f"{name} is empty: give at least one value")
        return list(dict.fromkeys(self._parse(name, part, read) for part in parts))

    def _parse(self, name: str, text: str, read: Callable[[str], Read]) -> Read:
        try:
            return read(text)
        except ValueError as error:
            why = f" ({error})" if "literal" not in str(error) else ": use an integer"
            raise ProbeError(f"invalid value {name}={text}{why}") from None


def parse_duration(text: str) -> float | None:
    """Seconds of a duration such as 60s, 10m, 3h or 90; None if it is invalid."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h)?", text.strip())
    return float(match[1]) * UNIT_SECONDS[match[2] or ""] or None if match else None


def _parse_size(text: str, least: int) -> int:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGTPE]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise ValueError("use a number with K, M or G, such as 128M")
    return _require_minimum(int(float(match[1]) * SIZE_FACTORS[match[2].upper()]), least, exact_size)


def _require_minimum(number: int, least: int, written: Callable[[int], str] = str) -> int:
    if number < least:
        raise ValueError(f"minimum {written(least)}")
    return number


def _require_one_of(text: str, among: tuple[str, ...]) -> str:
    if among and text not in among:
        raise ValueError(f"use one of {', '.join(among)}")
    return text
