"""Advice for a running replica: what stands between STOP and START, and which threads start again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import found, replica

from rules.core.advice import value_of_actions

if TYPE_CHECKING:
    from pathlib import Path


MEMBER = "plugin_load_add = group_replication.so\ngroup_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\n"
HALTED = {"Slave_IO_Running": "No", "Slave_SQL_Running": "No"}
SERIAL = {"variables": {"slave_parallel_workers": "1"}}
QUOTA_AT_ANY_QUEUE = {"mode": "QUOTA", "applier_threshold": "0"}


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


def test_a_threshold_of_zero_is_named(tmp_path: Path) -> None:
    """With a threshold of 0 flow control slows down writers at any queue: the default is not named in its place."""
    member = {"state": "ONLINE", "role": "SECONDARY", "version": "9.7.4", "certifying": 0, "applying": 30000}
    variables = {f"group_replication_flow_control_{name}": value for name, value in QUOTA_AT_ANY_QUEUE.items()}
    server = {"variables": variables, "replication": {"members": [member]}}
    file = "plugin_load_add = group_replication.so\ngroup_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"
    (finding,) = found("group-member-behind", "mysql-9.7.4", tmp_path, file, server)
    assert "the threshold of flow control is 0. Flow control slows down writers." in finding.message


@pytest.mark.parametrize(
    ("target", "rows", "says"),
    [
        ("mysql-9.7.4", [], ""),
        (
            "mysql-9.7.4",
            [
                {"Channel_Name": "", "Replica_IO_Running": "Yes", "Replica_SQL_Running": "No"},
                {"Channel_Name": "eu", "Replica_IO_Running": "No", "Replica_SQL_Running": "No"},
            ],
            (
                ", then STOP REPLICA FOR CHANNEL ''; "
                "CHANGE REPLICATION SOURCE TO SOURCE_HEARTBEAT_PERIOD = 30 FOR CHANNEL ''; "
                "START REPLICA IO_THREAD FOR CHANNEL ''; "
                "CHANGE REPLICATION SOURCE TO SOURCE_HEARTBEAT_PERIOD = 30 FOR CHANNEL 'eu';"
            ),
        ),
        (
            "mariadb-11.8",
            [{"Connection_name": "eu", "Slave_IO_Running": "Connecting", "Slave_SQL_Running": "Yes"}],
            ", then STOP SLAVE 'eu'; CHANGE MASTER 'eu' TO MASTER_HEARTBEAT_PERIOD = 30; START SLAVE 'eu';",
        ),
    ],
)
def test_the_heartbeat_of_each_channel(target: str, rows: list[dict[str, str]], says: str, tmp_path: Path) -> None:
    """A named channel has its own statements, a stopped thread stays stopped, and without a channel there are none."""
    file = "slave_net_timeout = 7200"
    (finding,) = found("slow-to-miss-its-source", target, tmp_path, file, {"replication": {"replica_rows": rows}})
    assert finding.help.partition(" = 60")[2] == says


@pytest.mark.parametrize(
    ("target", "plugin", "rows", "says"),
    [
        (
            "mariadb-11.8",
            "rpl_semi_sync_slave",
            [{"Connection_name": "eu", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes"}],
            "STOP SLAVE 'eu' IO_THREAD; START SLAVE 'eu' IO_THREAD;",
        ),
        (
            "mysql-9.7.4",
            "rpl_semi_sync_replica",
            [
                {"Channel_Name": "", "Replica_IO_Running": "Yes", "Replica_SQL_Running": "Yes"},
                {"Channel_Name": "kept", "Replica_IO_Running": "No", "Replica_SQL_Running": "No"},
            ],
            "STOP REPLICA IO_THREAD FOR CHANNEL ''; START REPLICA IO_THREAD FOR CHANNEL '';",
        ),
    ],
)
def test_only_connected_receivers_are_restarted(
    target: str, plugin: str, rows: list[dict[str, str]], says: str, tmp_path: Path
) -> None:
    """The receivers that confirm nothing are restarted by their names; a channel that is stopped stays stopped."""
    server = {
        "variables": {f"{plugin}_enabled": "ON"},
        "status": {f"{plugin}_status": "OFF"},
        "replication": {"replica_rows": rows},
    }
    (finding,) = found("semi-sync-not-in-force", target, tmp_path, "", server)
    assert f"restart the receiver: {says} if it stays OFF" in finding.help


def test_one_of_several_channels_is_started_alone(tmp_path: Path) -> None:
    """Without a name START REPLICA would start all channels, and one of them may be stopped on purpose."""
    rows = [
        {"Channel_Name": "", "Replica_IO_Running": "No", "Replica_SQL_Running": "No"},
        {"Channel_Name": "eu", "Replica_IO_Running": "Yes", "Replica_SQL_Running": "Yes"},
    ]
    (finding,) = found("stopped-replica", "mysql-9.7.4", tmp_path, "", {"replication": {"replica_rows": rows}})
    assert "start it with START REPLICA FOR CHANNEL '' unless" in finding.help


@pytest.mark.parametrize(
    ("origin", "starts", "says"),
    [
        ("GLOBAL", "ON", "The next start "),
        ("DYNAMIC", "ON", "The next START GROUP_REPLICATION "),
        ("GLOBAL", "OFF", "The next START"),
    ],
)
def test_which_start_bootstraps(origin: str, starts: str, says: str, tmp_path: Path) -> None:
    """A variable that was set at run time is OFF again after a restart of the server."""
    names = {"group_replication_bootstrap_group": "ON", "group_replication_start_on_boot": starts}
    server = {"variables": names, "origins": {"group_replication_bootstrap_group": origin}}
    (finding,) = found("group-founds-itself-anew", "mysql-8.0.43", tmp_path, server=server)
    assert finding.message.startswith(says)


def test_a_member_without_a_binary_log_is_told_which_line_disables_it(tmp_path: Path) -> None:
    """skip_log_bin after log_bin switches it off again."""
    (finding,) = found("group-needs-unmet", "mysql-9.7.4", tmp_path, f"{MEMBER}skip_log_bin")
    assert finding.help == "set log_bin = NAME without skip_log_bin"


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("ON", "If the primary crashes, the group has none for {}."),
        ("OFF", "A member that crashes stays in the group for {}, and the others keep their messages for it."),
    ],
)
def test_only_a_group_with_a_primary_can_lack_one(mode: str, text: str, tmp_path: Path) -> None:
    """With several primaries nothing is elected; and the number of seconds is not rounded."""
    lines = f"group_replication_member_expel_timeout = 600\ngroup_replication_single_primary_mode = {mode}"
    (finding,) = found("long-member-expel-timeout", "mysql-9.7.4", tmp_path, f"{MEMBER}{lines}")
    assert finding.message == text.format("605 s (5 s + group_replication_member_expel_timeout)")


def test_two_sources_take_the_plural(tmp_path: Path) -> None:
    """What the replica has and both of its sources lack is reported of both."""
    source = {"executed": "00000001-e8dd-11f1-af45-02fc00000001:1-9", "read_at": "2026-11-25T12:00:09+00:00"}
    own = {
        "executed": "00000000-e8dd-11f1-af45-02fc00000001:1",
        "sources": [1, 2],
        "read_at": "2026-11-25T12:00:05+00:00",
    }
    server = {"replication": {"replica_rows": [{"Channel_Name": ""}]}, "chain": {"servers": [own, source, source]}}
    (finding,) = found("errant-transactions", "mysql-8.0.15", tmp_path, server=server)
    assert "that its sources db1 and db2 do not have" in finding.message


@pytest.mark.parametrize(
    ("members", "says"),
    [(1, "The group has 1 member: no other server has its data."), (2, "The loss of one stops all writes.")],
)
def test_what_a_small_group_lacks(members: int, says: str, tmp_path: Path) -> None:
    """A single member has no other that could be lost."""
    server = {"replication": {"group_members": members}}
    (finding,) = found("group-that-survives-nothing", "mysql-9.7.4", tmp_path, server=server)
    assert finding.message.endswith(says)
