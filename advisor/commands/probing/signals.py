"""Ctrl-C, SIGTERM and a closed terminal while an experiment runs: once keeps the whole rounds, twice ends it now."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from probes.stop import StopSignal

Shown = TypeVar("Shown")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalHandler:
    """What signals do meanwhile; once `clearing` is set, nothing more can break in."""

    def __init__(self, stop: StopSignal, say: Callable[[str], None]) -> None:
        self._stop, self._say = stop, say
        self._owner = os.getpid()
        self._times = 0
        self._drawing = False
        self.clearing = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if os.getpid() != self._owner or self.clearing:
            return  # a worker process ends with its parent's word; and what is being removed is removed to the end
        self._times += 1
        if self._times == 1:
            self._stop.say("cancelled")
            self._say("stopping; whole rounds are kept (once more ends it at once)")
        elif not self._drawing:
            self._end()

    def uninterrupted(self, draw: Callable[[Shown], None]) -> Callable[[Shown], None]:
        """The same, ended by nothing half-way: a console that is left in mid-draw prints no more, nor a cursor."""

        def drawn(said: Shown) -> None:
            if self._drawing or threading.current_thread() is not threading.main_thread():
                draw(said)  # signals are the main thread's
                return
            self._drawing = True
            try:
                draw(said)
            finally:
                self._drawing = False
            if self._times > 1 and not self.clearing:
                self._end()

        return drawn

    def _end(self) -> None:
        self.clearing = True
        raise KeyboardInterrupt


@contextmanager
def handle_signals(stop: StopSignal, say: Callable[[str], None]) -> Iterator[SignalHandler]:
    """Take the signals over, and give them back; one that was to be ignored, as nohup does it, stays so."""
    handler = SignalHandler(stop, say)
    before = {n: signal.getsignal(n) for n in SIGNALS}
    taken = [n for n in SIGNALS if before[n] is not signal.SIG_IGN]
    for number in taken:
        signal.signal(number, handler)
    try:
        yield handler
    finally:
        for number in taken:
            signal.signal(number, before[number])
