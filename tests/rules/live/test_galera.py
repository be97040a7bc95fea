"""Galera's rules before a real cluster of three nodes that is broken on purpose."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

import pymysql
import pytest
from counter_windows import lasting
from galera_cluster import GaleraCluster, galera, provider_library  # noqa: F401  a fixture
from live_server import Live, freeze
from replication_pair import until, written

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.analysis.restart import check_restart
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.core.model import Severity
from probes.sandbox.server import free_port
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding

WINDOW = 1.0  # seconds of real time; the rules get it as six
STEADY = 3600.0  # seconds that are added to the uptime
LONG = 0.9  # of a second: time that flow control has to pause before a window begins
WRITERS = 2
# What the settings of the tests deserve: the method is rsync, and tests may run as root.
OF_SETTINGS = {"galera-blocking-transfer", "server-as-root"}

pytestmark = pytest.mark.servers("mariadb-10.11")


def found(node: Live) -> dict[str, Finding]:
    """The findings about a node in a window, by name."""
    facts = collect_from_account(node.account(), CollectRequest(window=WINDOW))
    return {f.name: f for f in run_rules(build_context(lasting(facts, later=STEADY)), all_rules()).findings}


def cluster_findings(node: Live) -> set[str]:
    """The names of all errors and warnings, and of the notes about the cluster."""
    listed = found(node).values()
    return {f.name for f in listed if f.code.startswith("GAL") or f.severity is not Severity.NOTE} - OF_SETTINGS


@contextlib.contextmanager
def load(node: Live, *statements: str) -> Iterator[None]:
    """Sessions that repeat statements on a node; errors that a conflict or a lost quorum causes are ignored."""
    ended = threading.Event()

    def write() -> None:
        with contextlib.suppress(pymysql.err.MySQLError), node.sandbox.connect(autocommit=True) as connection:
            while not ended.is_set():
                with contextlib.suppress(pymysql.err.OperationalError), connection.cursor() as cursor:
                    for statement in statements:
                        cursor.execute(statement)

    writers = [threading.Thread(target=write) for _ in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        ended.set()
        for writer in writers:
            writer.join()


@pytest.fixture
def cluster(galera: GaleraCluster) -> Iterator[GaleraCluster]:  # noqa: F811
    """The cluster with an empty table; healthy again after the test."""
    galera.heal()
    galera.nodes[0].run(
        "CREATE DATABASE IF NOT EXISTS a",
        "CREATE OR REPLACE TABLE a.t (i INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200))",
    )
    there = "SELECT 1 FROM information_schema.tables WHERE (table_schema, table_name) = ('a', 't')"
    until(lambda: all(node.run(there) for node in galera.nodes))
    yield galera
    galera.heal()


def counter(cluster: GaleraCluster, node: Live, name: str) -> int:
    """A status counter of a node."""
    return int(cluster.status(node, name) or 0)


def test_a_healthy_cluster_has_no_findings(cluster: GaleraCluster) -> None:
    """Under a load that all nodes follow, no node has an error or a warning about the cluster."""
    first, *others = cluster.nodes
    before = counter(cluster, others[1], "wsrep_last_committed")
    with load(first, "INSERT INTO a.t (v) VALUES (REPEAT('x', 100))", "DO SLEEP(0.05)"):
        until(lambda: counter(cluster, others[1], "wsrep_last_committed") > before + 20)
        for node in cluster.nodes:
            assert cluster_findings(node) == set()


def test_two_stopped_nodes_leave_the_third_without_quorum(cluster: GaleraCluster) -> None:
    """The last node is non-Primary; the advised statement, run on it alone, makes it primary again."""
    first, *others = cluster.nodes
    for node in others:
        freeze(node.sandbox.pid)
    until(lambda: cluster.status(first, "wsrep_cluster_status") == "non-Primary")
    finding = found(first)["galera-non-primary"]
    assert finding.severity is Severity.ERROR
    assert "wsrep_cluster_status is non-Primary, wsrep_cluster_size 1" in finding.message
    (action,) = finding.actions
    assert "on one node only" in action.risk
    with pytest.raises(pymysql.err.OperationalError, match="1047"):
        first.run("SELECT COUNT(*) FROM a.t")
    assert action.statement
    first.run(action.statement)
    until(lambda: cluster.status(first, "wsrep_cluster_status") == "Primary")
    alone = found(first)
    assert "galera-non-primary" not in alone
    assert "wsrep_cluster_size is 1, but wsrep_cluster_address lists 3" in alone["galera-nodes-missing"].message
    for node in others:
        os.kill(node.sandbox.pid, signal.SIGCONT)
    until(lambda: all(map(cluster.synced, cluster.nodes)))


def test_a_killed_node_is_missing(cluster: GaleraCluster) -> None:
    """A node that was killed is counted as missing by the others, until it is back."""
    first, _, third = cluster.nodes
    third.sandbox.kill()
    until(lambda: cluster.status(first, "wsrep_cluster_size") == "2")
    finding = found(first)["galera-nodes-missing"]
    assert finding.severity is Severity.WARNING
    assert "lists 3 nodes. The sudden loss of one more stops all writes." in finding.message
    cluster.heal()
    assert "galera-nodes-missing" not in found(first)


def test_a_node_outside_its_cluster(cluster: GaleraCluster) -> None:
    """A node that was disconnected is named as such; no bootstrap is advised for it."""
    third = cluster.nodes[2]
    ((address,),) = third.run("SELECT @@wsrep_cluster_address")
    third.run("SET GLOBAL wsrep_cluster_address = ''")
    until(lambda: cluster.status(third, "wsrep_connected") == "OFF")
    finding = found(third)["galera-non-primary"]
    assert "wsrep_connected is OFF" in finding.message
    assert finding.actions == ()
    third.run(f"SET GLOBAL wsrep_cluster_address = '{address}'")


def test_a_locked_node_pauses_the_cluster(cluster: GaleraCluster) -> None:
    """The node with the lock is the one that asks for pauses and applies nothing; the writing node waits for it."""
    first, _, third = cluster.nodes
    with third.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("LOCK TABLES a.t WRITE")
        before = counter(cluster, first, "wsrep_flow_control_paused_ns")
        with load(first, "INSERT INTO a.t (v) VALUES ('x')"):
            until(lambda: cluster.status(third, "wsrep_flow_control_requested") == "true")
            until(lambda: counter(cluster, first, "wsrep_flow_control_paused_ns") > before + LONG * 1e9)
            slow, waiting = found(third), found(first)
            cursor.execute("UNLOCK TABLES")
    assert "none was applied" in slow["galera-applier-blocked"].message
    assert "This node asks for the pauses." in slow["galera-flow-control"].message
    assert "Another node asks for the pauses." in waiting["galera-flow-control"].message
    assert {"galera-applier-blocked", "galera-slow-applier"}.isdisjoint(waiting)


def test_a_read_lock_desyncs_its_node(cluster: GaleraCluster) -> None:
    """Under FLUSH TABLES WITH READ LOCK a node is desynced, its queue grows, and the cluster does not wait."""
    first, _, third = cluster.nodes
    with third.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        first.run(*["INSERT INTO a.t (v) VALUES ('x')"] * 20)
        until(lambda: counter(cluster, third, "wsrep_local_recv_queue") > 0)
        findings = found(third)
    assert findings["galera-desynced"].severity is Severity.NOTE
    assert "FLUSH TABLES WITH READ LOCK" in findings["galera-desynced"].message
    assert findings["galera-desynced"].actions == ()
    assert "galera-applier-blocked" in findings


def test_a_donor(cluster: GaleraCluster) -> None:
    """A node that gives its data to another is named as a donor, and nothing is advised to be switched."""
    *others, third = cluster.nodes
    third.sandbox.kill()
    for name in ("grastate.dat", "galera.cache"):
        os.unlink(os.path.join(third.sandbox.datadir, name))
    cluster.hold.touch()
    joining = threading.Thread(target=third.sandbox.restart, args=((),))
    joining.start()

    def donors() -> list[Live]:
        return [node for node in others if cluster.status(node, "wsrep_local_state_comment") == "Donor/Desynced"]

    try:
        until(lambda: donors() != [])
        finding = found(donors()[0])["galera-desynced"]
    finally:
        cluster.hold.unlink()
        joining.join()
    assert "The node is Donor/Desynced (a state transfer, a backup" in finding.message
    assert finding.actions == ()


def test_a_desynced_node(cluster: GaleraCluster) -> None:
    """A node with wsrep_desync = ON is named; the advised statement synchronizes it, and its undo works."""
    third = cluster.nodes[2]
    third.run("SET GLOBAL wsrep_desync = ON")
    until(lambda: cluster.status(third, "wsrep_local_state_comment") == "Donor/Desynced")
    (action,) = found(third)["galera-desynced"].actions
    assert action.statement
    assert action.undo
    third.run(action.statement)
    until(lambda: cluster.status(third, "wsrep_local_state_comment") == "Synced")
    assert "galera-desynced" not in found(third)
    third.run(action.undo, action.statement)


def test_conflicting_writes(cluster: GaleraCluster) -> None:
    """Two nodes that update one row: the conflicts are counted on the node that loses them."""
    first, second, _ = cluster.nodes
    first.run("INSERT INTO a.t VALUES (1, '0')")
    until(lambda: second.run("SELECT * FROM a.t") != ())
    update = "UPDATE a.t SET v = v + 1 WHERE i = 1"
    lost = {node.sandbox.socket: counter(cluster, node, "wsrep_local_bf_aborts") for node in (first, second)}

    def losing() -> list[Live]:
        return [n for n in (first, second) if counter(cluster, n, "wsrep_local_bf_aborts") > lost[n.sandbox.socket] + 5]

    with load(first, update), load(second, update):
        until(lambda: losing() != [])
        until(lambda: any("galera-conflicts" in found(node) for node in losing()))


def test_a_node_with_most_of_the_votes(cluster: GaleraCluster) -> None:
    """The node that outweighs the others is named; without it they have no quorum; the advised statement helps."""
    first, second, third = cluster.nodes
    first.run("SET GLOBAL wsrep_provider_options = 'pc.weight=3'")
    until(lambda: cluster.status(first, "wsrep_cluster_weight") == "5")
    finding = found(first)["galera-node-outweighs-others"]
    assert "pc.weight is 3 of 5 votes" in finding.message
    (action,) = finding.actions
    assert action.statement
    first.sandbox.kill()
    until(lambda: {cluster.status(n, "wsrep_cluster_status") for n in (second, third)} == {"non-Primary"})
    assert "galera-non-primary" in found(second)
    cluster.heal()
    first.run("SET GLOBAL wsrep_provider_options = 'pc.weight=3'", action.statement)
    until(lambda: cluster.status(first, "wsrep_cluster_weight") == "3")
    assert "galera-node-outweighs-others" not in found(first)


def test_split_brain_settings_of_a_running_node(cluster: GaleraCluster) -> None:
    """pc.ignore_sb that was switched on at run time is found although no file has it."""
    first = cluster.nodes[0]
    first.run("SET GLOBAL wsrep_provider_options = 'pc.ignore_sb=true'")
    try:
        assert "pc.ignore_sb" in found(first)["galera-without-quorum"].message
    finally:
        first.run("SET GLOBAL wsrep_provider_options = 'pc.ignore_sb=false'")


def test_a_donor_that_cannot_log_in(cluster: GaleraCluster) -> None:
    """With mariabackup and no wsrep_sst_auth, a donor without an account of its system user's name is reported."""
    node, name = cluster.nodes[0], "galera-transfer-without-account"
    keeper = "keeper@localhost"
    hosts = [
        host
        for (host,) in node.run(
            "SELECT Host FROM mysql.global_priv WHERE User = 'root' ORDER BY Host = 'localhost' DESC"
        )
    ]
    node.run(*(f"DROP USER root@`{host}`" for host in hosts[1:]))  # of a kind, three accounts are read by name
    hosts = hosts[:1]
    away, back = (
        [f"RENAME USER {one}@`{host}` TO {other}@`{host}`" for host in hosts]
        for one, other in (("root", "spare"), ("spare", "root"))
    )
    node.run(f"CREATE USER {keeper}", f"GRANT ALL ON *.* TO {keeper} WITH GRANT OPTION")
    try:
        assert name not in found(node)
        node.run("SET GLOBAL wsrep_sst_method = mariabackup")
        assert (name in found(node)) is (os.getuid() != 0)
        _run_as(node, "keeper", *away)
        facts = collect_from_account(node.account("keeper"), CollectRequest(window=0.0))
        reported = {f.name: f for f in run_rules(build_context(facts), all_rules()).findings}
        assert "has no account of that name. A node that needs a full copy cannot join." in reported[name].message
    finally:
        _run_as(node, "keeper", *away, *back)
        node.run("SET GLOBAL wsrep_sst_method = rsync", f"DROP USER {keeper}")


