"""What overran is killed where it is seen to be ours, and nothing else is: the number of a connection is no proof."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pymysql
import pytest
from general_log import logged
from live_server import Live, number_of
from process_checks import eventually
from real_servers import Server, Start
from short_timeouts import PATIENT, hurried

from advisor.collect.connection import session as session_module
from advisor.collect.connection.connect import ConnectionLimits, connect
from advisor.collect.connection.options import Account
from advisor.collect.connection.session import StatementFailed, open_session
from advisor.collect.connection.statement import TAG
from advisor.collect.connection.statements import DATA_SIZES, OWN_RUNNING
from advisor.collect.connection.wire import AnswerLimits, Wire
from advisor.commands import grants

NAP = "SELECT SLEEP(120)"
PASSWORD = "Some-Pass1"  # noqa: S105 - of accounts that live as long as a test


def row(live: Live, number: int) -> tuple[str, str | None]:
    """What the connection of this number does, and with which statement."""
    shown = f"SELECT COMMAND, INFO FROM information_schema.PROCESSLIST WHERE ID = {number}"  # noqa: S608 - digits
    ((command, statement),) = live.run(shown) or (("", None),)
    return command, statement


@contextmanager
def napping(live: Live, connection: pymysql.Connection[Any], statement: str) -> Iterator[int]:
    """This connection is in the midst of the statement until it is killed, at the latest when the block is left."""

    def nap() -> None:
        with suppress(pymysql.err.MySQLError), connection.cursor() as cursor:
            cursor.execute(statement)

    thread, number = threading.Thread(target=nap, daemon=True), number_of(connection)
    thread.start()
    eventually(lambda: row(live, number) == ("Query", statement), what="the statement runs")
    yield number
    if row(live, number)[0] == "Query":
        live.run(f"KILL QUERY {number}")
    thread.join()
    connection.close()


@pytest.fixture
def second(live: Live) -> Iterator[Wire]:
    """The connection that replaces one that got no answer."""
    wire = connect(live.account())
    yield wire
    wire.close()


def test_our_own_statement_is_ended(live: Live) -> None:
    """A tagged statement of the same account under its number is killed, which takes no privilege; no more than it."""
    with live.user("bare", f"IDENTIFIED BY '{PASSWORD}'") as user:
        second = connect(live.account(user, PASSWORD.encode()))
        with napping(live, live.sandbox.connect(user=user, password=PASSWORD), TAG + NAP) as number:
            assert session_module._kill_own_statement(second, number)
            eventually(lambda: row(live, number) == ("Sleep", None), what="the statement ends")
        second.close()


def test_a_stranger_with_the_number_goes_on(live: Live, second: Wire, tmp_path: Path) -> None:
    """Where no statement that is tagged and of our account runs under the number, no KILL is sent at all."""
    with live.user("other", f"IDENTIFIED BY '{PASSWORD}'") as other, live.general_log(tmp_path / "log") as log:
        theirs = {"user": other, "password": PASSWORD}
        for statement, who in ((NAP, {}), (f"SELECT '{TAG}', SLEEP(120)", {}), (TAG + NAP, theirs)):
            with napping(live, live.sandbox.connect(**who), statement) as number:
                assert not session_module._kill_own_statement(second, number)
                assert row(live, number) == ("Query", statement)
        idle = live.sandbox.connect()
        assert not session_module._kill_own_statement(second, number_of(idle))
        idle.close()
        assert not session_module._kill_own_statement(second, number_of(idle))
        asked = [entry.text for entry in logged(log) if entry.connection == second.handshake_id]
    assert len(asked) == 5
    assert {text.replace(str(number_of(idle)), "0") for text in asked[-2:]} == {OWN_RUNNING.text(0)}
    assert not any("KILL" in text for text in asked)


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_behind_a_proxy_nothing_is_ended(live: Live, second: Wire) -> None:
    """A connection that the server knows by another number than we were greeted with proves nothing."""
    second.server_thread_id = (second.handshake_id + 1,)  # as a proxy's greeting would have it
    with napping(live, live.sandbox.connect(), TAG + NAP) as number:
        assert not session_module._kill_own_statement(second, number)
        assert row(live, number) == ("Query", TAG + NAP)


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_after_a_restart_the_number_is_a_strangers(server_name: str, start: Start) -> None:
    """A server that came back assigns the numbers again: who has ours now goes on, and the report is true."""
    server = start(server_name, small=True)
    live = Live(server_name, server)
    for _ in range(30):  # so that the number lies ahead of those which the new start takes
        server.connect().close()
    session = open_session(live.account())
    server.restart()
    connection = server.connect()
    while number_of(connection) < session.connection_id:
        connection.close()
        connection = server.connect()
    with napping(live, connection, NAP) as number:
        assert number == session.connection_id
        assert session_module._reconnect(session) == "given up"
        assert row(live, number) == ("Query", NAP)
    session.close()


def test_another_server_behind_the_address_is_not_touched(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A balancer may lead the second connection elsewhere: there the number is a stranger's, who goes on."""
    first, other = Live("mysql-8.0", server("mysql-8.0")), Live("mysql-5.7", server("mysql-5.7"))
    session = open_session(first.account())

    def elsewhere(_account: Account, limits: ConnectionLimits, allowance: AnswerLimits) -> Wire:
        return connect(other.account(), limits, allowance)

    monkeypatch.setattr(session_module, "connect", elsewhere)
    with napping(other, other.sandbox.connect(), NAP) as number:
        session.connection_id = number  # as if both had counted as far
        assert session_module._reconnect(session) == "given up"
        assert row(other, number) == ("Query", NAP)
    session.close()


@pytest.fixture
def printed(live: Live) -> Iterator[Account]:
    """The account that `mycnf grants` prints."""
    lines = grants.statements(live.sandbox.binary.target, PASSWORD).splitlines()
    live.run(*(line.rstrip(";") for line in lines if line and not line.startswith("--")))
    yield live.account("mycnf", PASSWORD.encode())
    live.run(f"DROP USER {grants.ACCOUNT}")


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")  # later MySQL refuses locks on its statistics table
def test_what_was_ended_is_said(live: Live, printed: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way, as the printed account with the app open beside it: what waits too long is killed, and said."""
    app, session = open_session(printed), open_session(printed, PATIENT)
    with live.sandbox.connect() as holder, holder.cursor() as cursor:
        cursor.execute("LOCK TABLES mysql.innodb_table_stats WRITE")
        with (
            hurried(DATA_SIZES, monkeypatch),
            pytest.raises(StatementFailed, match=r"no answer within \d+ s, so it was ended"),
        ):
            session_module.send(session, DATA_SIZES)
        cursor.execute("UNLOCK TABLES")
    assert session_module.send(session, DATA_SIZES).rows
    app.close()
    session.close()
