"""The lag of real replicas: reported as a number with its reason, as unknown, and where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from replication_pair import allow_replicas, dialect, follow, follows, found, has_table, pair, server_of_chain, until

from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.session import open_session
from advisor.collect.server.replication import read_lag
from advisor.core.model import Severity
from rules import all_rules
from rules.core.passed import passed_checks
from rules.replication.lag import VISIBLE

if TYPE_CHECKING:
    from pathlib import Path

    from live_server import Live
    from real_servers import Start


COMMIT_TIMES = ("mysql-8.0", "mysql-9.7")  # servers that show when a transaction was committed
HOURS = 7200


def behind(replica: Live) -> int | None:
    """The lag that the server reports, in seconds."""
    statement = f"SHOW {dialect(replica.name)[0]} STATUS"
    connection = replica.sandbox.connect(cursorclass=pymysql.cursors.DictCursor)
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        (row,) = cursor.fetchall()
    status: dict[str, Any] = dict(row)
    return next(value for name, value in status.items() if name.startswith("Seconds_Behind"))  # type: ignore[no-any-return]


def sampled(replica: Live) -> int | None:
    """The lag as the app's workload screen reads it."""
    server = collect_from_account(replica.account(), CollectRequest(window=0.0)).server
    session = open_session(replica.account())
    try:
        return read_lag(session, server)
    finally:
        session.close()


def passed(replica: Live) -> str:
    """What an audit prints of a replica that keeps up."""
    known = build_context(collect_from_account(replica.account(), CollectRequest(window=0.0)))
    return dict(passed_checks(known, [], {rule.name for rule in all_rules()})).get("replication", "")


