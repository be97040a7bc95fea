"""Replication's rules before real servers: a node that stands alone, a source with its replica, and a group of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from general_log import overheard, unlisted
from live_server import Live
from replication_pair import found, until, written

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.statements import GROUP_QUEUES
from advisor.core.model import Severity
from probes.sandbox.server import free_port

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

NODE = """[mariadb]
log_bin = b
server_id = 7
binlog_do_db = webdb,just_test
binlog_ignore_db = scratch
replicate_do_db = a
slave_exec_mode = IDEMPOTENT
slave_type_conversions = ALL_LOSSY
relay_log_purge = OFF
relay_log_space_limit = 1G
slave_transaction_retries = 0
slave_net_timeout = 3600
slave_parallel_threads = 4
slave_parallel_mode = none
rpl_semi_sync_master_enabled = ON
rpl_semi_sync_master_timeout = 1
wsrep_on = ON
wsrep_cluster_address = gcomm://
wsrep_provider_options = "gcache.size=16M; pc.ignore_sb=true"
wsrep_OSU_method = RSU
wsrep_sst_method = mysqldump
"""
REPLICA = """[mysqld]
log_bin = b
server_id = 2
gtid_mode = ON
enforce_gtid_consistency = ON
log_slave_updates = OFF
relay_log_info_repository = FILE
slave_parallel_workers = 2
slave_preserve_commit_order = ON
"""
SOURCE = "[mysqld]\nlog_bin = b\nserver_id = 1\ngtid_mode = ON\nenforce_gtid_consistency = ON\n"
MEMBER = """[mysqld]
plugin_load_add = group_replication.so
server_id = 1
log_bin = b
group_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa
group_replication_local_address = 127.0.0.1:{port}
group_replication_group_seeds = 127.0.0.1:{port}
group_replication_bootstrap_group = ON
group_replication_single_primary_mode = OFF
group_replication_flow_control_mode = DISABLED
group_replication_transaction_size_limit = 0
"""
LOGGED = 40 * 30_000
LIMIT = 300 << 10
# Rows: of a statement the log would hold REPEAT('x', 30000), a hundred bytes.
PURGED = """[mariadb]
log_bin = b
server_id = 1
binlog_format = ROW
max_binlog_size = 64K
max_binlog_total_size = 300K
"""
STATE = "SELECT MEMBER_STATE FROM performance_schema.replication_group_members"


def follow(replica: Live, port: int | None) -> None:
    """Tell a replica its source, by file and position."""
    replica.run(
        f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = 'repl', "
        "MASTER_PASSWORD = 'x', MASTER_LOG_FILE = 'b.000001', MASTER_LOG_POS = 4, GET_MASTER_PUBLIC_KEY = 1"
    )


def status(replica: Live) -> dict[str, Any]:
    """What a replica reports about its source."""
    connection = replica.sandbox.connect(cursorclass=pymysql.cursors.DictCursor)
    with connection, connection.cursor() as cursor:
        cursor.execute("SHOW SLAVE STATUS")
        return dict(cursor.fetchall()[0])


@pytest.mark.servers("mariadb-11.4", "mariadb-11.8")
def test_binary_logs_are_purged_by_size(server_name: str, start: Start, tmp_path: Path) -> None:
    """A limit of size purges nothing while no replica is connected; as advised it does, without a restart."""
    node = Live(server_name, start(server_name, option_file=written(tmp_path, "limit", PURGED)))
    node.run("CREATE DATABASE d", "CREATE TABLE d.t (a LONGTEXT)")
    assert size_of_logs(node) > LOGGED
    findings = found(node)
    assert "binary-log-never-expires" not in findings
    (action,) = findings["purge-waits-for-replica"].actions
    assert action.statement
    node.run(action.statement)
    assert size_of_logs(node) < LIMIT + LOGGED / 40
    assert "purge-waits-for-replica" not in found(node)


def size_of_logs(node: Live) -> int:
    """Write more than a megabyte into the binary logs, and return the size of those that are left."""
    node.run(*["INSERT INTO d.t VALUES (REPEAT('x', 30000))"] * 40)
    with node.sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW BINARY LOGS")
        return sum(int(row[1]) for row in cursor.fetchall())


@pytest.mark.servers("mariadb-10.11")
def test_a_node_that_stands_alone(server_name: str, start: Start, tmp_path: Path) -> None:
    """All faults of a cluster's node, its filters and its semi-synchronous replication are reported at their lines.

    The advised statements and their undoing run.
    """
    node = Live(server_name, start(server_name, option_file=written(tmp_path, "node.cnf", NODE)))
    node.run("CREATE DATABASE just_test")
    findings = found(node)
    assert {
        "filter-list-in-one-name", "filtered-binary-log", "filter-by-default-database", "idempotent-replica",
        "lossy-replica-conversions", "relay-logs-never-purged", "tight-relay-log-limit", "semi-sync-after-commit",
        "semi-sync-not-in-force", "galera-half-configured", "galera-founds-itself-anew", "galera-without-quorum",
        "galera-not-in-rows", "galera-locks-auto-increment", "galera-logs-half", "galera-local-schema-changes",
        "galera-blocking-transfer", "unretried-replica-transactions", "slow-to-miss-its-source",
        "parallel-threads-without-work",
    } <= set(findings)  # fmt: skip
    assert all(
        findings[name].location for name in ("filtered-binary-log", "galera-without-quorum", "idempotent-replica")
    )
    for action in (action for finding in findings.values() for action in finding.actions):
        if action.statement and action.undo:
            node.run(action.statement, action.undo, action.statement)
    mended = set(findings) - set(found(node))
    assert {
        "idempotent-replica", "relay-logs-never-purged", "semi-sync-after-commit", "unretried-replica-transactions",
        "galera-not-in-rows",
    } <= mended  # fmt: skip


@pytest.mark.servers("mysql-8.0")
def test_a_replica_that_does_not_start_and_then_lags(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica reported not to start doesn't; with the advised lines it does; its lag is reported in seconds."""
    source = Live(server_name, start(server_name, option_file=written(tmp_path, "source.cnf", SOURCE), tcp=True))
    replica = Live(server_name, start(server_name, option_file=written(tmp_path, "replica.cnf", REPLICA)))
    source.run("CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY)")
    follow(replica, source.sandbox.port)
    findings = found(replica)
    assert {
        "unsupported-commit-order", "parallel-by-database", "replica-position-in-files", "stopped-replica",
        "replica-by-file-position", "replica-updates-not-logged", "writable-replica", "relay-logs-not-recovered",
    } <= set(findings)  # fmt: skip
    with pytest.raises(pymysql.err.OperationalError, match="3031"):
        replica.run("START SLAVE")

    advised = {action.option_line for finding in findings.values() for action in finding.actions}
    assert {"slave_parallel_type = LOGICAL_CLOCK", "log_slave_updates = ON"} <= advised
    replica.sandbox.restart([f"--{line.replace(' = ', '=')}" for line in advised if line])
    replica.run("SET GLOBAL read_only = OFF", "START SLAVE")
    until(lambda: replica.run("SHOW DATABASES LIKE 'a'") != ())
    assert {"unsupported-commit-order", "stopped-replica", "replica-updates-not-logged"}.isdisjoint(found(replica))
    assert "commit-order-tracking" in found(source)

    replica.run("STOP SLAVE", "SET GLOBAL slave_preserve_commit_order = OFF")
    assert "unordered-parallel-replica" in found(replica)
    replica.run("SET GLOBAL slave_parallel_workers = 1", "START SLAVE")
    with replica.sandbox.connect() as holding, holding.cursor() as cursor:
        until(lambda: replica.run("SHOW TABLES FROM a LIKE 't'") != ())
        cursor.execute("LOCK TABLES a.t READ")
        source.run("SET timestamp = UNIX_TIMESTAMP() - 3600", "INSERT INTO a.t VALUES (1)")
        until(lambda: (status(replica)["Seconds_Behind_Master"] or 0) >= 3600)
        lagging = found(replica)["replica-lag"]
        assert "The applier waits for a lock of another session." in lagging.message
    # The statement is dated an hour back, its commit is not.
    assert re.search(r"is 36\d\d, but the newest transactions were committed \d+ s ago", lagging.message)
    assert lagging.help == "find the session that holds the lock, and end its transaction"


