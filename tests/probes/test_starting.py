"""The one starter of throwaway servers: real ones, as untouched or as bad as they were asked for."""

from __future__ import annotations

import fcntl
import os
import socket
from contextlib import suppress
from itertools import chain
from pathlib import Path

import pymysql
import pytest
from process_checks import alive, first_row
from real_servers import Server, Start

from probes.sandbox import Binary, Sandbox, datadir
from probes.sandbox import server as server_module
from probes.sandbox import start_server as start_sandbox
from probes.sandbox.server import free_port


@pytest.mark.servers("all")
def test_each_server_starts_untouched_and_answers(any_server: Sandbox, server_name: str) -> None:
    """Every provisioned server runs as a default server and says the version that its name promises."""
    (version,) = first_row(any_server, "SELECT VERSION()")
    assert str(version).startswith(server_name.partition("-")[2] + ".")
    assert any_server.binary.target.number == str(version).partition("-")[0]


# MariaDB 11.4 makes a key of 4096 bits as 11.8 does, up to twenty seconds of a processor.
@pytest.mark.servers("mysql", "mariadb-10.11", "mariadb-11.8", whole="mariadb-11.4")
def test_nothing_but_its_place_is_set(untouched: Sandbox) -> None:
    """A default server is given where its parts and its data stand, and no option of any other kind."""
    places = {
        "--no-defaults",
        "--user",
        "--basedir",
        "--lc-messages-dir",
        "--character-sets-dir",
        "--plugin-dir",
        "--secure-file-priv",
        "--datadir",
        "--socket",
        "--skip-networking",
        "--loose-mysqlx-socket",
    }
    assert {argument.partition("=")[0] for argument in untouched.command()[1:]} <= places


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.8")
def test_readiness_leaves_no_trace_in_the_counters(start: Start, server_name: str) -> None:
    """Waiting for a server is not visible afterwards as connections that were aborted."""
    _, aborted = first_row(start(server_name), "SHOW GLOBAL STATUS LIKE 'Aborted_connects'")
    assert aborted == "0"


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_options_and_files_reach_the_server(start: Start, server_name: str, tmp_path: Path) -> None:
    """The option file is read, arguments outrank it, and its paths stay inside the directory."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections=77\nwait_timeout=777\npid_file=/nowhere/x.pid\nport=3306\n")
    sandbox = start(server_name, option_file=file, arguments=["--wait-timeout=888"])
    assert first_row(sandbox, "SELECT @@max_connections, @@global.wait_timeout") == (77, 888)
    assert first_row(sandbox, "SELECT @@pid_file") == (f"{sandbox.directory}/pid",)


def test_no_outgoing_connection_gets_the_port_of_a_server() -> None:
    """The ports are below those of outgoing connections: one of these had taken that of a node that was restarted."""
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text("ascii").split()[0])
    assert all(1024 <= free_port() < first for _ in range(20))


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_a_port_that_was_taken_meanwhile(start: Start, server_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A port that was free when it was asked for, and is not when the server starts, is left for another."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        # As many more as it takes: other programs may take those meanwhile.
        ports = chain((taken,), iter(free_port, None))
        monkeypatch.setattr(server_module, "free_port", lambda: next(ports))
        sandbox = start(server_name, tcp=True, small=True)
    assert sandbox.running
    assert sandbox.port != taken


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_a_port_that_was_taken_while_the_server_was_stopped(start: Start, server_name: str) -> None:
    """The server comes back at another port, and its error log has nothing of the attempt."""
    sandbox = start(server_name, tcp=True, small=True)
    sandbox.stop()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", sandbox.port or 0))
        other.listen()
        sandbox.restart()
        assert sandbox.port != other.getsockname()[1]
    assert "already in use" not in Path(sandbox.error_log).read_text("utf-8")


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-10.11")
def test_tcp_listens_on_this_host_alone(start: Start, server_name: str) -> None:
    """With TCP the server takes connections on 127.0.0.1 at the port that it was given, and on no other address."""
    sandbox = start(server_name, tcp=True, small=True)
    with pytest.raises(pymysql.err.OperationalError) as refused:
        pymysql.connect(host="127.0.0.1", port=sandbox.port or 0, user="nobody")
    assert refused.value.args[0] == 1045  # the server's own answer
    assert listening(sandbox.pid) <= {"0100007F"}


def listening(pid: int) -> set[str]:
    """The local addresses, as the kernel writes them, on which a process listens for TCP."""
    links = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with suppress(FileNotFoundError):  # a server at work closes files meanwhile
            links.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    rows = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
    ]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in links}


@pytest.mark.servers("mysql", "mariadb-10.11", "mariadb-11.8")
def test_small_runs_everywhere(start: Start, server_name: str) -> None:
    """The bounded variant starts on every series and has the small buffer pool."""
    (size,) = first_row(start(server_name, small=True), "SELECT @@innodb_buffer_pool_size")
    assert size == 32 << 20


@pytest.mark.servers("mysql-8.0", "mariadb-11.8")
def test_two_at_once_are_apart(start: Start, server_name: str) -> None:
    """Two servers of one program run side by side, each with a directory, a socket and an identity of its own."""
    one, two = start(server_name, small=True), start(server_name, small=True)
    with one.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE only_in_one")
    assert first_row(one, "SHOW DATABASES LIKE 'only_in_one'") == ("only_in_one",)
    with two.connect() as connection, connection.cursor() as cursor:
        assert cursor.execute("SHOW DATABASES LIKE 'only_in_one'") == 0
    if one.binary.target.is_mysql:
        assert first_row(one, "SELECT @@server_uuid") != first_row(two, "SELECT @@server_uuid")


def test_data_outlives_a_restart(start: Start, tmp_path: Path) -> None:
    """A restart keeps the data and takes new arguments; persisted options are read again beside an option file."""
    (tmp_path / "empty.cnf").touch()
    sandbox = start("mysql-8.0", option_file=tmp_path / "empty.cnf")
    before = sandbox.pid
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE kept")
        cursor.execute("SET PERSIST max_connections = 55")
    sandbox.restart(["--wait-timeout=99"])
    assert first_row(sandbox, "SHOW DATABASES LIKE 'kept'") == ("kept",)
    assert first_row(sandbox, "SELECT @@global.wait_timeout, @@max_connections") == (99, 55)
    assert not alive(before)


def test_a_long_path_gets_a_short_socket(start: Start, tmp_path: Path) -> None:
    """A scratch directory too deep for a socket's path still gets a server, and both directories go."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    sandbox = start("mysql-8.0", base=deep, small=True)
    short = Path(sandbox.socket).parent
    assert len(sandbox.socket) < 107
    assert short != Path(sandbox.directory)
    assert first_row(sandbox, "SELECT 1") == (1,)
    sandbox.close()
    assert not short.exists()
    assert list(deep.iterdir()) == []


