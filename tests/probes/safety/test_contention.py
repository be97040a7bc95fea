"""Another server at work on the same processor: a probe that starves it stops itself, a quiet one goes on.

All of them take turns (SCHED_RR) on one processor before everything else of this host, so that only they compete.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from foreign_server import Foreign, foreign_server
from real_servers import Binaries

from advisor.__main__ import main
from probes.disk.files import supports_o_direct
from probes.safety import watch
from probes.safety.neighbours import OtherServer

# A statement that works for some hundredths of a second, a pause as long, again.
LOAD = """
import sys, time, pymysql
with pymysql.connect(unix_socket=sys.argv[1], user="root") as connection, connection.cursor() as cursor:
    print("at work", flush=True)
    while True:
        began = time.monotonic()
        cursor.execute("SELECT BENCHMARK(100000, MD5('small'))")
        cursor.fetchall()
        time.sleep(time.monotonic() - began)
"""


@pytest.fixture
def alone() -> Iterator[int]:
    """One processor, on which this thread and all that it starts come before everything else; its number."""
    if not os.environ.get("MYCNF_REALTIME"):
        pytest.skip("takes a processor away from all other programs of the host: MYCNF_REALTIME=1, or make contention")
    processors = os.sched_getaffinity(0)
    chosen = min(processors)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pytest.skip("needs the right to a real-time priority: nothing else on this host may compete")
    os.sched_setaffinity(0, {chosen})
    yield chosen
    os.sched_setaffinity(0, processors)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


@pytest.fixture
def at_work(
    alone: int, binaries: Binaries, templates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Foreign]:
    """A foreign server with one connection that works half of the time: the only one that is watched."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with foreign_server(binaries("mariadb-10.11"), templates, tmp_path / "foreign") as server:
        for task in os.listdir(f"/proc/{server.pid}/task"):
            os.sched_setscheduler(int(task), os.SCHED_RR, os.sched_param(1))
            os.sched_setaffinity(int(task), {alone})
        watched = OtherServer(server.pid, "mariadbd", str(server.data))
        monkeypatch.setattr(watch, "find_other_servers", lambda: (watched,))  # other tests have servers too
        load = subprocess.Popen([sys.executable, "-c", LOAD, str(server.socket)], stdout=subprocess.PIPE, text=True)
        try:
            assert load.stdout is not None
            assert load.stdout.readline() == "at work\n"
            yield server
        finally:
            load.kill()
            load.communicate()


def test_a_probe_that_starves_it_stops_itself(
    at_work: Foreign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, and the line says which server waited, for what, and how to have it otherwise."""
    words = ("memory-bandwidth", "--dir", str(tmp_path), "--time", "1h", "--option", "buffers=16K,1M")
    assert main(["probe", *words, "--force", "busy,little"]) == 2
    printed = capsys.readouterr().err.splitlines()[-1]
    assert printed.startswith(f"mycnf: neighbour: mariadbd (process {at_work.pid} on {at_work.data}) ")
    assert "waits for a processor" in printed or "times slower than before" in printed
    assert printed.endswith("or --force neighbour")


def test_a_quiet_probe_goes_on(
    at_work: Foreign, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A probe that mostly waits for the disk delays no server, and ends as it was asked to."""
    monkeypatch.setattr(watch, "WORSE_ANSWER", 1.0)  # other tests hold our own asking up by less than that
    monkeypatch.setattr(watch, "WORSE_WAIT", 0.6)
    if not supports_o_direct(str(tmp_path)):
        pytest.skip("needs a disk under the directory for temporary files: elsewhere no write waits")
    words = ["commit-latency", "--dir", str(tmp_path), "--time", "3s"]
    words += ["--option", "calls=fsync", "--option", "sizes=1M", "--option", "open=direct"]
    assert main(["probe", *words, "--force", "busy,little,full"]) == 0
    assert "neighbour" not in capsys.readouterr().err
