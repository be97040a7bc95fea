"""An experiment at work in a thread of its own, with a word to stop it; what it showed is kept however it ends."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual.message import Message

from advisor.core.errors import MycnfError
from advisor.tui.messages import Measured, Noted
from advisor.tui.screens.probes.progress import RunState, drawn, figure
from advisor.tui.text import spoken
from advisor.tui.workers import in_background
from probes import rounds
from probes.checkpoints import ResultWriter
from probes.stop import StopSignal

if TYPE_CHECKING:
    from textual.app import App
    from textual.message_pump import MessagePump

    from advisor.facts.probes import ProbeResult
    from advisor.tui.screens.probes.plan import Order
    from advisor.tui.screens.probes.progress import Blocks
    from probes.rounds import Progress

SPARING = 20.0  # times what a curve took to compute passes until the next one, for it takes time from the run


class Moved(Message):
    """A run went on."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        super().__init__()


class Ended(Message):
    """A run is over, and nothing of it is left; without a result `reason` says why."""

    def __init__(self, result: ProbeResult | None, reason: str = "") -> None:
        self.result, self.reason = result, reason
        super().__init__()


class ProbeRun:
    """One run; `to` is told how it goes and `app` of its result."""

    def __init__(self, app: App[Any], to: MessagePump, order: Order) -> None:
        self.order = order
        self.state = RunState(time.monotonic())
        self._app, self._to = app, to
        self._stop = StopSignal()
        self._keeper = ResultWriter(self._note, order.earlier)
        self._blocks: Blocks = {}
        self._next_curve = 0.0
        self._keeping = threading.Lock()  # the app that is left keeps what there is, or the run does, never both
        self._left = self._kept = False

    @property
    def stopping(self) -> bool:
        """Whether its end was asked for."""
        return self._stop.is_set()

    def start(self) -> None:
        """Begin."""
        in_background(self._app, "probe", self._work, self._to)

    def cancel(self) -> None:
        """Ask for the end; whole rounds are kept."""
        self._stop.say("cancelled")

    def leave(self) -> None:
        """Ask for the end, keep the whole rounds, and wait for nothing.

        The process ends, and its servers with it; what the run has not cleared up by then is removed behind it.
        """
        from probes.sandbox.cleanup import sweep_afterwards

        self.cancel()
        sweep_afterwards(self.order.wanted.directory)
        with self._keeping:
            self._left = True
            if not self._kept:
                self._keeper.write_checkpoint()

    def _work(self) -> Message:
        order = self.order
        ground = replace(order.ground, report=self._say)
        try:
            result = rounds.run_experiment(
                order.experiment, ground, order.wanted, self._stop, self._moved, keep=self._keep
            )
        except MycnfError as error:
            return Ended(None, spoken(str(error)))
        except Exception as error:  # noqa: BLE001 - as in_background has it, but that whole rounds are kept before
            if self._left:  # what it worked with was taken away beneath it
                return Ended(None, str(error))
            with self._keeping:
                self._keeper.write_checkpoint()
            from advisor.state.crash_report import write_crash_file

            return Ended(None, write_crash_file(error))
        with self._keeping:
            if self._left:
                return Ended(None, "the app has been left")
            whole = self._keeper.write_final(result)
            self._kept = True
        self._tell(Measured(whole), self._app)
        return Ended(whole)

    def _keep(self, so_far: ProbeResult) -> None:
        with self._keeping:
            if not self._left:
                self._keeper.checkpoint(so_far)

    def _moved(self, progress: Progress) -> None:
        """Called between blocks, while nothing is measured."""
        now, block = time.monotonic(), progress.latest
        state = self.state._replace(at=now, progress=progress)
        if self.state.progress is None:
            state = state._replace(said="")  # it was said of what was prepared, and that is done
        if block is not None:
            self._blocks[progress.variant] = (*self._blocks.get(progress.variant, ()), block)
            state = state._replace(latest=figure(self.order, progress.variant, block))
            if now >= self._next_curve:
                state = drawn(state, self.order, self._blocks)
                took = time.monotonic() - now
                self._next_curve = now + SPARING * took
        self._go_on(state)

    def _say(self, words: str) -> None:
        self._go_on(self.state._replace(at=time.monotonic(), said=spoken(words)))

    def _go_on(self, state: RunState) -> None:
        self.state = state
        self._tell(Moved(state), self._to)

    def _note(self, words: str) -> None:
        self._tell(Noted(spoken(words)), self._app)

    def _tell(self, message: Message, to: MessagePump) -> None:
        with suppress(RuntimeError):  # the app has been left, and its loop is closed
            to.post_message(message)
