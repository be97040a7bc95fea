"""Read a server's replication state: its sources, its replicas, and its cluster."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection.session import Notes, ask, whole_number
from advisor.collect.connection.statements import (
    ALL_SLAVES_STATUS,
    APPLIER_ERRORS,
    APPLIER_TIMES,
    GROUP_MEMBERS,
    GROUP_QUEUES,
    REPLICA_STATUS,
    REPLICAS,
    SLAVE_STATUS,
)
from advisor.core.gtid import count, of_server, parse_set
from advisor.facts import Unavailable
from advisor.facts.server import ApplierTimes, ChannelProgress, GroupMember, Replication
from advisor.redaction.scrub import failed_table, mask_sql

if TYPE_CHECKING:
    from advisor.collect.connection.session import Row, Session
    from advisor.collect.connection.statement import Statement
    from advisor.collect.server.server import Greeting
    from advisor.facts import Server

_NEW_NAMES = (8, 0, 22)  # SHOW REPLICA STATUS
_HAS_APPLIER_TIMES = (8, 0, 1)  # worker tables have the commit times of transactions
_HAS_ROLES = (8, 0, 2)  # the tables of a group have the roles and versions of members, and the applier's queue
_NO_MEMBER = "OFFLINE"


class ReplicaReading(NamedTuple):
    """The status of each channel at one moment of the local clock, in seconds; `rows` is None if it is not readable."""

    rows: tuple[dict[str, str | None], ...] | None
    clock: float


def read_channels(session: Session, greeting: Greeting, notes: Notes) -> ReplicaReading:
    """The status of each channel now; empty if the server is no replica."""
    answer = ask(session, _statement(greeting), "server.replication", notes)
    rows = None if answer is None else tuple(mask_sql(row) for row in answer.dicts())
    return ReplicaReading(rows, time.monotonic())


def read_replication(
    session: Session,
    greeting: Greeting,
    status: dict[str, str],
    notes: Notes,
    before: ReplicaReading | None = None,
) -> Replication | None:
    """The server's replication state; None if the account may not read it. The replica status is read last.

    `before` is the status before the window: a server that was no replica then is not asked again. Worker times are
    read only on a replica or a member of a group, after its status, because that may also wait for the replication
    threads.
    """
    if session.lost:
        notes.append(Unavailable("server.replication", session.lost))
        return None
    connected = _replicas(session, greeting, status, notes)
    listed = _members(session, greeting, notes)
    states, own = _member_states(session, greeting, notes) if listed is None else _states_of(listed)
    now = before if before and not before.rows else read_channels(session, greeting, notes)
    again = before is not None and bool(before.rows) and now.rows is not None
    rows = before.rows if before and now.rows is None else now.rows
    if rows is None:
        return None
    takes_part = bool(listed) and own != _NO_MEMBER
    return Replication(
        replica_rows=rows,
        replicas_connected=connected,
        galera=greeting.variables.get("wsrep_on", "").upper() == "ON",
        group_members=sum(states.values()) - states.get(_NO_MEMBER, 0),
        group_states=states,
        group_state=own,
        applier_times=_applier_times(session, greeting, rows, notes) if rows or takes_part else (),
        earlier=_progress(before.rows or (), greeting) if before and again else None,
        earlier_seconds=round(now.clock - before.clock, 3) if before and again else 0.0,
        members=listed,
    )


def _progress(rows: tuple[dict[str, str | None], ...], greeting: Greeting) -> tuple[ChannelProgress, ...]:
    """What is compared with the end of the window; column names differ between versions."""
    uuid = greeting.variables.get("server_uuid", "")
    channels = []
    for row in rows:

        def value(*names: str, row: dict[str, str | None] = row) -> str | None:
            return next((row[name] for name in names if name in row), None)

        executed = parse_set(value("Executed_Gtid_Set") or "") if uuid else None
        channels.append(
            ChannelProgress(
                channel=value("Channel_Name", "Connection_name") or "",
                behind=whole_number(value("Seconds_Behind_Source", "Seconds_Behind_Master")),
                log_file=value("Relay_Source_Log_File", "Relay_Master_Log_File") or "",
                position=whole_number(value("Exec_Source_Log_Pos", "Exec_Master_Log_Pos")),
                relay_log_space=whole_number(value("Relay_Log_Space")),
                own_transactions=None if executed is None else count(of_server(executed, uuid)),
                received_file=value("Source_Log_File", "Master_Log_File") or "",
                received=whole_number(value("Read_Source_Log_Pos", "Read_Master_Log_Pos")),
            )
        )
    return tuple(channels)


def _applier_times(
    session: Session, greeting: Greeting, channels: tuple[dict[str, str | None], ...], notes: Notes
) -> tuple[ApplierTimes, ...]:
    """What the workers of each channel do; on MySQL 5.7 only the tables that their errors name, if there are errors."""
    on = greeting.variables.get("performance_schema", "").upper() == "ON"
    if greeting.is_mariadb or not on:
        return ()
    if greeting.number >= _HAS_APPLIER_TIMES:
        answer = ask(session, APPLIER_TIMES, "server.applier_times", notes)
        return tuple(map(_times_of, answer.rows if answer else ()))
    failed = any(whole_number(channel.get("Last_SQL_Errno")) for channel in channels)
    answer = ask(session, APPLIER_ERRORS, "server.applier_times", notes) if failed else None
    return tuple(
        ApplierTimes(channel or "", failed_table=failed_table(error or ""))
        for channel, error in (answer.rows if answer else ())
    )


def _times_of(row: Row) -> ApplierTimes:
    channel, *numbers, error = row
    applying, applied, locked, workers, busy, used, applying_here, from_source = map(whole_number, numbers)
    return ApplierTimes(
        channel=channel or "",
        applying=applying,
        applied=applied,
        locked=locked or 0,
        workers=workers or 0,
        busy=busy or 0,
        used=used or 0,
        applying_here=applying_here,
        from_source=from_source,
        failed_table=failed_table(error or ""),
    )


def _statement(greeting: Greeting) -> Statement:
    return _status_statement(greeting.number, is_mariadb=greeting.is_mariadb)


def _status_statement(version: tuple[int, ...], *, is_mariadb: bool) -> Statement:
    if is_mariadb:
        return ALL_SLAVES_STATUS
    return REPLICA_STATUS if version >= _NEW_NAMES else SLAVE_STATUS


def read_lag(session: Session, server: Server) -> int | None:
    """The seconds that the replica's worst channel is behind; None if no channel reports it, as while it is stopped."""
    from advisor.collect.connection.session import version_numbers

    statement = _status_statement(version_numbers(server.version), is_mariadb=server.flavour == "mariadb")
    answer = ask(session, statement, "server.replication", [])
    behind = (
        whole_number(row.get("Seconds_Behind_Source", row.get("Seconds_Behind_Master")))
        for row in (answer.dicts() if answer else ())
    )
    return max((seconds for seconds in behind if seconds is not None), default=None)


