"""An experiment that would do harm, or disclose others' data, is refused by name, with the way out."""

from __future__ import annotations

import os
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from process_checks import eventually

from advisor.facts.host import Cgroup, Host, Memory
from probes.experiment import Cost, Environment, ProbeError, ProbeRequest
from probes.safety import find_objections, neighbours, require_no_objection
from probes.safety import watch as at
from probes.safety.neighbours import OtherServer, find_other_servers, running_programs

GIB = 1 << 30
STRANGER = 54321  # no user of any host
NOTHING = Cost(0, 0, 0.0, ())


def names(directory: Path, cost: Cost = NOTHING, host: Host | None = None) -> dict[str, str]:
    """The objections to a run, the host's own busyness aside."""
    found = find_objections(Environment(host or Host(), "here"), ProbeRequest(str(directory)), cost)
    return {o.name: str(o) for o in found if o.name != "busy"}


def test_an_idle_directory_is_no_objection(tmp_path: Path) -> None:
    """Nothing stands against a run that takes nothing."""
    assert names(tmp_path) == {}


@contextmanager
def executable_by_all() -> Iterator[Path]:
    """A program named like a server, where every user can execute it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # noqa: S103 - as the folders of programs have
        program = Path(folder) / "mysqld"
        shutil.copy(shutil.which("sleep") or "", program)
        yield program


@contextmanager
def running(program: Path, user: int | None = None) -> Iterator[int]:
    """A process that is a server by its name only, run by that user."""
    with subprocess.Popen([program, "600"], user=user) as process:
        try:
            eventually(lambda: any(found.pid == process.pid for found in find_other_servers()), what="it has its name")
            yield process.pid
        finally:
            process.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a program to another account")
def test_a_strangers_program_is_not_executed(tmp_path: Path) -> None:
    """A process may be named like a server: of running programs only those that no other user can write are asked."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "mysqld"
    shutil.copy(shutil.which("sleep") or "", program)
    with running(program):
        assert str(program) in running_programs()
        for place in (program, folder):
            os.chown(place, STRANGER, STRANGER)
            assert str(program) not in running_programs()
            os.chown(place, 0, 0)
            place.chmod(0o777)
            assert str(program) not in running_programs()
            place.chmod(0o755)
        assert str(program) in running_programs()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a process as another account")
def test_a_stranger_gets_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process named like a server is not logged in to if an ordinary user runs it, nor is a host that files name."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with (
        executable_by_all() as program,
        running(program, STRANGER) as theirs,
        running(program) as ours,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket() as by_host,
    ):
        for listener, address in ((by_path, str(tmp_path / "s")), (by_host, ("127.0.0.1", 0))):
            listener.bind(address)
            listener.listen()
        port = by_host.getsockname()[1]
        (tmp_path / ".my.cnf").write_text(f"[client]\nhost=127.0.0.1\nport={port}\npassword=hunter2\n")
        for pid, paths in ((theirs, [str(tmp_path / "s")]), (ours, [])):
            monkeypatch.setattr(neighbours, "listening_sockets", lambda _pid, paths=paths: paths)
            assert neighbours.open_latency_session(OtherServer(pid, "mysqld", "")) is None
        assert select.select([by_path, by_host], [], [], 0)[0] == []


def test_a_full_file_system_is_named_with_what_must_stay(tmp_path: Path) -> None:
    """A run that would leave less than the named room is refused; one that leaves it isn't."""
    disk = shutil.disk_usage(tmp_path)
    keep = max(at.FULL_BYTES, int(disk.total * at.FULL_SHARE))
    words = names(tmp_path, Cost(disk.free - keep + GIB, 0, 0, ()))["full"]
    assert "--force full" in words
    assert "--dir" in words
    if disk.free - keep > GIB:
        assert names(tmp_path, Cost(disk.free - keep - GIB, 0, 0, ())) == {}


