"""Replicas of each server that are broken on purpose: the error, its meaning and its table; and those that are fine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from live_server import Live
from replication_pair import allow_replicas, dialect, follow, follows, found, has_table, server_of_chain, status, until

from advisor.core.model import Severity

if TYPE_CHECKING:
    from real_servers import Start

    from advisor.core.model import Finding

VALUE = "s3cr3t-value"
NO_GTIDS = {"mysql-9.7": "gtid_mode = OFF\nreplica_parallel_workers = 1"}
INSERTED = f"INSERT INTO a.t VALUES (1, '{VALUE}')"  # noqa: S608 - no input


def stopped(replica: Live) -> Finding:
    """The finding about the replica's threads."""
    return found(replica)["stopped-replica"]


def error_of(replica: Live, thread: str) -> int:
    """The number of a thread's last error."""
    return int(status(replica)[f"Last_{thread}_Errno"])


def apart(replica: Live, *statements: str) -> None:
    """Change the replica alone, without a trace in its binary log."""
    replica.run("SET sql_log_bin = 0", *statements)


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql mariadb")
def test_errors_are_explained(server_name: str, start: Start, tmp_path: Path) -> None:
    """Each error is reported with its number, its meaning and the table, never with a value or a statement."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    replica = server_of_chain(server_name, start, tmp_path, 2)
    word, name, change, _ = dialect(server_name)
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY, s VARCHAR(20))")
    follow(replica, source)
    until(lambda: has_table(replica, "t") and follows(replica))
    assert {"stopped-replica", "replica-lag", "relay-logs-out-of-room"}.isdisjoint(found(replica))

    apart(replica, INSERTED)
    source.run(INSERTED)
    until(lambda: error_of(replica, "SQL") == 1062)
    duplicate = stopped(replica)
    assert duplicate.severity is Severity.ERROR
    assert "applier stopped with error 1062 at table a.t: nothing more is applied." in duplicate.message
    assert "a key that exists here already" in duplicate.message
    assert VALUE not in duplicate.message + duplicate.help
    apart(replica, "DELETE FROM a.t", f"START {word}")
    until(lambda: follows(replica))

    apart(replica, "DELETE FROM a.t")
    source.run("UPDATE a.t SET s = 'z'")
    until(lambda: error_of(replica, "SQL") == 1032)
    assert "error 1032 at table a.t" in stopped(replica).message
    apart(replica, INSERTED, f"START {word}")
    until(lambda: follows(replica))

    apart(replica, "DROP TABLE a.t")
    source.run("UPDATE a.t SET s = 'y'")
    until(lambda: error_of(replica, "SQL") == 1146)
    assert "error 1146 at table a.t" in stopped(replica).message
    apart(replica, "CREATE TABLE a.t (i DATETIME, s VARCHAR(20))", f"START {word}")
    until(lambda: error_of(replica, "SQL") in {1677, 13146})
    assert "at table a.t" in stopped(replica).message
    assert "A column here has a type" in stopped(replica).message
    apart(
        replica,
        "DROP TABLE a.t",
        "CREATE TABLE a.t (i INT PRIMARY KEY, s VARCHAR(20))",
        "INSERT INTO a.t VALUES (1, 'z')",
    )
    replica.run(f"START {word}")
    until(lambda: follows(replica))

    replica.run(f"STOP {word} SQL_THREAD")
    by_hand = stopped(replica)
    assert by_hand.severity is Severity.NOTE
    assert "is stopped, without an error: nothing more is applied." in by_hand.message
    assert by_hand.help.startswith(f"start it with START {word}")
    replica.run(f"STOP {word}")
    assert stopped(replica).severity is Severity.WARNING
    assert "it gets no changes" in stopped(replica).message
    replica.run(f"START {word}")
    until(lambda: follows(replica))
    assert "stopped-replica" not in found(replica)

    _break_receiver(source, replica, (word, name, change))


def _break_receiver(source: Live, replica: Live, words: tuple[str, str, str]) -> None:
    word, name, change = words
    replica.run(f"STOP {word}", f"CHANGE {change} TO {name}_PASSWORD = 'wrong'", f"START {word}")
    until(lambda: error_of(replica, "IO") == 1045)
    refused = stopped(replica)
    assert "tries to connect, with error 1045: nothing more arrives." in refused.message
    assert f"CHANGE {change} TO" in refused.help
    if source.name == "mysql-8.0":
        more = f", GET_{name}_PUBLIC_KEY = 0"
        source.run("FLUSH PRIVILEGES")
        replica.run(f"STOP {word}", f"CHANGE {change} TO {name}_PASSWORD = 'x'{more}", f"START {word}")
        until(lambda: error_of(replica, "IO") == 2061)
        assert "GET_MASTER_PUBLIC_KEY = 1" in stopped(replica).help
        replica.run(f"STOP {word}", f"CHANGE {change} TO GET_{name}_PUBLIC_KEY = 1")
    replica.run(f"STOP {word}", f"CHANGE {change} TO {name}_PASSWORD = 'x'")

    source.sandbox.stop()
    replica.run(f"START {word}")
    until(lambda: error_of(replica, "IO") in {2002, 2003})
    assert "refuse connections or cannot be reached" in stopped(replica).message
    source.sandbox.restart()

    replica.run(f"STOP {word}")
    source.run("UPDATE a.t SET s = 'x'", "FLUSH BINARY LOGS")
    *_, (last, *_) = source.run("SHOW BINARY LOGS")
    source.run(f"PURGE BINARY LOGS TO '{last}'")
    replica.run(f"START {word}")
    until(lambda: error_of(replica, "IO") != 0)
    purged = stopped(replica)
    assert "receiver stopped with error 1" in purged.message
    assert "does not have the binary log in which the replica has to continue: it was purged" in purged.message

    replica.run(f"STOP {word}", "SET GLOBAL server_id = 1", f"START {word}")
    until(lambda: error_of(replica, "IO") in {1593, 13117})
    assert "The replica and its source have the same server_id." in stopped(replica).message


@pytest.mark.servers("mysql-5.7", "mariadb-11.8", whole="mysql mariadb")
def test_what_ends_an_error(server_name: str, start: Start, tmp_path: Path) -> None:
    """A column that exists already, an account, a damaged relay log, a lost privilege: the next step ends each."""
    source = server_of_chain(server_name, start, tmp_path, 1, lines=NO_GTIDS.get(server_name, ""))
    replica = server_of_chain(server_name, start, tmp_path, 2, lines=NO_GTIDS.get(server_name, ""))
    word = dialect(server_name)[0]
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY)")
    follow(replica, source)
    until(lambda: has_table(replica, "t") and follows(replica))

    apart(replica, "ALTER TABLE a.t ADD j INT")
    source.run("ALTER TABLE a.t ADD j INT")
    until(lambda: error_of(replica, "SQL") == 1060)
    assert "exists here already" in stopped(replica).message
    assert "SET sql_log_bin = 0" in stopped(replica).help
    apart(replica, "ALTER TABLE a.t DROP j", f"START {word}")
    until(lambda: follows(replica))

    apart(replica, "CREATE USER x@localhost")
    source.run("CREATE USER x@localhost")
    until(lambda: error_of(replica, "SQL") == 1396)
    assert "The account that the source created exists here already" in stopped(replica).message
    apart(replica, "DROP USER x@localhost", f"START {word}")
    until(lambda: follows(replica))
    _damage_relay_log(source, replica)
    _revoke_privilege(source, replica)


def _damage_relay_log(source: Live, replica: Live) -> None:
    word, name, change, _ = dialect(replica.name)
    replica.run(f"STOP {word} SQL_THREAD")
    source.run(*(f"INSERT INTO a.t VALUES ({i}, 0)" for i in range(50)))  # noqa: S608 - numbers
    *_, (log, position, *_) = source.run("SHOW BINARY LOGS")
    until(lambda: status(replica)["Read_Source_Log_Pos"] >= position and status(replica)["Source_Log_File"] == log)
    replica.run(f"STOP {word}")
    row = status(replica)
    ((folder,),) = replica.run("SELECT @@datadir")
    with (Path(folder) / row["Relay_Log_File"]).open("r+b") as file:
        file.seek(int(row["Relay_Log_Pos"]) + 600)
        file.write(b"\xff" * 700)
    replica.run(f"START {word}")
    until(lambda: error_of(replica, "SQL") in {1594, 13121})
    damaged = stopped(replica)
    assert "The relay log cannot be read" in damaged.message
    row = status(replica)
    applied = row["Relay_Source_Log_File"], row["Exec_Source_Log_Pos"]
    assert "{}, {}".format(*applied) in damaged.help
    place = "{0}_LOG_FILE = '{1}', {0}_LOG_POS = {2}".format(name, *applied)
    replica.run(f"STOP {word}", f"CHANGE {change} TO {place}", f"START {word}")
    until(lambda: follows(replica) and replica.run("SELECT COUNT(*) FROM a.t") == ((50,),))


def _revoke_privilege(source: Live, replica: Live) -> None:
    word = dialect(replica.name)[0]
    replica.run(f"STOP {word}")
    source.run("SET sql_log_bin = 0", "REVOKE REPLICATION SLAVE ON *.* FROM repl@'127.0.0.1'")
    replica.run(f"START {word}")
    until(lambda: error_of(replica, "IO") in {1597, 13120})
    assert "The replica's account lacks a privilege on the source." in stopped(replica).message
    source.run("SET sql_log_bin = 0", "GRANT REPLICATION SLAVE ON *.* TO repl@'127.0.0.1'")
    replica.run(f"STOP {word}", f"START {word}")
    until(lambda: follows(replica))


@pytest.mark.servers("mysql-5.7")
def test_the_error_of_a_worker(server_name: str, start: Start, tmp_path: Path) -> None:
    """MySQL 5.7 shows the error of a parallel worker in a table alone; its meaning and its table are reported."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    workers = "slave_parallel_workers = 2\nslave_parallel_type = LOGICAL_CLOCK"
    replica = server_of_chain(server_name, start, tmp_path, 2, lines=workers)
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY, s VARCHAR(20))")
    follow(replica, source)
    until(lambda: has_table(replica, "t") and follows(replica))
    apart(replica, INSERTED)
    source.run(INSERTED)
    until(lambda: error_of(replica, "SQL") == 1062 and status(replica)["Replica_SQL_Running"] == "No")
    assert "a.t" not in status(replica)["Last_SQL_Error"]
    duplicate = stopped(replica)
    assert "applier stopped with error 1062 at table a.t: nothing more is applied." in duplicate.message
    assert "replication_applier_status_by_worker (LAST_ERROR_MESSAGE)" in duplicate.help
    assert VALUE not in duplicate.message + duplicate.help


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql mariadb")
def test_a_receiver_without_room(server_name: str, start: Start, tmp_path: Path) -> None:
    """A receiver that waits at relay_log_space_limit is reported while it waits, and no longer when it goes on."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    lines = "relay_log_space_limit = 65536\nmax_relay_log_size = 16384"
    replica = server_of_chain(server_name, start, tmp_path, 2, lines=lines)
    word = dialect(server_name)[0]
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (s LONGTEXT)")
    follow(replica, source)
    until(lambda: has_table(replica, "t") and follows(replica))
    replica.run(f"STOP {word} SQL_THREAD")
    source.run(*["INSERT INTO a.t VALUES (REPEAT('x', 10000))"] * 30)
    until(lambda: "free" in status(replica)["Replica_IO_State"])
    assert "waits: relay logs of " in found(replica)["relay-logs-out-of-room"].message
    replica.run(f"START {word} SQL_THREAD")
    until(lambda: replica.run("SELECT COUNT(*) FROM a.t") == ((30,),))
    until(lambda: follows(replica))
    assert "relay-logs-out-of-room" not in found(replica)


SEMI_SYNC = {"mysql-9.7": ("source", "replica"), "mariadb-10.11": ("master", "slave")}
LIBRARIES = "plugin_load_add = semisync_source.so\nplugin_load_add = semisync_replica.so\n"


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_semi_synchronous_replication(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica that confirms nothing, both in force, and a source that continued without its replica."""
    from_source, on_replica = (f"rpl_semi_sync_{role}" for role in SEMI_SYNC[server_name])
    libraries = "" if server_name.startswith("mariadb") else LIBRARIES
    source, replica = (server_of_chain(server_name, start, tmp_path, number, lines=libraries) for number in (1, 2))
    word = dialect(server_name)[0]
    allow_replicas(source)
    follow(replica, source)
    until(lambda: follows(replica))
    source.run("CREATE DATABASE first")  # what arrives shows that the receiver has asked for the log, without semi-sync
    until(lambda: replica.run("SHOW DATABASES LIKE 'first'") != ())
    source.run(f"SET GLOBAL {from_source}_enabled = ON", f"SET GLOBAL {from_source}_timeout = 1")
    replica.run(f"SET GLOBAL {on_replica}_enabled = ON")
    finding = found(replica)["semi-sync-not-in-force"]
    assert finding.severity is Severity.NOTE
    assert "this replica confirms nothing to its source" in finding.message
    advised = f"STOP {word} IO_THREAD; START {word} IO_THREAD"
    assert advised in finding.help
    replica.run(*advised.split("; "))
    until(lambda: value(source, f"{from_source}_clients") == "1" and value(replica, f"{on_replica}_status") == "ON")
    assert all("semi-sync-not-in-force" not in found(server) for server in (source, replica))

    def without_replica(_: float) -> None:
        replica.run(f"STOP {word} IO_THREAD")
        source.run("CREATE DATABASE a")
        until(lambda: value(source, f"{from_source}_no_tx") != "0")

    finding = found(source, wait=without_replica)["semi-sync-not-in-force"]
    assert "in the window without a replica's confirmation" in finding.message
    assert f"{from_source}_status is OFF" in found(source)["semi-sync-not-in-force"].message


