"""Advice for a running replica: what stands between STOP and START, and which threads start again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import found, replica

from rules.core.advice import value_of_actions

if TYPE_CHECKING:
    from pathlib import Path


HALTED = {"Slave_IO_Running": "No", "Slave_SQL_Running": "No"}
SERIAL = {"variables": {"slave_parallel_workers": "1"}}


@pytest.mark.parametrize(
    ("rule", "target", "file", "server"),
    [
        ("unordered-parallel-replica", "mysql-9.7.4", "replica_preserve_commit_order = OFF", {}),
        ("parallel-by-database", "mysql-8.0.15", "slave_parallel_workers = 4\nslave_parallel_type = DATABASE", {}),
        ("replica-position-in-files", "mysql-8.0.15", "relay_log_info_repository = FILE", {}),
        ("replica-lag", "mysql-8.0.15", "", SERIAL | replica(Seconds_Behind_Master="600", Slave_SQL_Running="Yes")),
        ("parallel-threads-without-work", "mariadb-11.8", "slave_parallel_threads = 2\nslave_parallel_mode = none", {}),
    ],
)
def test_what_a_running_replica_refuses(
    rule: str, target: str, file: str, server: dict[str, Any], tmp_path: Path
) -> None:
    """What can't be set while a replica applies changes is advised between the statements that stop and start it."""
    words = {"mysql-9.7.4": "REPLICA", "mariadb-11.8": "ALL SLAVES"}.get(target, "SLAVE")
    follows = server or replica(Slave_SQL_Running="Yes")
    for action in found(rule, target, tmp_path, file, follows)[0].actions:
        assert re.fullmatch(rf"STOP {words}; SET GLOBAL [^;]+; START {words};", action.statement or ""), action
        assert re.fullmatch(rf"STOP {words}; SET GLOBAL [^;]+; START {words};", action.undo or ""), action
        assert "nothing is applied while the replica is stopped" in action.risk
    for action in found(rule, target, tmp_path, file, server | replica(**HALTED))[0].actions if not server else ():
        assert (action.statement or "").startswith("SET GLOBAL ")


@pytest.mark.parametrize(
    ("target", "rows", "starts"),
    [
        (
            "mysql-9.7.4",
            [{"Channel_Name": "", "Replica_IO_Running": "Yes", "Replica_SQL_Running": "No"}],
            "START REPLICA IO_THREAD;",
        ),
        (
            "mysql-9.7.4",
            [
                {"Channel_Name": "", "Replica_IO_Running": "Connecting", "Replica_SQL_Running": "Yes"},
                {"Channel_Name": "o'r", "Replica_IO_Running": "No", "Replica_SQL_Running": "Yes"},
                {"Channel_Name": "kept", "Replica_IO_Running": "No", "Replica_SQL_Running": "No"},
            ],
            "START REPLICA FOR CHANNEL ''; START REPLICA SQL_THREAD FOR CHANNEL 'o''r';",
        ),
        (
            "mariadb-11.8",
            [
                {"Connection_name": "", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes"},
                {"Connection_name": "eu", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "No"},
            ],
            "START SLAVE ''; START SLAVE 'eu' IO_THREAD;",
        ),
    ],
)
def test_threads_that_are_stopped_stay_stopped(
    target: str, rows: list[dict[str, str]], starts: str, tmp_path: Path
) -> None:
    """Around a change only the threads that ran are started again: another may be stopped on purpose."""
    maria = target.startswith("mariadb")
    rule = "parallel-threads-without-work" if maria else "unordered-parallel-replica"
    file = "slave_parallel_threads = 2\nslave_parallel_mode = none" if maria else "replica_preserve_commit_order = OFF"
    (action,) = found(rule, target, tmp_path, file, {"replication": {"replica_rows": rows}})[0].actions
    assert (action.statement or "").partition("; SET GLOBAL ")[2].partition("; ")[2] == starts
    assert (action.undo or "").endswith(f"; {starts}")
    advised = value_of_actions(found(rule, target, tmp_path, file, {"replication": {"replica_rows": rows}})[0])
    assert advised is not None
    assert advised.after == ("optimistic" if maria else "ON")


def test_channels_of_a_group_are_not_stopped(tmp_path: Path) -> None:
    """A member of a group, whose channels STOP REPLICA doesn't end, is advised the line alone."""
    server = replica(Replica_SQL_Running="Yes", Channel_Name="group_replication_applier")
    file = "replica_preserve_commit_order = OFF"
    (action,) = found("unordered-parallel-replica", "mysql-9.7.4", tmp_path, file, server)[0].actions
    assert (action.statement, action.undo, action.restart) == (None, None, True)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("mysql-8.0.15", "STOP SLAVE; CHANGE MASTER TO MASTER_HEARTBEAT_PERIOD = 30; START SLAVE;"),
        ("mysql-9.7.4", "STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_HEARTBEAT_PERIOD = 30; START REPLICA;"),
        ("mariadb-11.8", "STOP SLAVE; CHANGE MASTER TO MASTER_HEARTBEAT_PERIOD = 30; START SLAVE;"),
    ],
)
def test_the_heartbeat_goes_with_the_timeout(target: str, says: str, tmp_path: Path) -> None:
    """A shorter timeout is advised with the shorter heartbeat that it needs, and not without by a statement."""
    finding = found("slow-to-miss-its-source", target, tmp_path, "slave_net_timeout = 7200", {})[0]
    assert says in finding.help
    assert finding.actions[0].statement is None


def test_what_a_running_replica_takes(tmp_path: Path) -> None:
    """The mode of applying can be set while a replica applies changes, under the name that the file has or not."""
    (action,) = found("idempotent-replica", "mysql-9.7.4", tmp_path, "slave_exec_mode = IDEMPOTENT", {})[0].actions
    assert action.statement == "SET GLOBAL replica_exec_mode = 'STRICT';"
