"""Run a probe in its own thread, and its progress as text; it can be stopped, and complete rounds are always saved."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs
from textual.content import Content
from textual.message import Message

from advisor import __version__
from advisor.core.errors import MycnfError
from advisor.facts.probes import PROBE_SCHEMA, Arm, Block, ProbeResult, RunPlace
from advisor.report import plural, wrap
from advisor.report.output import Paper
from advisor.report.probe.figures import NO_SERVER, curves, number, numeric, own_marks
from advisor.report.probe.words import relation
from advisor.report.render import terminal_chart
from advisor.tui.text import replace_flags, safe_line, safe_text
from advisor.tui.workers import Notice, ProbeResultReady, run_in_background
from probes import rounds
from probes.checkpoints import ResultWriter
from probes.stop import StopSignal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App
    from textual.message_pump import MessagePump

    from advisor.report.render.curves import AxisMark, Curve
    from advisor.tui.screens.probes.plan import PlannedRun
    from probes.rounds import Progress


BAR = 30  # columns, at most
LEAST = 30
LOWEST = 8  # lines of a chart
LEGEND = 4  # lines below the chart and before it


def latest_figure(order: PlannedRun, variant: str, block: Block) -> str:
    """The newest figure as text: `fsync 4K: latency 812 us`."""
    metric = order.plan.metrics[0]
    return f"{variant}: {metric.name} {number(block.metrics.get(metric.name))} {metric.unit}".rstrip()


def progress_text(
    state: RunState, order: PlannedRun, room: tuple[int, int], now: float, *, stopping: bool = False
) -> Content:
    """The progress at the monotonic time `now`; the chart fits into `room`, in columns and lines."""
    width = max(LEAST, room[0])
    server = f", {order.plan.server}" if order.plan.server else ""
    lines = [
        Content.styled(wrap(order.experiment.question, width=width), "bold"),
        safe_line(f"in {order.request.directory}{server}"),
        *_progress(state, order, width, now),
        safe_line("stopping; complete rounds are kept" if stopping else "c stops the run; complete rounds are kept"),
    ]
    blocks = [Content("\n").join(lines)]
    if state.curves:
        words = wrap(state.caption, "  ", width=width)
        taken = sum(line.plain.count("\n") + 1 for line in lines) + words.count("\n") + LEGEND + bool(state.marks)
        height = max(LOWEST, min(terminal_chart.HEIGHT, room[1] - taken))
        drawing = terminal_chart.draw(state.curves, Paper(width), joined=state.joined, height=height, marks=state.marks)
        blocks.append(safe_text(f"{words}\n{drawing}"))
    return Content("\n\n").join(blocks)


def _progress(state: RunState, order: PlannedRun, width: int, now: float) -> list[Content]:
    progress = state.progress
    if progress is None:
        about = f" (about {order.plan.cost.prepare:.0f} s)" if order.plan.cost.prepare >= 1 else ""
        return [safe_line(f"preparing{about}: {state.note}" if state.note else f"preparing{about}")]
    columns = min(BAR, width - 20)
    full = round(columns * progress.done)
    bar = Content.styled("█" * full, "$text-success") + Content.styled("░" * (columns - full), "dim")
    shown = [
        bar + Content(f" {100 * progress.done:.0f} %  {format_clock(progress.left - (now - state.at))} left"),
        safe_line(f"round {min(progress.round, progress.rounds)} of {progress.rounds}: {progress.variant}"),
    ]
    return shown + [safe_line(words, "dim") for words in (state.latest, state.note) if words]


def format_clock(seconds: float) -> str:
    """3:05, or 1:02:09."""
    whole = max(0, int(seconds + 0.5))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


Blocks = dict[str, tuple[Block, ...]]
SHORTEST = 2  # complete rounds that an interval needs


class RunState(NamedTuple):
    """The progress of a run; `at` is monotonic time. `progress` is None during preparation.

    `latest` is the newest figure as text, `curves` are those of the complete rounds and the published ones, `caption`
    explains them and their intervals. `marks` is the value of the audited server.
    """

    at: float
    note: str = ""
    progress: Progress | None = None
    latest: str = ""
    curves: tuple[Curve, ...] = ()
    joined: bool = True
    caption: str = ""
    marks: tuple[AxisMark, ...] = ()


def result_so_far(order: PlannedRun, blocks: Blocks) -> ProbeResult:
    """The result of the blocks measured so far, after those of the resumed run."""
    plan = order.plan
    return ProbeResult(
        schema=PROBE_SCHEMA,
        tool=__version__,
        probe=order.experiment.name,
        began_at="",
        seconds=0.0,
        ended="",
        place=RunPlace(order.environment.host_id),
        metrics=plan.metrics,
        arms=tuple(
            Arm(v.name, v.settings, _all_blocks(order, v.name, blocks), v.point, v.group) for v in plan.variants
        ),
        baseline=plan.baseline,
        axis=plan.axis,
        server=plan.server,
        parameters=plan.parameters,
        evidence=order.experiment.evidence,
    )


def _all_blocks(order: PlannedRun, variant: str, blocks: Blocks) -> tuple[Block, ...]:
    before = order.earlier.result.arm(variant) if order.earlier else None
    earlier = before.blocks if before else ()
    return (*earlier, *(structs.replace(block, round=block.round + len(earlier)) for block in blocks.get(variant, ())))


def add_curves(
    state: RunState, order: PlannedRun, blocks: Blocks, variables: Mapping[str, str] = NO_SERVER
) -> RunState:
    """Add the curves of these blocks to the state, as the report would draw them."""
    result = result_so_far(order, blocks)
    shown = curves(result)
    bounded = result.rounds >= SHORTEST and any(point.bounded for curve in shown for point in curve.points)
    if not bounded:
        shown = tuple(map(_without_intervals, shown))
    caption = f"{relation(result, shown)}. {_interval_note(result.rounds, bounded=bounded)}"
    marks = own_marks(result, variables)
    return state._replace(curves=shown, joined=numeric(result), caption=caption, marks=marks)


def _without_intervals(curve: Curve) -> Curve:
    """The curve without intervals."""
    return curve._replace(points=tuple(point._replace(low=point.value, high=point.value) for point in curve.points))


def _interval_note(rounds: int, *, bounded: bool) -> str:
    """The meaning of the bars, or why there are none."""
    if rounds < SHORTEST:
        return "No bars yet: an interval needs two complete rounds."
    complete = plural(rounds, "complete round")
    return (
        f"Bars: 95 % intervals from {complete}."
        if bounded
        else f"No bars yet: after {complete}, all intervals are too wide."
    )


CURVE_PAUSE_FACTOR = 20.0  # wait this many times as long as a curve took to compute


class RunAdvanced(Message):
    """A run made progress."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        super().__init__()


