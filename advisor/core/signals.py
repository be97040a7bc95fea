"""SIGTERM and SIGHUP handled like Ctrl-C: clean up, and exit with 130."""

from __future__ import annotations

import contextlib
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interrupt_on_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for these signals within the block; see `raise_on_signals`."""
    taken = raise_on_signals()
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def hold_interrupts() -> Iterator[None]:
    """Hold Ctrl-C back within the block, which forks, and raise KeyboardInterrupt after it.

    Python ignores exceptions in the functions that it runs after a fork, such as that of `logging`: a KeyboardInterrupt
    that is raised there would be lost, and the command would run on. Forked processes inherit the blocked signal.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *END_SIGNALS})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def raise_on_signals() -> list[signal.Signals]:
    """Raise KeyboardInterrupt for these signals from now on, for work that must be cleaned up.

    Returns the handled signals; those with another handler, or ignored as under nohup, are not changed.
    """
    taken = [number for number in END_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in taken:
            signal.signal(number, signal.default_int_handler)
    except ValueError:  # only the main thread may set handlers
        return []
    return taken


def restore_default_signals() -> None:
    """Restore the default handlers in a forked worker that has nothing to clean up, and let the signals through."""
    for number in END_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)
