"""A run that is ended or goes in part is gone on with; what is wrong before it begins is one line."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from fleet_ground import PATIENCE, Ground
from live_server import Live
from servers_plugin import Server

from advisor.fleet.folder import file_name, finished, rows_of
from advisor.fleet.row import Status

NAME = "mariadb-10.11"
LOCAL = {"ansible_connection": "local", "mycnf_user": "root"}


@contextmanager
def _hanging() -> Iterator[tuple[socket.socket, dict[str, object]]]:
    """A port that takes connections and says nothing, and the variables of a host whose server it would be."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(PATIENCE)
        yield listener, {**LOCAL, "mycnf_host": "127.0.0.1", "mycnf_port": listener.getsockname()[1]}


@pytest.fixture
def host(server: Server, local: Callable[[Live], dict[str, object]]) -> dict[str, object]:
    """The variables of a host with a running server."""
    return local(Live(NAME, server(NAME)))


def test_resume_asks_whom_it_lacks(ground: Ground, host: dict[str, object], dead_port: int) -> None:
    """The second part of a run asks the hosts that failed, leaves the others, and reports on all."""
    dead = {**LOCAL, "mycnf_host": "127.0.0.1", "mycnf_port": dead_port}
    ground.inventory({"db": {"one": host, "two": dead}})
    assert ground.fleet("--window", "0").code == 2
    kept = ground.run_directory / "snapshots" / f"{file_name('one')}.json"
    before = kept.stat().st_ino
    assert "holds a run already" in ground.fleet().err
    ground.inventory({"db": {"one": host, "two": host}})
    ended = ground.fleet("--window", "0", "--resume")
    assert ended.code == 0, ended
    assert {name: row["status"] for name, row in ground.rows().items()} == {"one": "audited", "two": "audited"}
    assert kept.stat().st_ino == before
    assert "one audited" not in ended.err


# Ctrl-C and the end of a terminal come to all that runs in it, kill to one.
WAYS: dict[str, tuple[Callable[[int, int], None], signal.Signals]] = {
    "Ctrl-C": (os.killpg, signal.SIGINT),
    "kill": (os.kill, signal.SIGTERM),
    "a closed terminal": (os.killpg, signal.SIGHUP),
}


@pytest.mark.parametrize("way", WAYS)
def test_interrupted(way: str, ground: Ground, host: dict[str, object]) -> None:
    """All that was started has ended with it, what came until then is kept and not asked again, and it says how."""
    with _hanging() as (listener, hanging):
        ground.inventory({"db": {"hangs": hanging, "one": host}})
        command = ground.command("--window", "0", "--forks", "2", "--timeout", "120")
        with _begun(ground, command) as process, listener.accept()[0]:
            rows = ground.run_directory / "rows" / f"{file_name('one')}.row"
            _wait(lambda: rows.exists() and "audited" in rows.read_text())
            end, number = WAYS[way]
            end(process.pid, number)
            _, err = process.communicate(timeout=PATIENCE)
            assert _marked(str(ground.place)) == []
    assert process.returncode == 130
    assert f"go on with mycnf fleet --resume --dir {ground.run_directory} -i inventory.yml" in err.decode()
    assert finished(str(ground.run_directory)) == ["one"]
    assert {row.name: row.status for row in rows_of(str(ground.run_directory))} == {
        "one": Status.AUDITED,
        "hangs": Status.UNASKED,
    }


def test_ansible_is_killed(ground: Ground) -> None:
    """Where ansible itself is ended its workers are too, and hosts that it did not come to are said to be unasked."""
    with _hanging() as (listener, hanging):
        ground.inventory({"db": {"hangs": hanging, "later": hanging}})
        command = ground.command("--window", "0", "--forks", "1", "--timeout", "120")
        with _begun(ground, command) as process, listener.accept()[0]:
            os.kill(_child_of(process.pid), signal.SIGKILL)
            _, err = process.communicate(timeout=PATIENCE)
            assert _marked(str(ground.place)) == []
    assert process.returncode == 3
    assert "gave no answer" not in err.decode()
    assert "0 of 2 hosts audited; go on with mycnf fleet --resume" in err.decode()
    assert [row.status for row in rows_of(str(ground.run_directory))] == [Status.UNASKED] * 2