TRIO = """[mysqld]
plugin_load_add = group_replication.so
server_id = {number}
log_bin = b
report_host = 127.0.0.1
group_replication_group_name = aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa
group_replication_local_address = 127.0.0.1:{port}
group_replication_group_seeds = {seeds}
group_replication_start_on_boot = OFF
group_replication_recovery_get_public_key = ON
"""
LEAVES_ALONE = (
    "CREATE USER repl@'%' IDENTIFIED BY 'x'",
    "GRANT REPLICATION SLAVE ON *.* TO repl@'%'",
    "RESET BINARY LOGS AND GTIDS",
    "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'repl', SOURCE_PASSWORD = 'x' FOR CHANNEL 'group_replication_recovery'",
)
STATES = "SELECT MEMBER_STATE, COUNT(*) FROM performance_schema.replication_group_members GROUP BY MEMBER_STATE"


def states(member: Live) -> dict[str, int]:
    """How many members the member sees in which state."""
    return dict(member.run(STATES))


def trio(server_name: str, start: Start, folder: Path) -> list[Live]:
    """Three members of a group, all ONLINE."""
    ports = [free_port() for _ in range(3)]
    seeds = ",".join(f"127.0.0.1:{port}" for port in ports)
    texts = (TRIO.format(number=i, port=port, seeds=seeds) for i, port in enumerate(ports, 1))
    files = [written(folder, f"member{i}.cnf", text) for i, text in enumerate(texts)]
    members = [Live(server_name, start(server_name, option_file=file, tcp=True)) for file in files]
    for first, member in enumerate(members):
        member.run(*LEAVES_ALONE)
        founds = ["SET GLOBAL group_replication_bootstrap_group = ON"] if not first else []
        member.run(*founds, "START GROUP_REPLICATION", "SET GLOBAL group_replication_bootstrap_group = OFF")
    until(lambda: states(members[0]) == {"ONLINE": 3})
    return members


