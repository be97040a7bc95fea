"""Limits at both ends: what the server holds for our sessions, what we offer it, and how long we wait."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from live_server import Live
from pymysql.constants import CLIENT

from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection import session as session_module
from advisor.collect.connection.connect import ConnectionLimits, connect
from advisor.collect.connection.options import Account
from advisor.collect.connection.session import Notes, open_session
from advisor.collect.server.server import read_greeting
from advisor.core.errors import ConnectError

HEADER = 4  # bytes of a packet: three of length, one that counts
PATIENCE = 600.0  # seconds after which a wait counts as one without end
SHORT = ConnectionLimits(connect=5.0, read=2.0)  # a busy host passes a greeting on by then


@contextmanager
def greeting_alone(server: str, place: str) -> Iterator[bytearray]:
    """A socket that passes on a real server's greeting and then only listens; what it receives is kept."""
    received = bytearray()

    def serve() -> None:
        with suppress(OSError):
            while True:
                client = listening.accept()[0]
                threading.Thread(target=greet_one, args=(client,), daemon=True).start()

    def greet_one(client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as real, suppress(OSError):
            real.connect(server)
            client.sendall(real.recv(1 << 12))
            while data := client.recv(1 << 12):
                received.extend(data)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield received
        finally:
            listening.shutdown(socket.SHUT_RDWR)


def refused(account: Account) -> str:
    """The one line in which trying to connect ends; it does end."""
    messages: list[str] = []

    def enter() -> None:
        with pytest.raises(ConnectError) as caught:
            connect(account, SHORT)
        messages.append(str(caught.value))

    trying = threading.Thread(target=enter, daemon=True)
    trying.start()
    trying.join(PATIENCE)
    assert messages, "it waits without end"
    return messages[0]


@pytest.mark.parametrize("mode", ["disabled", "required"])
@pytest.mark.servers("mysql-9.7")  # it offers TLS by default
def test_silence_within_a_login_ends(live: Live, mode: str, tmp_path: Path) -> None:
    """A server that greets and then says nothing is given up, in the midst of a TLS handshake too."""
    place = str(tmp_path / "s")
    with greeting_alone(live.sandbox.socket, place) as received:
        message = refused(Account("root", socket=place, ssl_mode=mode))
    assert "in time" in message
    assert len(received) > HEADER


def test_we_offer_no_files_and_one_statement_at_a_time(live: Live, tmp_path: Path) -> None:
    """In the login that goes over the wire, files of ours and several statements in one are not among our offers."""
    place = str(tmp_path / "s")
    with greeting_alone(live.sandbox.socket, place) as received:
        refused(Account("root", socket=place))
    offered = int.from_bytes(received[HEADER : HEADER + 4], "little")
    assert offered & CLIENT.PROTOCOL_41
    assert not offered & (CLIENT.LOCAL_FILES | CLIENT.MULTI_STATEMENTS | CLIENT.COMPRESS)


@pytest.mark.servers("mysql")
def test_a_session_is_bound_before_it_asks(live: Live) -> None:
    """The server holds our limits and its read-only mode as soon as a session is open, for any purpose."""
    session = open_session(live.account(), ConnectionLimits(statement=3))
    own = f"(SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = {session.connection_id})"  # noqa: S608
    bounds = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.variables_by_thread WHERE THREAD_ID = "
    held = dict(live.run(bounds + own))
    session.close()
    read_only = held.get("transaction_read_only") or held["tx_read_only"]
    assert (held["max_execution_time"], held["lock_wait_timeout"]) == ("3000", "2")
    assert (held["autocommit"], read_only) == ("ON", "ON")


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_wrong_idea_of_the_flavour_is_corrected(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the greeting's version misleads, the limits are set once the variables show the flavour."""
    with monkeypatch.context() as misled:
        misled.setattr(session_module, "flavour_of", lambda *_: "mysql" if live.is_mariadb else "mariadb")
        session = open_session(live.account())
    assert "doesn't know it" in session.unlimited
    notes: Notes = []
    read_greeting(session, notes)
    assert (session.unlimited, notes) == ("", [])
    session.close()


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_a_server_that_takes_no_limits_is_reported(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server refuses our limits, the audit goes on within those of the client, and says so."""
    wrong = "mysql" if live.is_mariadb else "mariadb"
    right = session_module.set_server_limits
    monkeypatch.setattr(session_module, "set_server_limits", lambda session, _flavour: right(session, wrong))
    monkeypatch.setattr(
        "advisor.collect.server.server.set_server_limits", lambda session, _flavour: right(session, wrong)
    )
    facts = collect_from_account(live.account(), CollectRequest(window=0))
    assert "doesn't know it" in facts.reason_missing("server.limits")
    assert facts.server.variables
