"""A server's part in replication: whose replica it is, who replicates from it, and what cluster it belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.asking import Notes, ask, number
from advisor.collect.statements import ALL_SLAVES_STATUS, GROUP_MEMBERS, REPLICA_STATUS, REPLICAS, SLAVE_STATUS
from advisor.facts.server import Replication
from advisor.unkept import without_sql

if TYPE_CHECKING:
    from advisor.collect.send import Row, Session
    from advisor.collect.server import Greeting
    from advisor.collect.statements import Statement

_RENAMED = (8, 0, 22)  # SHOW REPLICA STATUS



def read_replication(session: Session, greeting: Greeting, status: dict[str, str], notes: Notes) -> Replication | None:
    """The server's part in replication; None where the account may not see it. The replica rows are asked for last."""
    connected = _replicas(session, greeting, status, notes)
    members = _group_members(session, greeting, notes)
    answer = ask(session, _statement(greeting), "server.replication", notes)
    if answer is None:
        return None
    return Replication(
        replica_rows=tuple(without_sql(row) for row in answer.dicts()),
        replicas_connected=connected,
        galera=greeting.variables.get("wsrep_on", "").upper() == "ON",
        group_members=members,
    )


def _statement(greeting: Greeting) -> Statement:
    if greeting.is_mariadb:
        return ALL_SLAVES_STATUS
    return REPLICA_STATUS if greeting.number >= _RENAMED else SLAVE_STATUS


def _replicas(session: Session, greeting: Greeting, status: dict[str, str], notes: Notes) -> int:
    counted = number(status.get("slaves_connected"))
    if counted is not None:
        return counted
    variables = greeting.variables
    if greeting.is_mariadb or variables.get("log_bin") != "ON" or variables.get("performance_schema") != "ON":
        return 0
    return _count(session, REPLICAS, "server.replicas", notes)


def _group_members(session: Session, greeting: Greeting, notes: Notes) -> int:
    if not greeting.variables.get("group_replication_group_name"):
        return 0
    return _count(session, GROUP_MEMBERS, "server.group_members", notes)


def _count(session: Session, statement: Statement, part: str, notes: Notes) -> int:
    answer = ask(session, statement, part, notes)
    row: Row = answer.rows[0] if answer and answer.rows else ("0",)
    return number(row[0]) or 0
