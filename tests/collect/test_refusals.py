"""Any other service in a server's place ends in one line with the remedy: no traceback, no hanging."""

from __future__ import annotations

import contextlib
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from advisor.collect.connection.connect import ConnectionLimits, connect
from advisor.collect.connection.options import Account
from advisor.core.errors import CONNECTION, ConnectError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = ConnectionLimits(connect=1.0, read=0.3, statement=1)  # for what says nothing more, or nothing at all
GREETINGS = {
    "ssh": b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n",
    "http": b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    "a short packet": b"\x01\x00\x00\x00\x0a",
    "an empty packet": b"\x00\x00\x00\x00",
    "a wrong number": b"\x01\x00\x00\x05\x0a",
    "zeros": bytes(4096),
    "high bytes": b"\xff" * 4096,
    "half a greeting": b"\x4a\x00\x00\x00\x0a8.0.36\x00\x08",
    "nothing": b"",
}


@contextmanager
def impostor(greeting: bytes) -> Iterator[Account]:
    """Something on a TCP port that sends its greeting to any client, and then waits."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        come: list[socket.socket] = []

        def greet() -> None:
            try:
                while True:
                    come.append(listener.accept()[0])
                    come[-1].sendall(greeting)
            except OSError:
                return

        threading.Thread(target=greet, daemon=True).start()
        try:
            yield Account("reader", b"hunter2", host="127.0.0.1", port=listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for one in come:
                one.close()


@pytest.mark.parametrize("greeting", GREETINGS.values(), ids=GREETINGS)
def test_what_is_no_server_is_said_in_one_line(greeting: bytes) -> None:
    """Other services, broken packets and silence each end in one line that names the address, never the password."""
    with impostor(greeting) as account, pytest.raises(ConnectError) as caught:
        connect(account, QUICK)
    message = str(caught.value)
    assert account.place in message
    assert "\n" not in message
    assert "hunter2" not in message
    assert caught.value.code == CONNECTION


def refused(code: int, text: bytes) -> bytes:
    """An error packet instead of a greeting, as servers send it to hosts that they don't let in."""
    body = b"\xff" + code.to_bytes(2, "little") + text
    return len(body).to_bytes(3, "little") + b"\x00" + body


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (1129, "TRUNCATE TABLE performance_schema.host_cache on MySQL"),
        (1130, "create the account"),
        (1040, "max_connections"),
        (9999, "check host, port and account"),
    ],
)
def test_a_server_that_turns_us_away_is_quoted_harmlessly(code: int, remedy: str) -> None:
    """An error in place of the greeting is reported with its remedy, and nothing in it acts on the terminal."""
    with impostor(refused(code, b"no \x1b[2J\xe2\x80\xae entry")) as account, pytest.raises(ConnectError) as caught:
        connect(account)
    assert remedy in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert "\u202e" not in str(caught.value)


def clear_text_wanted() -> bytes:
    """The greeting of a server that asks for the password itself."""
    body = (
        b"\x0a8.0.36\x00" + bytes(4) + b"saltsalt\x00" + (0xF7FF & ~0x0800).to_bytes(2, "little") + b"\x2d\x02\x00"
        + b"\x08\x00" + b"\x15" + bytes(10) + b"saltsaltsalt\x00" + b"mysql_native_password\x00"
    )  # fmt: skip
    switch = b"\xfemysql_clear_password\x00"
    return len(body).to_bytes(3, "little") + b"\x00" + body + len(switch).to_bytes(3, "little") + b"\x02" + switch


def test_a_password_is_not_handed_over_in_clear_text() -> None:
    """A server that asks for the password itself over open TCP doesn't get it."""
    with impostor(clear_text_wanted()) as account, pytest.raises(ConnectError, match="mysql_clear_password"):
        connect(account)


@pytest.mark.parametrize("owner", ["root", "a stranger"])
def test_a_socket_of_a_stranger_gets_no_password(owner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a Unix socket the password itself goes to a listener of root, of us or of mysql, and to no other user's."""
    path, heard = str(tmp_path / "s.sock"), bytearray()
    if owner == "a stranger":
        monkeypatch.setattr("advisor.collect.connection.wire.peer_user", lambda _: 54321)

    def answer() -> None:
        connection = listener.accept()[0]
        with connection, contextlib.suppress(OSError):
            connection.settimeout(60)
            connection.sendall(clear_text_wanted())
            while data := connection.recv(4096):
                heard.extend(data)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ConnectError) as caught:
            connect(Account("reader", b"kanarienvogel", socket=path), QUICK)
        thread.join()
    assert (b"kanarienvogel" in heard) == (owner == "root")
    assert ("a process of user 54321" in str(caught.value)) == (owner != "root")


def test_nothing_there_is_said(tmp_path: Path) -> None:
    """A closed port, a missing socket and a name that doesn't exist are told apart."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and no other process gets the port meanwhile
        with pytest.raises(ConnectError, match="nothing listens"):
            connect(Account("reader", host="127.0.0.1", port=taken.getsockname()[1]), QUICK)
    with pytest.raises(ConnectError, match="there is no server socket"):
        connect(Account("reader", socket=str(tmp_path / "none.sock")), QUICK)
    with pytest.raises(ConnectError, match="can't be reached"):
        connect(Account("reader", host="no.such.host.invalid"), QUICK)


def test_a_dead_socket_is_said(tmp_path: Path) -> None:
    """A socket file that a killed server left behind is reported as having no listener."""
    path = str(tmp_path / "dead.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
    with pytest.raises(ConnectError, match="nothing listens"):
        connect(Account("reader", socket=path), QUICK)


def test_unusable_certificates_are_said(tmp_path: Path) -> None:
    """A certificate file that is missing or no certificate is one line about the files."""
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate", encoding="ascii")
    for path in (str(tmp_path / "none.pem"), str(junk)):
        with pytest.raises(ConnectError, match="--ssl-ca"):
            connect(Account("reader", host="127.0.0.1", port=1, ssl_mode="verify-ca", ssl_ca=path), QUICK)
