"""Between two statements our sessions hold nothing: no transaction, no read view, no metadata lock."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pymysql
import pytest
from live_server import Live
from process_checks import eventually
from slow_proxy import slowed

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.collect.connection.session import open_session
from advisor.collect.connection.statements import AUTOCOMMIT
from advisor.tui.screens.workload import sampler as sampler_module
from advisor.tui.screens.workload.sampler import Sampler
from advisor.tui.workers import SampleRead

if TYPE_CHECKING:
    from textual.app import App

COUNT_LOCKS = (
    "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES' WHERE NAME = 'wait/lock/metadata/sql/mdl'"
)
# Of clients: the server's own sessions (events, purge, plugins) lock tables too, and have no type of connection.
LOCKS = (
    "SELECT CONCAT_WS(' ', l.LOCK_TYPE, l.LOCK_DURATION, l.OBJECT_TYPE, l.OBJECT_SCHEMA, l.OBJECT_NAME, 'of', "
    "t.PROCESSLIST_ID, t.PROCESSLIST_USER, t.PROCESSLIST_COMMAND, t.PROCESSLIST_INFO) "
    "FROM performance_schema.metadata_locks AS l JOIN performance_schema.threads AS t "
    "ON t.THREAD_ID = l.OWNER_THREAD_ID WHERE t.PROCESSLIST_ID <> CONNECTION_ID() AND t.CONNECTION_TYPE IS NOT NULL"
)
TRANSACTIONS = (
    "SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID())"
)
LOCKING = (
    "SET lock_wait_timeout = 30", "ALTER TABLE busy.t ADD COLUMN c INT", "LOCK TABLES busy.t WRITE", "UNLOCK TABLES",
    "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES",
)  # fmt: skip
CACHED = 0.15  # seconds after which that table is filled again; read earlier it has the old rows


class Held(NamedTuple):
    """What sessions other than the one that looks hold at a moment."""

    read_views: int
    transactions: int
    locks: tuple[str, ...]


NOTHING = Held(0, 0, ())


class Lookout:
    """Asks the server itself who holds what, over a connection of its own."""

    def __init__(self, live: Live, connection: pymysql.Connection[Any]) -> None:
        self._live, self._connection = live, connection

    def __call__(self) -> Held:
        """What is held now."""
        text = self.status()
        views = re.search(r"^(\d+) read views? open inside InnoDB", text, re.MULTILINE)
        assert views is not None, text
        time.sleep(CACHED)
        return Held(int(views[1]), int(self.run(TRANSACTIONS)[0][0]), self._locks())

    def status(self) -> str:
        """InnoDB's own account of itself."""
        ((_, _, text),) = self.run("SHOW ENGINE INNODB STATUS")
        return str(text)

    def _locks(self) -> tuple[str, ...]:
        """Metadata locks of clients, with holders; MariaDB shows none, but refuses LOCK TABLES on a table in use."""
        if not self._live.is_mariadb:
            return tuple(str(lock) for (lock,) in self.run(LOCKS))
        try:
            self.run("SET lock_wait_timeout = 1")
            self.run("LOCK TABLES mysql.innodb_table_stats WRITE")  # the one InnoDB table that we read rows of
        except pymysql.err.OperationalError:
            return ("mysql.innodb_table_stats",)
        self.run("UNLOCK TABLES")
        return ()

    def run(self, statement: str) -> tuple[tuple[Any, ...], ...]:
        """The rows of a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            return tuple(cursor.fetchall())


@pytest.fixture
def lookout(live: Live) -> Iterator[Lookout]:
    """One that sees metadata locks too; 5.7 doesn't count them by default."""
    with live.sandbox.connect(autocommit=True) as connection:
        look = Lookout(live, connection)
        with counted(look) if live.name == "mysql-5.7" else nullcontext():
            # A session that was closed is rolled back a moment later, and a young server's plugins ask it something.
            eventually(lambda: look() == NOTHING, what="others let go of what they held")
            yield look


@contextmanager
def counted(look: Lookout) -> Iterator[None]:
    """The server counts metadata locks for the block."""
    look.run(COUNT_LOCKS)
    yield
    look.run(COUNT_LOCKS.replace("YES", "NO"))


def test_the_lookout_sees_what_is_held(live: Live, lookout: Lookout) -> None:
    """A session that leaves a transaction open is seen in all three ways, so that nothing seen means nothing held."""
    assert lookout() == NOTHING
    with live.sandbox.connect() as other, other.cursor() as cursor:
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        cursor.execute("SELECT COUNT(*) FROM mysql.innodb_table_stats")
        held = lookout()
    assert held.read_views == 1
    assert held.transactions == 1
    assert "innodb_table_stats" in str(held.locks)


def test_nothing_outlives_its_statement(live: Live, lookout: Lookout, tmp_path: Path) -> None:
    """Before each statement of an audit all that came before it was let go, where autocommit is off by default too."""
    place, seen = str(tmp_path / "s"), dict[str, Held]()
    live.run("SET GLOBAL autocommit = 0")
    try:
        with slowed(live.sandbox.socket, place, lambda statement: seen.update({statement: lookout()})):
            facts = collect_from_account(Account("root", socket=place), CollectRequest(window=0.01))
    finally:
        live.run("SET GLOBAL autocommit = 1")
    assert AUTOCOMMIT.text() in seen
    assert facts.server.data is not None  # the statement that reads an InnoDB table was among them
    assert len(seen) > 10
    assert {statement: held for statement, held in seen.items() if held != NOTHING} == {}


class Sink:
    """What replaces the app: it takes the sampler's messages."""

    def __init__(self) -> None:
        self.posted: list[object] = []

    def post_message(self, message: object) -> None:
        """Take one."""
        self.posted.append(message)


@contextmanager
def sampling_asleep(live: Live, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The app's own sampler has read the counters once, and its session sleeps for an hour."""
    monkeypatch.setattr(sampler_module, "EVERY", 3600.0)
    sink = Sink()
    sampler = Sampler(cast("App[Any]", sink), lambda: open_session(live.account()), lambda: None)
    sampler.start()
    try:
        eventually(lambda: any(isinstance(one, SampleRead) for one in sink.posted), what="a sample")
        yield
    finally:
        sampler.stop()
        sampler._thread.join()


def test_an_app_left_open_pins_no_purge(live: Live, lookout: Lookout, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the app's session sleeps, old rows that others leave are purged, and others may alter and lock tables."""
    live.run("CREATE DATABASE busy", "CREATE TABLE busy.t (a INT PRIMARY KEY, b INT) ENGINE=InnoDB")
    live.run("INSERT INTO busy.t VALUES (1, 0)")
    try:
        with sampling_asleep(live, monkeypatch):
            live.run(*["UPDATE busy.t SET b = b + 1"] * 50)
            changed = counter(lookout, r"^Trx id counter (\d+)")
            live.run("UPDATE busy.t SET b = b + 1")
            eventually(lambda: counter(lookout, r"^Purge done for trx's n:o < (\d+)") >= changed, what="purged")
            eventually(lambda: lookout() == NOTHING, what="nothing is held, by the session that sleeps either")
            live.run(*LOCKING)
            ours = live.run("SELECT COMMAND FROM information_schema.PROCESSLIST WHERE INFO IS NULL AND USER = 'root'")
            assert ("Sleep",) in ours
    finally:
        live.run("DROP DATABASE busy")


def counter(lookout: Lookout, pattern: str) -> int:
    """A number of InnoDB's own account."""
    found = re.search(pattern, lookout.status(), re.MULTILINE)
    assert found is not None, pattern
    return int(found[1])
