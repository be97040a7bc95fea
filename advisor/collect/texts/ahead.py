"""Lines that are read one after another, of which the next ones can be looked at before they are taken."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


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
