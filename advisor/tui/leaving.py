"""Signals that mean the end leave the app as its user does: what a screen has under way is cleared up first."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

from advisor.ending import ENDING
from advisor.exits import INTERRUPTED

if TYPE_CHECKING:
    from advisor.tui.app import AuditApp

PATIENCE = 30  # seconds after a hang-up in which clearing up must be done: nobody is there to end it


def leave_on_signals(app: AuditApp) -> None:
    """Leave the app with exit code 130 where it is told to end; a signal that is to be ignored stays so."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, *ENDING):  # Ctrl-C is a key here, and no signal; who sends that one means the end
        if signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, _leave, app, number)


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
