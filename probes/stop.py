"""The word to stop: said by the user, a watch over another server, or a signal; the first reason stays."""

from __future__ import annotations

import threading


class StopSignal(threading.Event):
    """An event with a reason: a word (cancelled, neighbour, broken), which a sentence may follow behind `: `."""

    def __init__(self) -> None:
        super().__init__()
        self.reason = ""

    def say(self, reason: str) -> None:
        """Ask for the end of the run."""
        self.reason = self.reason or reason
        self.set()