class RunEnded(Message):
    """A run ended and is cleaned up; without a result, `reason` says why."""

    def __init__(self, result: ProbeResult | None, reason: str = "") -> None:
        self.result, self.reason = result, reason
        super().__init__()


class ProbeRun:
    """One run; `pane` gets messages of its progress, `app` of its result.

    `variables` are those of the audited server.
    """

    def __init__(self, app: App[Any], pane: MessagePump, order: PlannedRun, variables: Mapping[str, str]) -> None:
        self.order = order
        self._variables = variables
        self.state = RunState(time.monotonic())
        self._app, self._pane = app, pane
        self._stop = StopSignal()
        self._keeper = ResultWriter(self._show_note, order.earlier)
        self._blocks: Blocks = {}
        self._next_curve = 0.0
        self._keeping = threading.Lock()  # either the closing app or the run saves the rounds, never both
        self._abandoned = self._finished = False

    @property
    def stopping(self) -> bool:
        """Whether the run was asked to stop."""
        return self._stop.is_set()

    def start(self) -> None:
        """Start the thread."""
        run_in_background(self._app, "probe", self._work, self._pane)

    def cancel(self) -> None:
        """Ask the run to stop; complete rounds are saved."""
        self._stop.say("cancelled")

    def leave(self) -> None:
        """Ask the run to stop, save complete rounds, and return without waiting.

        The process ends together with its servers; another process removes what the run leaves behind.
        """
        from probes.sandbox.cleanup import sweep_afterwards

        self.cancel()
        sweep_afterwards(self.order.request.directory)
        with self._keeping:
            self._abandoned = True
            if not self._finished:
                self._keeper.write_checkpoint()

    def _work(self) -> Message:
        order = self.order
        ground = replace(order.environment, report=self._report_preparation)
        try:
            result = rounds.run_experiment(
                order.experiment, ground, order.request, self._stop, self._advance, keep=self._keep
            )
        except MycnfError as error:
            return RunEnded(None, replace_flags(str(error)))
        except Exception as error:  # noqa: BLE001 - like run_in_background, but saves complete rounds first
            if self._abandoned:  # its directory was removed
                return RunEnded(None, str(error))
            with self._keeping:
                self._keeper.write_checkpoint()
            from advisor.state.crash_report import write_crash_file

            return RunEnded(None, write_crash_file(error))
        with self._keeping:
            if self._abandoned:
                return RunEnded(None, "the app was closed")
            whole = self._keeper.write_final(result)
            self._finished = True
        self._post(ProbeResultReady(whole), self._app)
        return RunEnded(whole)

    def _keep(self, so_far: ProbeResult) -> None:
        with self._keeping:
            if not self._abandoned:
                self._keeper.checkpoint(so_far)

    def _advance(self, progress: Progress) -> None:
        """Called between blocks, while nothing is measured."""
        now, block = time.monotonic(), progress.latest
        state = self.state._replace(at=now, progress=progress)
        if self.state.progress is None:
            state = state._replace(note="")  # the note was about the preparation, which is done
        if block is not None:
            self._blocks[progress.variant] = (*self._blocks.get(progress.variant, ()), block)
            state = state._replace(latest=latest_figure(self.order, progress.variant, block))
            if now >= self._next_curve:
                state = add_curves(state, self.order, self._blocks, self._variables)
                took = time.monotonic() - now
                self._next_curve = now + CURVE_PAUSE_FACTOR * took
        self._publish(state)

    def _report_preparation(self, words: str) -> None:
        self._publish(self.state._replace(at=time.monotonic(), note=replace_flags(words)))

    def _publish(self, state: RunState) -> None:
        self.state = state
        self._post(RunAdvanced(state), self._pane)

    def _show_note(self, words: str) -> None:
        self._post(Notice(replace_flags(words)), self._app)

    def _post(self, message: Message, to: MessagePump) -> None:
        with suppress(RuntimeError):  # the app has quit, and its event loop is closed
            to.post_message(message)
