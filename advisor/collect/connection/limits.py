"""How much of our time and memory a server may take: for one answer, and for all that an audit asks."""

from __future__ import annotations

import time

MAX_ANSWER_BYTES = 8 << 20  # bytes; the largest answers of real servers have a few hundred thousand
MAX_TOTAL_BYTES = 48 << 20  # bytes; all answers of an audit together stay far below one of them
# What Python needs around a piece of an answer, however small: a million empty rows are no empty answer.
PIECE = 64


class AnswerTooLarge(Exception):  # noqa: N818 - becomes a lost connection, with its words
    """A server sends more than any answer has."""


class AnswerTooSlow(TimeoutError):  # noqa: N818 - a time-out like that of silence, for which the driver looks
    """A server that keeps sending, and doesn't come to an end."""


class AnswerLimits:
    """What is left to a server: seconds and bytes of one answer, from `begin` on; of all of them, from `bound` on.

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
        """A new answer."""
        self._began = time.monotonic()
        self._bytes = 0

    def bound(self, seconds: float) -> None:
        """From now on all answers together may take this long, and WHOLE bytes."""
        self._whole, self._waited, self._spent = seconds, 0.0, 0

    def spend(self, size: int) -> None:
        """A piece of this size is about to be read; TooMuch where it is more than an answer, or all of them, have."""
        self._bytes += size + PIECE
        if self._bytes > MAX_ANSWER_BYTES:
            raise AnswerTooLarge(f"its answer is larger than {MAX_ANSWER_BYTES >> 20}M")
        if self._whole is not None:
            self._spent += size + PIECE
            if self._spent > MAX_TOTAL_BYTES:
                raise AnswerTooLarge(f"its answers are larger than {MAX_TOTAL_BYTES >> 20}M")

    def waited(self, seconds: float) -> None:
        """The server was waited for."""
        if self._whole is not None:
            self._waited += seconds

    @property
    def over(self) -> bool:
        """Whether the time for all answers is used up."""
        return self._whole is not None and self._waited >= self._whole

    def left(self) -> float:
        """Seconds that the server may still be waited for; Overdue where there are none."""
        left = self._began + self._seconds - time.monotonic()
        if self._whole is not None:
            left = min(left, self._whole - self._waited)
        if left <= 0:
            raise AnswerTooSlow("timed out")
        return left