def _run_as(node: Live, user: str, *statements: str) -> None:
    with pymysql.connect(unix_socket=node.sandbox.socket, user=user) as connection, connection.cursor() as cursor:
        for statement in statements:
            with contextlib.suppress(pymysql.err.OperationalError):  # renamed already
                cursor.execute(statement)


def test_what_the_cluster_sets_is_not_lost(cluster: GaleraCluster) -> None:
    """A node gets its steps of AUTO_INCREMENT from the cluster, at its start too: preflight calls them no change."""
    for node in cluster.nodes:
        assert node.run("SELECT @@global.auto_increment_increment") == ((3,),)
        items = check_restart(collect_from_account(node.account(), CollectRequest(window=0.0))).items
        assert {"auto_increment_increment", "auto_increment_offset"}.isdisjoint(item.variable for item in items)
    node = cluster.nodes[0]
    node.run("SET GLOBAL wsrep_auto_increment_control = OFF", "SET GLOBAL auto_increment_increment = 7")
    items = check_restart(collect_from_account(node.account(), CollectRequest(window=0.0))).items
    assert "auto_increment_increment" in {item.variable for item in items}
    node.run("SET GLOBAL wsrep_auto_increment_control = ON")


@pytest.mark.servers("mariadb-11.4", "mariadb-11.8")
def test_lines_of_single_options_do_not_reach_the_provider(start: Start, server_name: str, tmp_path: Path) -> None:
    """The variable shows what the line asks for, and the provider keeps its default."""
    lines = (
        *("[mariadb]", "binlog_format = ROW", "wsrep_on = ON", f"wsrep_provider = {provider_library()}"),
        *("wsrep_cluster_address = gcomm://", f"wsrep_node_address = 127.0.0.1:{free_port()}"),
        *("wsrep_provider_gcache_size = 64M", ""),
    )
    node = Live(server_name, start(server_name, option_file=written(tmp_path, "node.cnf", "\n".join(lines))))
    assert node.run("SELECT @@wsrep_provider_gcache_size") == ((64 << 20,),)
    assert "gcache.size = 128M" in node.run("SELECT @@wsrep_provider_options")[0][0]
    assert os.path.getsize(f"{node.sandbox.datadir}/galera.cache") >= 128 << 20
    assert "galera-option-line-without-effect" in found(node)
