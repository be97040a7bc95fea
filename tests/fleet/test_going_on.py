"""A run that is ended or goes in part is gone on with; what is wrong before it begins is one line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from background_runs import OnTerminal
from fleet_process import LOCAL, begun, child_of, hanging, marked
from fleet_run import PATIENCE, VAULT_PASSWORD, Ground
from live_server import Live
from process_checks import eventually
from real_servers import Server

from advisor.fleet.run_directory import UNREAD, Status, file_name, finished_hosts, rows_of

NAME = "mariadb-10.11"


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
    assert "already contains a run" in ground.fleet().err
    ground.inventory({"db": {"one": host, "two": host}})
    ended = ground.fleet("--window", "0", "--resume")
    assert ended.code == 0, ended
    assert {name: row["status"] for name, row in ground.rows().items()} == {"one": "audited", "two": "audited"}
    assert kept.stat().st_ino == before
    assert "one audited" not in ended.err


# Ctrl-C and the end of a terminal reach all that runs in it, kill one process.
WAYS: dict[str, tuple[Callable[[int, int], None], signal.Signals]] = {
    "Ctrl-C": (os.killpg, signal.SIGINT),
    "kill": (os.kill, signal.SIGTERM),
    "a closed terminal": (os.killpg, signal.SIGHUP),
}


@pytest.mark.parametrize("way", WAYS)
def test_interrupted(way: str, ground: Ground, host: dict[str, object]) -> None:
    """All that was started has ended with it, what came until then is kept and not asked again, and it says how."""
    with hanging() as (listener, silent):
        ground.inventory({"db": {"hangs": silent, "one": host}})
        command = ground.command("--window", "0", "--forks", "2", "--timeout", "120")
        with begun(ground, command) as process, listener.accept()[0]:
            rows = ground.run_directory / "rows" / f"{file_name('one')}.row"
            eventually(
                lambda: rows.exists() and '"audited"' in rows.read_text() and UNREAD not in rows.read_text(),
                what="the first one is audited",
            )
            end, number = WAYS[way]
            end(process.pid, number)
            _, err = process.communicate(timeout=PATIENCE)
            assert marked(ground) == {}
    assert process.returncode == 130, err.decode()
    assert f"continue with mycnf fleet --resume --dir {ground.run_directory} -i inventory.yml" in err.decode()
    assert finished_hosts(str(ground.run_directory)) == ["one"]
    assert {row.name: row.status for row in rows_of(str(ground.run_directory))} == {
        "one": Status.AUDITED,
        "hangs": Status.UNASKED,
    }


def test_interrupted_before_any_host_is_known(ground: Ground) -> None:
    """There is nothing to go on with, and nothing is said to be; the run's directory goes too."""
    script = ground.place / "slow"
    script.write_text("#!/bin/sh\ntouch asked\nexec sleep 600\n")
    script.chmod(0o700)
    ground.inventory({})
    with begun(ground, ground.command("-i", "slow")) as process:
        eventually((ground.place / "asked").exists, what="the host is asked")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert marked(ground) == {}
    assert process.returncode == 130, err.decode()
    assert "continue with" not in err.decode()
    assert not ground.run_directory.exists()


def test_ansible_is_killed(ground: Ground) -> None:
    """Where ansible itself is ended its workers are too, and hosts that it did not reach are reported as unasked."""
    with hanging() as (listener, silent):
        ground.inventory({"db": {"hangs": silent, "later": silent}})
        command = ground.command("--window", "0", "--forks", "1", "--timeout", "120")
        with begun(ground, command) as process, listener.accept()[0]:
            os.kill(child_of(child_of(process.pid)), signal.SIGKILL)  # the guard's
            _, err = process.communicate(timeout=PATIENCE)
            assert marked(ground) == {}
    assert process.returncode == 3
    assert "gave no answer" not in err.decode()
    assert "0 of 2 hosts audited; continue with mycnf fleet --resume" in err.decode()
    assert [row.status for row in rows_of(str(ground.run_directory))] == [Status.UNASKED] * 2


def test_vault_password_is_asked_for(ground: Ground, host: dict[str, object]) -> None:
    """On a terminal ansible asks for the password itself, and reads it unseen."""

    def begin(*words: str | Path, **popen: object) -> subprocess.Popen[bytes]:
        return subprocess.Popen(ground.command(*words), cwd=ground.place, env=ground.environment(), **popen)  # type: ignore[call-overload,no-any-return] # words of Popen

    ground.vault(vault_user="root")
    ground.inventory({"db": {"one": {**host, "mycnf_user": "{{ vault_user }}"}}})
    terminal = OnTerminal(begin, "--window", "0", "--ask-vault-password")
    eventually(lambda: terminal.shows(b"Vault password: "), what="the question for the password")
    os.write(terminal.ours, f"{VAULT_PASSWORD}\n".encode())
    eventually(terminal.ended, what="its end")
    terminal.close()
    assert b"one audited" in terminal.shown
    assert VAULT_PASSWORD.encode() not in terminal.shown
    assert terminal.process.returncode == 0


@pytest.mark.parametrize(("words", "message"), [
    (("--limit", "nobody"), "no host was contacted: "),
    (("-i", "missing.yml"), "missing.yml does not exist"),
    (("--forks", "0"), "write the number of hosts"),
    (("--timeout", "1"), "leaves no time after the window"),
    (("--timeout", "nan"), "leaves no time after the window"),
    (("--window", "nan"), "is not a valid time"),
    (("--resume",), "contains no run to resume"),
    (("--select", "NOSUCH"), "no rule, name or family"),
])  # fmt: skip
def test_one_line_before_it_begins(ground: Ground, words: tuple[str, ...], message: str) -> None:
    """What can't be meant is one line and exit code 2, and nothing is asked."""
    ground.inventory({"db": {"one": LOCAL}})
    ended = ground.fleet(*words)
    assert ended.code == 2
    last = ended.err.splitlines()[-1]
    assert message in last, ended.err
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
        # Far beyond the connection's limit, so that a busy machine has time for the other host.
        assert ground.fleet("--window", "0", "--timeout", "120", "--forks", "2").code == 2
        listener.shutdown(socket.SHUT_RDWR)
    rows = ground.rows()
    assert rows["slow"]["status"] == "silent"
    assert "accepted the connection but did not answer properly in time" in rows["slow"]["reason"]
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
    assert (ended.code, ended.err) == (2, "mycnf: . contains no run of mycnf fleet; name the directory of a run\n")
    ended = ground.fleet("--from", ".", "--limit", "db")  # a pattern of Ansible, which is not asked
    says = "mycnf: --from only reports on a saved run; omit --dir, --resume, --inventory and --limit\n"
    assert (ended.code, ended.err) == (2, says)


def test_no_server_reached(ground: Ground, dead_port: int) -> None:
    """Where no server at all was reached the exit code is that of no connection, and the report lists each."""
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
    done = subprocess.run(words, cwd=ground.place, env=environment, capture_output=True, timeout=600, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert "needs ansible" in line
    assert "pipx install 'mycnf-advisor[fleet]'" in line
    assert not ground.run_directory.exists()


@pytest.mark.parametrize("name", ["a/b", "../../etc/x", ".hidden", "x" * 300, "\x1b[31mred", "db 1:3306", "ä"])
def test_names_of_files(name: str) -> None:
    """For any name of a host, its file is one of the run's directory, and another host's is another."""
    file = file_name(name)
    assert os.path.basename(file) == file
    assert not file.startswith(".")
    assert len(file) <= 255
    assert file.isascii()
    assert file != file_name(f"{name}x")