@pytest.mark.servers("mysql-9.7")
def test_a_group_that_loses_its_members(server_name: str, start: Start, tmp_path: Path) -> None:
    """Members count by their states: three that are ONLINE pass, killed ones are reported, and so is one outside."""
    first, second, third = trio(server_name, start, tmp_path)
    assert {"group-that-survives-nothing", "member-outside-its-group"}.isdisjoint(found(first))

    third.run("STOP GROUP_REPLICATION")
    outside = found(third)
    assert "MEMBER_STATE is OFFLINE" in outside["member-outside-its-group"].message
    assert outside["member-outside-its-group"].severity is Severity.WARNING
    assert "group-that-survives-nothing" not in outside
    third.run("START GROUP_REPLICATION")
    until(lambda: states(first) == {"ONLINE": 3})

    third.sandbox.kill()
    until(lambda: states(first) == {"ONLINE": 2, "UNREACHABLE": 1})
    finding = found(first)["group-that-survives-nothing"]
    assert finding.severity is Severity.WARNING
    assert "3 members (2 ONLINE, 1 UNREACHABLE). The loss of one more stops all writes." in finding.message

    second.sandbox.kill()
    until(lambda: states(first) == {"ONLINE": 1, "UNREACHABLE": 2})
    finding = found(first)["group-that-survives-nothing"]
    assert finding.severity is Severity.ERROR
    assert "has lost its majority: 3 members (1 ONLINE, 2 UNREACHABLE)" in finding.message
    second.sandbox.restart()
    assert found(second)["member-outside-its-group"].severity is Severity.ERROR


@pytest.mark.servers("mysql-9.7")
def test_a_group_of_one(server_name: str, start: Start, tmp_path: Path) -> None:
    """A member's settings are reported, it bootstraps at each start, and without what it needs it stays outside.

    Its own log shows that it was asked how many the group has, and nothing but statements of the list.
    """
    file = written(tmp_path, "member.cnf", MEMBER.format(port=free_port()))
    member = Live(server_name, start(server_name, option_file=file, tcp=True))
    until(lambda: member.run(STATE) == (("ONLINE",),))
    findings = found(member)
    assert {
        "group-founds-itself-anew", "multi-primary-without-checks", "group-without-flow-control",
        "unlimited-group-transactions", "group-that-survives-nothing",
    } <= set(findings)  # fmt: skip
    assert {"group-needs-unmet", "stopped-replica", "writable-replica"}.isdisjoint(findings)
    with overheard(member.sandbox, tmp_path / "general.log") as heard:
        facts = collect_from_account(member.account(), CollectRequest(window=0.0))
        asked = heard()
    assert GROUP_QUEUES.text() in [one.text for one in asked]
    assert unlisted(asked) == []
    assert facts.server.replication is not None
    assert facts.server.replication.group_members == 1
    member.sandbox.restart()
    until(lambda: member.run(STATE) == (("ONLINE",),))

    member.sandbox.restart(["--gtid-mode=ON_PERMISSIVE"])
    until(lambda: "Unable to start Group Replication on boot" in member.sandbox.read_log())
    assert {"group-needs-unmet", "half-switched-gtid-mode"} <= set(found(member))
