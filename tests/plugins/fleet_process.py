"""A fleet's run that goes on while a test looks: hosts that hang, and the processes that descend from the run."""

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
    """The process that this one started."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def wait_until_gone(ground: Ground) -> None:
    """Wait for the end of all that descends from the run; fails with what is left of it."""
    eventually(lambda: not marked(ground), what=lambda: f"the end of {marked(ground)}")


def marked(ground: Ground) -> dict[int, str]:
    """Processes that descend from the run, with their command lines."""
    return bearing(f"{MARK}={ground.place}")
