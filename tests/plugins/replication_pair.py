"""Helpers for replication tests: findings of a running server, version-specific keywords, and waiting."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pymysql
from live_server import Live

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding

SOURCE = "[mysqld]\nlog_bin = b\nserver_id = 1\n"
PATIENCE = 600.0  # seconds; a group needs a few on a busy machine


def found(server: Live, wait: Callable[[float], object] | None = None) -> dict[str, Finding]:
    """The findings of all rules about a running server, by name; with a window if there is something to wait for."""
    request = CollectRequest(window=10.0 if wait else 0.0)
    facts = collect_from_account(server.account(), request, wait or time.sleep)
    return {finding.name: finding for finding in run_rules(build_context(facts), all_rules()).findings}


def written(folder: Path, name: str, text: str) -> Path:
    """Write an option file with that text."""
    file = folder / name
    file.write_text(text, "utf-8")
    file.chmod(0o644)
    return file


def until(true: Callable[[], bool], every: float = 0.1) -> None:
    """Wait for an asynchronous action of a server, which is checked every `every` seconds; fails on timeout."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(every)


def dialect(name: str) -> tuple[str, str, str, str]:
    """The server's keywords for replica, source and CHANGE, and the option that a client adds to connect."""
    if name == "mysql-9.7":
        return "REPLICA", "SOURCE", "REPLICATION SOURCE", ", GET_SOURCE_PUBLIC_KEY = 1"
    without_tls = dict.fromkeys(("mariadb-11.4", "mariadb-11.8"), ", MASTER_SSL = 0")
    return "SLAVE", "MASTER", "MASTER", {"mysql-8.0": ", GET_MASTER_PUBLIC_KEY = 1", **without_tls}.get(name, "")


def status(replica: Live) -> dict[str, Any]:
    """What a replica shows of its source, by the names of MySQL 8.0.22 and later."""
    connection = replica.sandbox.connect(cursorclass=pymysql.cursors.DictCursor)
    with connection, connection.cursor() as cursor:
        cursor.execute(f"SHOW {dialect(replica.name)[0]} STATUS")
        (row,) = cursor.fetchall()
    renamed = ((name.replace("Slave_", "Replica_").replace("Master", "Source"), value) for name, value in row.items())
    return dict(renamed)


GTIDS = "gtid_mode = ON\nenforce_gtid_consistency = ON\nlog_slave_updates = ON\n"


def server_of_chain(
    name: str, start: Start, folder: Path, number: int, *, gtids: bool = False, lines: str = ""
) -> Live:
    """A server with a binary log and this server_id; with GTIDs on MySQL too, where they are off by default."""
    gtid_lines = (GTIDS if not name.startswith("mariadb") else "log_slave_updates = ON\n") if gtids else ""
    if name == "mysql-9.7":
        gtid_lines = gtid_lines.replace("log_slave_updates", "log_replica_updates")
    text = f"[mysqld]\nlog_bin = b\nserver_id = {number}\nbinlog_format = ROW\n{gtid_lines}{lines}\n"
    return Live(name, start(name, option_file=written(folder, f"server{number}.cnf", text), tcp=True))


def allow_replicas(source: Live) -> None:
    """Create the account repl, whose password is x, without writing that to the binary log."""
    account = "repl@'127.0.0.1'"
    source.run(
        "SET sql_log_bin = 0",
        f"CREATE USER {account} IDENTIFIED BY 'x'",
        f"GRANT REPLICATION SLAVE ON *.* TO {account}",
    )


def follow(replica: Live, source: Live, *, gtids: bool = False, more: str = "") -> None:
    """Start a replica of the source, from the beginning of its first binary log or by GTIDs."""
    word, name, change, option = dialect(replica.name)
    by_gtid = "MASTER_USE_GTID = slave_pos" if replica.is_mariadb else f"{name}_AUTO_POSITION = 1"
    place = by_gtid if gtids else f"{name}_LOG_FILE = 'b.000001', {name}_LOG_POS = 4"
    replica.run(
        f"CHANGE {change} TO {name}_HOST = '127.0.0.1', {name}_PORT = {source.sandbox.port}, {name}_USER = 'repl', "
        f"{name}_PASSWORD = 'x', {place}{option}{more}",
        f"START {word}",
    )


def has_table(server: Live, name: str) -> bool:
    """Whether the database a has this table."""
    named = server.run("SELECT table_name FROM information_schema.tables WHERE table_schema = 'a'")
    return (name,) in named


def follows(replica: Live) -> bool:
    """Whether both threads of a replica run and everything received is applied."""
    row = status(replica)
    running = row["Replica_IO_Running"] == row["Replica_SQL_Running"] == "Yes"
    return bool(running and row["Read_Source_Log_Pos"] == row["Exec_Source_Log_Pos"])


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
