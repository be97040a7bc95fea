"""Sockets are found where servers put them, and the kernel says who listens behind one."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from advisor.collect.connection import sockets
from advisor.core.errors import ConnectError

if TYPE_CHECKING:
    from pathlib import Path

STRANGER = 54321  # no user of any host
TABLE = """Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 11111 /run/dbus/system_bus_socket
0000000000000000: 00000002 00000000 00010000 0001 01 22222 /srv/my data/mysqld.sock
0000000000000000: 00000002 00000000 00010000 0001 01 33333 /srv/db/mysqlx.sock
0000000000000000: 00000003 00000000 00000000 0001 03 44444 /srv/db/connected-mysql.sock
0000000000000000: 00000002 00000000 00010000 0001 01 55555
0000000000000000: 00000002 00000000 00010000 0001 01 66666 @abstract-mysql
"""


def test_the_first_usual_socket_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the usual places the first that is a socket counts; MYSQL_UNIX_PORT stands before them."""
    (tmp_path / "file.sock").touch()
    monkeypatch.setattr(sockets, "USUAL_SOCKETS", (str(tmp_path / "file.sock"), str(tmp_path / "real.sock")))
    monkeypatch.delenv("MYSQL_UNIX_PORT", raising=False)
    with socket.socket(socket.AF_UNIX) as real, socket.socket(socket.AF_UNIX) as other:
        real.bind(str(tmp_path / "real.sock"))
        other.bind(str(tmp_path / "other.sock"))
        assert sockets.default_socket() == str(tmp_path / "real.sock")
        monkeypatch.setenv("MYSQL_UNIX_PORT", str(tmp_path / "other.sock"))
        assert sockets.default_socket() == str(tmp_path / "other.sock")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a socket to another account")
def test_a_socket_that_any_account_could_create_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a directory such as /tmp another user's socket, which would get the password, is used only if it is named."""
    path = tmp_path / "mysql.sock"
    monkeypatch.setattr(sockets, "USUAL_SOCKETS", (str(path),))
    monkeypatch.delenv("MYSQL_UNIX_PORT", raising=False)
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(path))
        os.chown(path, STRANGER, STRANGER)
        assert sockets.default_socket() == str(path)  # only root can have made it here
        tmp_path.chmod(0o1777)
        with pytest.raises(ConnectError, match=f"{path} belongs to user {STRANGER}"):
            sockets.default_socket()
        monkeypatch.setenv("MYSQL_UNIX_PORT", str(path))
        assert sockets.default_socket() == str(path)
        monkeypatch.delenv("MYSQL_UNIX_PORT")
        os.chown(path, os.geteuid(), os.getegid())
        assert sockets.default_socket() == str(path)


def test_listening_servers_are_hinted_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only listening sockets of servers are named, not those of the X protocol, of clients or without a path."""
    table = tmp_path / "unix"
    table.write_text(TABLE, encoding="ascii")
    assert sockets.listening_sockets(str(table)) == ["/srv/my data/mysqld.sock"]
    assert sockets.listening_sockets(str(tmp_path / "none")) == []
    monkeypatch.setattr(sockets, "USUAL_SOCKETS", ())
    monkeypatch.setattr(sockets, "listening_sockets", lambda: ["/srv/my data/mysqld.sock"])
    monkeypatch.delenv("MYSQL_UNIX_PORT", raising=False)
    with pytest.raises(ConnectError, match=r"seems to listen on /srv/my data/mysqld\.sock"):
        sockets.default_socket()
    with pytest.raises(ConnectError, match=r"Without a server: .*--demo .*mycnf lint FILE"):
        sockets.default_socket()


def test_a_listening_socket_is_in_the_kernels_table(tmp_path: Path) -> None:
    """A socket that listens here and is named like a server's is found in the real table."""
    path = str(tmp_path / "mysql-test.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        assert path in sockets.listening_sockets()


def test_the_peer_is_reported_by_the_kernel(tmp_path: Path) -> None:
    """Behind a Unix socket stands the process that listens; behind TCP the kernel names none."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(path)
        listener.listen()
        client.connect(path)
        assert sockets.peer_pid(client) == os.getpid()
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        assert sockets.peer_pid(client) == 0
