"""StopSignal: the request to stop a run, by the user, by the watch over other servers, or by a signal."""

from __future__ import annotations

import threading


class StopSignal(threading.Event):
    """An event with a reason: cancelled, neighbour or broken, optionally followed by `: ` and a sentence.

    The first reason is kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reason = ""

    def say(self, reason: str) -> None:
        """Request the end of the run."""
        self.reason = self.reason or reason
        self.set()
