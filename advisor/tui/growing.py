"""A run under way as text: how far it is, the time that is left, and a chart that grows with each block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from advisor.report import probechart
from advisor.report.paper import Paper
from advisor.report.probefigures import number
from advisor.report.words import wrap
from advisor.tui.plain import line, plain

if TYPE_CHECKING:
    from advisor.facts.probes import Block
    from advisor.tui.probing import Order
    from advisor.tui.sofar import State

BAR = 30  # columns, at most
LEAST = 30
LOWEST = 8  # lines of a chart
LEGEND = 4  # lines below it, and what parts it from the words above


def figure(order: Order, variant: str, block: Block) -> str:
    """The newest figure: `fsync 4K: latency 812 us`."""
    metric = order.plan.metrics[0]
    return f"{variant}: {metric.name} {number(block.metrics.get(metric.name))} {metric.unit}".rstrip()


def growing(state: State, order: Order, room: tuple[int, int], now: float, *, stopping: bool = False) -> Content:
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
        height = max(LOWEST, min(probechart.HEIGHT, room[1] - len(lines) - words.count("\n") - LEGEND))
        drawing = probechart.draw(state.curves, Paper(width), joined=state.joined, height=height)
        blocks.append(plain(f"{words}\n{drawing}"))
    return Content("\n\n").join(blocks)


def _progress(state: State, order: Order, width: int, now: float) -> list[Content]:
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
