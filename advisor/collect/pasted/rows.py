"""Common definitions for all table formats."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


VALUE = r"(?:variable_)?value"
"""The heading of the second column, ignoring case; the first one is always variable_name."""
WORD = r"[A-Za-z_][\w.-]*"
NAME = r"[A-Za-z_](?:[\w.: -]*\w)?"  # MySQL 9.7 has counters with blanks in their names
MOST_LINES = 1000  # maximum lines of one value; anything longer is not a row


def is_last(ahead: Ahead, by: int = 0) -> bool:
    """Whether the text ends with this line without a line end, so that it may be truncated."""
    return ahead.peek(by + 1) is None


class Ahead:
    """Lines with lookahead, for a text that may be larger than memory; only lines peeked at but not taken are held.

    `taken` is the number of lines taken.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._seen: deque[str] = deque()
        self.taken = 0

    def peek(self, by: int = 0) -> str | None:
        """The line `by` lines after the next one; None beyond the end of the text."""
        while len(self._seen) <= by:
            line = next(self._lines, None)
            if line is None:
                return None
            self._seen.append(line)
        return self._seen[by]

    def take(self) -> str:
        """The next line, which must exist."""
        if not self._seen:
            self._seen.append(next(self._lines))
        self.taken += 1
        return self._seen.popleft()
