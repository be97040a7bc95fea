"""No throwaway server outlives its process, which stops them when it ends; if it is killed, the kernel stops them."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple, Protocol

from probes.sandbox.binary import NO_VARIABLES, environment
from probes.sandbox.errors import SandboxError
from probes.sandbox.scratch import SHORT_BASE, default_base

if TYPE_CHECKING:
    from collections.abc import Mapping
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


# Runs in a separate small interpreter that then executes the server: calling prctl between fork and exec would run
# code in a copy of a multithreaded process, which may deadlock. `_signal` is what `signal` wraps, without its enums,
# whose import takes as long as everything else here.
BECOME_THE_SERVER = """
import _signal, ctypes, os, sys
ctypes.CDLL(None).prctl(1, _signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
if os.getppid() != int(sys.argv[1]):
    sys.exit("its owner is gone")
_signal.pthread_sigmask(_signal.SIG_SETMASK, ())
os.execv(sys.argv[2], sys.argv[2:])
"""
OOM_SCORE = "600"  # if memory runs out, the kernel kills a throwaway server before any process of the user


class ServerLaunch(NamedTuple):
    """The command to start and its log, working directory, input and environment."""

    command: list[str]
    log: str
    temporary: str
    feed: str
    variables: Mapping[str, str]


_Job = tuple["Future[subprocess.Popen[bytes]]", ServerLaunch]
_jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
_starter: dict[int, threading.Thread] = {}
_starter_lock = threading.Lock()


def spawn(
    command: list[str], *, log: str, temporary: str, feed: str = os.devnull, variables: Mapping[str, str] = NO_VARIABLES
) -> subprocess.Popen[bytes]:
    """Start a server in a session of its own; it is killed when this process ends.

    stdout and stderr are appended to the file `log`, stdin is the file `feed`. `temporary` is the working directory
    and takes the temporary files. `variables` are added to the environment. Raises SandboxError if it cannot be
    executed.
    """
    _ensure_starter()
    started: Future[subprocess.Popen[bytes]] = Future()
    _jobs.put((started, ServerLaunch(command, log, temporary, feed, variables)))
    try:
        process = started.result()
    except OSError as error:
        raise SandboxError(f"cannot start {command[0]}: {error.strerror}") from error
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/oom_score_adj", "w", encoding="ascii") as score:
        score.write(OOM_SCORE)
    return process


def _ensure_starter() -> None:
    # For the kernel, the parent is the thread that forked: a server started from a short-lived worker thread would die
    # with that thread. So one thread starts them all and lives as long as the process (a forked child gets its own).
    with _starter_lock:
        owner = os.getpid()
        if owner not in _starter:
            _starter[owner] = threading.Thread(target=_start_jobs, name="mycnf-sandbox-starter", daemon=True)
            _starter[owner].start()


def _start_jobs() -> None:
    while True:
        started, job = _jobs.get()
        try:
            started.set_result(_popen(job))
        except BaseException as error:  # noqa: BLE001  the caller's thread raises it
            started.set_exception(error)


def _popen(job: ServerLaunch) -> subprocess.Popen[bytes]:
    become = [sys.executable, "-I", "-S", "-c", BECOME_THE_SERVER, str(os.getpid()), *job.command]
    with open(job.log, "ab", buffering=0) as log, open(job.feed, "rb") as feed:
        return subprocess.Popen(
            become,
            stdin=feed,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=environment(job.temporary, job.variables),
            cwd=job.temporary,
        )
