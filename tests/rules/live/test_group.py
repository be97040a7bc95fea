"""Group replication's rules before a real group of three members that is broken on purpose."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING

import pymysql
import pytest
from counter_windows import lasting
from general_log import overheard, unlisted
from live_server import Live, freeze
from msgspec.structs import replace
from replication_group import ReplicationGroup, group  # noqa: F401  a fixture
from replication_pair import until

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.analysis.restart import check_restart
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.statements import APPLIER_TIMES, GROUP_MEMBERS, GROUP_QUEUES
from advisor.core.errors import ConnectError
from advisor.core.model import Severity
from advisor.facts import Host
from advisor.facts.host import Memory
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from advisor.core.model import Finding

WINDOW = 1.0
STEADY = 3600.0
GIB = 1 << 30
MOST_STATEMENTS = 28  # of an audit without --schema
AS_ROOT = "server-as-root"  # as which tests may run
INSERT = "INSERT INTO a.t (v) VALUES (REPEAT('x', 100))"

pytestmark = pytest.mark.servers("mysql-9.7")


def found(member: Live, host: Host | None = None) -> dict[str, Finding]:
    """The findings about a member in a window, by name; with a host, as if it ran there."""
    facts = lasting(collect_from_account(member.account(), CollectRequest(window=WINDOW)), later=STEADY)
    facts = replace(facts, host=host) if host else facts
    return {finding.name: finding for finding in run_rules(build_context(facts), all_rules()).findings}


def answers(member: Live) -> bool:
    """Whether an audit can log in: a member that leaves its group ends sessions, one in the middle of its login too."""
    try:
        found(member)
    except ConnectError:
        return False
    return True


def group_findings(member: Live) -> set[str]:
    """The names of all errors and warnings, and of the notes about the group."""
    listed = found(member).values()
    return {f.name for f in listed if f.code.startswith("GRP") or f.severity is not Severity.NOTE} - {AS_ROOT}


@contextlib.contextmanager
def load(member: Live, statement: str = INSERT) -> Iterator[None]:
    """Two sessions that repeat a statement."""
    ended = threading.Event()

    def write() -> None:
        with contextlib.suppress(pymysql.err.MySQLError), member.sandbox.connect(autocommit=True) as connection:
            while not ended.is_set():
                with connection.cursor() as cursor:
                    cursor.execute(statement)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        yield
    finally:
        ended.set()
        for writer in writers:
            writer.join()


@pytest.fixture
def members(group: ReplicationGroup) -> Iterator[ReplicationGroup]:  # noqa: F811
    """The group with an empty table; healthy again after the test."""
    group.heal()
    group.primary().run(
        "CREATE DATABASE IF NOT EXISTS a",
        "DROP TABLE IF EXISTS a.t",
        "CREATE TABLE a.t (i INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200))",
    )
    until(lambda: all(member.run("SHOW TABLES FROM a LIKE 't'") for member in group.members))
    yield group
    group.heal()


def rows(member: Live) -> int:
    """The number of rows in the table."""
    return int(member.run("SELECT COUNT(*) FROM a.t")[0][0])


def applying(member: Live) -> int:
    """Transactions in the queue of the member's own applier."""
    return int(
        member.run(
            "SELECT COUNT_TRANSACTIONS_REMOTE_IN_APPLIER_QUEUE FROM performance_schema.replication_group_member_stats "
            "WHERE MEMBER_ID = @@server_uuid"
        )[0][0]
    )


def test_a_healthy_group_has_no_findings(members: ReplicationGroup, tmp_path: Path) -> None:
    """Under a load that all members follow none has a finding about the group, and the log has only our list."""
    primary, (second, third) = members.primary(), members.secondaries()
    with load(primary, "DO SLEEP(0.05)"), load(primary):
        until(lambda: min(rows(second), rows(third)) > 20)
        assert [group_findings(member) for member in members.members] == [set()] * 3
    with overheard(second.sandbox, tmp_path / "general.log") as heard:
        facts = collect_from_account(second.account(), CollectRequest(window=WINDOW))
        asked = heard()
    assert unlisted(asked) == []
    assert len(asked) <= MOST_STATEMENTS
    texts = [one.text for one in asked]
    assert [texts.count(one.text()) for one in (GROUP_QUEUES, APPLIER_TIMES, GROUP_MEMBERS)] == [1, 1, 0]
    assert facts.server.replication is not None
    listed = facts.server.replication.members or ()
    assert sorted(member.role for member in listed) == ["PRIMARY", "SECONDARY", "SECONDARY"]
    assert [(one.state, one.role, one.version) for one in listed if one.own] == [("ONLINE", "SECONDARY", "9.7.4")]


