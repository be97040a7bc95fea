"""Start a server so that it cannot outlive the process that started it."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, NamedTuple

from probes.sandbox.binary import NO_VARIABLES, environment
from probes.sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping

# Runs in a separate small interpreter that then executes the server: calling prctl between fork and exec would run
# code in a copy of a multithreaded process, which may deadlock.
BECOME_THE_SERVER = """
import ctypes, os, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
if os.getppid() != int(sys.argv[1]):
    sys.exit("its owner is gone")
signal.pthread_sigmask(signal.SIG_SETMASK, ())
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
