"""Another server on the host is found, and looked at without touching it; a run stops when it suffers."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from foreign_server import foreign_server
from live_server import freeze
from process_checks import PATIENCE

from advisor.collect.connection.connect import ConnectionLimits
from advisor.facts.host import Host
from probes.experiment import Cost, Environment, ProbeRequest
from probes.safety import find_objections, neighbours, watch, watch_other_servers
from probes.safety import watch as watch_module
from probes.safety.neighbours import (
    OtherServer,
    disk_bytes,
    find_other_servers,
    listening_sockets,
    open_latency_session,
    processor_seconds,
    read_wait_times,
    running_programs,
)
from probes.sandbox import Binary, Sandbox
from probes.stop import StopSignal

pytestmark = pytest.mark.servers("mysql-8.0", "mariadb-10.11")


@pytest.fixture
def neighbour(binary: Binary, templates: Path, tmp_path: Path) -> Iterator[int]:
    """The process of a foreign server."""
    with foreign_server(binary, templates, tmp_path / "foreign") as server:
        yield server.pid


def test_a_foreign_server_is_found_and_a_sandbox_is_not(neighbour: int, any_server: Sandbox, tmp_path: Path) -> None:
    """The list holds what we did not start, by its data directory."""
    found = {n.pid: n for n in find_other_servers()}
    assert found[neighbour].datadir == str(tmp_path / "foreign" / "data")
    assert any_server.pid not in found
    program = os.readlink(f"/proc/{neighbour}/exe")
    assert program in running_programs()


def test_its_data_directory_is_refused(neighbour: int, tmp_path: Path) -> None:
    """Where a server runs no experiment is made, in a folder of it neither."""
    for place in ("data", "data/mysql"):
        wanted = ProbeRequest(str(tmp_path / "foreign" / place))
        found = next(find_objections(Environment(Host(), "here"), wanted, Cost(0, 0, 0, ())))
        assert (found.name, found.final) == ("data-directory", True)


def test_what_it_waits_for_is_read_without_asking_it(neighbour: int) -> None:
    """Its waiting and its work are counted by the kernel; a process that is gone has none."""
    assert read_wait_times(neighbour).processor is not None
    assert (processor_seconds(neighbour) or 0) > 0
    assert disk_bytes(neighbour) is not None
    gone = 1 << 22
    assert (read_wait_times(gone).processor, processor_seconds(gone), disk_bytes(gone)) == (None, None, None)


class Slowing:
    """Something that answers fast while it is learned from, and slowly after that."""

    def __init__(self) -> None:
        self._answers = iter([0.001] * watch.BASELINE_LOOKS + [0.5] * 1000)

    def __call__(self) -> float:
        return next(self._answers)

    def close(self) -> None:
        """Nothing is open."""


def test_a_run_stops_when_the_server_no_longer_answers_as_before(
    neighbour: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stop is said with the server's name and what it suffers."""
    monkeypatch.setattr(watch, "WATCH_EVERY", 0.01)
    monkeypatch.setattr(watch_module, "find_other_servers", lambda: (OtherServer(neighbour, "mysqld", "/data"),))
    stop = StopSignal()
    with watch_other_servers(stop, ask=lambda _: Slowing()) as watched:
        assert [n.pid for n in watched] == [neighbour]
        assert stop.wait(PATIENCE)
    assert stop.reason.startswith(f"neighbour: mysqld (process {neighbour} on /data) answers 500 times slower")


def test_a_server_that_option_files_lead_into_is_asked(
    neighbour: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its socket is found by its process, and its answers slow down as it is held up; other processes aren't asked."""
    files = tmp_path / "home"
    files.mkdir()
    (files / ".my.cnf").write_text("[client]\nuser=root\n")
    monkeypatch.setenv("HOME", str(files))
    monkeypatch.setattr(
        neighbours, "SESSION_LIMITS", ConnectionLimits(connect=60, read=60)
    )  # a busy host may take its time
    assert listening_sockets(neighbour) == [str(tmp_path / "foreign" / "s")]
    asked = open_latency_session(OtherServer(neighbour, "mysqld", ""))
    assert asked is not None
    with contextlib.closing(asked):
        assert (asked() or 0) > 0
        freeze(neighbour)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(asked)
            time.sleep(0.5)
            assert not waiting.done()
            os.kill(neighbour, signal.SIGCONT)
            assert (waiting.result() or 0) > 0
    assert open_latency_session(OtherServer(os.getpid(), "not a server", "")) is None


def test_no_server_is_watched_when_that_is_overridden(neighbour: int) -> None:
    """The override is the user's word."""
    with watch_other_servers(StopSignal(), frozenset({"neighbour"})) as watched:
        assert watched == ()