def test_an_account_without_the_queues(members: ReplicationGroup) -> None:
    """An account that may read the members but not their queues still has their states."""
    primary, member = members.primary(), members.secondaries()[0]
    primary.run(
        "CREATE USER IF NOT EXISTS old@localhost IDENTIFIED BY ''",
        "GRANT SELECT ON performance_schema.replication_group_members TO old@localhost",
        "GRANT REPLICATION CLIENT ON *.* TO old@localhost",
    )
    until(lambda: member.run("SELECT 1 FROM mysql.user WHERE User = 'old'") != ())
    facts = collect_from_account(member.account("old"), CollectRequest(window=0.0))
    assert facts.server.replication is not None
    assert facts.server.replication.members is None
    assert facts.server.replication.group_states == {"ONLINE": 3}
    assert "server.group_queues" in {one.part for one in facts.unavailable}


def test_a_locked_secondary(members: ReplicationGroup) -> None:
    """A member whose applier waits for a lock is named there; from its queue also on the primary."""
    primary, (_, third) = members.primary(), members.secondaries()
    primary.run("SET GLOBAL group_replication_flow_control_applier_threshold = 10")
    with third.sandbox.connect() as holding, holding.cursor() as cursor:
        cursor.execute("FLUSH TABLES WITH READ LOCK")
        primary.run(*[INSERT] * 20)
        until(lambda: applying(third) >= 10)
        until(lambda: "group-applier-blocked" in found(third))
        finding = found(third)["group-applier-blocked"]
        assert "The group's applier on this member waits for a lock." in finding.message
        assert "transactions wait in its queue" in finding.message
        until(lambda: "group-member-behind" in found(primary))
        assert "wait for the applier on another member" in found(primary)["group-member-behind"].message
        cursor.execute("UNLOCK TABLES")
    primary.run("SET GLOBAL group_replication_flow_control_applier_threshold = 25000")
    until(lambda: applying(third) == 0)
    assert group_findings(third) == set()


def test_a_stopped_member_is_expelled(members: ReplicationGroup) -> None:
    """A member that does not answer is unreachable, then expelled; without autorejoin it stays in ERROR."""
    primary, (_, third) = members.primary(), members.secondaries()
    third.run("SET GLOBAL group_replication_autorejoin_tries = 0")
    (action,) = found(third)["expelled-members-stay-out"].actions
    freeze(third.sandbox.pid)
    until(lambda: members.states(primary).get("UNREACHABLE") == 1 or sum(members.states(primary).values()) == 2)
    without_majority = found(primary)["group-that-survives-nothing"]
    assert without_majority.severity in {Severity.WARNING, Severity.NOTE}
    until(lambda: members.states(primary) == {"ONLINE": 2})
    os.kill(third.sandbox.pid, signal.SIGCONT)
    until(lambda: members.own(third)[0] == "ERROR")
    until(lambda: answers(third))
    outside = found(third)["member-outside-its-group"]
    assert "MEMBER_STATE is ERROR" in outside.message
    assert outside.severity is Severity.WARNING
    assert action.statement
    third.run(action.statement)
    for statement in outside.help.rpartition("run ")[2].split("; "):
        third.run(statement.rstrip("."))
    until(lambda: members.online(third))
    after = found(third).values()  # the error log still has the loss of the majority
    assert [finding.name for finding in after if finding.code.startswith("GRP")] == []
    assert third.run("SELECT @@offline_mode") == ((0,),)


def test_two_stopped_members_take_the_majority(members: ReplicationGroup) -> None:
    """The member that is left reports that the group has no majority, and an INSERT there waits."""
    primary, others = members.primary(), members.secondaries()
    for member in others:
        freeze(member.sandbox.pid)
    until(lambda: members.states(primary).get("UNREACHABLE", 0) > 0 and members.states(primary).get("ONLINE") == 1)
    finding = found(primary)["group-that-survives-nothing"]
    assert finding.severity is Severity.ERROR
    assert "has lost its majority" in finding.message


