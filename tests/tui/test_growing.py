"""The chart of a run under way: what the report would draw, were the whole rounds so far all."""

from __future__ import annotations

import dataclasses
from random import Random

import pytest
from controlled_experiment import SIZES, SPEEDS
from msgspec.structs import replace
from simulated_scan import ON_DISK, Scans

from advisor.facts.probes import Arm, Block, ProbeResult, RunPlace
from advisor.report.probe.figures import curves
from advisor.tui.screens.probes.plan import PlannedRun
from advisor.tui.screens.probes.run import RunState, add_curves, progress_text, result_so_far
from probes.experiment import Environment, ProbeRequest
from probes.results import KeptResult

NOISE = 0.02
Rounds = dict[str, tuple[Block, ...]]


@pytest.fixture
def order(scans: Scans) -> PlannedRun:
    """A run of read buffers, ordered."""
    wanted = ProbeRequest("/scratch")
    ground = Environment(None, "here", (), report=lambda _: None)
    return PlannedRun(scans, ground, wanted, scans.plan(ground, wanted))


def measured(rounds: int, begun: tuple[str, ...] = (), *, noise: float = NOISE, seed: int = 1) -> Rounds:
    """So many whole rounds of each variant, and one block more of those that have `begun` the next."""
    random = Random(seed)  # noqa: S311 - noise, no secret
    return {
        name: tuple(
            Block(number + 1, 0.0, 1.0, {ON_DISK.name: 1000 / speed * random.lognormvariate(0, noise)})
            for number in range(rounds + (name in begun))
        )
        for name, speed in SPEEDS.items()
    }


def finished(order: PlannedRun, blocks: Rounds, rounds: int) -> ProbeResult:
    """The result of these whole rounds, as the run itself would give it."""
    arms = tuple(Arm(n, {}, b[:rounds], float(SIZES[n])) for n, b in blocks.items())
    made = result_so_far(order._replace(earlier=None), {})
    return replace(made, arms=arms, place=RunPlace("here"))


@pytest.mark.parametrize("rounds", [3, 5, 12])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_chart_of_the_report(order: PlannedRun, rounds: int, seed: int) -> None:
    """Values and intervals are those that the finished run of the same whole rounds has; a round begun adds nothing."""
    blocks = measured(rounds, begun=("16K", "128K"), seed=seed)
    state = add_curves(RunState(0.0), order, blocks)
    assert state.curves == curves(finished(order, blocks, rounds))
    assert any(point.bounded for curve in state.curves if curve.here for point in curve.points)
    assert f"95 % intervals from {rounds} complete rounds" in state.caption


def test_variants_in_groups_are_drawn_beside_the_first_of_their_group(order: PlannedRun) -> None:
    """The chart of a run under way compares what the report will compare."""
    groups = {name: "small" if SIZES[name] < 1 << 20 else "large" for name in SIZES}
    variants = tuple(variant._replace(group=groups[variant.name]) for variant in order.plan.variants)
    grouped = order._replace(plan=dataclasses.replace(order.plan, variants=variants))
    blocks = measured(4)
    whole = finished(order, blocks, 4)
    report = replace(whole, arms=tuple(replace(arm, group=groups[arm.name]) for arm in whole.arms))
    state = add_curves(RunState(0.0), grouped, blocks)
    assert state.curves == curves(report) != curves(whole)
    assert "the first of each group" in state.caption


@pytest.mark.parametrize("begun", [(), ("16K", "128K", "2M")])
def test_one_round_has_no_interval_and_says_so(order: PlannedRun, begun: tuple[str, ...]) -> None:
    """Its values are drawn bare: noise shows from the second whole round on."""
    state = add_curves(RunState(0.0), order, measured(1, begun))
    assert all(point.low == point.value == point.high for curve in state.curves for point in curve.points)
    assert "No bars yet: an interval needs two complete rounds." in state.caption
    assert "left out" not in state.caption


def test_the_first_round_is_drawn_as_far_as_it_is(order: PlannedRun) -> None:
    """From the baseline and one variant on there is a curve, without an interval and with the reason."""
    assert add_curves(RunState(0.0), order, measured(0, begun=("16K", "2M"))).curves == ()
    state = add_curves(RunState(0.0), order, measured(0, begun=("128K", "2M")))
    (here, _) = state.curves
    assert [point.label for point in here.points] == ["128K", "2M"]
    assert "an interval needs two complete rounds" in state.caption


def test_intervals_beyond_the_paper_are_reported(order: PlannedRun) -> None:
    """Two rounds of much noise have intervals that can't be drawn, and the words say so."""
    state = add_curves(RunState(0.0), order, measured(2, noise=2.0))
    assert not any(point.bounded for curve in state.curves for point in curve.points)
    assert "No bars yet: after 2 complete rounds, all intervals are too wide." in state.caption


def test_a_run_that_goes_on_counts_the_rounds_before(order: PlannedRun) -> None:
    """The chart is of the earlier run's rounds and of this one's, each separate, with any numbers."""
    blocks = measured(4)
    earlier = KeptResult("a", "/kept", finished(order, blocks, 3))
    later = {name: (replace(row[3], round=1),) for name, row in blocks.items()}
    state = add_curves(RunState(0.0), order._replace(earlier=earlier), later)
    assert state.curves == curves(finished(order, blocks, 4))
    assert "from 4 complete rounds" in state.caption


def test_the_words_stand_over_the_chart(order: PlannedRun) -> None:
    """What the bars are is said where they are drawn."""
    text = progress_text(add_curves(RunState(0.0), order, measured(3)), order, (60, 30), 0.0).plain
    assert "95 % intervals" in " ".join(text.split())
    assert "│" in text


def test_the_value_of_the_audited_server_is_marked(order: PlannedRun) -> None:
    """While the run goes on, the chart marks the server's own value of the option that is measured."""
    state = add_curves(RunState(0.0), order, measured(3), {order.plan.axis: "131072"})
    text = progress_text(state, order, (60, 30), 0.0).plain
    assert "you: 128K" in text
    assert len(text.splitlines()) <= 30
