"""The one function that sends keeps to the list, and closes at once when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import threading
from typing import TYPE_CHECKING

import pytest

from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.session import ConnectionLost, StatementFailed, open_session, send
from advisor.collect.connection.statement import Statement
from advisor.collect.connection.statements import (
    DATA_SIZES,
    METRICS_MARIADB,
    METRICS_MYSQL,
    PLUGINS,
    STATUS,
    VARIABLES,
)
from advisor.collect.connection.wire import StatementNotListed, Wire

if TYPE_CHECKING:
    from live_server import Live

FOREIGN = Statement("foreign", "SHOW PROCESSLIST", "all", "it isn't on the list")
DOCTORED = PLUGINS._replace(sql="DROP DATABASE mysql")


@pytest.mark.servers("mysql-8.0")
def test_what_is_not_listed_is_not_sent(live: Live) -> None:
    """A statement from elsewhere, and a listed one with another text, stop before a byte is sent."""
    session = open_session(live.account())
    before = session.sent
    for statement in (FOREIGN, DOCTORED):
        with pytest.raises(StatementNotListed):
            send(session, statement)
    assert session.sent == before
    session.close()


def test_what_a_server_lacks_is_a_reason(live: Live) -> None:
    """A statement that only the other flavour knows gives a reason, and the session goes on."""
    session = open_session(live.account())
    with pytest.raises(StatementFailed, match="Unknown column"):
        send(session, METRICS_MYSQL if live.is_mariadb else METRICS_MARIADB)
    assert send(session, VARIABLES).rows
    session.close()


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_closing_twice_is_harmless(live: Live) -> None:
    """A session may be closed again, and shut when it is closed."""
    session = open_session(live.account())
    session.close()
    session.close()
    session.shut()


def test_a_session_that_is_just_closing_can_be_shut() -> None:
    """The thread that waits may close the socket between two looks of the one that shuts it."""
    ours, theirs = socket.socketpair()

    class Closing:
        looks = iter((ours, None))

        @property
        def _sock(self) -> socket.socket | None:
            return next(self.looks)

    with ours, theirs:
        Wire.shut(Closing())
        assert theirs.recv(1) == b""


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_another_thread_can_end_the_wait(live: Live) -> None:
    """While a server hangs, another thread shuts the socket: the wait ends at once, long before the time limit."""
    session = open_session(live.account(), ConnectionLimits(read=600))
    live.freeze()
    try:
        threading.Timer(0.2, session.shut).start()
        for _ in range(2):
            with pytest.raises(ConnectionLost, match="lost"):
                send(session, STATUS)
    finally:
        os.kill(live.sandbox.pid, signal.SIGCONT)


@pytest.mark.servers("mysql-5.7", "mariadb")  # later MySQL refuses locks on its statistics table
def test_the_server_itself_ends_what_takes_too_long(live: Live) -> None:
    """A statement that waits for a lock is ended by the server's own limits, long before the client's."""
    session = open_session(live.account(), ConnectionLimits(read=600, statement=1))
    holder = live.sandbox.connect()
    with holder.cursor() as cursor:
        cursor.execute("LOCK TABLES mysql.innodb_table_stats WRITE")
        with pytest.raises(StatementFailed, match="no answer within 1 s"):
            send(session, DATA_SIZES)
        cursor.execute("UNLOCK TABLES")
    holder.close()
    assert session.timeouts == 0
    assert send(session, DATA_SIZES).rows
    session.close()


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_the_session_is_named(live: Live) -> None:
    """The server knows the session by the program's name."""
    session = open_session(live.account())
    names = "SELECT ATTR_NAME, ATTR_VALUE FROM performance_schema.session_connect_attrs WHERE PROCESSLIST_ID = "
    attributes = dict(live.run(names + str(session.connection_id)))
    session.close()
    assert attributes["program_name"] == "mycnf"
