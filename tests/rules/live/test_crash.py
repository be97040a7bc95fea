"""A replica that is killed: what it applies twice, and what the rules said before."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from process_checks import eventually
from replication_pair import allow_replicas, dialect, follow, found, has_table, server_of_chain, until

from advisor.core.model import Severity

if TYPE_CHECKING:
    from pathlib import Path

    from live_server import Live
    from real_servers import Start

ROWS = 50


def kill(server: Live) -> None:
    """Kill the server's process and start it again."""
    os.kill(server.sandbox.pid, signal.SIGKILL)
    eventually(lambda: not server.sandbox.running, what="the end of the server")
    server.sandbox.restart()


def rows(server: Live) -> int:
    """The rows of the table."""
    ((count,),) = server.run("SELECT COUNT(*) FROM a.t")
    return int(count)


def replicate(name: str, start: Start, folder: Path, lines: str = "") -> tuple[Live, Live]:
    """A source and its replica by file and position, which has applied the rows of a table without a key."""
    folder.mkdir()
    source, replica = (server_of_chain(name, start, folder, number, lines=lines) for number in (1, 2))
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT) ENGINE = InnoDB")
    follow(replica, source)
    until(lambda: has_table(replica, "t"))
    word = dialect(name)[0]
    replica.run(f"STOP {word}", f"START {word}")  # both positions are saved now
    source.run(*["INSERT INTO a.t VALUES (1)"] * ROWS)
    until(lambda: rows(replica) == ROWS)
    return source, replica


@pytest.mark.servers("mysql-8.0")
def test_a_killed_replica_applies_changes_twice(server_name: str, start: Start, tmp_path: Path) -> None:
    """By file and position it receives again what it has, as is said before; with the advised line it does not."""
    _, replica = replicate(server_name, start, tmp_path / "default")
    finding = found(replica)["relay-logs-not-recovered"]
    assert finding.severity is Severity.WARNING
    assert "after a crash it receives changes again and applies them twice" in finding.message
    kill(replica)
    until(lambda: rows(replica) > ROWS)

    (line,) = (action.option_line for action in finding.actions if action.option_line)
    source, replica = replicate(server_name, start, tmp_path / "advised", line)
    assert "relay-logs-not-recovered" not in found(replica)
    kill(replica)
    source.run("INSERT INTO a.t VALUES (2)")
    until(lambda: replica.run("SELECT 1 FROM a.t WHERE i = 2") != ())
    assert rows(replica) == ROWS + 1
