"""The lag of real replicas: told as a number with its reason, told as unknown, and told where there is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from replication_pair import dialect, found, pair, until

from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.core.model import Severity
from rules import all_rules
from rules.core.passed import passed_checks
from rules.replication.lag import VISIBLE

if TYPE_CHECKING:
    from pathlib import Path

    from live_server import Live
    from real_servers import Start


def behind(replica: Live) -> int | None:
    """What the server says of its lag, in seconds."""
    statement = f"SHOW {dialect(replica.name)[0]} STATUS"
    connection = replica.sandbox.connect(cursorclass=pymysql.cursors.DictCursor)
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        (row,) = cursor.fetchall()
    told: dict[str, Any] = dict(row)
    return next(value for name, value in told.items() if name.startswith("Seconds_Behind"))  # type: ignore[no-any-return]


def passed(replica: Live) -> str:
    """What an audit prints of a replica that keeps up."""
    known = build_context(collect_from_account(replica.account(), CollectRequest(window=0.0)))
    return dict(passed_checks(known, [], {rule.name for rule in all_rules()})).get("replication", "")


@pytest.mark.servers("mysql", "mariadb-10.11", "mariadb-11.8", whole="mariadb-11.4")
def test_lag_is_told(server_name: str, start: Start, tmp_path: Path) -> None:
    """Each server's replica keeps up, waits for a lock, and is stopped: the lag is told as it is, never as none."""
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
    until(lambda: behind(replica) == 0)

    replica.run(f"STOP {dialect(server_name)[0]} SQL_THREAD")
    told = found(replica)
    assert told["stopped-replica"].severity is Severity.WARNING
    assert "is NULL, because the applier does not run." in told["replica-lag"].message
    assert passed(replica) == ""
