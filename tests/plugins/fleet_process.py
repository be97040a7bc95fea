"""A fleet run that continues while a test inspects it: hanging hosts, and the processes of the run."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fleet_run import PATIENCE, Ground
from process_checks import bearing, eventually

MARK = "MYCNF_TEST_MARK"
LOCAL = {"ansible_connection": "local", "mycnf_user": "root"}


@contextmanager
def hanging() -> Iterator[tuple[socket.socket, dict[str, object]]]:
    """A port that accepts connections and never answers, and the variables of a host with this server."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(PATIENCE)
        yield listener, {**LOCAL, "mycnf_host": "127.0.0.1", "mycnf_port": listener.getsockname()[1]}


@contextmanager
def begun(ground: Ground, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """The run as if started by a shell in a terminal, with default signal handlers; its processes are marked."""

    def listen() -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    with subprocess.Popen(
        command,
        cwd=ground.place,
        env=ground.environment(**{MARK: str(ground.place)}),
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
    """The child process of a process."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def wait_until_gone(ground: Ground) -> None:
    """Wait until all processes of the run have ended; fails with those that are left."""
    eventually(lambda: not marked(ground), what=lambda: f"the end of {marked(ground)}")


def marked(ground: Ground) -> dict[int, str]:
    """The processes of the run, with their command lines."""
    return bearing(f"{MARK}={ground.place}")
