"""Termination signals quit the app as the user does: screens clean up their work first."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from advisor.core.errors import INTERRUPTED
from advisor.core.signals import END_SIGNALS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.tui.app_base import AppBase

CLEANUP_SECONDS = 30  # seconds for the cleanup after a hang-up; then SIGALRM ends the process


def leave_on_signals(app: AppBase) -> None:
    """Quit the app with exit code 130 on termination signals; ignored signals stay ignored."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, *END_SIGNALS):  # Ctrl-C is a key in the app, so a SIGINT was sent to end it
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, _leave, app, number)


@contextlib.contextmanager
def ignore_interrupts(app: AppBase) -> Iterator[None]:
    """Ignore Ctrl-C while another program has the terminal: the signal reaches this process too.

    The event loop handles the signal after that program has ended, before its next timer.
    """
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, signal.default_int_handler):
        yield  # no handler is installed
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        yield
    finally:
        loop.call_later(0, loop.add_signal_handler, signal.SIGINT, _leave, app, signal.SIGINT)


def _leave(app: AppBase, number: int) -> None:
    if number == signal.SIGHUP:
        _detach_terminal()
    app.call_later(app.leave, INTERRUPTED)


def _detach_terminal() -> None:
    """Replace the closed terminal by /dev/null: drawing on it would fail, and waiting threads would hang."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    signal.alarm(CLEANUP_SECONDS)
