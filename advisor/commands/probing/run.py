"""Runs a probe with progress on stderr, and saves its result however it ends."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from advisor.commands.probing.progress import make_progress
from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice
from probes import rounds
from probes.checkpoints import ResultWriter, find_matching_run
from probes.stop import StopSignal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import FrameType

    from advisor.facts.probes import ProbeResult
    from probes.experiment import Bench, Environment, Experiment, ProbeRequest, RunPlan
    from probes.results import KeptResult


Shown = TypeVar("Shown")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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

    def uninterrupted(self, draw: Callable[[Shown], None]) -> Callable[[Shown], None]:
        """Return a function that signals cannot interrupt: an interrupted console loses its output and the cursor."""

        def drawn(said: Shown) -> None:
            if self._drawing or threading.current_thread() is not threading.main_thread():
                draw(said)  # signals arrive in the main thread only
                return
            self._drawing = True
            try:
                draw(said)
            finally:
                self._drawing = False
            if self._times > 1 and not self.clearing:
                self._end()

        return drawn

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
        keeper = ResultWriter(signals.uninterrupted(print_notice), earlier)
        environment, show = (
            replace(environment, report=signals.uninterrupted(shown.say)),
            signals.uninterrupted(shown.show),
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