def test_a_directory_that_is_not_there_can_not_be_forced(tmp_path: Path) -> None:
    """No override makes a missing directory."""
    with pytest.raises(ProbeError, match="cannot use") as refused:
        require_no_objection(
            Environment(Host(), "here"), ProbeRequest(str(tmp_path / "none"), force=frozenset({"directory"})), NOTHING
        )
    assert "--force" not in str(refused.value)


@pytest.mark.parametrize(
    ("host", "needed", "little"),
    [
        (Host(memory=Memory(total=8 * GIB, available=4 * GIB)), 3 * GIB, False),
        (Host(memory=Memory(total=8 * GIB, available=4 * GIB)), 3 * GIB + GIB // 2, True),
        (Host(memory=Memory(total=8 * GIB)), 7 * GIB, False),  # the kernel doesn't report it: no claim
        (Host(memory=Memory(8 * GIB, 6 * GIB), cgroup=Cgroup(2, "/x", limit=2 * GIB, usage=GIB)), GIB, True),
        (Host(memory=Memory(8 * GIB, 6 * GIB), cgroup=Cgroup(2, "/x", limit=2 * GIB, usage=0)), GIB, False),
        (Host(memory=Memory(8 * GIB, 6 * GIB), cgroup=Cgroup(2, "/x", limit=64 * GIB, usage=GIB)), GIB, False),
    ],
)
def test_too_little_memory_counts_the_control_group(tmp_path: Path, host: Host, needed: int, little: bool) -> None:
    """What the smaller of machine and control group leaves decides."""
    assert ("little" in names(tmp_path, Cost(0, needed, 0, ()), host)) is little


@pytest.mark.parametrize("mark", ["ibdata1", "mysql.ibd", "aria_log_control", "auto.cnf"])
def test_nothing_is_made_in_a_data_directory(tmp_path: Path, mark: str) -> None:
    """Neither in one that no server serves just now, nor in a folder of it, and no override helps."""
    (tmp_path / mark).touch()
    inside = tmp_path / "schema"
    inside.mkdir()
    for directory in (tmp_path, inside):
        assert "--force" not in names(directory)["data-directory"]
        with pytest.raises(ProbeError, match="data directory"):
            require_no_objection(
                Environment(Host(), "here"), ProbeRequest(str(directory), force=frozenset({"data-directory"})), NOTHING
            )


def test_a_link_into_a_data_directory_leads_nowhere_else(tmp_path: Path) -> None:
    """The directory counts, not the way to it."""
    data, link = tmp_path / "data", tmp_path / "link"
    data.mkdir()
    (data / "ibdata1").touch()
    link.symlink_to(data)
    assert "data-directory" in names(link)


def test_every_directory_of_a_run_is_looked_at(tmp_path: Path) -> None:
    """A second directory is refused as the first is, and two on one file system take from one store."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    assert names(first, Cost(0, 0, 0, (), (str(second),))) == {}
    disk = shutil.disk_usage(tmp_path)
    beyond = Cost(disk.free - at.FULL_BYTES // 2, 0, 0, (), (str(second),))
    assert "full" in names(first, beyond)
    (second / "ibdata1").touch()
    assert str(second) in names(first, Cost(0, 0, 0, (), (str(second),)))["data-directory"]
    assert "directory" in names(first, Cost(0, 0, 0, (), (str(tmp_path / "none"),)))


def test_an_override_lets_the_run_through(tmp_path: Path) -> None:
    """What may be overridden is, under its name alone."""
    cost = Cost(1 << 60, 0, 0, ())
    with pytest.raises(ProbeError, match="full"):
        require_no_objection(
            Environment(Host(), "here"), ProbeRequest(str(tmp_path), force=frozenset({"little", "busy"})), cost
        )
    require_no_objection(
        Environment(Host(), "here"), ProbeRequest(str(tmp_path), force=frozenset({"full", "busy"})), cost
    )
    assert os.listdir(tmp_path) == []
