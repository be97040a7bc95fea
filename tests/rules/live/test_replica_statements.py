"""Advice for replicas, carried out on each real server while its replica runs: each statement exactly as printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql
import pytest
from live_server import Live
from replication_pair import dialect, found, pair

from advisor.analysis.restart import check_restart
from advisor.catalog import load
from advisor.collect.collect import CollectRequest, collect_from_account

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Action, Finding

FAMILIES = ("REP", "GRP", "GAL", "BIN")
# Values that these families report; each server gets the lines that it knows, under its own names.
AGAINST = """binlog_format = STATEMENT
binlog_expire_logs_seconds = 0
expire_logs_days = 0
binlog_expire_logs_auto_purge = OFF
relay_log_purge = OFF
relay_log_recovery = OFF
master_info_repository = FILE
relay_log_info_repository = FILE
loose_rpl_semi_sync_master_enabled = ON
loose_rpl_semi_sync_master_wait_point = AFTER_COMMIT
slave_parallel_threads = 4
slave_parallel_mode = none
{replica}_exec_mode = IDEMPOTENT
{replica}_type_conversions = ALL_LOSSY
{replica}_transaction_retries = 0
{replica}_net_timeout = 3600
{replica}_parallel_workers = 2
{replica}_parallel_type = DATABASE
{replica}_preserve_commit_order = OFF
log_{replica}_updates = OFF
"""
EXPECTED = {"binary-log-never-expires", "statement-based-log", "idempotent-replica", "writable-replica"}


def known_lines(server: Live) -> str:
    """The lines that the server knows."""
    catalog = load(server.sandbox.binary.target)
    lines = AGAINST.format(replica=dialect(server.name)[0].lower()).splitlines()
    return "\n".join(line for line in lines if catalog.get(line.split(" = ")[0].removeprefix("loose_")))


def of_replication(findings: dict[str, Finding]) -> list[Action]:
    """The advice of the families of this test."""
    return [action for finding in findings.values() if finding.code[:3] in FAMILIES for action in finding.actions]


def send(server: Live, action: Action) -> None:
    """The statement, its undo, and the statement again, each as a client sends it; of warnings only age is taken."""
    for text in filter(None, (action.statement, action.undo, action.statement)):
        for statement in text.split("; "):
            warnings = server.run(statement, "SHOW WARNINGS")
            assert [row for row in warnings if row[0] != "Note" and "deprecated" not in row[2]] == [], statement


def holds(server: Live, line: str) -> bool:
    """Whether the server runs with the value of an advised line."""
    name, expected = line.split(" = ")
    ((_, value),) = server.run(f"SHOW GLOBAL VARIABLES LIKE '{name}'")
    return str(value).lower() == expected.lower()


def test_every_statement_is_taken(server_name: str, start: Start, tmp_path: Path) -> None:
    """A running replica takes each printed statement, runs with each printed value, and then gets no such finding."""
    source, replica = pair(server_name, start, tmp_path, known_lines)
    findings = found(replica)
    assert set(findings) >= EXPECTED
    advice = of_replication(findings)
    for action in of_replication(found(source)):
        send(source, action)
    for action in advice:
        send(replica, action)
    heartbeat = findings["slow-to-miss-its-source"].help.partition(", then ")[2]
    assert heartbeat.startswith(f"STOP {dialect(server_name)[0]}; CHANGE ")
    for statement in heartbeat.split("; "):
        replica.run(statement)
    lines = {action.option_line: bool(action.statement) for action in advice if action.option_line}
    assert [line for line, sent in lines.items() if sent and not holds(replica, line)] == []

    replica.sandbox.restart([*replica.sandbox.arguments, *(f"--{line.replace(' = ', '=')}" for line in lines)])
    assert [line for line in lines if not holds(replica, line)] == []
    assert {action.option_line for action in of_replication(found(replica))}.isdisjoint(lines)


CHANGED = {"mysql-8.0": ("slave_parallel_type", "LOGICAL_CLOCK"), "mysql-9.7": ("replica_preserve_commit_order", "OFF")}


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-11.8")
def test_what_a_changed_line_needs_is_taken(server_name: str, start: Start, tmp_path: Path) -> None:
    """The statements of preflight and OPT016 for a changed line are taken by a replica that runs."""
    _, replica = pair(server_name, start, tmp_path)
    name, value = CHANGED.get(server_name, ("slave_parallel_threads", "3"))
    file = tmp_path / "replica.cnf"
    file.write_text(f"{file.read_text('utf-8')}{name} = {value}\n", "utf-8")
    with pytest.raises(pymysql.err.MySQLError):
        replica.run(f"SET GLOBAL {name} = {value}")
    facts = collect_from_account(replica.account(), CollectRequest(window=0.0))
    (item,) = (item for item in check_restart(facts).items if item.variable == name)
    advice = found(replica)["file-differs-from-running"].help
    for action in item.actions:
        for statement in filter(None, (action.statement or "").split("; ")):
            replica.run(statement)
    assert holds(replica, f"{name} = {value}")
    for statement in advice.partition("run ")[2].partition("; to keep ")[0].split("; "):
        replica.run(statement)
