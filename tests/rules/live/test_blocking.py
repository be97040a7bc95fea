"""The rules about blocked sessions, before real servers on which sessions wait for rows, tables and global locks."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from live_server import Live, number_of
from msgspec.structs import replace
from replication_pair import pair, until

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.connect import DEFAULT_LIMITS
from advisor.collect.connection.session import open_session
from advisor.collect.server.blocking import read_blocking
from advisor.collect.server.server import read_greeting
from advisor.core.model import Confidence
from rules import all_rules
from rules.blocking.blockers import LONG_WAIT, WAITED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from real_servers import Server, Start

    from advisor.collect.connection.session import Notes
    from advisor.core.model import Finding
    from advisor.facts import Facts
    from advisor.facts.workload import Blocking
    from probes.sandbox import Sandbox

OURS = [rule for rule in all_rules() if rule.family == "BLK"]
ROWS = (
    "CREATE DATABASE IF NOT EXISTS a",
    "CREATE TABLE a.t (id INT PRIMARY KEY, v INT)",
    "INSERT INTO a.t VALUES (1, 1), (2, 2)",
)
SHOWN = {"mysql-8.0", "mysql-9.7"}  # servers that show the holder of a metadata lock
LONGEST = (
    "SELECT COALESCE(MAX(time), 0) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
    " AND (info IS NOT NULL OR user = 'system user')"
)


@pytest.fixture
def live(server_name: str, server: Server) -> Iterator[Live]:
    """The running default server with a table of two rows, which is dropped again."""
    shared = Live(server_name, server(server_name))
    shared.run(*ROWS)
    yield shared
    # A lock that a failed test left behind must fail here, and not wait for a year.
    shared.run("SET SESSION lock_wait_timeout = 60", "DROP DATABASE a")


class Client:
    """A session whose statements can wait in the background."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.connection: pymysql.Connection[Any] = sandbox.connect(autocommit=True)
        self.id = number_of(self.connection)
        self.waiting: threading.Thread | None = None

    def run(self, *statements: str) -> None:
        """Run statements and throw away their results."""
        for statement in statements:
            with self.connection.cursor() as cursor:
                cursor.execute(statement)
                cursor.fetchall()

    def begin(self, statement: str) -> None:
        """Send a statement that waits; an error ends it, such as KILL."""

        def wait() -> None:
            with suppress(pymysql.err.MySQLError):
                self.run(statement)

        self.waiting = threading.Thread(target=wait)
        self.waiting.start()

    def ended(self) -> bool:
        """Whether the statement in the background has ended."""
        return self.waiting is None or not self.waiting.is_alive()


@contextmanager
def clients(live: Live, count: int) -> Iterator[list[Client]]:
    """That many sessions, which are killed at the end of the block."""
    made = [Client(live.sandbox) for _ in range(count)]
    try:
        yield made
    finally:
        for one in made:
            with suppress(pymysql.err.MySQLError):
                live.run(f"KILL {one.id}")
        for one in made:
            if one.waiting is not None:
                one.waiting.join()


def collected(live: Live) -> Facts:
    """The facts of an audit without a window."""
    return collect_from_account(live.account(), CollectRequest(window=0.0))


def blocking(live: Live) -> Blocking:
    """Who waits for whom, as an audit reads it, without the rest of the audit."""
    notes: Notes = []
    session = open_session(live.account(), DEFAULT_LIMITS)
    try:
        found = read_blocking(session, read_greeting(session, notes), 0, (), notes).blocking
    finally:
        session.close()
    assert found is not None, notes
    return found


def found(facts: Facts) -> dict[str, Finding]:
    """The findings of our rules, by name."""
    return {one.name: one for one in run_rules(build_context(facts), OURS).findings}


def longest(live: Live, where: str = "") -> int:
    """Seconds of the longest statement of another client or of a replica's threads."""
    return int(live.run(LONGEST + where)[0][0])


