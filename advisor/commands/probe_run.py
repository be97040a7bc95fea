"""Runs a probe with progress on stderr, and saves its result however it ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice
from advisor.redaction import escape_text
from probes import rounds
from probes.checkpoints import ResultWriter, find_matching_run
from probes.stop import StopSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType, TracebackType

    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from advisor.facts.probes import ProbeResult
    from probes.experiment import Bench, Environment, Experiment, ProbeRequest, RunPlan
    from probes.results import KeptResult
    from probes.rounds import Progress


Shown = TypeVar("Shown")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
ECHO = 3  # columns
NAME = 24


class SignalHandler:
    """Handles signals during a run; once `clearing` is set, nothing interrupts any more."""

    def __init__(self, stop: StopSignal, say: Callable[[str], None]) -> None:
        self._stop, self._say = stop, say
        self._owner = os.getpid()
        self._times = 0
        self._drawing = False
        self.clearing = False

    def __call__(self, _number: int, _frame: FrameType | None) -> None:
        if os.getpid() != self._owner or self.clearing:
            return  # workers end with their parent, and clean-up is never interrupted
        self._times += 1
        if self._times == 1:
            self._stop.say("cancelled")
            self._say("stopping; complete rounds are saved (press again to stop at once)")
        elif not self._drawing:
            self._end()

    def block_signals(self, draw: Callable[[Shown], None]) -> Callable[[Shown], None]:
        """Return a function that signals cannot interrupt: an interrupted console loses its output and the cursor."""

        def draw_blocked(shown: Shown) -> None:
            if self._drawing or threading.current_thread() is not threading.main_thread():
                draw(shown)  # signals arrive in the main thread only
                return
            self._drawing = True
            try:
                draw(shown)
            finally:
                self._drawing = False
            if self._times > 1 and not self.clearing:
                self._end()

        return draw_blocked

    def _end(self) -> None:
        self.clearing = True
        raise KeyboardInterrupt


@contextmanager
def handle_signals(stop: StopSignal, say: Callable[[str], None]) -> Iterator[SignalHandler]:
    """Handle the signals, and restore them afterwards; ignored signals (nohup) stay ignored."""
    handler = SignalHandler(stop, say)
    before = {n: signal.getsignal(n) for n in SIGNALS}
    taken = [n for n in SIGNALS if before[n] is not signal.SIG_IGN]
    for number in taken:
        signal.signal(number, handler)
    try:
        yield handler
    finally:
        for number in taken:
            signal.signal(number, before[number])


LONG = 5.0  # seconds; longer preparations are announced
GOOD_ENDS = frozenset({"finished", "precise", "time"})


class RunOutcome(NamedTuple):
    """The result of a run, None if there is none, and the exit code."""

    result: ProbeResult | None
    code: int


def run_probe(
    experiment: Experiment, environment: Environment, wanted: ProbeRequest, earlier: KeptResult | None = None
) -> RunOutcome:
    """Run a probe with a progress bar until it ends or the user stops it; `earlier` is the saved run to resume.

    Raises ProbeError if the run is refused or fails before its first round is complete, and KeyboardInterrupt for the
    second Ctrl-C, after clean-up and with complete rounds saved.
    """
    stop = StopSignal()
    with make_progress() as shown, handle_signals(stop, shown.write_from_signal) as signals:
        keeper = ResultWriter(signals.block_signals(print_notice), earlier)
        environment, show = (
            replace(environment, report=signals.block_signals(shown.say)),
            signals.block_signals(shown.show),
        )
        try:
            result = rounds.run_experiment(
                _SignalSafeExperiment(experiment, signals), environment, wanted, stop, show, keep=keeper.checkpoint
            )
        except MycnfError as error:
            if stop.reason != "cancelled":
                raise
            shown.say(str(error))
            return RunOutcome(None, errors.INTERRUPTED)
        except BaseException:
            keeper.write_checkpoint()
            raise
    whole = keeper.write_final(result)
    return RunOutcome(whole, _code(result.ended))


def _code(ended: str) -> int:
    if ended == "cancelled":
        return errors.INTERRUPTED
    return errors.OK if ended in GOOD_ENDS else errors.USAGE


class _SignalSafeExperiment:
    """A probe that signals the start of its clean-up, so that no signal interrupts that."""

    def __init__(self, experiment: Experiment, signals: SignalHandler) -> None:
        self._experiment, self._signals = experiment, signals
        self.name, self.title, self.question = experiment.name, experiment.title, experiment.question
        self.kind, self.evidence, self.choices = experiment.kind, experiment.evidence, experiment.choices

    def plan(self, environment: Environment, wanted: ProbeRequest) -> RunPlan:
        """Delegate to the probe."""
        return self._experiment.plan(environment, wanted)

    def prepare(
        self, environment: Environment, wanted: ProbeRequest, plan: RunPlan, stop: StopSignal
    ) -> AbstractContextManager[Bench]:
        """Delegate to the probe; announces long preparations, and ignores signals once the context is left."""
        if plan.cost.prepare >= LONG:
            environment.report(f"preparing takes about {plan.cost.prepare:.0f} s")
        return _ignore_signals_at_end(self._experiment.prepare(environment, wanted, plan, stop), self._signals)


@contextmanager
def _ignore_signals_at_end(prepared: AbstractContextManager[Bench], signals: SignalHandler) -> Iterator[Bench]:
    with prepared as bench:
        try:
            yield bench
        finally:
            signals.clearing = True


def earlier_run(
    experiment: Experiment, environment: Environment, wanted: ProbeRequest, plan: RunPlan
) -> KeptResult | None:
    """Return the saved run to resume; None, with a notice on the reason, if there is none."""
    kept, why = find_matching_run(experiment, environment, wanted, plan)
    if kept is not None:
        print_notice(f"resuming the run of {kept.result.began_at}, {kept.result.rounds} rounds so far")
    else:
        print_notice(f"no run of {experiment.name} to resume: {why}; starting a new one")
    return kept


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
        os.write(sys.stderr.fileno(), text.encode("ascii", "backslashreplace"))


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
