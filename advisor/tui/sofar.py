"""What a run has shown so far: its newest words and figures, and the curves of its whole rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from advisor import __version__
from advisor.facts.probes import PROBE_SCHEMA, Arm, Block, Place, ProbeResult
from advisor.report.probenames import numeric
from advisor.report.probepublished import curves
from advisor.report.probewords import relation
from advisor.report.words import plural

if TYPE_CHECKING:
    from advisor.report.probepublished import Curve
    from advisor.tui.probing import Order
    from probes.rounds import Progress

Blocks = dict[str, tuple[Block, ...]]
SHORTEST = 2  # whole rounds that an interval takes: noise shows from the second on


class State(NamedTuple):
    """How far a run is; `at` is the monotonic second of it. `progress` is None while things are prepared.

    `latest` is the newest figure in words, `curves` are those of the whole rounds so far beside the published ones,
    `words` say what they are and what their bars are.
    """

    at: float
    said: str = ""
    progress: Progress | None = None
    latest: str = ""
    curves: tuple[Curve, ...] = ()
    joined: bool = True
    words: str = ""


def so_far(order: Order, blocks: Blocks) -> ProbeResult:
    """What the blocks come to that were measured up to now, those of the run that this one goes on with before them."""
    plan = order.plan
    return ProbeResult(
        schema=PROBE_SCHEMA,
        tool=__version__,
        probe=order.experiment.name,
        began_at="",
        seconds=0.0,
        ended="",
        place=Place(order.ground.host_id),
        metrics=plan.metrics,
        arms=tuple(Arm(v.name, v.settings, _all(order, v.name, blocks), v.point) for v in plan.variants),
        baseline=plan.baseline,
        axis=plan.axis,
        server=plan.server,
        parameters=plan.parameters,
        evidence=order.experiment.evidence,
    )


def _all(order: Order, variant: str, blocks: Blocks) -> tuple[Block, ...]:
    before = order.earlier.result.arm(variant) if order.earlier else None
    earlier = before.blocks if before else ()
    return (*earlier, *(replace(block, round=block.round + len(earlier)) for block in blocks.get(variant, ())))


def drawn(state: State, order: Order, blocks: Blocks) -> State:
    """The state with the curves of these blocks: what the report would draw, were this the end."""
    result = so_far(order, blocks)
    shown = curves(result)
    bounded = result.rounds >= SHORTEST and any(point.bounded for curve in shown for point in curve.points)
    if not bounded:
        shown = tuple(map(_bare, shown))
    words = f"{relation(result, shown)}. {_bars(result.rounds, bounded=bounded)}"
    return state._replace(curves=shown, joined=numeric(result), words=words)


def _bare(curve: Curve) -> Curve:
    """The curve without intervals."""
    return curve._replace(points=tuple(point._replace(low=point.value, high=point.value) for point in curve.points))


def _bars(rounds: int, *, bounded: bool) -> str:
    """What the bars are, or why there are none."""
    if rounds < SHORTEST:
        return "No bars yet: an interval takes two whole rounds."
    whole = plural(rounds, "whole round")
    return f"Bars: 95 % intervals, by {whole}." if bounded else f"No bars yet: by {whole} all intervals are too wide."
