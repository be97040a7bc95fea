"""Stop all throwaway servers of this process when it ends, except after kill -9."""

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
    """An object that can be closed at once."""

    def close(self) -> None:
        """Close it; must not raise, and may be called again."""


_open: dict[int, tuple[int, Closeable]] = {}
_handled_signals: set[signal.Signals] = set()


def register(sandbox: Closeable) -> None:
    """Close `sandbox` when the process exits or receives SIGTERM or SIGHUP."""
    if not _open:
        atexit.register(close_all)
    _open[id(sandbox)] = (os.getpid(), sandbox)
    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread may set signal handlers; parent_death and the next sweep handle the rest
    for number in END_SIGNALS:
        # A program that handles the signal itself exits by an exception, and that also closes the sandbox.
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _handle_signal)
            _handled_signals.add(number)


def unregister(sandbox: Closeable) -> None:
    """Forget a closed sandbox; after the last one the signal handlers are restored."""
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
    """Close everything that this process opened; what a forked child inherited belongs to its parent."""
    for owner, sandbox in list(_open.values()):
        if owner == os.getpid():
            sandbox.close()


def _handle_signal(number: int, _frame: FrameType | None) -> None:
    close_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


# The parent has ended when the parent process id changes. A server that ends at the same time may still write, so the
# sweep is repeated until nothing of the owner is left; what remains after that time is removed by the next run.
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
    """Start a detached process that removes what this process leaves in `folder`, once this process has ended.

    It also sweeps the directories for temporary files and sockets, which servers need as well. If no process can be
    started, the next run that sweeps the folder removes the leftovers.
    """
    folders = sorted({os.path.abspath(place) for place in (folder, default_base(), SHORT_BASE)})
    command = [sys.executable, "-c", SWEEP_WHEN_ALONE, str(os.getpid()), json.dumps(folders), json.dumps(sys.path)]
    nothing = subprocess.DEVNULL
    with contextlib.suppress(OSError):
        subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, cwd="/", start_new_session=True)
