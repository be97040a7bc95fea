"""Run a probe: measure every variant in each round, until time is up, the result is precise, or the run is stopped."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor import __version__
from advisor.facts.probes import OTHER_PROCESSES, PROBE_SCHEMA, Arm, Block, ProbeResult, has_no_result
from probes.experiment import CollectingBench, ProbeError, Turn
from probes.host_identity import run_place
from probes.safety import host_cautions, require_no_objection, watch_other_servers
from probes.safety.neighbours import read_cpu_seconds
from probes.stats import is_precise

if TYPE_CHECKING:
    from collections.abc import Callable

    from probes.experiment import Bench, Environment, Experiment, ProbeRequest, RunPlan, Variant
    from probes.stop import StopSignal

OVERRUN_SHARE = 0.02  # share of its time by which a run may overrun
MINIMUM_ROUNDS = 3  # rounds before a result can count as precise
SEEDS_PER_ROUND = 1_000  # one seed per variant, with room for warm-ups
SEEDS_PER_RUN = 1_000_000
MAXIMUM_OTHERS = 0.25


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: `round` of `rounds` (an estimate if the time decides), and the remaining seconds."""

    variant: str
    round: int
    rounds: int
    done: float
    left: float
    latest: Block | None = None


def run_experiment(
    experiment: Experiment,
    environment: Environment,
    request: ProbeRequest,
    stop: StopSignal,
    watch: Callable[[Progress], None] = lambda _: None,
    *,
    keep: Callable[[ProbeResult], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> ProbeResult:
    """Plan, prepare and measure, and return the result; a stopped run keeps its complete rounds.

    `keep` is called with the result so far after each complete round, in case the process is killed. `clock` returns
    seconds; simulations use their own. Raises ProbeError if the probe is refused or ends before its first round is
    complete.
    """
    plan = experiment.plan(environment, request)
    began = datetime.now(UTC)
    require_enough_time(plan, request)
    environment.remove_leftovers((request.directory, *plan.cost.elsewhere))  # else they could fill the disk
    require_no_objection(environment, request, plan.cost)

    def so_far(measuring: _Measurement) -> ProbeResult:
        return _result(experiment, environment, request, measuring, began=began)

    with (
        watch_other_servers(stop, request.force, environment.open_latency_session),
        experiment.prepare(environment, request, plan, stop) as bench,
    ):
        measuring = _Measurement(bench, plan, request, stop, watch=watch, keep=lambda it: keep(so_far(it)), clock=clock)
        measuring.run_rounds()
        result = so_far(measuring)
        for sentence in measuring.notes:
            environment.report(sentence[0].lower() + sentence[1:])
        facts, notes = _bench_findings(bench, result)
    return replace(result, facts={} if result.is_void else facts, notes=(*result.notes, *notes))


def without_metrics(arms: tuple[Arm, ...]) -> tuple[Arm, ...]:
    """The variants as saved: without any metrics if too many blocks are invalid."""
    if not has_no_result(arms):
        return arms
    return tuple(replace(arm, blocks=tuple(replace(b, metrics={}, series={}) for b in arm.blocks)) for arm in arms)


def require_enough_time(plan: RunPlan, request: ProbeRequest) -> None:
    """Raise ProbeError, before any preparation, if not even one round fits in the time."""
    if request.rounds and not request.seconds:
        return  # with rounds but no time requested, each block has the minimum length
    budget = request.budget(plan.seconds, plan.rounds)
    count = len(plan.variants)
    least = (plan.shortest + plan.overhead) * count
    if budget < least * 0.9 + plan.warm_up * count:
        enough = math.ceil(least + plan.warm_up * count)
        raise ProbeError(f"{budget:.0f} s is too short for {count} variants: use --time {enough}s or more")


def _result(
    experiment: Experiment, environment: Environment, request: ProbeRequest, measuring: _Measurement, *, began: datetime
) -> ProbeResult:
    plan = measuring.plan
    return ProbeResult(
        schema=PROBE_SCHEMA,
        tool=__version__,
        probe=experiment.name,
        began_at=began.strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(measuring.elapsed_seconds(), 3),
        ended=measuring.ended,
        place=run_place(environment, request.directory),
        metrics=plan.metrics,
        arms=measuring.measured_arms(),
        baseline=plan.baseline,
        axis=plan.axis,
        server=plan.server,
        driver=plan.driver,
        parameters=plan.parameters,
        limits=plan.limits,
        notes=(*plan.notes, *measuring.notes, *host_cautions(environment.host)),
        evidence=experiment.evidence,
    )


def _bench_findings(bench: Bench, result: ProbeResult) -> tuple[dict[str, float | str], tuple[str, ...]]:
    """The facts and notes of the bench; a bench that failed may have none, but the samples are kept."""
    if isinstance(bench, CollectingBench) and not result.is_void:
        bench.keep_blocks(result.arms)
    try:
        facts = {name: value if isinstance(value, str) else float(value) for name, value in bench.facts().items()}
        return facts, bench.notes()
    except ProbeError as error:
        return {}, (f"No facts besides the samples: {error}",)


def _count_rounds(plan: RunPlan, seconds: float) -> int:
    """The number of rounds of a run of so many seconds: one longer than planned has more of them."""
    return plan.rounds if plan.long_blocks else int(plan.rounds * max(1.0, seconds / plan.seconds))


class _RoundPlan(NamedTuple):
    """The next round: the measuring time of its blocks, and whether it is the last."""

    seconds: float
    last: bool


class _Measurement:
    """The rounds of one run; the time per block is calculated before every round."""

    def __init__(
        self,
        bench: Bench,
        plan: RunPlan,
        request: ProbeRequest,
        stop: StopSignal,
        *,
        watch: Callable[[Progress], None],
        keep: Callable[[_Measurement], None],
        clock: Callable[[], float],
    ) -> None:
        self._clock = clock
        self._bench, self.plan, self._stop, self._watch, self._keep = bench, plan, stop, watch, keep
        self._seed, self._force = request.seed * SEEDS_PER_RUN, request.force
        self._random = random.Random(request.seed)  # noqa: S311 - an order, no secret
        self._order = list(plan.variants)
        self._rounds = request.rounds or _count_rounds(plan, request.seconds or plan.seconds)
        self._may_stop_early = request.rounds is None and request.seconds is None
        self._budget = request.budget(plan.seconds, plan.rounds)
        self._overhead = plan.overhead
        self._blocks: dict[str, list[Block]] = {variant.name: [] for variant in plan.variants}
        self._finished = 0
        self._began = clock()
        self.ended = "finished"
        self.notes: tuple[str, ...] = ()

    def elapsed_seconds(self) -> float:
        """Seconds since the measurement began."""
        return self._clock() - self._began

    def measured_arms(self) -> tuple[Arm, ...]:
        """The variants with the blocks of all complete rounds; raises ProbeError if there is no complete round."""
        if not self._finished:
            word, _, sentence = self._stop.reason.partition(": ")
            words = "the run stopped before its first round was complete: nothing is saved"
            why = (
                f"{word}: {sentence}; {words}: run the probe at a quiet time, or use --force {word}"
                if sentence
                else words
            )
            raise ProbeError(why)
        whole = self._finished
        return without_metrics(
            tuple(
                Arm(v.name, v.settings, tuple(self._blocks[v.name][:whole]), v.point, v.group)
                for v in self.plan.variants
            )
        )

    def run_rounds(self) -> None:
        """Measure until the rounds are done, the time is up, more rounds would add nothing, or the run is stopped."""
        while self._finished < self._rounds and not self._stop.is_set():
            turns = self._plan_round()
            if turns is None:
                self.ended = "time"
                return
            if not self._run_round(turns):
                break
            self._finished += 1
            self._keep(self)
            if (
                self._may_stop_early
                and self._finished >= MINIMUM_ROUNDS
                and is_precise(self.measured_arms(), self.plan.metrics[0], self.plan.baseline)
            ):
                self.ended = "precise"
                return
        if self._stop.is_set():
            word, _, sentence = self._stop.reason.partition(": ")
            self.ended = word or "cancelled"
            self.notes += (f"Stopped: {sentence}.",) if sentence else ()

    def _plan_round(self) -> _RoundPlan | None:
        """The plan for the next round; None if no round fits in the remaining time."""
        plan, count = self.plan, len(self.plan.variants)
        warming = 0.0 if self._finished else plan.warm_up
        left = self._budget - self.elapsed_seconds()
        least = (plan.shortest + self._overhead) * count
        left -= warming * count
        fitting = int((left + self._budget * OVERRUN_SHARE) / least)  # a slight overrun is better than an idle rest
        if fitting < 1 and self._finished:
            return None
        rounds = max(1, min(self._rounds - self._finished, fitting))
        return _RoundPlan(max(plan.shortest, left / (rounds * count) - self._overhead), rounds == 1)

    def _run_round(self, turns: _RoundPlan) -> bool:
        """Measure one block of each variant; returns whether the round is complete."""
        started, seconds = self._clock(), 0.0
        order = self._next_order()
        for place, variant in enumerate(order):
            self._report_progress(variant, place)
            seconds += (turn := self._block_seconds(turns, len(order) - place))
            try:
                block = self._measure_block(variant, turn)
            except ProbeError as error:
                if not self._finished:
                    raise
                self._stop.say("broken")
                self.notes = (f"Failed in round {self._finished + 1}: {error}",)
                return False
            if self._stop.is_set():
                return False
            self._blocks[variant.name].append(block)
            self._report_progress(variant, place + 1, block)
        besides = (self._clock() - started - seconds) / len(order)
        # The order determines how often a server restarts, so the largest overhead of a round is used for the next.
        least = self._overhead if self._finished else 0.0
        self._overhead = max(least, besides if self._finished else besides - self.plan.warm_up)
        return True

    def _next_order(self) -> list[Variant]:
        """The order of the variants in the next round: random, and in every second round the reverse of the one before.

        A host gets faster or slower while a run goes on. With independent orders, one of two variants would come first
        in all of three rounds in every fourth run, and its difference would look like one of the variants.
        """
        if self._finished % 2:
            self._order.reverse()
        else:
            self._random.shuffle(self._order)
        return self._order

    def _block_seconds(self, turns: _RoundPlan, to_come: int) -> float:
        """The measuring time of one block; in the last round the remaining blocks share the remaining time."""
        plan, seconds = self.plan, turns.seconds
        if turns.last:
            left = self._budget - self.elapsed_seconds()
            seconds = left / to_come - self._overhead - (0.0 if self._finished else plan.warm_up)
        if plan.grain:
            seconds = plan.grain * round(seconds / plan.grain)
        return max(plan.shortest, seconds)

    def _measure_block(self, variant: Variant, seconds: float) -> Block:
        began = self.elapsed_seconds()
        number = self._finished + 1
        before = read_cpu_seconds()
        measured = self._bench.measure(variant, self._seeded_turn(variant, seconds), self._stop)
        others = before.others_share(read_cpu_seconds())
        invalid = measured.invalid or self._disturbance(others)
        return Block(
            round=number,
            began=round(began, 3),
            seconds=round(self.elapsed_seconds() - began, 3),
            metrics={} if invalid else measured.metrics,
            series={} if invalid else measured.series,
            counters={**measured.counters, **({} if others is None else {OTHER_PROCESSES: others})},
            invalid=invalid,
        )

    def _seeded_turn(self, variant: Variant, seconds: float) -> Turn:
        number = self._finished + 1
        shared = self._seed + number * SEEDS_PER_ROUND
        return Turn(number, seconds, shared, shared + 1 + self.plan.variants.index(variant))

    def _disturbance(self, others: float | None) -> str:
        """Why other processes invalidate a block; empty if they do not or the user forced the run."""
        if "busy" in self._force or others is None or others <= MAXIMUM_OTHERS:
            return ""
        return f"other processes used {others:.0%} of the processors; the limit is {MAXIMUM_OTHERS:.0%}"

    def _report_progress(self, variant: Variant, place: int, latest: Block | None = None) -> None:
        done = (self._finished + place / len(self.plan.variants)) / self._rounds
        left = max(0.0, self._budget - self.elapsed_seconds())
        self._watch(Progress(variant.name, self._finished + 1, self._rounds, min(1.0, done), left, latest))
