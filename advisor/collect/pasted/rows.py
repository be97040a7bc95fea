"""What the forms of tables have in common."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


VALUE = r"(?:variable_)?value"
"""The heading of the second column, in any case; the first one is always variable_name."""
WORD = r"[A-Za-z_][\w.-]*"
NAME = r"[A-Za-z_](?:[\w.: -]*\w)?"  # MySQL 9.7 has counters with blanks in their names
MOST_LINES = 1000  # of one value; what goes on for longer is no row


def is_last(ahead: Ahead, by: int = 0) -> bool:
    """Whether the line ends the text without a line end, so that more of it may have been cut off."""
    return ahead.peek(by + 1) is None


class Ahead:
    """Lines of a text that may be larger than memory: only those that were looked at and not yet taken are held.

    `taken` counts those that were taken.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._seen: deque[str] = deque()
        self.taken = 0

    def peek(self, by: int = 0) -> str | None:
        """The line that is so many behind the next one, None where the text has ended before."""
        while len(self._seen) <= by:
            line = next(self._lines, None)
            if line is None:
                return None
            self._seen.append(line)
        return self._seen[by]

    def take(self) -> str:
        """The next line, which must be there."""
        if not self._seen:
            self._seen.append(next(self._lines))
        self.taken += 1
        return self._seen.popleft()
