"""kill and a closed terminal, taken as Ctrl-C is: what was begun is put away, and the command ends with 130."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """For the block these signals raise KeyboardInterrupt; as `end_orderly`."""
    taken = raise_on_signals()
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def raise_on_signals() -> list[signal.Signals]:
    """From now on these signals raise KeyboardInterrupt, for whoever began what must not be left half done.

    Gives those that were taken: one that somebody else takes, or that is to be ignored as nohup has it, stays as it is.
    """
    taken = [number for number in END_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
    except ValueError:  # signals are the main thread's
        return []
    return taken


def restore_default_signals() -> None:
    """In a process that was forked for a part of the work: end by these signals, with nothing to put away."""
    for number in END_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
