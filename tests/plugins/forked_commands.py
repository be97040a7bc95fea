"""Run mycnf in processes forked from one that has imported everything and run nothing.

Imports take most of the time of a short command. tests/project/test_lint_path.py checks the imports of a fresh
interpreter.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from mycnf_command import CHECKOUT, Ended, check_run

PATIENCE = 600.0  # seconds
LARGEST = 1 << 17  # bytes of a request
# The terminal app imports Textual, ansible's plugin needs ansible, and `__main__` would run.
APART = ("advisor.tui", "advisor.commands.app", "advisor.fleet.plugin", "advisor.__main__")


class Forks:
    """The process that is forked; it ends with this one."""

    def __init__(self, home: Path) -> None:
        self._calls, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._parent = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                env={"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(CHECKOUT)},
                stdin=subprocess.PIPE,  # unused, but of the same kind as in the runs
                stdout=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the tests, which then close it
            )

    def run(self, args: list[str], *, stdin: bytes, cwd: Path, env: dict[str, str]) -> Ended:
        """Run the command line to its end; raises TimeoutError if it does not end."""
        pipes = [os.pipe() for _ in range(3)]
        (fed, into), (out_of, out), (err_of, err) = pipes
        request = json.dumps({"args": args, "cwd": str(cwd), "env": env}).encode()
        socket.send_fds(self._calls, [request], [fed, out, err])
        for end in (fed, out, err):
            os.close(end)
        pid = int(self._calls.recv(LARGEST))
        outputs: dict[int, bytes] = {}
        readers = [threading.Thread(target=_drain, args=(end, outputs), daemon=True) for end in (out_of, err_of)]
        readers.append(threading.Thread(target=_feed, args=(into, stdin), daemon=True))
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(PATIENCE)
            if reader.is_alive():
                os.kill(pid, signal.SIGKILL)
                raise TimeoutError(f"mycnf {' '.join(args)} did not end")
        return check_run(int(self._calls.recv(LARGEST)), outputs[out_of].decode(), outputs[err_of].decode())

    def close(self) -> None:
        """End the process after the runs."""
        self._calls.close()
        self._parent.communicate(timeout=PATIENCE)


def _drain(end: int, outputs: dict[int, bytes]) -> None:
    with open(end, "rb") as pipe:
        outputs[end] = pipe.read()


def _feed(end: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(end, "wb") as pipe:
        pipe.write(data)


def _import_all() -> None:
    import advisor
    from rules import all_rules

    for module in pkgutil.walk_packages(advisor.__path__, "advisor."):
        if not module.name.startswith(APART):
            __import__(module.name)
    all_rules()
    gc.collect()
    gc.freeze()


def _serve(calls: socket.socket) -> None:
    """Fork for each request; returns only in the children, which have applied the request's settings."""
    while True:
        request, handles, _, _ = socket.recv_fds(calls, LARGEST, 3)
        if not request:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            calls.close()
            return _become(json.loads(request), handles)
        for handle in handles:
            os.close(handle)
        calls.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        calls.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(asked: dict[str, object], handles: list[int]) -> None:
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(asked["env"])  # type: ignore[call-overload] # as run() wrote it
    sys.path[0] = os.getcwd()
    sys.argv[1:] = asked["args"]  # type: ignore[call-overload] # the same


if __name__ == "__main__":
    _import_all()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from advisor.__main__ import entry

    entry()