def finding(live: Live, name: str, seconds: int = WAITED) -> Finding:
    """The finding of that name, as soon as the waits are long enough, which takes `seconds`."""
    seen: dict[str, Finding] = {}

    def is_there() -> bool:
        seen.update(found(collected(live)))
        return name in seen

    until(lambda: longest(live) >= seconds, every=0.5)
    until(is_there, every=1.0)
    return seen[name]


def printed(one: Finding, start: str) -> str:
    """The statement of the finding that begins with this word."""
    return next(text for action in one.actions if (text := action.statement or "").startswith(start))


def test_a_chain_of_row_locks_ends_with_the_printed_statements(live: Live) -> None:
    """The idle session at the beginning of a chain of three is named; its printed KILL lets the others go on."""
    with clients(live, 3) as (idle, second, third):
        idle.run("BEGIN", "UPDATE a.t SET v = 3 WHERE id = 1")
        second.run("BEGIN", "UPDATE a.t SET v = 3 WHERE id = 2")
        second.begin("UPDATE a.t SET v = 4 WHERE id = 1")
        until(lambda: len(blocking(live).waits) == 1)
        third.begin("UPDATE a.t SET v = 5 WHERE id = 2")
        until(lambda: len(blocking(live).waits) == 2)
        one = finding(live, "idle-session-blocks-rows")
        assert one.message.startswith("2 sessions wait")
        assert f"connection {idle.id} (root@localhost)" in one.message
        assert live.run(printed(one, "SELECT"))
        live.run(printed(one, "KILL"))
        until(second.ended)
        second.run("COMMIT")
        until(third.ended)
    assert not found(collected(live))
    assert live.run("SELECT v FROM a.t ORDER BY id") == ((4,), (5,))


def test_a_queue_behind_an_alter_ends_with_the_printed_statements(server_name: str, live: Live) -> None:
    """An ALTER waits for an open transaction, and a SELECT behind it. MySQL 8.0 and later show the holder, and the
    printed KILL QUERY frees the queue without it; elsewhere the oldest transaction is named as likely."""
    with clients(live, 3) as (holder, changer, reader):
        holder.run("BEGIN", "SELECT * FROM a.t")
        changer.begin("ALTER TABLE a.t ADD COLUMN w INT")
        until(lambda: any("metadata" in one.state for one in blocking(live).sessions))
        reader.begin("SELECT * FROM a.t")
        one = finding(live, "metadata-lock-queue")
        assert f"onnection {holder.id} (root@localhost)" in one.message
        assert one.confidence is (Confidence.CERTAIN if server_name in SHOWN else Confidence.LIKELY)
        if server_name not in SHOWN:
            assert not any((action.statement or "").startswith("KILL") for action in one.actions)
            return
        assert "on a.t." in one.message
        assert printed(one, "KILL QUERY") == f"KILL QUERY {changer.id};"
        live.run(printed(one, "KILL QUERY"))
        until(reader.ended)
        holder.run("SELECT * FROM a.t")


WAITS = (
    (("LOCK TABLES a.t READ",), "INSERT INTO a.t VALUES (9, 9)"),
    (("LOCK TABLES a.t WRITE",), "SELECT * FROM a.t"),
    (("BEGIN", "SELECT * FROM a.t"), "LOCK TABLES a.t WRITE"),
    (("BEGIN", "INSERT INTO a.t VALUES (8, 8)"), "LOCK TABLES a.t READ"),
    (("BEGIN", "SELECT * FROM a.t"), "DROP TABLE a.t"),
    (("SELECT GET_LOCK('x', 0)",), "SELECT GET_LOCK('x', 600)"),
    (("LOCK INSTANCE FOR BACKUP",), "CREATE TABLE a.u (id INT)"),
    (("FLUSH TABLES WITH READ LOCK",), "CREATE TABLE a.u (id INT)"),
    (("FLUSH TABLES WITH READ LOCK",), "DELETE FROM a.t WHERE id = 1"),
)


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_each_kind_of_metadata_lock_has_its_holder(live: Live) -> None:
    """For each kind of lock that MySQL shows, the session that waits is found to wait for the one that holds it."""
    for held, wanted in WAITS:
        with clients(live, 2) as (holder, waiter):
            holder.run(*held)
            waiter.begin(wanted)
            until(lambda: bool(blocking(live).waits))
            audited = collected(live).server.blocking
            assert audited is not None
            pairs = {(wait.waiter, wait.blocker) for wait in audited.waits}
            assert pairs == {(waiter.id, holder.id)}, (held, wanted)


