"""Another server on the host is found, and looked at without touching it; a run stops when it suffers."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.facts.host import Host
from probes.experiment import Cost, Ground, Wanted
from probes.safety import objections, thresholds, watching
from probes.safety import watch as watch_module
from probes.safety.neighbours import Neighbour, disk_bytes, find_neighbours, processor_seconds, waits
from probes.sandbox import Binary, Sandbox, ask
from probes.sandbox.datadir import copy_template
from probes.sandbox.leash import spawn
from probes.sandbox.placement import placement
from probes.stopping import Stop

pytestmark = pytest.mark.servers("mysql-8.0", "mariadb-10.11")


@contextlib.contextmanager
def foreign(binary: Binary, templates: Path, folder: Path) -> Iterator[int]:
    """A server that nobody started as a sandbox; gives its process."""
    data, socket = folder / "data", folder / "s"
    folder.mkdir(exist_ok=True)
    data.mkdir()
    copy_template(binary, str(templates), str(data))
    words = [binary.program, "--no-defaults", *placement(binary), *ask.as_user(), f"--datadir={data}"]
    words += [f"--socket={socket}", "--skip-networking", "--loose-mysqlx=OFF", f"--pid-file={folder}/pid"]
    process = spawn(words, log=str(folder / "log"), temporary=str(folder))
    try:
        deadline = time.monotonic() + 60
        while not socket.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert socket.exists(), (folder / "log").read_text()
        yield process.pid
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def neighbour(binary: Binary, templates: Path, tmp_path: Path) -> Iterator[int]:
    """The process of a foreign server."""
    with foreign(binary, templates, tmp_path / "foreign") as pid:
        yield pid


def test_a_foreign_server_is_found_and_a_sandbox_is_not(neighbour: int, any_server: Sandbox, tmp_path: Path) -> None:
    """The list holds what we did not start, by its data directory."""
    found = {n.pid: n for n in find_neighbours()}
    assert found[neighbour].datadir == str(tmp_path / "foreign" / "data")
    assert any_server.pid not in found


def test_its_data_directory_is_refused(neighbour: int, tmp_path: Path) -> None:
    """Where a server runs no experiment is made, in a folder of it neither."""
    for place in ("data", "data/mysql"):
        wanted = Wanted(str(tmp_path / "foreign" / place))
        found = next(objections(Ground(Host(), "here"), wanted, Cost(0, 0, 0, ())))
        assert (found.name, found.final) == ("data-directory", True)


def test_what_it_waits_for_is_read_without_asking_it(neighbour: int) -> None:
    """Its waiting and its work are counted by the kernel; a process that is gone has none."""
    assert waits(neighbour).processor is not None
    assert (processor_seconds(neighbour) or 0) > 0
    assert disk_bytes(neighbour) is not None
    gone = 1 << 22
    assert (waits(gone).processor, processor_seconds(gone), disk_bytes(gone)) == (None, None, None)


def test_a_run_stops_when_the_server_no_longer_answers_as_before(
    neighbour: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop is said with the server's name and what it suffers."""
    monkeypatch.setattr(thresholds, "WATCH_EVERY", 0.01)
    monkeypatch.setattr(watch_module, "find_neighbours", lambda: (Neighbour(neighbour, "mysqld", "/data"),))
    stop, answers = Stop(), iter([0.001] * thresholds.BASELINE_LOOKS + [0.5] * 1000)
    with watching(stop, ask=lambda _: lambda: next(answers)) as watched:
        assert [n.pid for n in watched] == [neighbour]
        assert stop.wait(30)
    assert stop.reason.startswith(f"neighbour: mysqld (process {neighbour} on /data) answers 500 times slower")


def test_nobody_is_watched_when_that_is_overridden(neighbour: int) -> None:
    """The override is the user's word."""
    with watching(Stop(), frozenset({"neighbour"})) as watched:
        assert watched == ()
