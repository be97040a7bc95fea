"""A run that is killed (SIGKILL) in its midst: all that it began ends, and --resume goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from fleet_process import LOCAL, begun, child_of, hanging, marked, wait_until_gone
from fleet_run import Ground
from fleet_sshd import Key, bare, program, reached_by, sshd
from live_server import Live
from mycnf_command import CHECKOUT
from process_checks import alive, eventually
from real_servers import Server

from advisor.fleet.run_directory import HOSTS, SCRATCH, UNREAD, Status, file_name, finished_hosts, rows_of

NAME = "mariadb-10.11"
HOSTS_HANGING = ("hangs", "hangs-over-ssh", "hangs-in-its-script")


@pytest.fixture
def host(server: Server, local: Callable[[Live], dict[str, object]]) -> dict[str, object]:
    """The variables of a host with a running server."""
    return local(Live(NAME, server(NAME)))


@pytest.fixture
def hosts(ground: Ground, keys: Key, host: dict[str, object]) -> Iterator[dict[str, dict[str, object]]]:
    """One that is audited at once, and some whose servers and shells hang, one with its scratch directory made."""
    (ground.place / "on-host").mkdir()
    stuck = ground.place / "stuck"
    stuck.mkdir()
    (stuck / "tar").write_text("#!/bin/sh\nexec sleep 3000\n")
    (stuck / "tar").chmod(0o755)
    place = f"PATH={stuck}:{bare(keys.host.parent)}:{os.environ['PATH']} TMPDIR={ground.place / 'on-host'}"
    with ExitStack() as running:
        _, silent = running.enter_context(hanging())
        far = {**silent, **reached_by(keys), "ansible_connection": "ssh", "ansible_host": "127.0.0.1"}
        asleep = running.enter_context(sshd(keys, "127.0.0.1", ForceCommand=f"{program('sleep')} 3000"))
        midway = running.enter_context(sshd(keys, "127.0.0.1", SetEnv=place))
        yield {
            "one": host,
            "hangs": silent,
            "hangs-over-ssh": {**far, "ansible_port": asleep},
            "hangs-in-its-script": {**far, "ansible_port": midway},
            "later": silent,
        }


def _begun_pids(run: int) -> tuple[int, int]:
    """The guard and ansible."""
    guard = child_of(run)
    return guard, child_of(guard)


# Who is killed, of mycnf, its guard and ansible, before they can do anything: all at once where there are several.
VICTIMS: dict[str, Callable[[int, int, int], None]] = {
    "mycnf": lambda run, _guard, _ansible: os.kill(run, signal.SIGKILL),
    "its process group": lambda run, _guard, _ansible: os.killpg(run, signal.SIGKILL),
    "its guard": lambda _run, guard, _ansible: os.kill(guard, signal.SIGKILL),
    "mycnf and its guard": lambda run, guard, _ansible: _kill(guard, run),
    "all three": lambda run, guard, ansible: _kill(guard, run, ansible),
}
WITHOUT_GUARD = ("mycnf and its guard", "all three")  # no process is left to put anything away


def _kill(*pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        with suppress(ProcessLookupError):  # the end of the one before may be the end of this one
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("victim", VICTIMS)
def test_killed(victim: str, ground: Ground, hosts: dict[str, dict[str, object]], host: dict[str, object]) -> None:
    """Workers, ssh, what hosts made for us and what is half done end and go; the next part asks whom it lacks."""
    ground.inventory({"db": hosts})
    with begun(ground, ground.command("--window", "0", "--forks", "4", "--timeout", "300")) as process:
        eventually(lambda: _midway(ground), what="the midst of a run")
        assert {"ssh", "ansible", "advisor.fleet.host"} <= _kinds(ground)
        VICTIMS[victim](process.pid, *_begun_pids(process.pid))
        wait_until_gone(ground)
        eventually(lambda: not list((ground.place / "on-host").iterdir()), what="nothing stays on the host")
        process.wait()
    if victim not in WITHOUT_GUARD:
        assert _files(ground) == {HOSTS, f"rows/{file_name('one')}.row", f"snapshots/{file_name('one')}.json"}
        status_of = {row.name: row.status for row in rows_of(str(ground.run_directory))}
        assert status_of == {name: Status.AUDITED if name == "one" else Status.UNASKED for name in hosts}
    assert finished_hosts(str(ground.run_directory)) == ["one"]
    kept = ground.run_directory / "snapshots" / f"{file_name('one')}.json"
    before = kept.stat().st_ino
    ground.inventory({"db": dict.fromkeys(hosts, host)})
    ended = ground.fleet("--window", "0", "--resume")
    assert ended.code == 0, ended
    assert kept.stat().st_ino == before
    assert {row["status"] for row in ground.rows().values()} == {"audited"}
    assert {name for name in _files(ground) if not re.fullmatch(r"(rows|snapshots)/.+\.(row|json)", name)} == {HOSTS}


def _midway(ground: Ground) -> bool:
    """Whether one is done, the others hang, and one of them has its scratch directory on the host."""
    rows = {row.name: row for row in rows_of(str(ground.run_directory))}
    asked = all(name in rows and rows[name].host == UNREAD for name in HOSTS_HANGING)
    made = [list(place.glob("*")) for place in (ground.place / "on-host").iterdir()]
    return asked and made != [] and "one" in rows and rows["one"].has_facts and rows["one"].host != UNREAD


def _kinds(ground: Ground) -> set[str]:
    commands = " ".join(marked(ground).values())
    return {word for word in ("ssh", "ansible", "advisor.fleet.host") if re.search(rf"(^|[ /]){word} ", commands)}


def _files(ground: Ground) -> set[str]:
    place = ground.run_directory
    return {str(path.relative_to(place)) for path in place.rglob("*") if not path.is_dir() or path.name == SCRATCH}


def test_killed_anywhere(ground: Ground, host: dict[str, object]) -> None:
    """Killed at one moment after the other of a run, nothing stays but what --resume continues with."""
    ground.inventory({"db": {"one": host, "two": host}})
    moments: list[Callable[[], object]] = [
        lambda: True,
        lambda: marked(ground),
        (ground.run_directory / SCRATCH).exists,
        (ground.run_directory / SCRATCH / "temporary").exists,
        (ground.run_directory / HOSTS).exists,
        lambda: list((ground.run_directory / "rows").glob("*.row")),
        lambda: list((ground.run_directory / "snapshots").glob("*.json")),
        lambda: finished_hosts(str(ground.run_directory)),
    ]
    for moment in moments:
        resumes = ["--resume"] if _goes_on(ground) else []
        with begun(ground, ground.command("--window", "0", "--forks", "1", *resumes)) as process:
            come = lambda moment=moment: moment() or process.poll() is not None  # noqa: E731
            eventually(come, what="the moment", every=0.001)  # before anything that follows can be done
            with suppress(ProcessLookupError):
                process.kill()
            wait_until_gone(ground)
        assert {Path(name).suffix for name in _files(ground)} <= {".row", ".json", ".list", ".before"}
        assert all(json.loads(path.read_text()) for path in ground.run_directory.rglob("*") if path.is_file())
    assert ground.fleet("--window", "0", *(["--resume"] if _goes_on(ground) else [])).code == 0
    assert {row["status"] for row in ground.rows().values()} == {"audited"}


def _goes_on(ground: Ground) -> bool:
    place = ground.run_directory
    return any(place.glob("hosts.*")) or any(place.glob("rows/*"))


def test_a_worker_is_killed(ground: Ground) -> None:
    """ansible waits without end for a worker that was killed, as by a kernel without memory; the run ends."""
    with hanging() as (listener, silent):
        ground.inventory({"db": {"lost": silent, "next": {**LOCAL, "mycnf_socket": "/nowhere"}}})
        with begun(ground, ground.command("--window", "0", "--forks", "1", "--timeout", "300")) as process:
            with listener.accept()[0]:
                os.kill(child_of(_begun_pids(process.pid)[1]), signal.SIGKILL)
                _, err = process.communicate()
            assert marked(ground) == {}
    assert process.returncode == 3, err
    status_of = {row.name: row.status for row in rows_of(str(ground.run_directory))}
    assert status_of == {"lost": Status.UNASKED, "next": Status.FAILED}


def test_two_at_once(ground: Ground, host: dict[str, object], keys: Key) -> None:
    """A directory is one run's at a time: another one waits, and then goes on or says so."""
    with sshd(keys, "127.0.0.1", ForceCommand=f"{program('sleep')} 3000") as asleep:
        slow = {**LOCAL, **reached_by(keys), "ansible_connection": "ssh", "ansible_host": "127.0.0.1"}
        ground.inventory({"db": {"slow": {**slow, "ansible_port": asleep}, "one": host}})
        with begun(ground, ground.command("--window", "0", "--timeout", "300")) as process:
            rows = ground.run_directory / "rows"
            eventually(
                lambda: rows.exists() and finished_hosts(str(ground.run_directory)) == ["one"], what="one is done"
            )
            refused = ground.fleet("--window", "0", "--resume")
            assert refused.code == 2
            assert "another mycnf fleet is running in" in refused.err
            assert process.poll() is None
            ground.inventory({"db": {"slow": host, "one": host}})
            with begun(ground, ground.command("--window", "0", "--resume")) as waiting:
                assert waiting.stderr is not None
                assert b"waiting for the run in" in waiting.stderr.readline()
                process.kill()
                assert waiting.wait() == 0
    assert {row["status"] for row in ground.rows().values()} == {"audited"}


ORPHAN = """
import multiprocessing, os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from advisor.fleet.plugin import mycnf_fleet

def work(parent, place):
    while os.getppid() == parent:
        time.sleep(0.01)
    with open(place, "w") as file:
        file.write(str(os.getpid()))
    mycnf_fleet._end_with_ansible()
    time.sleep(3000)

worker = multiprocessing.get_context("fork").Process(target=work, args=(os.getpid(), sys.argv[2]))
worker.start()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_worker_whose_ansible_is_gone_already_ends(tmp_path: Path) -> None:
    """One that was forked a moment before, and could not register for the signal."""
    place = tmp_path / "pid"
    subprocess.run([sys.executable, "-c", ORPHAN, str(CHECKOUT), str(place)], check=False)
    eventually(lambda: place.exists() and place.read_text(), what="a worker without its ansible")
    eventually(lambda: not alive(int(place.read_text())), what="its end")
