"""The sizes of a real server's files, compared with the server's own list."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.collect.host.server_files import read_server_files

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

BLOCK = 4096


@pytest.mark.servers("mysql-8.0", "mariadb-11.8")
def test_binary_logs_and_tablespaces_of_a_server(server_name: str, start: Start) -> None:
    """Binary logs are as many, and as large up to blocks, as the server lists; undo and ibtmp1 are there."""
    sandbox = start(server_name, arguments=("--log-bin=bin", "--server-id=1", "--innodb-undo-tablespaces=2"))
    connection = sandbox.connect(autocommit=True)
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE a")
        cursor.execute("CREATE TABLE a.t (v LONGTEXT)")
        for _ in range(3):
            cursor.execute("INSERT INTO a.t VALUES (REPEAT('x', 1 << 20))")
            cursor.execute("FLUSH BINARY LOGS")
        cursor.execute("SHOW BINARY LOGS")
        listed = {str(row[0]): int(row[1]) for row in cursor.fetchall()}
    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=0.0))
    assert facts.host is not None
    assert facts.host.files is not None
    files = {one.kind: one for one in facts.host.files}
    logs = files["binary log"]
    assert logs.count == len(listed)
    assert abs(logs.bytes - sum(listed.values())) <= BLOCK * (2 * len(listed))
    assert logs.oldest is not None
    assert logs.oldest_bytes <= logs.bytes
    assert files["undo tablespaces"].count >= 2
    assert files["temporary tablespaces"].bytes > 0
    assert "relay log" not in files


def test_what_cannot_be_listed_is_not_empty(tmp_path: Path) -> None:
    """A data directory that does not exist is None; one without such files has none."""
    own = os.getpid()
    assert read_server_files(own, {}) is None
    assert read_server_files(own, {"datadir": str(tmp_path / "gone")}) is None
    assert read_server_files(own, {"datadir": str(tmp_path)}) == ()


def test_names_that_only_look_alike(tmp_path: Path) -> None:
    """Index files, logs of another name and sub-directories are not counted."""
    for name in ("bin.index", "bin.000001", "bin.000002", "other.000001", "undo", "undo_001", "undo001.bak"):
        (tmp_path / name).write_text("x" * 100, "utf-8")
    os.utime(tmp_path / "bin.000001", (1, 1))
    found = read_server_files(os.getpid(), {"datadir": str(tmp_path), "log_bin_basename": str(tmp_path / "bin")})
    assert found is not None
    counts = {one.kind: one.count for one in found}
    assert counts == {"binary log": 2, "undo tablespaces": 1}
    (logs,) = (one for one in found if one.kind == "binary log")
    assert logs.oldest is not None
    assert logs.oldest > 10**9