def test_a_writable_secondary(members: ReplicationGroup) -> None:
    """A secondary that accepts writes is an error; the advised statement closes it, and its undo works."""
    reported: list[tuple[Live, Finding]] = []

    def is_reported() -> bool:
        third = members.secondaries()[1]
        third.run("SET GLOBAL super_read_only = OFF", "SET GLOBAL read_only = OFF")
        reported.extend((third, one) for name, one in found(third).items() if name == "writable-group-secondary")
        return bool(reported)

    until(is_reported)  # a member that was stopped before may be expelled only now, and then accepts no writes
    ((third, finding),) = reported
    assert finding.severity is Severity.ERROR
    (action,) = finding.actions
    assert action.statement
    assert action.undo
    third.run(action.statement)
    assert "writable-group-secondary" not in found(third)
    third.run(action.undo, action.statement)
    with pytest.raises(pymysql.err.OperationalError, match="1290"):
        third.run(INSERT)


def test_a_member_that_cannot_recover(members: ReplicationGroup) -> None:
    """A member that cannot fetch what it lacks stays RECOVERING, and is named."""
    primary, (_, third) = members.primary(), members.secondaries()
    third.run("STOP GROUP_REPLICATION")
    primary.run("ALTER USER repl@'%' ACCOUNT LOCK", INSERT)
    third.run("START GROUP_REPLICATION")
    assert "recovering-group-member" in found(third)
    primary.run("ALTER USER repl@'%' ACCOUNT UNLOCK")
    third.run("STOP GROUP_REPLICATION", "START GROUP_REPLICATION")
    until(lambda: members.online(third))
    assert "recovering-group-member" not in found(third)


def test_a_message_cache_that_does_not_fit(members: ReplicationGroup) -> None:
    """On a small host the cache is lowered as advised, while the member is ONLINE."""
    member = members.secondaries()[0]
    member.run(f"SET GLOBAL group_replication_message_cache_size = {GIB}")
    small = Host(memory=Memory(total=3 * GIB // 2))
    finding = found(member, small)["group-cache-exceeds-memory"]
    (action,) = finding.actions
    assert action.statement
    assert action.undo
    member.run(action.statement)
    assert "group-cache-exceeds-memory" not in found(member, small)
    member.run(action.undo)
    assert "group-cache-exceeds-memory" not in found(member, Host(memory=Memory(total=8 * GIB)))
    member.run("SET GLOBAL group_replication_message_cache_size = 134217728")


def changed_by_restart(member: Live) -> set[str]:
    """The variables that preflight expects to have another value after a restart."""
    items = check_restart(collect_from_account(member.account(), CollectRequest(window=0.0))).items
    return {item.variable for item in items if item.variable}


def test_what_the_group_sets_is_not_lost(members: ReplicationGroup) -> None:
    """A member that joins again at its start gets its mode from the group; one that does not takes writes then."""
    primary, (second, _) = members.primary(), members.secondaries()
    assert second.run("SELECT @@super_read_only, @@read_only") == ((1, 1),)
    assert {"super_read_only", "read_only"} <= changed_by_restart(second)
    for member in members.members:
        member.run("SET GLOBAL group_replication_start_on_boot = ON")
    for member in (primary, second):
        assert "group_replication_start_on_boot" in changed_by_restart(member)
        assert {"super_read_only", "read_only"}.isdisjoint(changed_by_restart(member))
    for member in members.members:
        member.run("SET GLOBAL group_replication_start_on_boot = OFF")


def test_a_channel_on_a_secondary(members: ReplicationGroup) -> None:
    """A secondary starts no channel, so one that does not run there is no finding; on the primary it is one."""
    primary, second = members.primary(), members.secondaries()[0]
    for member in (primary, second):
        member.run(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = 1, SOURCE_USER = 'repl' "
            "FOR CHANNEL 'dr'"
        )
    assert "stopped-replica" not in found(second)
    second.run("START REPLICA FOR CHANNEL 'dr'")
    until(lambda: "stopped-replica" in found(second))
    refused = found(second)["stopped-replica"]
    assert "stopped with error 13117" in refused.message
    assert "A plugin refuses to start the thread" in refused.message
    assert "start the channel on the primary" in refused.help
    assert found(primary)["stopped-replica"].help.startswith("start it with START REPLICA FOR CHANNEL 'dr'")
    for member in (primary, second):
        member.run("RESET REPLICA ALL FOR CHANNEL 'dr'")
