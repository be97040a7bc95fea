"""Run an experiment: every variant has its turn in every round, until time is up, precise enough, or told to stop."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from advisor import __version__
from advisor.facts.probes import OTHERS, PROBE_SCHEMA, Arm, Block, ProbeResult, has_no_result
from probes.experiment import ProbeError, Turn
from probes.host_identity import place_of
from probes.safety import cautions, refuse, watching
from probes.safety.neighbours import read_work
from probes.stats import settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from probes.experiment import Bench, Environment, Experiment, ProbeRequest, RunPlan, Variant
    from probes.stop import Stop

SLACK = 0.02  # the share of its time by which a run may overrun
FEWEST = 3  # rounds before anything can be called precise
SEEDS_OF_ROUND = 1_000  # one for each variant, with room for warm-ups
SEEDS_OF_RUN = 1_000_000
OTHERS_MOST = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: `round` of `rounds` (an estimate while time decides), and the seconds that are left."""

    variant: str
    round: int
    rounds: int
    done: float
    left: float
    latest: Block | None = None


def run(
    experiment: Experiment,
    ground: Environment,
    wanted: ProbeRequest,
    stop: Stop,
    watch: Callable[[Progress], None] = lambda _: None,
    *,
    keep: Callable[[ProbeResult], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> ProbeResult:
    """Plan, prepare and measure, and give what was measured; whole rounds are kept when it is stopped half-way.

    `keep` is given what there is after each whole round, should the run end by force before its time. `clock` gives
    seconds; simulations have their own.
    Raises ProbeError where it is refused, or ends before its first round is whole.
    """
    plan = experiment.plan(ground, wanted)
    began = datetime.now(UTC)
    refuse_haste(plan, wanted)
    ground.tidy((wanted.directory, *plan.cost.elsewhere))  # before a disk counts as full of it
    refuse(ground, wanted, plan.cost)

    def so_far(measuring: _Measuring) -> ProbeResult:
        return _result(experiment, ground, wanted, measuring, began=began)

    with watching(stop, wanted.force, ground.listen), experiment.prepare(ground, wanted, plan, stop) as bench:
        measuring = _Measuring(bench, plan, wanted, stop, watch=watch, keep=lambda it: keep(so_far(it)), clock=clock)
        measuring.go()
        result = so_far(measuring)
        for sentence in measuring.notes:
            ground.report(sentence[0].lower() + sentence[1:])
        facts, notes = _told(bench)
    return replace(result, facts={} if result.is_void else facts, notes=(*result.notes, *notes))


def without_numbers(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """The variants as they are kept: where too many blocks are invalid, no block keeps a metric that could be read."""
    if not has_no_result(arms):
        return arms
    return tuple(replace(arm, blocks=tuple(replace(b, metrics={}, series={}) for b in arm.blocks)) for arm in arms)


def refuse_haste(plan: RunPlan, wanted: ProbeRequest) -> None:
    """Raise ProbeError, before anything is prepared, where no round fits into the time."""
    if wanted.rounds and not wanted.seconds:
        return  # who asks for rounds alone gets them, each as short as makes sense
    budget = wanted.budget(plan.seconds, plan.rounds)
    count = len(plan.variants)
    least = (plan.shortest + plan.overhead) * count
    if budget < least * 0.9 + plan.warm_up * count:
        enough = math.ceil(least + plan.warm_up * count)
        raise ProbeError(f"{budget:.0f} s are too short for {count} variants: give at least --time {enough}s")


def _result(
    experiment: Experiment, ground: Environment, wanted: ProbeRequest, measuring: _Measuring, *, began: datetime
) -> ProbeResult:
    plan = measuring.plan
    return ProbeResult(
        schema=PROBE_SCHEMA,
        tool=__version__,
        probe=experiment.name,
        began_at=began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(measuring.elapsed(), 3),
        ended=measuring.ended,
        place=place_of(ground, wanted.directory),
        metrics=plan.metrics,
        arms=measuring.arms(),
        baseline=plan.baseline,
        axis=plan.axis,
        server=plan.server,
        driver=plan.driver,
        parameters=plan.parameters,
        limits=plan.limits,
        notes=(*plan.notes, *measuring.notes, *cautions(ground.host)),
        evidence=experiment.evidence,
    )


def _told(bench: Bench) -> tuple[dict[str, float | str], tuple[str, ...]]:
    """What the bench adds to the samples; one that broke may have nothing more to say, and the samples stay."""
    try:
        facts = {name: told if isinstance(told, str) else float(told) for name, told in bench.facts().items()}
        return facts, bench.notes()
    except ProbeError as error:
        return {}, (f"Nothing was found out beside the samples: {error}",)


class _Turns(NamedTuple):
    """A round to come: how long each of its blocks measures, and whether no other follows it."""

    seconds: float
    last: bool


class _Measuring:
    """The rounds of one run: how long each block may take is worked out anew before every round."""

    def __init__(
        self,
        bench: Bench,
        plan: RunPlan,
        wanted: ProbeRequest,
        stop: Stop,
        *,
        watch: Callable[[Progress], None],
        keep: Callable[[_Measuring], None],
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._bench, self.plan, self._stop, self._watch, self._keep = bench, plan, stop, watch, keep
        self._seed, self._force = wanted.seed * SEEDS_OF_RUN, wanted.force
        self._order = random.Random(wanted.seed)  # noqa: S311 - an order, no secret
        self._rounds = wanted.rounds or plan.rounds
        self._free = wanted.rounds is None and wanted.seconds is None
        self._budget = wanted.budget(plan.seconds, plan.rounds)
        self._overhead = plan.overhead
        self._blocks: dict[str, list[Block]] = {variant.name: [] for variant in plan.variants}
        self._whole = 0
        self._began = clock()
        self.ended = "finished"
        self.notes: tuple[str, ...] = ()

    def elapsed(self) -> float:
        """Seconds since the measuring began."""
        return self._clock() - self._began

    def arms(self) -> tuple[Arm, ...]:
        """The variants with the blocks of the whole rounds. Raises ProbeError where no round is whole."""
        if not self._whole:
            word, _, sentence = self._stop.reason.partition(": ")
            words = "it was stopped before its first round was whole, so there is nothing to keep"
            why = f"{word}: {sentence}; {words}: run this at a quiet time, or --force {word}" if sentence else words
            raise ProbeError(why)
        whole = self._whole
        return without_numbers(
            tuple(
                Arm(v.name, v.settings, tuple(self._blocks[v.name][:whole]), v.point, v.group)
                for v in self.plan.variants
            )
        )

    def go(self) -> None:
        """Measure until the rounds are done, time is up, further rounds would add nothing, or the stop is said."""
        while self._whole < self._rounds and not self._stop.is_set():
            turns = self._next_round()
            if turns is None:
                self.ended = "time"
                return
            if not self._round(turns):
                break
            self._whole += 1
            self._keep(self)
            if self._free and self._whole >= FEWEST and settled(self.arms(), self.plan.metrics[0], self.plan.baseline):
                self.ended = "precise"
                return
        if self._stop.is_set():
            word, _, sentence = self._stop.reason.partition(": ")
            self.ended = word or "cancelled"
            self.notes += (f"It was stopped: {sentence}.",) if sentence else ()

    def _next_round(self) -> _Turns | None:
        """How long the blocks of the next round measure, and whether it is the last; None where none fits any more."""
        plan, count = self.plan, len(self.plan.variants)
        warming = 0.0 if self._whole else plan.warm_up
        left = self._budget - self.elapsed()
        least = (plan.shortest + self._overhead) * count
        left -= warming * count
        fitting = int((left + self._budget * SLACK) / least)  # a round that overruns a little beats an idle end
        if fitting < 1 and self._whole:
            return None
        rounds = max(1, min(self._rounds - self._whole, fitting))
        return _Turns(max(plan.shortest, left / (rounds * count) - self._overhead), rounds == 1)

    def _round(self, turns: _Turns) -> bool:
        """One block of each variant, in an order of its own; whether it became whole."""
        started, seconds = self._clock(), 0.0
        order = list(self.plan.variants)
        self._order.shuffle(order)
        for place, variant in enumerate(order):
            self._tell(variant, place)
            seconds += (turn := self._turn(turns, len(order) - place))
            try:
                block = self._block(variant, turn)
            except ProbeError as error:
                if not self._whole:
                    raise
                self._stop.say("broken")
                self.notes = (f"It broke off in round {self._whole + 1}: {error}",)
                return False
            if self._stop.is_set():
                return False
            self._blocks[variant.name].append(block)
            self._tell(variant, place + 1, block)
        besides = (self._clock() - started - seconds) / len(order)
        # The order decides how often a server restarts in a round: the most that any took is what the next may take.
        least = self._overhead if self._whole else 0.0
        self._overhead = max(least, besides if self._whole else besides - self.plan.warm_up)
        return True

    def _turn(self, turns: _Turns, to_come: int) -> float:
        """Seconds that one block measures; in the last round the blocks share what is left, as it is by then."""
        plan, seconds = self.plan, turns.seconds
        if turns.last:
            left = self._budget - self.elapsed()
            seconds = left / to_come - self._overhead - (0.0 if self._whole else plan.warm_up)
        if plan.grain:
            seconds = plan.grain * round(seconds / plan.grain)
        return max(plan.shortest, seconds)

    def _block(self, variant: Variant, seconds: float) -> Block:
        began = self.elapsed()
        number = self._whole + 1
        before = read_work()
        measured = self._bench.measure(variant, self._seeded(variant, seconds), self._stop)
        others = before.share_until(read_work())
        invalid = measured.invalid or self._disturbed(others)
        return Block(
            round=number,
            began=round(began, 3),
            seconds=round(self.elapsed() - began, 3),
            metrics={} if invalid else measured.metrics,
            series={} if invalid else measured.series,
            counters={**measured.counters, **({} if others is None else {OTHERS: others})},
            invalid=invalid,
        )

    def _seeded(self, variant: Variant, seconds: float) -> Turn:
        number = self._whole + 1
        shared = self._seed + number * SEEDS_OF_ROUND
        return Turn(number, seconds, shared, shared + 1 + self.plan.variants.index(variant))

    def _disturbed(self, others: float | None) -> str:
        """Why other processes make a block worthless, empty where they don't or the user said to measure anyway."""
        if "busy" in self._force or others is None or others <= OTHERS_MOST:
            return ""
        return f"other processes used {others:.0%} of the processors, {OTHERS_MOST:.0%} at most are allowed"

    def _tell(self, variant: Variant, place: int, latest: Block | None = None) -> None:
        done = (self._whole + place / len(self.plan.variants)) / self._rounds
        left = max(0.0, self._budget - self.elapsed())
        self._watch(Progress(variant.name, self._whole + 1, self._rounds, min(1.0, done), left, latest))
