"""Read a server's replication state: its sources, its replicas, and its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.collect.connection.session import Notes, ask, whole_number
from advisor.collect.connection.statements import (
    ALL_SLAVES_STATUS,
    APPLIER_TIMES,
    GROUP_MEMBERS,
    REPLICA_STATUS,
    REPLICAS,
    SLAVE_STATUS,
)
from advisor.facts.server import ApplierTimes, Replication
from advisor.redaction.scrub import mask_sql

if TYPE_CHECKING:
    from advisor.collect.connection.session import Row, Session
    from advisor.collect.connection.statements import Statement
    from advisor.collect.server.server import Greeting

_NEW_NAMES = (8, 0, 22)  # SHOW REPLICA STATUS
_HAS_APPLIER_TIMES = (8, 0, 1)  # worker tables have the commit times of transactions
_NO_MEMBER = "OFFLINE"


def read_replication(session: Session, greeting: Greeting, status: dict[str, str], notes: Notes) -> Replication | None:
    """The server's replication state; None if the account may not read it. The replica status is read last.

    Worker times are read only on a replica, after its status, because that may also wait for the replication threads.
    """
    connected = _replicas(session, greeting, status, notes)
    members = _group_members(session, greeting, notes)
    answer = ask(session, _statement(greeting), "server.replication", notes)
    if answer is None:
        return None
    states = {row[0] or "": whole_number(row[1]) or 0 for row in members}
    return Replication(
        replica_rows=tuple(mask_sql(row) for row in answer.dicts()),
        replicas_connected=connected,
        galera=greeting.variables.get("wsrep_on", "").upper() == "ON",
        group_members=sum(states.values()) - states.get(_NO_MEMBER, 0),
        group_states=states,
        group_state=next((row[0] or "" for row in members if whole_number(row[2])), ""),
        applier_times=_applier_times(session, greeting, notes) if answer.rows else (),
    )


def _applier_times(session: Session, greeting: Greeting, notes: Notes) -> tuple[ApplierTimes, ...]:
    on = greeting.variables.get("performance_schema", "").upper() == "ON"
    if greeting.is_mariadb or greeting.number < _HAS_APPLIER_TIMES or not on:
        return ()
    answer = ask(session, APPLIER_TIMES, "server.applier_times", notes)
    rows = answer.rows if answer else ()
    return tuple(
        ApplierTimes(row[0] or "", whole_number(row[1]), whole_number(row[2]), whole_number(row[3]) or 0)
        for row in rows
    )


def _statement(greeting: Greeting) -> Statement:
    if greeting.is_mariadb:
        return ALL_SLAVES_STATUS
    return REPLICA_STATUS if greeting.number >= _NEW_NAMES else SLAVE_STATUS


def _replicas(session: Session, greeting: Greeting, status: dict[str, str], notes: Notes) -> int:
    counted = whole_number(status.get("slaves_connected"))
    if counted is not None:
        return counted
    variables = greeting.variables
    if greeting.is_mariadb or variables.get("log_bin") != "ON" or variables.get("performance_schema") != "ON":
        return 0
    return _count(session, REPLICAS, "server.replicas", notes)


def _group_members(session: Session, greeting: Greeting, notes: Notes) -> tuple[Row, ...]:
    """State and number of members, and whether this server is a member."""
    if not greeting.variables.get("group_replication_group_name"):
        return ()
    answer = ask(session, GROUP_MEMBERS, "server.group_members", notes)
    return answer.rows if answer else ()


def _count(session: Session, statement: Statement, part: str, notes: Notes) -> int:
    answer = ask(session, statement, part, notes)
    row: Row = answer.rows[0] if answer and answer.rows else ("0",)
    return whole_number(row[0]) or 0
