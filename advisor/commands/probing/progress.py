"""Progress of a run on stderr: a bar with the variant, the round and the time left on a terminal, else lines."""

from __future__ import annotations

import os
import sys
import time
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING, Self

from advisor.core.errors import print_notice
from advisor.redaction.secrets import escape_text

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from probes.rounds import Progress

ECHO = 3  # columns
NAME = 24


def make_progress() -> ProgressLog:
    """Return a bar if stderr is a terminal, else a line log."""
    return _ProgressBar() if sys.stderr.isatty() else ProgressLog()


class ProgressLog(AbstractContextManager["ProgressLog"]):
    """Prints lines, and nothing per round, as is useful in a log."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to clean up."""

    def say(self, line: str) -> None:
        """Print one line for the user."""
        print_notice(line)

    def show(self, progress: Progress) -> None:
        """Show the progress of the run: nothing here."""

    def write_from_signal(self, line: str) -> None:
        """Print one line from a signal handler, bypassing Python's streams, which may be in the middle of a write."""
        _raw(f"mycnf: {line}\n")


class _ProgressBar(ProgressLog):
    """A progress bar drawn by rich, which handles width, colours and terminal capabilities."""

    def __init__(self) -> None:
        self._rich, self._task = _make_rich_progress()

    def __enter__(self) -> Self:
        self._rich.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar from the screen, and restore the cursor."""
        self._rich.stop()

    def say(self, line: str) -> None:
        """Print one line above the bar."""
        self._rich.console.print(f"mycnf: {escape_text(line)}", markup=False, highlight=False, soft_wrap=True)

    def show(self, progress: Progress) -> None:
        """Update the bar; called when a block begins and ends."""
        self._rich.update(
            self._task,
            completed=progress.done,
            words=f"{_name_tail(escape_text(progress.variant)):<12}",
            at=f"round {min(progress.round, progress.rounds)} of {progress.rounds}",
            left=_TimeLeft(progress.left),
        )
        self._rich.refresh()

    def write_from_signal(self, line: str) -> None:
        """Print one line in place of the bar, which is redrawn below."""
        _raw(f"\r\x1b[Kmycnf: {line}\n")


def _raw(text: str) -> None:
    with suppress(OSError):
        os.write(sys.stderr.fileno(), text.encode("ascii", "replace"))


def _make_rich_progress() -> tuple[RichProgress, TaskID]:
    from rich.console import Console, ConsoleDimensions
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as RichProgress

    class Narrower(Console):
        """A console that leaves room at the end of each line for the ^C that the terminal echoes."""

        @property
        def size(self) -> ConsoleDimensions:
            """Return columns and lines."""
            whole = super().size
            return ConsoleDimensions(max(1, whole.width - ECHO), whole.height)

        @size.setter
        def size(self, new: tuple[int, int]) -> None:
            """Ignore a new size: the terminal determines it."""

    columns = (
        TextColumn("{task.fields[words]}", markup=False),
        BarColumn(None, style="bright_black", complete_style="green", finished_style="green"),
        TextColumn("{task.fields[at]}", markup=False),
        TextColumn("{task.fields[left]}", markup=False),
    )
    # At most once a second: redrawing takes processor time from the measurement.
    rich = RichProgress(*columns, console=Narrower(stderr=True), refresh_per_second=1, transient=True, expand=True)
    return rich, rich.add_task("", total=1.0, words="preparing   ", at="", left=_TimeLeft())


def _name_tail(name: str) -> str:
    """Return the end of a name, where variants of one option differ."""
    return name if len(name) <= NAME else f"…{name[1 - NAME :]}"


class _TimeLeft:
    """The time left, computed when it is drawn; empty while unknown."""

    def __init__(self, seconds: float | None = None) -> None:
        self._until = None if seconds is None else time.monotonic() + seconds

    def __str__(self) -> str:
        """Return `3:05 left` or `1:02:09 left`."""
        if self._until is None:
            return ""
        whole = max(0, int(self._until - time.monotonic() + 0.5))
        hours, minutes = divmod(whole // 60, 60)
        return f"{hours}:{minutes:02}:{whole % 60:02} left" if hours else f"{minutes}:{whole % 60:02} left"