@contextmanager
def _begun(ground: Ground, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
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


def _child_of(pid: int) -> int:
    """The process that this one started."""
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def _wait(holds: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def _marked(mark: str) -> list[str]:
    """Processes that descend from the run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if f"MYCNF_TEST_MARK={mark}".encode() in (entry / "environ").read_bytes():
                    found.append(entry.name)
            except OSError:
                continue
    return found


@pytest.mark.parametrize(("words", "said"), [
    (("--limit", "nobody"), "no host was asked: "),
    (("-i", "missing.yml"), "missing.yml does not exist"),
    (("--forks", "0"), "no number of hosts"),
    (("--timeout", "1"), "leaves no time beside the window"),
    (("--timeout", "nan"), "leaves no time beside the window"),
    (("--resume",), "holds no run to go on with"),
    (("--select", "NOSUCH"), "no rule, name or family"),
])  # fmt: skip
def test_one_line_before_it_begins(ground: Ground, words: tuple[str, ...], said: str) -> None:
    """What can't be meant is one line and exit code 2, and nothing is asked."""
    ground.inventory({"db": {"one": LOCAL}})
    ended = ground.fleet(*words)
    assert ended.code == 2
    last = ended.err.splitlines()[-1]
    assert said in last, ended.err
    assert "Traceback" not in ended.err
    assert not ground.run_directory.exists()


def test_ansible_can_not_go_there(ground: Ground, host: dict[str, object]) -> None:
    """A host whose connection ansible can't even begin is a row that says how to see why."""
    ground.inventory({"db": {"lost": {"ansible_host": "{{ no_such_variable }}"}, "one": host}})
    assert ground.fleet("--window", "0").code == 2
    row = ground.rows()["lost"]
    assert (row["status"], "ansible lost -m ansible.builtin.raw" in row["reason"]) == ("failed", True)


def test_one_that_trickles(ground: Ground, host: dict[str, object]) -> None:
    """A server that sends a byte now and then outlasts the driver's time for a read, and not its host's time."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        threading.Thread(target=_trickle, args=(listener,), daemon=True).start()
        slow = {**LOCAL, "mycnf_host": "127.0.0.1", "mycnf_port": listener.getsockname()[1]}
        ground.inventory({"db": {"slow": slow, "one": host}})
        # Long enough for the other host on a machine that is busy.
        assert ground.fleet("--window", "0", "--timeout", "20", "--forks", "2").code == 2
        listener.shutdown(socket.SHUT_RDWR)
    rows = ground.rows()
    assert rows["slow"]["status"] == "silent"
    # The connection and the host have equal time for the whole answer: either may be the first to give up.
    assert re.search("gave no answer within 20 s|no proper answer in time", rows["slow"]["reason"])
    assert rows["slow"]["groups"] == ["db"]
    assert rows["one"]["status"] == "audited"


def _trickle(listener: socket.socket) -> None:
    """The beginning of a long greeting, a byte a second."""
    with suppress(OSError):
        client = listener.accept()[0]
        for byte in b"\xff\xff\x0f\x00\x0a" + b"8" * 200:
            client.sendall(bytes([byte]))
            time.sleep(1)


def test_from_what_is_no_run(ground: Ground) -> None:
    """A directory without a run is refused."""
    ended = ground.fleet("--from", ".")
    assert (ended.code, ended.err) == (2, "mycnf: . holds no run of mycnf fleet; name the directory of one\n")


def test_nobody_reached(ground: Ground, dead_port: int) -> None:
    """Where no server at all could be asked the exit code is that of no connection, and the report tells of each."""
    dead = {**LOCAL, "mycnf_host": "127.0.0.1", "mycnf_port": dead_port}
    ground.inventory({"db": {"one": dead}})
    ended = ground.fleet("--format", "json")
    assert ended.code == 3
    assert [host["status"] for host in json.loads(ended.out)["hosts"]] == ["refused"]


def test_without_ansible(ground: Ground) -> None:
    """Where there is no ansible one line says how to get it."""
    ground.inventory({"db": {"one": LOCAL}})
    code = "import sys; sys.executable = '/nowhere/python'; from advisor.__main__ import main; sys.exit(main())"
    words = [sys.executable, "-c", code, *ground.command()[3:]]
    environment = ground.environment(PATH="/nowhere")
    done = subprocess.run(words, cwd=ground.place, env=environment, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    (said,) = done.stderr.decode().splitlines()
    assert "needs ansible" in said
    assert "pipx install 'mycnf-advisor[fleet]'" in said
    assert not ground.run_directory.exists()


@pytest.mark.parametrize("name", ["a/b", "../../etc/x", ".hidden", "x" * 300, "\x1b[31mred", "db 1:3306", "ä"])
def test_names_of_files(name: str) -> None:
    """Whatever a host is called, its file is one of the run's directory, and another host's is another."""
    file = file_name(name)
    assert os.path.basename(file) == file
    assert not file.startswith(".")
    assert len(file) <= 255
    assert file.isascii()
    assert file != file_name(f"{name}x")
