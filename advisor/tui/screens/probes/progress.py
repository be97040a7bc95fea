"""A run under way as text: how far it is, the time that is left, and a chart that grows with each block."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from advisor import __version__
from advisor.facts.probes import PROBE_SCHEMA, Arm, Block, ProbeResult, RunPlace
from advisor.report.paper import Paper
from advisor.report.probe.figures import number
from advisor.report.probe.names import numeric
from advisor.report.probe.published import curves
from advisor.report.probe.words import relation
from advisor.report.render import terminal_chart
from advisor.report.words import plural, wrap
from advisor.tui.text import line, plain

if TYPE_CHECKING:
    from advisor.report.render.curves import Curve
    from advisor.tui.screens.probes.plan import Order
    from probes.rounds import Progress


BAR = 30  # columns, at most
LEAST = 30
LOWEST = 8  # lines of a chart
LEGEND = 4  # lines below it, and what parts it from the words above


def figure(order: Order, variant: str, block: Block) -> str:
    """The newest figure: `fsync 4K: latency 812 us`."""
    metric = order.plan.metrics[0]
    return f"{variant}: {metric.name} {number(block.metrics.get(metric.name))} {metric.unit}".rstrip()


def growing(state: RunState, order: Order, room: tuple[int, int], now: float, *, stopping: bool = False) -> Content:
    """The run as it stands, at the monotonic second `now`; `room` is columns and lines, which the chart fits into."""
    width = max(LEAST, room[0])
    server = f", {order.plan.server}" if order.plan.server else ""
    lines = [
        Content.styled(order.experiment.name, "bold") + line(f" in {order.wanted.directory}{server}"),
        *_progress(state, order, width, now),
        line("stopping; whole rounds are kept" if stopping else "c stops it; whole rounds are kept"),
    ]
    blocks = [Content("\n").join(lines)]
    if state.curves:
        words = wrap(state.words, "  ", width=width)
        height = max(LOWEST, min(terminal_chart.HEIGHT, room[1] - len(lines) - words.count("\n") - LEGEND))
        drawing = terminal_chart.draw(state.curves, Paper(width), joined=state.joined, height=height)
        blocks.append(plain(f"{words}\n{drawing}"))
    return Content("\n\n").join(blocks)


def _progress(state: RunState, order: Order, width: int, now: float) -> list[Content]:
    progress = state.progress
    if progress is None:
        about = f" (about {order.plan.cost.prepare:.0f} s)" if order.plan.cost.prepare >= 1 else ""
        return [line(f"preparing{about}: {state.said}" if state.said else f"preparing{about}")]
    columns = min(BAR, width - 20)
    full = round(columns * progress.done)
    bar = Content.styled("█" * full, "$text-success") + Content.styled("░" * (columns - full), "dim")
    shown = [
        bar + Content(f" {100 * progress.done:.0f} %  {clock(progress.left - (now - state.at))} left"),
        line(f"round {min(progress.round, progress.rounds)} of {progress.rounds}: {progress.variant}"),
    ]
    return shown + [line(words, "dim") for words in (state.latest, state.said) if words]


def clock(seconds: float) -> str:
    """3:05, or 1:02:09."""
    whole = max(0, int(seconds + 0.5))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


Blocks = dict[str, tuple[Block, ...]]
SHORTEST = 2  # whole rounds that an interval takes: noise shows from the second on


class RunState(NamedTuple):
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
        place=RunPlace(order.ground.host_id),
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


def drawn(state: RunState, order: Order, blocks: Blocks) -> RunState:
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
