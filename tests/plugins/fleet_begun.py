"""A fleet's run that goes on while a test looks: hosts that hang, and the processes that descend from the run."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fleet_ground import PATIENCE, Ground

LOCAL = {"ansible_connection": "local", "mycnf_user": "root"}


@contextmanager
def hanging() -> Iterator[tuple[socket.socket, dict[str, object]]]:
    """A port that takes connections and says nothing, and the variables of a host whose server it would be."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(PATIENCE)
        yield listener, {**LOCAL, "mycnf_host": "127.0.0.1", "mycnf_port": listener.getsockname()[1]}


@contextmanager
def begun(ground: Ground, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The run, as one that a shell began in a terminal, whatever began the tests; its processes bear a mark."""

    def listen() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        command,
        cwd=ground.place,
        env=ground.environment(MYCNF_TEST_MARK=str(ground.place)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=listen,  # noqa: PLW1509 - nothing here has threads that hold a lock meanwhile
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def child_of(pid: int) -> int:
    """The process that this one started."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def wait_until(holds: Callable[[], object]) -> None:
    """Wait for it; fails where it does not come."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def wait_until_gone(ground: Ground) -> None:
    """Wait for the end of all that descends from the run; fails with what is left of it."""
    until = time.monotonic() + PATIENCE
    while left := marked(ground):
        assert time.monotonic() < until, left
        time.sleep(0.05)


def marked(ground: Ground) -> dict[int, str]:
    """Processes that descend from the run, with their command lines."""
    found = {}
    mark = f"MYCNF_TEST_MARK={ground.place}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found
