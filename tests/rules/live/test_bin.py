"""The rules about the binary log, before real servers whose commits wait for others."""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest
from counter_windows import SECONDS, lasting, rising
from process_checks import eventually

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules import all_rules

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.name == "delayed-commits"]
LATER = 86400.0
# Each waits longer than a commit takes, and for more commits than ever arrive.
WAITS = {
    "mysql-9.7": "binlog_group_commit_sync_delay = 2000\n",
    "mariadb-11.8": "log_bin = b\nserver_id = 1\nbinlog_commit_wait_count = 20\nbinlog_commit_wait_usec = 20000\n",
}


def commits(sandbox: Sandbox, count: int, sessions: int) -> list[Finding]:
    """What is found in a window in which so many sessions commit so often, as if it had taken SECONDS."""
    over = Event()

    def commit() -> None:
        with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
            while not over.is_set():
                cursor.execute("INSERT INTO t.t VALUES (1)")

    threads = [Thread(target=commit) for _ in range(sessions)]

    def wait(_: float) -> None:
        with rising(sandbox, binlog_cache_use=count) as risen:
            for thread in threads:
                thread.start()
            try:
                eventually(risen, what=f"{count} commits")
            finally:
                over.set()
                for thread in threads:
                    thread.join()

    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=SECONDS), wait)
    return list(run_rules(build_context(lasting(facts, LATER)), OURS).findings)


@pytest.mark.servers(*WAITS)
def test_commits_that_wait_alone(server_name: str, start: Start, tmp_path: Path) -> None:
    """One session whose commits wait without effect is found; the advice ends that."""
    file = tmp_path / "my.cnf"
    file.write_text(f"[mysqld]\n{WAITS[server_name]}", "utf-8")
    sandbox = start(server_name, option_file=file)
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE t")
        cursor.execute("CREATE TABLE t.t (i INT) ENGINE = InnoDB")
        (finding,) = commits(sandbox, 30, 1)
        for action in finding.actions:
            cursor.execute(action.statement)
    assert commits(sandbox, 30, 1) == []


def test_commits_that_are_many(start: Start, tmp_path: Path) -> None:
    """A short delay of MySQL that other commits use is not found."""
    file = tmp_path / "my.cnf"
    file.write_text(f"[mysqld]\n{WAITS['mysql-9.7']}", "utf-8")
    sandbox = start("mysql-9.7", option_file=file)
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE t")
        cursor.execute("CREATE TABLE t.t (i INT) ENGINE = InnoDB")
    assert commits(sandbox, int(600 * SECONDS), 8) == []