@pytest.mark.servers("mysql", "mariadb-10.11", "mariadb-11.8", whole="mariadb-11.4")
def test_lag_is_reported(server_name: str, start: Start, tmp_path: Path) -> None:
    """Each server's replica keeps up, waits for a lock, and is stopped: the lag is reported, never as none."""
    source, replica = pair(server_name, start, tmp_path)
    source.run("CREATE TABLE a.t (i INT PRIMARY KEY)")
    until(lambda: replica.run("SHOW TABLES FROM a LIKE 't'") != () and behind(replica) == 0)
    assert re.fullmatch(r"\d+ s behind its source", passed(replica))
    assert {"replica-lag", "stopped-replica"}.isdisjoint(found(replica))

    with replica.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("LOCK TABLES a.t READ")
        source.run("INSERT INTO a.t VALUES (1)")
        until(lambda: (behind(replica) or 0) >= VISIBLE)
        lag = found(replica)["replica-lag"]
        assert re.search(r"is \d+ s behind its source\.", lag.message)
        assert "Received and not yet applied: " in lag.message
        assert "The applier waits for a lock of another session." in lag.message
        assert (sampled(replica) or 0) >= VISIBLE
    until(lambda: behind(replica) == 0)

    replica.run(f"STOP {dialect(server_name)[0]} SQL_THREAD")
    findings = found(replica)
    assert findings["stopped-replica"].severity is Severity.NOTE
    assert "replica-lag" not in findings
    assert passed(replica) == ""
    assert sampled(replica) is None


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql mariadb")
def test_a_lag_behind_events_of_the_future(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica that applies nothing is reported while its server's number is 0, since events are dated ahead."""
    source, replica = pair(server_name, start, tmp_path)
    source.run("CREATE TABLE a.t (i INT PRIMARY KEY)")
    until(lambda: has_table(replica, "t") and behind(replica) == 0)
    with replica.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("LOCK TABLES a.t READ")
        source.run(f"SET timestamp = UNIX_TIMESTAMP() + {HOURS}", "INSERT INTO a.t VALUES (1)")
        until(lambda: not follows(replica))
        lag = found(replica, wait=lambda seconds: replica.run(f"DO SLEEP({seconds})"))["replica-lag"]
        assert behind(replica) == 0
        assert re.search(r"is \d+ s (?:or more )?behind its source", lag.message)
        assert "The applier waits for a lock of another session." in lag.message
    until(lambda: follows(replica))
    assert "replica-lag" not in found(replica)


@pytest.mark.servers("mysql-9.7", whole="mysql-8.0")
def test_events_of_the_past(server_name: str, start: Start, tmp_path: Path) -> None:
    """A number of hours is no lag where the transaction that waits was committed just now; that is a note."""
    source, replica = pair(server_name, start, tmp_path)
    source.run("CREATE TABLE a.t (i INT PRIMARY KEY)")
    until(lambda: has_table(replica, "t") and behind(replica) == 0)
    with replica.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("LOCK TABLES a.t READ")
        source.run(f"SET timestamp = UNIX_TIMESTAMP() - {HOURS}", "INSERT INTO a.t VALUES (1)")
        until(lambda: (behind(replica) or 0) >= HOURS)
        lag = found(replica)["replica-lag"]
        assert lag.severity is Severity.NOTE
        assert f"{HOURS} s behind" not in lag.message


@pytest.mark.servers("mysql-9.7", "mariadb-10.11", whole="mysql mariadb")
def test_the_trend_of_a_lag(server_name: str, start: Start, tmp_path: Path) -> None:
    """A lag behind a lock grows while nothing is applied, one behind older events shrinks, and a delay is no lag."""
    source = server_of_chain(server_name, start, tmp_path, 1)
    replica = server_of_chain(server_name, start, tmp_path, 2)
    allow_replicas(source)
    source.run("CREATE DATABASE a", "CREATE TABLE a.t (i INT PRIMARY KEY)", "CREATE TABLE a.u (i INT PRIMARY KEY)")
    follow(replica, source)
    until(lambda: has_table(replica, "u") and follows(replica))

    with replica.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("LOCK TABLES a.t READ, a.u READ")
        source.run("INSERT INTO a.t VALUES (1)")
        until(lambda: (behind(replica) or 0) >= VISIBLE)
        growing = found(replica, wait=lambda _: until(lambda: (behind(replica) or 0) >= 3 * VISIBLE))["replica-lag"]
        assert re.search(r"It grew by \d+ s in the window of \d+ s\. Nothing was applied in it\.", growing.message)
    until(lambda: behind(replica) == 0)

    with replica.sandbox.connect() as first, first.cursor() as cursor, replica.sandbox.connect() as second:
        cursor.execute("LOCK TABLES a.t READ")
        second.cursor().execute("LOCK TABLES a.u READ")
        source.run("SET timestamp = UNIX_TIMESTAMP() - 3600", "INSERT INTO a.t VALUES (2)")
        source.run("SET timestamp = UNIX_TIMESTAMP() - 100", "INSERT INTO a.u VALUES (2)")
        until(lambda: (behind(replica) or 0) >= 3600)

        def catch_up(_: float) -> None:
            until(lambda: (behind(replica) or 0) >= 3600 + VISIBLE + 2)
            cursor.execute("UNLOCK TABLES")
            until(lambda: VISIBLE < (behind(replica) or 0) < 3600)

        shrinking = found(replica, wait=catch_up)["replica-lag"]
        if server_name in COMMIT_TIMES:  # the times of these statements are older than their commits
            assert re.search(r"is \d{1,2} s behind its source\. The oldest transaction", shrinking.message)
        else:
            assert re.search(r"It shrank by 3,\d+ s in the window of \d+ s; at this rate", shrinking.message)
    until(lambda: behind(replica) == 0)

    word, name, change, _ = dialect(server_name)
    replica.run(f"STOP {word}", f"CHANGE {change} TO {name}_DELAY = 3600", f"START {word}")
    source.run("INSERT INTO a.t VALUES (3)")
    until(lambda: (behind(replica) or 0) >= VISIBLE)
    findings = found(replica, wait=lambda _: until(lambda: (behind(replica) or 0) >= 3 * VISIBLE))
    assert {"replica-lag", "stopped-replica", "relay-logs-out-of-room"}.isdisjoint(findings)
