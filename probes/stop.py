"""StopSignal: the request to stop a run, by the user, by the watch over other servers, or by a signal."""

from __future__ import annotations

import threading
import time

POLL = 0.05  # seconds


class StopSignal(threading.Event):
    """An event with a reason: cancelled, neighbour or broken, optionally followed by `: ` and a sentence.

    The first reason is kept. It has no lock: the handler of Ctrl-C sets it in the thread that may just wait for it, and
    an ordinary event would then wait for its own lock without end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reason = ""
        self._requested = False

    def say(self, reason: str) -> None:
        """Request the end of the run."""
        self.reason = self.reason or reason
        self.set()

    def set(self) -> None:
        """Request the end of the run without a reason."""
        self._requested = True

    def is_set(self) -> bool:
        """Whether the end of the run is requested."""
        return self._requested

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the request, at most `timeout` seconds; returns whether it came."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._requested:
            left = POLL if end is None else end - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(POLL, left))
        return self._requested
