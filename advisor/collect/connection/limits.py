"""Limits on time and memory for a server's answers: for each one, and for all answers of an audit."""

from __future__ import annotations

import time

MAX_ANSWER_BYTES = 8 << 20  # bytes; the largest answers of real servers have a few hundred thousand
MAX_TOTAL_BYTES = 48 << 20  # bytes; all answers of an audit together are much smaller
# Python's overhead for each piece of an answer: a million empty rows are not free.
PIECE = 64


class AnswerTooLarge(Exception):  # noqa: N818 - becomes a lost connection, with its words
    """The server sends more than a valid answer can contain."""


class AnswerTooSlow(TimeoutError):  # noqa: N818 - a time-out like that of silence, for which the driver looks
    """The server keeps sending without finishing its answer."""


class AnswerLimits:
    """The remaining limits: seconds and bytes for one answer since `begin`, and for all answers since `bound`.

    Only time spent waiting for the server counts, in seconds of the monotonic clock.
    """

    __slots__ = ("_began", "_bytes", "_seconds", "_spent", "_waited", "_whole")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._whole: float | None = None
        self._waited = 0.0
        self._spent = 0
        self.begin()

    def begin(self) -> None:
        """Start the limits of a new answer."""
        self._began = time.monotonic()
        self._bytes = 0

    def bound(self, seconds: float) -> None:
        """Start the limits for all further answers together: this time, and MAX_TOTAL_BYTES."""
        self._whole, self._waited, self._spent = seconds, 0.0, 0

    def spend(self, size: int) -> None:
        """Account for a piece of this size before it is read; raises AnswerTooLarge beyond either limit."""
        self._bytes += size + PIECE
        if self._bytes > MAX_ANSWER_BYTES:
            raise AnswerTooLarge(f"its answer is larger than {MAX_ANSWER_BYTES >> 20}M")
        if self._whole is not None:
            self._spent += size + PIECE
            if self._spent > MAX_TOTAL_BYTES:
                raise AnswerTooLarge(f"its answers are larger than {MAX_TOTAL_BYTES >> 20}M")

    def waited(self, seconds: float) -> None:
        """Add time spent waiting for the server."""
        if self._whole is not None:
            self._waited += seconds

    @property
    def over(self) -> bool:
        """Whether the time for all answers is used up."""
        return self._whole is not None and self._waited >= self._whole

    def left(self) -> float:
        """Seconds that may still be spent waiting for the server; raises AnswerTooSlow if there are none."""
        left = self._began + self._seconds - time.monotonic()
        if self._whole is not None:
            left = min(left, self._whole - self._waited)
        if left <= 0:
            raise AnswerTooSlow("timed out")
        return left
