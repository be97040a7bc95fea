"""Rounds keep to the time that was given, and with any end, whole rounds stay whole."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import pytest

from advisor.facts.host import Host
from advisor.facts.probes import OTHER_PROCESSES, Arm, Metric, ProbeResult
from probes.experiment import (
    BlockMeasurement,
    Choice,
    Cost,
    Environment,
    ProbeError,
    ProbeRequest,
    RunPlan,
    Turn,
    Variant,
)
from probes.rounds import Progress, run_experiment
from probes.safety.neighbours import CpuSeconds
from probes.stop import StopSignal

FORCED = frozenset({"busy", "neighbour", "full", "little"})


@pytest.fixture(autouse=True)
def unread_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock is simulated: blocks end at once, and are too short for a share of the processors.

    Reading it lists all processes of the host, twice per block: nearly all the time of the longest runs here.
    """
    monkeypatch.setattr(sys.modules["probes.rounds"], "read_cpu_seconds", lambda: CpuSeconds(0.0, 0.0, 0.0))


@dataclass
class Timed:
    """An experiment on a clock of its own: a block takes what it was given, `extra` more, and `late` times as long."""

    variants: int = 4
    rounds: int = 5
    seconds: float = 60.0
    extra: float = 0.0
    planned_extra: float = 0.0
    late: float = 1.0
    clearing: float = 0.0
    now: float = 1000.0
    at: dict[int, Callable[[], object]] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    closed: bool = False
    silent: bool = False

    name = title = question = "timed"
    kind = "host"
    evidence: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()

    def plan(self, _ground: Environment, _wanted: ProbeRequest) -> RunPlan:
        """Variants a, b, c, …; the planned overhead may be another than the real one."""
        names = tuple(Variant(chr(ord("a") + place), {}) for place in range(self.variants))
        cost = Cost(0, 0, 0.0, ())
        return RunPlan(names, "a", (Metric("rate", "1/s"),), cost, self.seconds, self.rounds, self.planned_extra)

    @contextmanager
    def prepare(
        self, _ground: Environment, _wanted: ProbeRequest, _plan: RunPlan, _stop: StopSignal
    ) -> Iterator[Timed]:
        """Half a minute of preparation, which is no time of measuring."""
        self.now += 30
        try:
            yield self
        finally:
            self.now += self.clearing
            self.closed = True

    def measure(self, variant: Variant, turn: Turn, _stop: StopSignal) -> BlockMeasurement:
        """A rate that is too unsteady to end the run early."""
        block = len(self.order)
        self.order.append(variant.name)
        self.turns.append(turn)
        self.now += turn.seconds * self.late + self.extra
        if block in self.at:
            self.at[block]()
        return BlockMeasurement({"rate": 100.0 + 37 * block % 50}, {})

    def facts(self) -> dict[str, float | str]:
        """Nothing, or nothing more."""
        if self.silent:
            raise ProbeError("the server is gone")
        return {"read": 1.0}

    def notes(self) -> tuple[str, ...]:
        """None."""
        return ()


def ran(timed: Timed, stop: StopSignal | None = None, **wanted: float) -> ProbeResult:
    """The experiment as users run it, on its own clock."""
    wish = ProbeRequest("/", force=FORCED, **wanted)
    return run_experiment(timed, Environment(Host(), "here"), wish, stop or StopSignal(), clock=lambda: timed.now)


@pytest.mark.parametrize("variants", [1, 2, 8])
@pytest.mark.parametrize("seconds", [20.0, 60.0, 10_800.0])
@pytest.mark.parametrize(("extra", "estimated"), [(0.0, 0.0), (0.4, 0.4), (0.4, 0.0), (0.0, 0.4), (1.0, 0.5)])
def test_the_budget_is_kept(variants: int, seconds: float, extra: float, estimated: float) -> None:
    """With any overhead of blocks, foreseen or not, a run ends within a tenth of the time it was given."""
    timed = Timed(variants=variants, extra=extra, planned_extra=estimated, clearing=25.0)
    result = ran(timed, seconds=seconds)
    assert result.seconds == pytest.approx(seconds, rel=0.1)
    assert result.rounds >= 1
    assert timed.closed


@pytest.mark.parametrize("late", [0.7, 1.2, 1.5])
def test_blocks_that_miss_their_time_are_allowed_for(late: float) -> None:
    """Drivers that take longer than they were told, or less, keep the whole run to its time all the same."""
    assert ran(Timed(late=late), seconds=60.0).seconds == pytest.approx(60.0, rel=0.1)


@dataclass
class Restarting(Timed):
    """A server that restarts where the variant is another than that of the block before."""

    def measure(self, variant: Variant, turn: Turn, stop: StopSignal) -> BlockMeasurement:
        """Six seconds more for each restart."""
        self.now += 6.0 if self.order and self.order[-1] != variant.name else 0.0
        return super().measure(variant, turn, stop)


