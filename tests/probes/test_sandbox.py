"""The one starter of throwaway servers: it starts real ones, and never leaves any of them behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from asking import CHECKOUT
from servers_plugin import Binaries, Server, Start

from probes.sandbox import Binary, Sandbox, SandboxError, describe, sweep
from probes.sandbox import start as start_sandbox
from probes.sandbox.scratch import MARKER, PREFIX, Scratch

PATIENCE = 60.0  # seconds until something that must happen counts as not happening

OWNER = """
import sys, time
from probes.sandbox import Binary, start
from advisor.model import Target
binary = eval(sys.argv[1])
sandbox = start(binary, base=sys.argv[2], templates=sys.argv[3])
print(sandbox.pid, sandbox.directory, flush=True)
{then}
"""


def eventually(holds: object, *, what: str) -> None:
    """Wait until `holds()` is true; fail when it never becomes true."""
    assert callable(holds)
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody has waited for counts as gone."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def ask(sandbox: Sandbox, sql: str) -> tuple[object, ...]:
    """The first row of a statement's answer."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute(sql)
        row = cursor.fetchone()
        assert row is not None
        return tuple(row)


@pytest.fixture
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of templates that the fixtures use too, so that starts are quick."""
    from provisioning.shelf import shelf

    return shelf() / ".templates"


def owner(binary: Binary, base: Path, templates: Path, then: str) -> tuple[subprocess.Popen[str], int, Path]:
    """A process of its own that starts a server and does `then`; its process, the server's pid and directory."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format(then=then), repr(binary), str(base), str(templates)],
        stdout=subprocess.PIPE, text=True, cwd=CHECKOUT,
    )
    assert process.stdout is not None
    pid, directory = process.stdout.readline().split()
    return process, int(pid), Path(directory)


@pytest.mark.servers("all")
def test_each_server_starts_untouched_and_answers(any_server: Sandbox, server_name: str) -> None:
    """Every provisioned server runs as a default server and says the version that its name promises."""
    (version,) = ask(any_server, "SELECT VERSION()")
    assert str(version).startswith(server_name.partition("-")[2] + ".")
    assert any_server.binary.target.number == str(version).partition("-")[0]


