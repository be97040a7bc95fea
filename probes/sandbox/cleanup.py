"""End every throwaway server of this process when the process ends, except by kill -9."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Protocol

from probes.sandbox.scratch import SHORT_BASE, default_base

if TYPE_CHECKING:
    from types import FrameType


END_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


class Closeable(Protocol):
    """What can be ended at once."""

    def close(self) -> None:
        """End it; must not raise, and may be called again."""


_open: dict[int, tuple[int, Closeable]] = {}
_handled_signals: set[signal.Signals] = set()


def register(sandbox: Closeable) -> None:
    """Close `sandbox` when the process exits or receives SIGTERM or SIGHUP."""
    if not _open:
        atexit.register(close_all)
    _open[id(sandbox)] = (os.getpid(), sandbox)
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may take signals over; the leash and the next sweep do the rest
    for number in END_SIGNALS:
        # A program that handles the signal itself leaves by an exception or an exit, and those end the server too.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _handle_signal)
            _handled_signals.add(number)


def unregister(sandbox: Closeable) -> None:
    """It has been closed; with the last one the signals get their old meaning back."""
    _open.pop(id(sandbox), None)
    if _open:
        return
    atexit.unregister(close_all)
    if threading.current_thread() is threading.main_thread():
        for number in _handled_signals:
            if signal.getsignal(number) is _handle_signal:
                signal.signal(number, signal.SIG_DFL)
        _handled_signals.clear()


def close_all() -> None:
    """Close all that this process opened; what a forked child inherited is its parent's."""
    for owner, sandbox in list(_open.values()):
        if owner == os.getpid():
            sandbox.close()


def _handle_signal(number: int, _frame: FrameType | None) -> None:
    close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


# Its parent is gone once the parent process id changes.
# A server that ends at the same time may still write, so that it sweeps
# until nothing of its owner's is there; what it can't sweep within its time the next run will.
SWEEP_WHEN_ALONE = """
import json, os, sys, time
owner, folders, path = (json.loads(word) for word in sys.argv[1:])
sys.path[:0] = path
from probes.sandbox.scratch import has_leftovers, sweep
for _ in range(1500):
    if os.getppid() != owner:
        for folder in folders:
            sweep(folder)
        if not any(has_leftovers(owner, folder) for folder in folders):
            break
    time.sleep(0.02)
"""


def sweep_afterwards(folder: str) -> None:
    """Remove what this process leaves in `folder`, once it has ended, in a detached process.

    So are the places of temporary files and of sockets, which servers need beside it. Where no process can be started,
    the next run that sweeps a folder removes what is in it.
    """
    folders = sorted({os.path.abspath(place) for place in (folder, default_base(), SHORT_BASE)})
    command = [sys.executable, "-c", SWEEP_WHEN_ALONE, str(os.getpid()), json.dumps(folders), json.dumps(sys.path)]
    nothing = subprocess.DEVNULL
    with contextlib.suppress(OSError):
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True)