@pytest.mark.parametrize("seed", range(20))
def test_restarts_are_part_of_the_time(seed: int) -> None:
    """The order decides how often a server restarts in a round; a run of 60 s doesn't take 63."""
    timed = Restarting(variants=2, planned_extra=6.0)
    wish = ProbeRequest("/", seconds=60.0, force=FORCED, seed=seed)
    assert (
        run_experiment(timed, Environment(Host(), "here"), wish, StopSignal(), clock=lambda: timed.now).seconds <= 63.0
    )


def test_rounds_alone_take_their_share_of_the_plan() -> None:
    """Twice as many rounds as planned take twice the plan's time."""
    result = ran(Timed(), rounds=10)
    assert result.rounds == 10
    assert result.seconds == pytest.approx(120.0, rel=0.1)
    assert result.ended == "finished"


@pytest.mark.parametrize(("seconds", "rounds"), [(30.0, 5), (60.0, 5), (180.0, 15), (10_800.0, 900)])
def test_a_longer_time_adds_rounds(seconds: float, rounds: int) -> None:
    """Three times the plan's time has three times its rounds, and its blocks are as long."""
    assert ran(Timed(), seconds=seconds).rounds == rounds


def test_rounds_and_a_time_give_the_length_of_blocks() -> None:
    """Four variants in three rounds share two minutes."""
    result = ran(Timed(), seconds=120.0, rounds=3)
    assert result.rounds == 3
    assert result.arms[0].blocks[0].seconds == pytest.approx(10.0, rel=0.1)


def test_too_short_a_time_says_what_it_takes() -> None:
    """A time in which no round fits is refused, with one that does, before anything is prepared."""
    timed = Timed(variants=8, planned_extra=1.0)
    with pytest.raises(ProbeError, match=r"too short for 8 variants: use --time \d+s"):
        ran(timed, seconds=3.0)
    assert timed.now == 1000.0


def test_a_round_that_was_asked_for_is_run() -> None:
    """One round is run even where its share of the plan's time is too short for it."""
    assert ran(Timed(variants=8, seconds=20.0, planned_extra=1.0), rounds=1).rounds == 1


def test_every_variant_has_its_turn_in_every_round() -> None:
    """Orders differ from round to round and are equal for equal seeds."""
    timed, again, other = Timed(), Timed(), Timed()
    ran(timed, rounds=6)
    ran(again, rounds=6)
    ran(other, rounds=6, seed=1)
    rounds = [tuple(timed.order[i : i + 4]) for i in range(0, 24, 4)]
    assert all(sorted(one) == ["a", "b", "c", "d"] for one in rounds)
    assert len(set(rounds)) > 1
    assert timed.order == again.order != other.order


def test_no_block_repeats_the_draws_of_another() -> None:
    """A repeated load finds its pages cached and its updates done: variants share draws within a round alone."""
    timed = Timed()
    ran(timed, rounds=6, seed=3)
    rounds = [timed.turns[i : i + 4] for i in range(0, 24, 4)]
    assert [{turn.round_seed for turn in turns} for turns in rounds] == [{turns[0].round_seed} for turns in rounds]
    assert len({turns[0].round_seed for turns in rounds}) == len(rounds)
    assert len({turn.block_seed for turn in timed.turns} | {turn.round_seed for turn in timed.turns}) == 24 + 6


@pytest.mark.parametrize("seed", range(8))
def test_each_variant_precedes_each_other_as_often(seed: int) -> None:
    """Every second round has the reverse order, so that what changes with time affects all variants alike."""
    timed = Timed(variants=2)
    ran(timed, rounds=5, seed=seed)
    rounds = [tuple(timed.order[i : i + 2]) for i in range(0, 10, 2)]
    assert [rounds[0], rounds[2]] == [rounds[1][::-1], rounds[3][::-1]]


