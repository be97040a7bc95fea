"""Where to connect and as whom: the command line over login paths over option files, as the clients have it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from advisor.collect.connection import options, sockets
from advisor.collect.connection.options import ConnectRequest, resolve_account
from advisor.core.errors import ConnectError, MycnfError


@pytest.fixture(autouse=True)
def _bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No option file, login file, variable or socket of this machine counts."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(options, "GLOBAL_FILES", ())
    monkeypatch.setattr(sockets, "USUAL_SOCKETS", (str(tmp_path / "default.sock"),))
    for name in ("MYSQL_TEST_LOGIN_FILE", "MYSQL_GROUP_SUFFIX", "MYSQL_UNIX_PORT", "MYSQL_PWD"):
        monkeypatch.delenv(name, raising=False)


def home_file(tmp_path: Path, text: str) -> None:
    """Write ~/.my.cnf."""
    (tmp_path / ".my.cnf").write_text(text, encoding="utf-8")


def test_the_home_file_gives_account_and_password(tmp_path: Path) -> None:
    """User, password, host and port come from [client], and the message can say where the password was."""
    home_file(tmp_path, '[client]\nuser=reader\npassword="a#b\\"c"\nhost=db1\nport=3307\n')
    found = resolve_account(ConnectRequest())
    assert (found.user, found.password, found.host, found.port, found.socket) == ("reader", b'a#b"c', "db1", 3307, None)
    assert found.credential_source == f"password from {tmp_path}/.my.cnf"


def test_the_password_shows_nowhere(tmp_path: Path) -> None:
    """Printing an account, as a traceback or a log would, doesn't print its password."""
    home_file(tmp_path, "[client]\npassword=hunter2\nhost=h\n")
    assert "hunter2" not in repr(resolve_account(ConnectRequest()))


def test_the_command_line_wins(tmp_path: Path) -> None:
    """What was said on the command line stands over the files, and a socket over a host in a file."""
    home_file(tmp_path, "[client]\nuser=reader\nhost=db1\n")
    found = resolve_account(ConnectRequest(user="me", socket="/s"))
    assert (found.user, found.socket) == ("me", "/s")


@pytest.mark.parametrize("group", ["client", "client-server", "client-mariadb", "mysql", "mycnf"])
def test_the_groups_of_clients_are_read(tmp_path: Path, group: str) -> None:
    """Both flavours' client groups count, the server's don't."""
    home_file(tmp_path, f"[mysqld]\nuser=mysql\nport=1\n[{group}]\nuser=reader\nhost=h\n[mysqldump]\nuser=dump\n")
    assert resolve_account(ConnectRequest()).user == "reader"


def test_a_suffix_adds_groups(tmp_path: Path) -> None:
    """With --defaults-group-suffix the groups with that ending are read as well."""
    home_file(tmp_path, "[client]\nuser=one\nhost=h\n[client_two]\nuser=two\n")
    assert resolve_account(ConnectRequest(defaults_group_suffix="_two")).user == "two"
    assert resolve_account(ConnectRequest()).user == "one"


def test_a_defaults_file_stands_alone(tmp_path: Path) -> None:
    """--defaults-file is read instead of the usual files; a missing one is one line."""
    home_file(tmp_path, "[client]\nuser=home\n")
    other = tmp_path / "other.cnf"
    other.write_text("[client]\nhost=h\nuser=other\n", encoding="utf-8")
    assert resolve_account(ConnectRequest(defaults_file=str(other))).user == "other"
    with pytest.raises(ConnectError, match="does not exist"):
        resolve_account(ConnectRequest(defaults_file=str(tmp_path / "none.cnf")))


def test_nothing_is_read_of_the_null_device(tmp_path: Path) -> None:
    """As for the servers' clients, it means that no file counts."""
    home_file(tmp_path, "[client]\nuser=home\n")
    assert resolve_account(ConnectRequest(defaults_file="/dev/null", host="h", user="")).user != "home"


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_a_port_that_is_none_is_one_line(port: int) -> None:
    """On the command line it is a fault of usage, and no server is asked for."""
    with pytest.raises(MycnfError, match=rf"^--port {port} is not a TCP port; write a number") as refused:
        resolve_account(ConnectRequest(host="h", port=port))
    assert refused.value.code == 2
    assert resolve_account(ConnectRequest(host="h", port=65535)).port == 65535