def test_many_waits_for_rows_are_not_listed(server_name: str, live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit MariaDB and MySQL 5.7 are not asked for transactions, with the reason; MySQL 8.0 is."""
    monkeypatch.setattr("advisor.collect.server.blocking.MOST_ROW_WAITS", 0)
    with clients(live, 2) as (idle, waiter):
        idle.run("BEGIN", "UPDATE a.t SET v = 3 WHERE id = 1")
        waiter.begin("UPDATE a.t SET v = 4 WHERE id = 1")
        until(lambda: live.run("SHOW GLOBAL STATUS LIKE 'innodb_row_lock_current_waits'")[0][1] == "1")
        facts = collected(live)
        assert (facts.server.blocking is not None) is (server_name in SHOWN)
        if server_name not in SHOWN:
            assert "1 sessions wait for rows" in facts.reason_missing("server.blocking")


@pytest.mark.servers("mariadb-11.8")
def test_the_plugin_shows_who_holds_the_lock(start: Start) -> None:
    """The printed INSTALL SONAME makes MariaDB show the session of LOCK TABLES, which has no transaction."""
    live = Live("mariadb-11.8", start("mariadb-11.8"))
    live.run(*ROWS)
    with clients(live, 2) as (holder, reader):
        holder.run("LOCK TABLES a.t WRITE")
        reader.begin("SELECT * FROM a.t")
        one = finding(live, "metadata-lock-queue")
        assert "connection" not in one.message
        live.run(printed(one, "INSTALL"))
        one = finding(live, "metadata-lock-queue")
        assert f"connection {holder.id} (root@localhost)" in one.message
        assert one.confidence is Confidence.LIKELY


def test_a_global_read_lock_is_probably_a_backup(server_name: str, live: Live) -> None:
    """FLUSH TABLES WITH READ LOCK with a waiting session is reported without KILL, by its session if it is shown."""
    with clients(live, 2) as (backup, writer):
        backup.run("FLUSH TABLES WITH READ LOCK")
        writer.begin("INSERT INTO a.t VALUES (3, 3)")
        one = finding(live, "global-lock-blocks-sessions", LONG_WAIT)
        assert "probably a backup" in one.message
        assert (f"Connection {backup.id} " in one.message) is (server_name in SHOWN)
        assert not any((action.statement or "").startswith("KILL") for action in one.actions)


@pytest.mark.servers("mysql-9.7")
def test_a_global_read_lock_that_waits_is_ended_alone(live: Live) -> None:
    """A FLUSH waits for a long UPDATE, and an INSERT behind it: the printed KILL QUERY is that of the FLUSH."""
    with clients(live, 3) as (changer, backup, writer):
        changer.begin("UPDATE a.t SET v = v + SLEEP(600) WHERE id = 1")
        until(lambda: longest(live, f" AND id = {changer.id}") >= 1)
        backup.begin("FLUSH TABLES WITH READ LOCK")
        until(lambda: len(blocking(live).waits) == 1)
        writer.begin("INSERT INTO a.t VALUES (3, 3)")
        one = finding(live, "global-lock-blocks-sessions", LONG_WAIT)
        assert f"Connection {backup.id} (root@localhost) asks for the global read lock" in one.message
        assert f"and waits for connection {changer.id} " in one.message
        assert printed(one, "KILL") == f"KILL QUERY {backup.id};"
        live.run(printed(one, "KILL"))
        until(writer.ended)
        assert not changer.ended()


@pytest.mark.servers("mysql-5.7", "mariadb-11.8")
def test_a_queue_for_a_myisam_table_has_its_statement(live: Live) -> None:
    """A change waits for a long SELECT on the table, which no server shows as the holder of a lock."""
    live.run("CREATE TABLE a.m (id INT) ENGINE = MyISAM", "INSERT INTO a.m VALUES (1), (2), (3)")
    with clients(live, 2) as (reader, changer):
        reader.begin("SELECT SLEEP(600) FROM a.m")
        until(lambda: longest(live, f" AND id = {reader.id}") >= 1)
        changer.begin("UPDATE a.m SET id = 4")
        one = finding(live, "metadata-lock-queue", LONG_WAIT)
        assert "for a table of MyISAM" in one.message
        assert f"Probably for connection {reader.id} (root@localhost)" in one.message


def test_long_work_that_blocks_no_session_is_silent(live: Live) -> None:
    """A long SELECT, short transactions, the event scheduler and an open read view are no findings."""
    ((scheduler,),) = live.run("SELECT @@event_scheduler")
    live.run("SET GLOBAL event_scheduler = ON")
    with clients(live, 3) as (reader, writer, viewer):
        viewer.run("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        reader.begin("SELECT SLEEP(600) FROM a.t")
        until(lambda: longest(live, f" AND id = {reader.id}") >= LONG_WAIT, every=0.5)
        writer.run(*("BEGIN", "UPDATE a.t SET v = v + 1 WHERE id = 1", "COMMIT") * 100)
        facts = collected(live)
        assert facts.server.blocking is not None
        assert {viewer.id, reader.id} <= {one.id for one in facts.server.blocking.sessions}
        assert not found(facts)
    live.run(f"SET GLOBAL event_scheduler = {scheduler}")


def test_a_prepared_transaction_has_no_session(live: Live) -> None:
    """After XA PREPARE and the end of the session the transaction is there without one; old ones are reported."""
    with clients(live, 1) as (coordinator,):
        coordinator.run("XA START 'x'", "UPDATE a.t SET v = 9 WHERE id = 1", "XA END 'x'", "XA PREPARE 'x'")
        coordinator.connection.close()
        until(lambda: len(blocking(live).detached) == 1)
        facts = collected(live)
        assert not found(facts)
        assert facts.server.blocking is not None
        old = replace(facts.server.blocking.detached[0], age=600)
        server = replace(facts.server, blocking=replace(facts.server.blocking, detached=(old,)))
        one = found(replace(facts, server=server))["prepared-transaction-left"]
        assert live.run(printed(one, "XA RECOVER"))
        live.run("XA ROLLBACK 'x'")
    until(lambda: blocking(live).detached == ())  # INNODB_TRX is up to 0.1 s old


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11")
def test_an_applier_is_known(server_name: str, start: Start, tmp_path: Path) -> None:
    """A replica's applier that waits for a row is a thread of the server, and the idle client is the one to end."""
    source, replica = pair(server_name, start, tmp_path)
    source.run(*ROWS)
    until(lambda: replica.run("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'a'") == ((1,),))
    until(lambda: replica.run("SELECT COUNT(*) FROM a.t") == ((2,),))
    with clients(replica, 1) as (idle,):
        idle.run("BEGIN", "UPDATE a.t SET v = 7 WHERE id = 1")
        source.run("UPDATE a.t SET v = 8 WHERE id = 1")
        until(lambda: bool(blocking(replica).roots))
        audited = collected(replica).server.blocking
        assert audited is not None
        (root,) = audited.roots
        assert root.session.id == idle.id
        (waiter,) = root.waiters
        assert audited.session(waiter).is_server_thread
        assert f"connection {idle.id} " in finding(replica, "idle-session-blocks-rows").message
