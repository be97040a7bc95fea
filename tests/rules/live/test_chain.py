"""Real chains whose servers are compared: transactions of the replica alone, equal ids, and a source that is newer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live_server import Live
from replication_pair import allow_replicas, dialect, follow, follows, has_table, server_of_chain, status, until

from advisor.analysis import run_rules
from advisor.analysis.context import build_context, target_of
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.core.model import Severity
from advisor.fleet.outliers import chain_server
from rules import all_rules
from rules.replication.chain import chains

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding

OF_CHAINS = {"errant-transactions", "duplicate-server-id", "source-newer-than-replica"}


def compared(*servers: Live) -> list[dict[str, Finding]]:
    """The findings of each server beside the others, read in this order, by name."""
    read = [collect_from_account(server.account(), CollectRequest(window=0.0)) for server in servers]
    named = [chain_server(f"db{i}", target_of(facts.server), facts) for i, facts in enumerate(read)]
    linked = chains(tuple(named))
    results = []
    for own, facts in zip(named, read, strict=True):
        known = build_context(facts)
        known.parts["chain"] = linked.get(own.name, known.parts["chain"])
        results.append({finding.name: finding for finding in run_rules(known, all_rules()).findings})
    return results


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql mariadb-11.8")
def test_a_chain_of_three(server_name: str, start: Start, tmp_path: Path) -> None:
    """A healthy chain has no finding; a write on a replica, and an id that two servers have, are found."""
    first, middle, last = (server_of_chain(server_name, start, tmp_path, number, gtids=True) for number in (1, 2, 3))
    allow_replicas(first)
    allow_replicas(middle)
    first.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY)")
    follow(middle, first, gtids=True)
    follow(last, middle, gtids=True)
    until(lambda: has_table(last, "t") and follows(middle) and follows(last))
    assert [OF_CHAINS & found.keys() for found in compared(first, middle, last)] == [set()] * 3

    last.run("INSERT INTO a.t VALUES (7)")
    *_, found = compared(first, middle, last)
    errant = found["errant-transactions"].message
    assert ("transactions of its own" if last.is_mariadb else "1 transaction that") in errant
    assert ("0-3-" if last.is_mariadb else str(last.run("SELECT @@server_uuid")[0][0])) in errant
    own = "was written here; transactions from its source were applied up to 0-1-"
    assert (own in found["writable-replica"].message) is last.is_mariadb
    first.run("INSERT INTO a.t VALUES (8)")
    until(lambda: follows(last) and last.run("SELECT COUNT(*) FROM a.t") == ((2,),))
    sound, also_sound, _ = compared(first, middle, last)
    assert "errant-transactions" not in sound.keys() | also_sound.keys()

    last.run("SET GLOBAL server_id = 1")
    one, _, three = compared(first, middle, last)
    assert "db2 and this server have the same server_id, 1." in one["duplicate-server-id"].message
    assert three["duplicate-server-id"].severity is Severity.WARNING


@pytest.mark.servers("mariadb-11.8")
def test_replicas_with_one_id(server_name: str, start: Start, tmp_path: Path) -> None:
    """Two MariaDB replicas with the same server_id disconnect each other, which their status does not explain."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    replicas = [server_of_chain(server_name, start, tmp_path, 2) for _ in range(2)]
    allow_replicas(source)
    for replica in replicas:
        follow(replica, source)

    def disconnected() -> bool:
        return any("A slave with the same server_id" in replica.sandbox.read_log() for replica in replicas)

    until(disconnected)
    _, one, other = compared(source, *replicas)
    for found in (one, other):
        assert found["duplicate-server-id"].severity is Severity.ERROR
        assert "One of them cannot stay connected." in found["duplicate-server-id"].message
    replicas[1].run("STOP SLAVE", "SET GLOBAL server_id = 3", "START SLAVE")
    until(lambda: all(status(replica)["Replica_IO_Running"] == "Yes" for replica in replicas))
    assert all("duplicate-server-id" not in found for found in compared(source, *replicas))


@pytest.mark.servers("mysql-8.0")
def test_replicas_with_one_uuid(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica whose server_uuid another one has too is disconnected; as advised, it generates its own."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    replicas = [server_of_chain(server_name, start, tmp_path, number) for number in (2, 3)]
    allow_replicas(source)
    uuids = [Path(replica.sandbox.datadir, "auto.cnf") for replica in replicas]
    replicas[1].sandbox.stop()
    uuids[1].write_bytes(uuids[0].read_bytes())
    replicas[1].sandbox.restart()
    for replica in replicas:
        follow(replica, source)
    until(lambda: any(status(replica)["Last_IO_Errno"] == 13114 for replica in replicas))
    source_too, one, other = compared(source, *replicas)
    assert one["duplicate-server-id"].severity is other["duplicate-server-id"].severity is Severity.ERROR
    assert "duplicate-server-id" not in source_too
    stopped = one.get("stopped-replica") or other["stopped-replica"]
    assert "Another replica of this source has the same server_id or server_uuid" in stopped.message
    replicas[1].sandbox.stop()
    uuids[1].unlink()
    replicas[1].sandbox.restart()
    replicas[0].run("START SLAVE")
    until(lambda: all(map(follows, replicas)))
    assert all("duplicate-server-id" not in found for found in compared(source, *replicas))


@pytest.mark.servers("mysql-8.0")
def test_a_source_that_is_newer(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica of 5.7 stops at the first statement of a source of 8.0 that has a collation which 5.7 lacks."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    replica = server_of_chain("mysql-5.7", start, tmp_path, 2)
    source.run("SET sql_log_bin = 0", "CREATE USER repl@'127.0.0.1' IDENTIFIED WITH mysql_native_password BY 'x'")
    source.run("SET sql_log_bin = 0", "GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")
    follow(replica, source)
    assert dialect(replica.name)[0] == "SLAVE"
    until(lambda: status(replica)["Replica_IO_Running"] == "Yes")
    _, found = compared(source, replica)
    assert "newer than this replica with MySQL 5.7.22" in found["source-newer-than-replica"].message
    source.run("CREATE DATABASE a")
    until(lambda: status(replica)["Last_SQL_Errno"] != 0)
    newer, older = compared(replica, source)
    assert newer["stopped-replica"].severity is Severity.ERROR
    assert "source-newer-than-replica" not in older


@pytest.mark.servers("mysql")
def test_a_set_that_the_server_cuts_off(server_name: str, start: Start, tmp_path: Path) -> None:
    """MySQL shows the first 1,024 characters of a set, which is known to be cut then; a shorter one is whole."""
    server = server_of_chain(server_name, start, tmp_path, 1, gtids=True)
    reset = "RESET BINARY LOGS AND GTIDS" if server_name == "mysql-9.7" else "RESET MASTER"
    for count, cut in ((10, False), (40, True)):
        purged = ",".join(f"{number:08x}-e8dd-11f1-af45-02fc00000001:1-123456" for number in range(count))
        server.run(reset, f"SET GLOBAL gtid_purged = '{purged}'")
        facts = collect_from_account(server.account(), CollectRequest(window=0.0))
        shown = chain_server("db", target_of(facts.server), facts)
        assert shown.cut is cut
        assert (shown.executed == server.run("SELECT @@global.gtid_executed")[0][0]) is not cut