def test_an_extra_file_is_read_before_the_home_file(tmp_path: Path) -> None:
    """--defaults-extra-file adds to the usual files, and ~/.my.cnf has the last word."""
    home_file(tmp_path, "[client]\nuser=home\n")
    extra = tmp_path / "extra.cnf"
    extra.write_text("[client]\nuser=extra\nhost=h\n", encoding="utf-8")
    found = resolve_account(ConnectRequest(defaults_extra_file=str(extra)))
    assert (found.user, found.host) == ("home", "h")


def test_localhost_is_the_socket(tmp_path: Path) -> None:
    """As for the servers' own clients, localhost means the Unix socket, and 127.0.0.1 or a port means TCP."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "default.sock"))
        assert resolve_account(ConnectRequest(host="localhost")).socket == str(tmp_path / "default.sock")
        assert resolve_account(ConnectRequest()).socket == str(tmp_path / "default.sock")
    assert resolve_account(ConnectRequest(host="127.0.0.1")).socket is None
    assert resolve_account(ConnectRequest(port=3307)).port == 3307


def test_no_socket_anywhere_is_one_line() -> None:
    """Where no socket is to be found the places that were looked at are named, and what to give instead."""
    with pytest.raises(ConnectError, match=r"no server socket in the usual places .*--socket or --host"):
        resolve_account(ConnectRequest())


def test_a_password_variable_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MYSQL_PWD shows in the environment of processes: it is not read."""
    monkeypatch.setenv("MYSQL_PWD", "hunter2")
    assert resolve_account(ConnectRequest(host="h")).password == b""


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("ssl-mode=REQUIRED", "required"),
        ("ssl_mode=verify_ca", "verify-ca"),
        ("skip-ssl", "disabled"),
        ("ssl=0", "disabled"),
        ("ssl-ca=/ca.pem", "verify-ca"),
        ("ssl-ca=/ca.pem\nssl-verify-server-cert", "verify-identity"),
        ("ssl-verify-server-cert", "verify-identity"),
        ("ssl-verify-server-cert=0", ""),
        ("", ""),
    ],
)
def test_tls_as_files_say_it(tmp_path: Path, text: str, mode: str) -> None:
    """MySQL's ssl-mode and MariaDB's switches come down to the same five modes."""
    home_file(tmp_path, f"[client]\nhost=h\n{text}\n")
    assert resolve_account(ConnectRequest()).ssl_mode == mode


def test_a_certificate_on_the_command_line_is_checked() -> None:
    """--ssl-ca alone means verify-ca, as to the servers' own clients; a mode beside it counts."""
    assert resolve_account(ConnectRequest(host="h", ssl_ca="/ca.pem")).ssl_mode == "verify-ca"
    assert resolve_account(ConnectRequest(host="h", ssl_ca="/ca.pem", ssl_mode="required")).ssl_mode == "required"


@pytest.mark.parametrize(
    ("text", "message"), [("port=abc", "not a TCP port"), ("ssl-mode=maybe", "use one of disabled")]
)
def test_nonsense_in_a_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    """An option that makes no sense is named with what it may be."""
    home_file(tmp_path, f"[client]\nhost=h\n{text}\n")
    with pytest.raises(ConnectError, match=message):
        resolve_account(ConnectRequest())


def test_a_login_path_gives_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--login-path reads its own group of ~/.mylogin.cnf over the option files."""
    recorded = Path(__file__).parent / "files" / "mylogin.cnf"
    login = tmp_path / ".mylogin.cnf"
    login.write_bytes(recorded.read_bytes())
    login.chmod(0o600)
    home_file(tmp_path, "[client]\nuser=home\n")
    found = resolve_account(ConnectRequest(login_path="prod", host="db1.example"))
    assert (found.user, found.port, found.password) == ("audit", 3307, "we\"ird \\ pass#word'ä".encode())
    assert found.credential_source == f"password from {login} [prod]"
