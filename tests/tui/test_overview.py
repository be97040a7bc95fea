"""The overview: what each part says of an audit, and where it leads."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from advisor.analysis.audited import Audited
from advisor.cli.parser import build_parser
from advisor.commands.collect import DEMO
from advisor.commands.judge_facts import audit_facts, make_request
from advisor.facts import Facts, Replication, Server, Unavailable
from advisor.facts.blocking import Blocking, LockWait, OpenTransaction, ServerSession
from advisor.facts.server import GroupMember
from advisor.facts.snapshot import load
from advisor.tui.widgets.lock_waits import BAD, GOOD, blocking_lines, replication_lines

HOLDER = ServerSession(12, "app@db2", "Sleep", 300, transaction=OpenTransaction("RUNNING", 360, rows_locked=3000))
FIRST = ServerSession(14, "shop@web1", "Query", 42, "updating", OpenTransaction("LOCK WAIT", 50, waiting=42))
SECOND = ServerSession(15, "shop@web2", "Query", 9, "updating", OpenTransaction("LOCK WAIT", 9, waiting=9))
BEHIND_FIRST = ServerSession(17, "", "Query", 5, "Waiting for table metadata lock")
QUEUE = Blocking(
    (HOLDER, FIRST, SECOND, BEHIND_FIRST),
    waits=(
        LockWait(15, 12, "rows", "shop.orders"),
        LockWait(14, 12, "rows", "shop.orders"),
        LockWait(17, 14, "TABLE", "shop.orders"),
    ),
)


@pytest.fixture(scope="module")
def recorded() -> Facts:
    """The facts of the demo."""
    return load(DEMO)


def audited(facts: Facts, **server: object) -> Audited:
    """The audit of these facts with other answers of the server."""
    asked = make_request(build_parser("audit").parse_args(["audit", "--isolated", "--demo"]))
    return audit_facts(replace(facts, server=replace(facts.server, **server)), asked)


def test_blocking_is_a_tree_with_the_longest_wait_first(recorded: Facts) -> None:
    """The session that waits for none is at the top, and each other one below the session that it waits for."""
    lines = blocking_lines(audited(recorded, blocking=QUEUE))
    assert [line.text for line in lines] == [
        "connection 12 (app@db2), idle for 5 min, transaction open for 6 min, 3,000 rows locked",
        "├─ 14 (shop@web1) waits 42 s for rows of shop.orders",
        "│  └─ 17 waits 5 s for a metadata lock on shop.orders",
        "└─ 15 (shop@web2) waits 9 s for rows of shop.orders",
    ]
    assert lines[0].state == BAD


def test_an_old_transaction_is_named_although_no_session_waits(recorded: Facts) -> None:
    """A transaction that blocks none yet is a line of its own."""
    (line,) = blocking_lines(audited(recorded, blocking=Blocking((HOLDER,))))
    assert line.text == "oldest transaction: 6 min, connection 12 (app@db2), idle for 5 min"


def test_a_deadlock_has_no_first_blocker(recorded: Facts) -> None:
    """Sessions that wait for each other are named, and the tree ends."""
    circle = Blocking((FIRST, SECOND), waits=(LockWait(14, 15, "rows"), LockWait(15, 14, "rows")))
    assert blocking_lines(audited(recorded, blocking=circle))[0].text == "connections 14, 15 wait for each other"


def test_blocking_that_was_not_read_says_why(recorded: Facts) -> None:
    """Without a read there is no claim that no session waits."""
    gap = Unavailable("server.blocking", "needs the PROCESS privilege")
    facts = replace(recorded, unavailable=(*recorded.unavailable, gap))
    assert [line.text for line in blocking_lines(audited(facts, blocking=None))] == [
        "not measured: needs the PROCESS privilege"
    ]
    assert [line.state for line in blocking_lines(audited(recorded, blocking=Blocking()))] == [GOOD]


def test_waiters_whose_blocker_is_hidden_are_counted(recorded: Facts) -> None:
    """A wait without a known blocker is a line of its own."""
    lines = blocking_lines(audited(recorded, blocking=Blocking((BEHIND_FIRST,), metadata_read=False)))
    assert lines[0].text == "1 session waits up to 5 s; the server does not show who blocks them"


def _row(**changed: str) -> dict[str, str | None]:
    return {"Master_Host": "db1", "Slave_IO_Running": "Yes", "Slave_SQL_Running": "Yes", **changed}


@pytest.mark.parametrize(
    ("row", "text", "state"),
    [
        (_row(Seconds_Behind_Master="0"), "replica of db1: lag 0 s", GOOD),
        (_row(Seconds_Behind_Master="90"), "replica of db1: lag 1 min", BAD),
        (_row(Slave_SQL_Running="No"), "replica of db1: applier not running, lag unknown", BAD),
        (_row(Slave_IO_Running="Connecting"), "replica of db1: receiver Connecting, lag unknown", BAD),
    ],
)
def test_channels_have_their_lag(recorded: Facts, row: dict[str, str | None], text: str, state: str) -> None:
    """A channel is good only if both threads run and it is not behind."""
    (line,) = replication_lines(audited(recorded, replication=Replication((row,))))
    assert (line.text, line.state) == (text, state)


def test_members_of_a_group_are_rows(recorded: Facts) -> None:
    """The own server comes first, and a member that is not ONLINE is bad."""
    members = (GroupMember("RECOVERING", "SECONDARY", "8.0.36"), GroupMember("ONLINE", "PRIMARY", "8.0.36", own=True))
    lines = replication_lines(audited(recorded, replication=Replication(group_members=2, members=members)))
    assert [line.text.split() for line in lines[1:]] == [
        ["this", "server", "ONLINE", "PRIMARY", "8.0.36", "-"],
        ["member", "2", "RECOVERING", "SECONDARY", "8.0.36", "-"],
    ]
    assert lines[2].state == BAD


def test_nodes_of_a_cluster_are_listed(recorded: Facts) -> None:
    """A Galera node shows its cluster's status, its own state and the other nodes."""
    variables = recorded.server.variables | {"wsrep_on": "ON", "wsrep_provider": "/usr/lib/galera.so"}
    status = recorded.server.status | {
        "wsrep_cluster_status": "Primary",
        "wsrep_cluster_size": "2",
        "wsrep_local_state_comment": "Synced",
        "wsrep_incoming_addresses": "a:3306,b:3306",
    }
    lines = replication_lines(audited(recorded, variables=variables, status=status, replication=Replication()))
    assert [line.text for line in lines] == [
        "Galera cluster of 2 nodes: Primary, this node Synced",
        "  node a:3306",
        "  node b:3306",
    ]


def test_a_lone_server_has_no_replication(recorded: Facts) -> None:
    """Nothing is said of replication where there is none."""
    server: Server = recorded.server
    assert server.replication is None or not server.replication.is_replica
    assert replication_lines(audited(recorded, replication=Replication())) == []
