"""Run a probe in its own thread; it can be stopped, and complete rounds are always saved."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from advisor.core.errors import MycnfError
from advisor.tui.messages import Notice, ProbeResultReady
from advisor.tui.screens.probes.progress import RunState, add_curves, latest_figure
from advisor.tui.text import replace_flags
from advisor.tui.workers import run_in_background
from probes import rounds
from probes.checkpoints import ResultWriter
from probes.stop import StopSignal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import App
    from textual.message_pump import MessagePump

    from advisor.facts.probes import ProbeResult
    from advisor.tui.screens.probes.plan import PlannedRun
    from advisor.tui.screens.probes.progress import Blocks
    from probes.rounds import Progress

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