def value(server: Live, name: str) -> str:
    """A status variable."""
    ((_, text),) = server.run(f"SHOW GLOBAL STATUS LIKE '{name}'")
    return str(text)


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_a_healthy_replica_under_load(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica that keeps up with its source has no finding of its state; writes on it in the window are counted."""
    source = server_of_chain(server_name, start, tmp_path, 1, gtids=True)
    replica = server_of_chain(server_name, start, tmp_path, 2, gtids=True)
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY)")
    follow(replica, source, gtids=True)
    until(lambda: has_table(replica, "t") and follows(replica))

    def write(_: float) -> None:
        source.run(*(f"INSERT INTO a.t VALUES ({i})" for i in range(300)))  # noqa: S608 - numbers
        until(lambda: replica.run("SELECT COUNT(*) FROM a.t") == ((300,),))

    findings = found(replica, wait=write)
    assert {"stopped-replica", "replica-lag", "relay-logs-out-of-room"}.isdisjoint(findings)
    assert findings["writable-replica"].severity is Severity.NOTE
    findings = found(replica, wait=lambda _: replica.run("INSERT INTO a.t VALUES (-1)", "INSERT INTO a.t VALUES (-2)"))
    counted = "2 transactions were written here in the window." in findings["writable-replica"].message
    assert counted is not replica.is_mariadb