@pytest.mark.servers("all")
def test_nothing_but_its_place_is_set(any_server: Sandbox) -> None:
    """A default server is given where its parts and its data stand, and no option of any other kind."""
    places = {
        "--no-defaults", "--user", "--basedir", "--lc-messages-dir", "--character-sets-dir", "--plugin-dir",
        "--secure-file-priv", "--datadir", "--socket", "--skip-networking", "--loose-mysqlx-socket",
    }
    assert {argument.partition("=")[0] for argument in any_server.command()[1:]} <= places


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.8")
def test_readiness_leaves_no_trace_in_the_counters(start: Start, server_name: str) -> None:
    """Waiting for a server is not visible afterwards as connections that were aborted."""
    _, aborted = ask(start(server_name), "SHOW GLOBAL STATUS LIKE 'Aborted_connects'")
    assert aborted == "0"


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_options_and_files_reach_the_server(start: Start, server_name: str, tmp_path: Path) -> None:
    """The option file is read, arguments outrank it, and what it says of places stays inside the directory."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nmax_connections=77\nwait_timeout=777\npid_file=/nowhere/x.pid\nport=3306\n")
    sandbox = start(server_name, option_file=file, arguments=["--wait-timeout=888"])
    assert ask(sandbox, "SELECT @@max_connections, @@global.wait_timeout") == (77, 888)
    assert ask(sandbox, "SELECT @@pid_file") == (f"{sandbox.directory}/pid",)


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-10.11")
def test_tcp_listens_on_this_host_alone(start: Start, server_name: str) -> None:
    """With TCP the server takes connections on 127.0.0.1 at the port that it was given, and on no other address."""
    sandbox = start(server_name, tcp=True, small=True)
    import pymysql

    with pytest.raises(pymysql.err.OperationalError) as refused:
        pymysql.connect(host="127.0.0.1", port=sandbox.port or 0, user="nobody", password="-")
    assert refused.value.args[0] == 1045  # the server's own answer
    assert listening(sandbox.pid) <= {"0100007F"}


def listening(pid: int) -> set[str]:
    """The local addresses, as the kernel writes them, on which a process listens for TCP."""
    links = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    rows = [line.split() for table in ("tcp", "tcp6")
            for line in Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in links}


@pytest.mark.servers("mysql", "mariadb-10.11", "mariadb-11.8")
def test_small_runs_everywhere(start: Start, server_name: str) -> None:
    """The bounded variant starts on every series and has the small buffer pool."""
    (size,) = ask(start(server_name, small=True), "SELECT @@innodb_buffer_pool_size")
    assert size == 32 << 20


@pytest.mark.servers("mysql-8.0", "mariadb-11.8")
def test_two_at_once_are_apart(start: Start, server_name: str) -> None:
    """Two servers of one program run side by side, each with a directory, a socket and an identity of its own."""
    one, two = start(server_name, small=True), start(server_name, small=True)
    with one.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE only_in_one")
    assert ask(one, "SHOW DATABASES LIKE 'only_in_one'") == ("only_in_one",)
    with two.connect() as connection, connection.cursor() as cursor:
        assert cursor.execute("SHOW DATABASES LIKE 'only_in_one'") == 0
    if one.binary.target.is_mysql:
        assert ask(one, "SELECT @@server_uuid") != ask(two, "SELECT @@server_uuid")


def test_data_outlives_a_restart(start: Start, tmp_path: Path) -> None:
    """A restart keeps the data and takes new arguments; persisted options are read again beside an option file."""
    (tmp_path / "empty.cnf").touch()
    sandbox = start("mysql-8.0", option_file=tmp_path / "empty.cnf")
    before = sandbox.pid
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE kept")
        cursor.execute("SET PERSIST max_connections = 55")
    sandbox.restart(["--wait-timeout=99"])
    assert ask(sandbox, "SHOW DATABASES LIKE 'kept'") == ("kept",)
    assert ask(sandbox, "SELECT @@global.wait_timeout, @@max_connections") == (99, 55)
    assert not alive(before)


def test_leaving_takes_everything_along(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """After the with block neither process nor directory is left, and closing again does nothing."""
    with start_sandbox(binaries("mariadb-10.11"), base=tmp_path, templates=templates) as sandbox:
        pid = sandbox.pid
        assert (Path(sandbox.directory).stat().st_mode & 0o777) == 0o700
    assert not alive(pid)
    assert list(tmp_path.iterdir()) == []
    sandbox.close()


def test_an_exception_takes_everything_along(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """An exception in the with block ends the server as an ordinary end does."""
    with (
        pytest.raises(ZeroDivisionError),
        start_sandbox(binaries("mariadb-10.11"), base=tmp_path, templates=templates) as sandbox,
    ):
        _ = 1 / 0
    assert not sandbox.running
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_takes_everything_along(
    binaries: Binaries, templates: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A process that is told to end takes its server and its directory along, and still ends by that signal."""
    process, pid, _ = owner(binaries("mariadb-10.11"), tmp_path, templates, "time.sleep(600)")
    process.send_signal(number)
    assert process.wait(PATIENCE) == -number
    assert not alive(pid)
    assert list(tmp_path.iterdir()) == []


