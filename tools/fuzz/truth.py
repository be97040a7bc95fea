"""Find all lines of a file that a server rejects, one after another, and its reaction to the rest."""

from __future__ import annotations

import functools
import os
import re
import shutil
import tempfile
from multiprocessing.util import Finalize
from typing import NamedTuple

from answers import Answer, Stop, ask

from probes.sandbox import Binary, SandboxError

MOST_ASKS = 120


class Truth(NamedTuple):
    """`refused` has the rejected lines by position; `last` is the server's reaction to the others.

    `last` is None if the limit of queries was reached.
    """

    refused: dict[int, Stop]
    last: Answer | None
    asks: int


class Interview:
    """Runs a server with a file, removes the rejected line and repeats, until nothing is rejected."""

    def __init__(self, binary: Binary, lines: list[str], folder: str) -> None:
        self.binary = binary
        self.lines = lines
        self.asks = 0
        self.path = os.path.join(folder, "asked.cnf")
        self.empty = os.path.join(folder, "data")
        os.makedirs(self.empty, exist_ok=True)

    def ask(self, left: list[int]) -> Answer:
        """The server's reaction to a subset of the lines, by position."""
        self.asks += 1
        with open(self.path, "w", encoding="utf-8", newline="") as f:
            f.write("".join(self.lines[at] + "\n" for at in left))
        return ask(self.binary, self.path, self.empty, self._goes_on)

    def truth(self) -> Truth:
        """All rejected lines, and the reaction to the remaining ones."""
        left = list(range(len(self.lines)))
        refused: dict[int, Stop] = {}
        answer = self.ask(left)
        while answer.stop is not None and self.asks < MOST_ASKS:
            at, stop, answer = self._culprit(left, answer.stop)
            if at is None:
                return Truth(refused, None, self.asks)
            refused[at] = stop
            left.remove(at)
        return Truth(refused, answer if answer.stop is None else None, self.asks)

    def _culprit(self, left: list[int], stop: Stop) -> tuple[int | None, Stop, Answer]:
        """The line that stops the server, its error, and the reaction without the line."""
        suspects = [at for at in left if (stop.name or stop.about) and names(self.lines[at], stop)]
        suspects = self._as_printed_first(suspects, stop)
        for at in suspects:
            answer = self.ask([other for other in left if other != at])
            if answer.stop != stop or _same_lines(self.lines, suspects):
                return at, stop, answer
        found, stop = self._search(left, stop)
        return found, stop, self.ask([other for other in left if other != found])

    def _goes_on(self, stop: Stop) -> bool:
        """Whether the server continues after reporting the error: MariaDB with loose_, MySQL 8 for a locale."""
        if self.binary.target.since("mysql", 8):
            return "Unknown locale" in stop.said
        if not self.binary.target.is_mariadb or stop.kind != "invalid-value" or not stop.name:
            return False
        named = [line for line in self.lines if names(line, stop)]
        named = [line for line in named if "=" in line] or named  # lines with the printed value first
        whole = [line for line in named if _bare_name(_written_name(line)) == stop.name]  # others may be abbreviations
        return bool(named) and all("loose" in line.lower() for line in whole or named)

    def _search(self, left: list[int], stop: Stop) -> tuple[int | None, Stop]:
        """The first line that must be removed, found by bisection.

        The server rejects the beginning of the file that includes it.
        """
        low, high = 0, len(left) - 1
        while low < high:
            middle = (low + high) // 2
            answer = self.ask(left[: middle + 1]).stop
            if answer is not None:
                high, stop = middle, answer
            else:
                low = middle + 1
        # If one option makes the server forget others, it names one of those instead of the line that was added last.
        named = [at for at in left[: low + 1] if stop.kind == "unknown-option" and names(self.lines[at], stop)]
        found = self._as_printed_first(named, stop)[0] if named else left[low]
        return None if self.lines[found].startswith("[") else found, stop

    def _as_printed_first(self, suspects: list[int], stop: Stop) -> list[int]:
        """Names that differ in case are equal, except to MariaDB, which prints the unknown one as in the file."""
        return sorted(suspects, key=lambda at: self.lines[at].partition("=")[0].strip() not in stop.said)


def _same_lines(lines: list[str], suspects: list[int]) -> bool:
    return len({"".join(lines[at].split()) for at in suspects}) < len(suspects)


def names(line: str, stop: Stop) -> bool:
    """Whether the line may be the one in the error, by its name, and by its value if the error has one."""
    _, equals, value = line.partition("=")
    written, stopped_at = _written_name(line), stop.name or ""
    if not stopped_at:
        return re.search(stop.about, written) is not None
    if stop.kind != "invalid-value":
        return written == stopped_at or (
            stop.kind not in ("unknown-option", "ambiguous-option") and _akin(written, stopped_at)
        )
    plain = value.partition(" #")[0].strip().strip("\"'").strip()
    return (not equals or stop.value is None or plain == stop.value.strip()) and _akin(written, stopped_at)


def _written_name(line: str) -> str:
    """The name at the start of a line, in lower case with underscores."""
    return line.partition("=")[0].strip().partition(" ")[0].replace("-", "_").lower()


def _bare_name(written: str) -> str:
    """A name without a plugin's name and without prefixes."""
    last = written.rpartition(".")[2]
    for prefix in ("loose_", "skip_", "disable_", "enable_", "maximum_", "loose_"):
        last = last.removeprefix(prefix)
    return last


def _akin(written: str, printed: str) -> bool:
    """Whether one name is a prefix or suffix of the other, without prefixes such as loose_."""
    last = _bare_name(written)
    return last == printed or printed.startswith(last) or last.endswith(printed)


@functools.cache
def _folder() -> str:
    """A scratch folder of this process."""
    folder = tempfile.mkdtemp(prefix="mycnf-fuzz-")
    Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=1)  # workers run no atexit
    return folder


def truth(binary: Binary, lines: list[str]) -> Truth:
    """All of the server's reactions to the lines."""
    try:
        return Interview(binary, lines, _folder()).truth()
    except SandboxError:
        return Truth({}, None, MOST_ASKS)  # the server sometimes hangs if the host is overloaded