@pytest.mark.parametrize("block", [4, 9, 11])
def test_a_stop_keeps_whole_rounds(block: int) -> None:
    """A round that was cut short is left out, of every variant alike."""
    timed, stop = Timed(), StopSignal()
    timed.at[block] = partial(stop.say, "cancelled")
    result = ran(timed, stop)
    assert result.ended == "cancelled"
    assert {len(arm.blocks) for arm in result.arms} == {block // 4} == {result.rounds}
    assert len(timed.order) == block + 1
    assert timed.closed


def test_a_stop_with_a_sentence_notes_it() -> None:
    """The reason is a word; the sentence behind it becomes a note."""
    timed, stop = Timed(), StopSignal()
    timed.at[5] = partial(stop.say, "neighbour: mysqld answers slower")
    result = ran(timed, stop)
    assert result.ended == "neighbour"
    assert any("mysqld answers slower" in note for note in result.notes)


def _break() -> None:
    raise ProbeError("the disk is full")


def test_what_breaks_off_keeps_whole_rounds() -> None:
    """An error in the third round leaves two, and says what happened."""
    timed = Timed(at={9: _break})
    result = ran(timed)
    assert result.rounds == 2
    assert result.ended == "broken"
    assert any("round 3" in note and "the disk is full" in note for note in result.notes)
    assert timed.closed


@pytest.mark.parametrize("block", [0, 3])
def test_an_error_in_the_first_round_is_raised(block: int) -> None:
    """There is nothing is saved; what was made is removed."""
    timed = Timed(at={block: _break})
    with pytest.raises(ProbeError, match="the disk is full"):
        ran(timed)
    assert timed.closed


def test_a_stop_in_the_first_round_is_raised() -> None:
    """The same for a stop."""
    timed, stop = Timed(), StopSignal()
    timed.at[2] = partial(stop.say, "cancelled")
    with pytest.raises(ProbeError, match="nothing is saved"):
        ran(timed, stop)
    assert timed.closed


def test_a_bench_that_can_say_no_more_loses_no_sample() -> None:
    """A server that died leaves its samples, and a note."""
    result = ran(Timed(silent=True))
    assert result.rounds == 5
    assert result.facts == {}
    assert any("the server is gone" in note for note in result.notes)


def test_each_whole_round_is_handed_out() -> None:
    """What is returned after a round is a complete result, with that many rounds."""
    timed = Timed()
    seen: list[int] = []
    ground, wish = Environment(Host(), "here"), ProbeRequest("/", force=FORCED)
    run_experiment(timed, ground, wish, StopSignal(), keep=lambda r: seen.append(r.rounds), clock=lambda: timed.now)
    assert seen == [1, 2, 3, 4, 5]


def test_progress_only_grows() -> None:
    """What is done grows from nothing to all, what is left falls to nothing, and rounds are counted from one."""
    timed = Timed()
    seen: list[Progress] = []
    run_experiment(
        timed,
        Environment(Host(), "here"),
        ProbeRequest("/", force=FORCED),
        StopSignal(),
        seen.append,
        clock=lambda: timed.now,
    )
    done, left = [p.done for p in seen], [p.left for p in seen]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0.0, 1.0)
    assert left == sorted(left, reverse=True)
    assert left[-1] < 6
    assert {p.round for p in seen} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(("force", "void"), [(FORCED - {"busy"}, True), (FORCED, False)])
def test_blocks_beside_busy_processes_are_invalid(
    monkeypatch: pytest.MonkeyPatch, force: frozenset[str], void: bool
) -> None:
    """Others that use a third of the processors leave no result, unless the user said to measure beside them."""
    works = (CpuSeconds(moment=float(n), whole=0.3 * n * (os.cpu_count() or 1), own=0.0) for n in itertools.count())
    monkeypatch.setattr(sys.modules["probes.rounds"], "read_cpu_seconds", lambda: next(works))
    monkeypatch.setattr(sys.modules["probes.rounds"], "require_no_objection", lambda *_: None)  # this host may be busy
    timed = Timed(variants=2, rounds=4)
    result = run_experiment(
        timed, Environment(Host(), "here"), ProbeRequest("/", force=force), StopSignal(), clock=lambda: timed.now
    )
    blocks = [block for arm in result.arms for block in arm.blocks]
    assert result.is_void is void
    assert {block.invalid for block in blocks} == (
        {"other processes used 30% of the processors; the limit is 25%"} if void else {""}
    )
    assert {block.counters[OTHER_PROCESSES] for block in blocks} == {0.3}


class Collecting(Timed):
    """Keeps the blocks that its facts may come from."""

    kept: tuple[Arm, ...] = ()

    def keep_blocks(self, arms: tuple[Arm, ...]) -> None:
        """Those of the result."""
        self.kept = arms


def test_facts_come_from_the_blocks_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block beside busy processes has no part in them, nor has a round that was not complete."""
    disturbed, moment, busy = 5, 0, 0.0
    calls = itertools.count()

    def works() -> CpuSeconds:
        nonlocal moment, busy
        call = next(calls)
        moment += 1
        busy += 0.9 * (os.cpu_count() or 1) * (call == 2 * disturbed + 1)
        return CpuSeconds(float(moment), busy, 0.0)

    monkeypatch.setattr(sys.modules["probes.rounds"], "read_cpu_seconds", works)
    monkeypatch.setattr(sys.modules["probes.rounds"], "require_no_objection", lambda *_: None)  # this host may be busy
    timed, stop = Collecting(variants=2, rounds=12), StopSignal()
    timed.at[20] = lambda: stop.say("cancelled")  # the first block of the eleventh round
    result = run_experiment(
        timed,
        Environment(Host(), "here"),
        ProbeRequest("/", force=FORCED - {"busy"}),
        stop,
        clock=lambda: timed.now,
    )
    assert timed.kept == result.arms
    assert sum(block.metrics == {} for arm in timed.kept for block in arm.blocks) == 1
    assert sum(len(arm.blocks) for arm in timed.kept) == 20
