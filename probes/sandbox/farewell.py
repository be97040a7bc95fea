"""End every throwaway server of this process however the process ends, a kill -9 left aside."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)


class Closeable(Protocol):
    """What can be ended at once."""

    def close(self) -> None:
        """End it; must not raise, and may be called again."""


_alive: dict[int, tuple[int, Closeable]] = {}
_taken: set[signal.Signals] = set()


def remember(sandbox: Closeable) -> None:
    """Close `sandbox` when the process exits or is told to end."""
    if not _alive:
        atexit.register(close_all)
    _alive[id(sandbox)] = (os.getpid(), sandbox)
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may take signals over; the leash and the next sweep do the rest
    for number in ENDING:
        # A program that handles the signal itself leaves by an exception or an exit, and those end the server too.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
            _taken.add(number)


def forget(sandbox: Closeable) -> None:
    """It has been closed; with the last one the signals get their old meaning back."""
    _alive.pop(id(sandbox), None)
    if _alive:
        return
    atexit.unregister(close_all)
    if threading.current_thread() is threading.main_thread():
        for number in _taken:
            if signal.getsignal(number) is _end:
                signal.signal(number, signal.SIG_DFL)
        _taken.clear()


def close_all() -> None:
    """Close all that this process opened; what a forked child inherited is its parent's."""
    for owner, sandbox in list(_alive.values()):
        if owner == os.getpid():
            sandbox.close()


def _end(number: int, _frame: FrameType | None) -> None:
    close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