def test_default_servers_are_shared(server: Server) -> None:
    """Asking twice for a default server gives the same running one."""
    assert server("mariadb-10.11") is server("mariadb-10.11")


def test_the_kernel_takes_it_first(server: Server) -> None:
    """Short of memory, the kernel is to take a throwaway server before anything else of this user's."""
    score = Path(f"/proc/{server('mariadb-10.11').pid}/oom_score_adj").read_text(encoding="ascii")
    assert int(score) > int(Path("/proc/self/oom_score_adj").read_text(encoding="ascii"))


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_data_files_take_the_shape_asked_for(binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A page size reaches the data files, from a template and created again; the plain template is unchanged."""
    small_pages = ["--innodb-page-size=4096"]
    for where in (templates, None):
        with start_sandbox(binary, base=tmp_path, initial=small_pages, small=True, templates=where) as sandbox:
            assert first_row(sandbox, "SELECT @@innodb_page_size") == (4096,)
    with start_sandbox(binary, base=tmp_path, small=True, templates=templates) as sandbox:
        assert first_row(sandbox, "SELECT @@innodb_page_size") == (16384,)


@pytest.mark.servers("mariadb-11.8")
def test_a_new_data_directory_has_no_undo_log_left(
    binary: Binary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first start can change the number of undo tablespaces, even if the initialization ended with deleted rows."""
    script = datadir._bootstrap_sql
    last = b"create table mysql.t (a int) engine=innodb;\ninsert into mysql.t values (1);\ndelete from mysql.t;\n"
    monkeypatch.setattr(datadir, "_bootstrap_sql", lambda share: script(share) + last)
    arguments = ["--skip-ssl", "--innodb-undo-tablespaces=0"]
    with start_sandbox(binary, base=tmp_path, small=True, arguments=arguments) as sandbox:
        assert first_row(sandbox, "SELECT @@innodb_undo_tablespaces") == (0,)


def test_an_older_template_stays_while_it_is_copied(tmp_path: Path) -> None:
    """A template is replaced by that of a newer program of its name, but never while it is copied."""
    older, newer, other = (tmp_path / name for name in (f"a-{1:016x}", f"a-{2:016x}", f"b-{1:016x}"))
    for folder in (older, newer, other):
        folder.mkdir()
    with datadir._lock_template(str(older), fcntl.LOCK_SH):
        datadir._drop_older(str(newer))
        assert older.is_dir()
    datadir._drop_older(str(newer))
    assert not older.exists()
    assert newer.is_dir()
    assert other.is_dir()
