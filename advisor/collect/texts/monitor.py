"""InnoDB's status among the lines of a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.collect.innodb import without_sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 4 << 20  # characters; servers print one megabyte at most
_MONITOR = "INNODB MONITOR OUTPUT"
_END = f"END OF {_MONITOR}"


class Monitor:
    """Keeps the last whole status of the lines that pass."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._size = 0
        self._last = ""

    def passing(self, lines: Iterable[str]) -> Iterator[str]:
        """The same lines."""
        for line in lines:
            if self._open or _MONITOR in line:
                self._take(line)
            yield line

    @property
    def text(self) -> str:
        """The parts of it that hold numbers only; empty where there was none."""
        return without_sql(re.sub(r"\\n", "\n", self._last)) if self._last else ""

    def _take(self, line: str) -> None:
        end = line.rfind(_END)
        begin = line.rfind(_MONITOR, 0, end if end >= 0 else None)
        if begin >= 0:
            self._open, self._size = [line[begin:]], 0
        elif self._open:
            self._open.append(line)
        self._size += len(line) + 1
        if self._open and end >= 0:
            self._last = "\n".join(self._open)
        if end >= 0 or self._size > LONGEST:
            self._open = []


def innodb_text(lines: Iterable[str]) -> str:
    """The status in these lines; of several the last."""
    monitor = Monitor()
    for _ in monitor.passing(lines):
        pass
    return monitor.text
