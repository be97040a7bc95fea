"""Helpers for replication tests: findings of a running server, version-specific keywords, and waiting."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from live_server import Live

from advisor.analysis.context import build_context
from advisor.analysis.engine import run_rules
from advisor.collect.collect import CollectRequest, collect_from_account
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding

SOURCE = "[mysqld]\nlog_bin = b\nserver_id = 1\n"
PATIENCE = 600.0  # seconds; a group needs a few on a busy machine


def found(server: Live) -> dict[str, Finding]:
    """The findings of all rules about a running server, by name."""
    facts = collect_from_account(server.account(), CollectRequest(window=0.0))
    return {finding.name: finding for finding in run_rules(build_context(facts), all_rules()).findings}


def written(folder: Path, name: str, text: str) -> Path:
    """Write an option file with that text."""
    file = folder / name
    file.write_text(text, "utf-8")
    file.chmod(0o644)
    return file


def until(true: Callable[[], bool]) -> None:
    """Wait for an asynchronous action of a server; the test fails on timeout."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def dialect(name: str) -> tuple[str, str, str, str]:
    """The server's keywords for replica, source and CHANGE, and the option that a client adds to connect."""
    if name == "mysql-9.7":
        return "REPLICA", "SOURCE", "REPLICATION SOURCE", ", GET_SOURCE_PUBLIC_KEY = 1"
    without_tls = dict.fromkeys(("mariadb-11.4", "mariadb-11.8"), ", MASTER_SSL = 0")
    return "SLAVE", "MASTER", "MASTER", {"mysql-8.0": ", GET_MASTER_PUBLIC_KEY = 1", **without_tls}.get(name, "")


def pair(name: str, start: Start, folder: Path, more_lines: Callable[[Live], str] = lambda _: "") -> tuple[Live, Live]:
    """A source and its running replica with file positions, with more lines in the replica's option file."""
    replica, source, change, more = dialect(name)
    first = Live(name, start(name, option_file=written(folder, "source.cnf", SOURCE), tcp=True))
    text = f"[mysqld]\nlog_bin = b\nserver_id = 2\n{more_lines(first)}\n"
    second = Live(name, start(name, option_file=written(folder, "replica.cnf", text)))
    first.run("CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")
    first.run("CREATE DATABASE a")
    second.run(
        f"CHANGE {change} TO {source}_HOST = '127.0.0.1', {source}_PORT = {first.sandbox.port}, "
        f"{source}_USER = 'repl', {source}_PASSWORD = 'x', {source}_LOG_FILE = 'b.000001', {source}_LOG_POS = 4{more}",
        f"START {replica}",
    )
    until(lambda: second.run("SHOW DATABASES LIKE 'a'") != ())
    return first, second