def _replicas(session: Session, greeting: Greeting, status: dict[str, str], notes: Notes) -> int:
    counted = whole_number(status.get("slaves_connected"))
    if counted is not None:
        return counted
    variables = greeting.variables
    if greeting.is_mariadb or variables.get("log_bin") != "ON" or variables.get("performance_schema") != "ON":
        return 0
    return _count(session, REPLICAS, "server.replicas", notes)


def _members(session: Session, greeting: Greeting, notes: Notes) -> tuple[GroupMember, ...] | None:
    """The members of the group; None if the server has no group, is too old, or refuses to list the queues."""
    if greeting.number < _HAS_ROLES or not _has_group(greeting):
        return None
    answer = ask(session, GROUP_QUEUES, "server.group_queues", notes)
    if answer is None:
        return None
    return tuple(
        GroupMember(row[0] or "", row[1] or "", row[2] or "", row[3] == "1", whole_number(row[4]), whole_number(row[5]))
        for row in answer.rows
    )


def _has_group(greeting: Greeting) -> bool:
    return not greeting.is_mariadb and bool(greeting.variables.get("group_replication_group_name"))


def _states_of(members: tuple[GroupMember, ...]) -> tuple[dict[str, int], str]:
    """The number of members by state, and this server's state."""
    return dict(Counter(member.state for member in members)), next((m.state for m in members if m.own), "")


def _member_states(session: Session, greeting: Greeting, notes: Notes) -> tuple[dict[str, int], str]:
    """As `_states_of`, from the server's own count."""
    answer = ask(session, GROUP_MEMBERS, "server.group_members", notes) if _has_group(greeting) else None
    rows: tuple[Row, ...] = answer.rows if answer else ()
    own = next((row[0] or "" for row in rows if whole_number(row[2])), "")
    return {row[0] or "": whole_number(row[1]) or 0 for row in rows}, own


def _count(session: Session, statement: Statement, part: str, notes: Notes) -> int:
    answer = ask(session, statement, part, notes)
    row: Row = answer.rows[0] if answer and answer.rows else ("0",)
    return whole_number(row[0]) or 0
