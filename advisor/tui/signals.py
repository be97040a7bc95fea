"""Signals that mean the end leave the app as its user does: what a screen has under way is cleared up first."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from advisor.core.errors import INTERRUPTED
from advisor.core.signals import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.tui.app import AuditApp

PATIENCE = 30  # seconds after a hang-up in which clearing up must be done: nobody is there to end it


def leave_on_signals(app: AuditApp) -> None:
    """Leave the app with exit code 130 where it is told to end; a signal that is to be ignored stays so."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, *ENDING):  # Ctrl-C is a key here, and no signal; who sends that one means the end
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, _leave, app, number)


@contextlib.contextmanager
def deaf_to_interrupts(app: AuditApp) -> Iterator[None]:
    """Leave Ctrl-C to the program that has the terminal meanwhile: it reaches this process as well.

    The loop hears of a signal after that program has ended, and before its next timer.
    """
    if signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, signal.SIG_DFL, signal.default_int_handler):
        yield  # nobody listens
        return
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    try:
        yield
    finally:
        loop.call_later(0, loop.add_signal_handler, signal.SIGINT, _leave, app, signal.SIGINT)


def _leave(app: AuditApp, number: int) -> None:
    if number == signal.SIGHUP:
        _let_go_of_the_terminal()
    app.call_later(app.leave, INTERRUPTED)


def _let_go_of_the_terminal() -> None:
    """There is none any more: what is drawn from now on would fail, and whoever waits for that would wait for ever."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    signal.alarm(PATIENCE)