def test_an_ordinary_end_takes_everything_along(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """A process that ends without closing its server leaves nothing behind."""
    process, pid, _ = owner(binaries("mariadb-10.11"), tmp_path, templates, "pass")
    assert process.wait(PATIENCE) == 0
    assert not alive(pid)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.servers("mysql-9.7", "mariadb-10.11")
def test_kill_9_leaves_nothing_running(
    binary: Binary, templates: Path, tmp_path: Path, start: Start, server_name: str
) -> None:
    """After kill -9 of the owner its server dies at once, and the next start in that place removes the directory."""
    process, pid, directory = owner(binary, tmp_path, templates, "time.sleep(600)")
    assert alive(pid)
    process.kill()
    process.wait(PATIENCE)
    eventually(lambda: not alive(pid), what="the server dies with its owner")
    assert directory.is_dir()
    start(server_name, base=tmp_path, small=True)
    assert not directory.exists()


def test_a_server_survives_the_thread_that_started_it(binaries: Binaries, templates: Path, tmp_path: Path) -> None:
    """A server started from a worker thread runs on when that thread has ended."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        sandbox = pool.submit(
            start_sandbox, binaries("mariadb-10.11"), base=tmp_path, templates=templates, small=True
        ).result()
    with sandbox:
        assert ask(sandbox, "SELECT 1") == (1,)
        assert sandbox.running


def test_a_forked_child_leaves_its_parents_server_alone(start: Start) -> None:
    """When a forked child of the owner exits, the owner's server and directory stay."""
    sandbox = start("mariadb-10.11", small=True)
    code = (
        "import os, sys\n"
        "from probes.sandbox.scratch import Scratch\n"
        "from probes.sandbox import farewell\n"
        "scratch = Scratch(sys.argv[1])\n"
        "scratch.close = scratch.remove\n"
        "farewell.remember(scratch)\n"
        "child = os.fork()\n"
        "if child == 0: sys.exit(0)\n"
        "os.waitpid(child, 0)\n"
        "sys.exit(0 if os.path.isdir(scratch.path) else 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, sandbox.directory], cwd=CHECKOUT, timeout=PATIENCE, check=False)
    assert done.returncode == 0
    assert not list(Path(sandbox.directory).glob(PREFIX + "*"))


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.4")
def test_a_server_that_dies_is_reported_in_its_own_words(
    binary: Binary, templates: Path, tmp_path: Path
) -> None:
    """A refused option ends in one error of one line that names the option, with the log's last lines beside it."""
    with pytest.raises(SandboxError) as refused:
        start_sandbox(binary, base=tmp_path, templates=templates, arguments=["--innodb-bufer-pool-size=1G"])
    message = str(refused.value)
    assert "\n" not in message
    assert binary.name in message
    assert "innodb-bufer-pool-size" in message
    assert "innodb-bufer-pool-size" in refused.value.log
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_with_its_package(tmp_path: Path) -> None:
    """A loader's complaint becomes the library's name and the way to install it."""
    program = tmp_path / "mysqld"
    program.write_text(
        "#!/bin/sh\necho 'mysqld: error while loading shared libraries: libaio.so.1: cannot open shared object file: "
        "No such file or directory' >&2\nexit 127\n"
    )
    program.chmod(0o755)
    with pytest.raises(SandboxError, match=r"libaio\.so\.1 is missing: apt-get install libaio1"):
        describe(str(program))


def test_no_program_is_one_clear_line() -> None:
    """A server that isn't there is one line with the reason."""
    with pytest.raises(SandboxError, match=r"/nowhere/mysqld can't be run: No such file"):
        describe("/nowhere/mysqld")


def test_a_full_file_system_is_told_before_anything_is_made(
    binaries: Binaries, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """On a file system without room for a server, the error says how much is free and nothing is left there."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs root: mounts a small file system")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "none", str(tmp_path)], check=False)
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a file system")
    request.addfinalizer(lambda: subprocess.run(["umount", str(tmp_path)], check=True))
    with pytest.raises(SandboxError, match=r"has (19|20) MiB free"):
        start_sandbox(binaries("mariadb-10.11"), base=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_long_path_gets_a_short_socket(start: Start, tmp_path: Path) -> None:
    """A scratch directory too deep for a socket's path still gets a server, and both directories go."""
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    sandbox = start("mysql-8.0", base=deep, small=True)
    short = Path(sandbox.socket).parent
    assert len(sandbox.socket) < 107
    assert short != Path(sandbox.directory)
    assert ask(sandbox, "SELECT 1") == (1,)
    sandbox.close()
    assert not short.exists()
    assert list(deep.iterdir()) == []


def test_sweep_spares_what_is_not_an_abandoned_sandbox(tmp_path: Path) -> None:
    """Directories without our marker, with another's, of a living owner, or behind a link are never touched."""
    living = Scratch(tmp_path)
    unmarked, foreign, elsewhere = (tmp_path / f"{PREFIX}{name}" for name in ("unmarked", "foreign", "elsewhere"))
    for folder in (unmarked, foreign):
        folder.mkdir(mode=0o700)
        (folder / "precious").write_text("kept")
    (foreign / MARKER).write_text(json.dumps({"product": "another"}))
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (target / MARKER).write_text(json.dumps({"product": "mycnf-advisor"}))
    elsewhere.symlink_to(target)
    assert sweep(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} == {
        Path(living.path).name, unmarked.name, foreign.name, elsewhere.name, "target",
    }
    living.remove()
    assert not Path(living.path).exists()


def test_sweep_removes_what_a_broken_removal_left(tmp_path: Path) -> None:
    """A directory without an owner goes, its files with it, and its path is told."""
    left = tmp_path / f"{PREFIX}left"
    (left / "data").mkdir(parents=True)
    left.chmod(0o700)
    (left / "data" / "ibdata1").write_bytes(b"x")
    (left / MARKER).write_text(json.dumps({"product": "mycnf-advisor", "owner": None, "server": None}))
    assert sweep(tmp_path) == [str(left)]
    assert not left.exists()


def test_sweep_of_no_directory_is_quiet(tmp_path: Path) -> None:
    """A place that isn't there has nothing to sweep."""
    assert sweep(tmp_path / "nowhere") == []


def test_default_servers_are_shared(server: Server) -> None:
    """Asking twice for a default server gives the same running one."""
    assert server("mariadb-10.11") is server("mariadb-10.11")
