"""`mycnf audit` and `collect` as their user runs them, against real servers."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from general_log import overheard
from mycnf_command import CHECKOUT
from ordinary_user import past_support, start_as_ordinary_user
from process_checks import PATIENCE, eventually
from real_servers import quickly

from advisor.core.errors import CONNECTION
from advisor.report.formats import names
from probes.sandbox import start_server as start_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mycnf_command import Ended, Mycnf
    from real_servers import Binaries, Start

    from probes.sandbox import Binary, Sandbox

BAD = """[mysqld]
read_buffer_size = 8M
innodb_flush_log_at_trx_commit = 2
max_connections = 1000
loose_wsrep_sst_auth = root:{canary}
init_connect = "SET @a = 'x'"
[client]
password = {canary}
"""
CANARY = "kanarienvogel-7391"


def audit(mycnf: Mycnf, sandbox: Sandbox, *more: str) -> Ended:
    """An audit of a sandbox as root, without a window."""
    return mycnf("audit", "--socket", sandbox.socket, "--user", "root", "--window", "0", *more)


def findings(ended: Ended) -> list[dict[str, Any]]:
    """The findings of an audit printed as JSON."""
    found: list[dict[str, Any]] = json.loads(ended.out)["findings"]
    return found


def test_default_server_is_quiet(mycnf: Mycnf, binary: Binary, templates: Path, tmp_path: Path) -> None:
    """A default server of every version, without a word of ours, gets one warning where support ended, else none."""
    with start_as_ordinary_user(binary, tmp_path, templates) as untouched:
        ended = audit(mycnf, untouched, "--format", "json", "--fail-on", "warning")
    assert {f["code"] for f in findings(ended) if f["severity"] != "note"} == past_support(binary)
    assert ended.code == (1 if past_support(binary) else 0)


@pytest.fixture(scope="module")
def bad_server(
    server_name: str, binaries: Binaries, templates: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    """A server that runs with a deliberately bad option file, secrets planted in it."""
    file = tmp_path_factory.mktemp("bad") / "bad.cnf"
    file.write_text(BAD.format(canary=CANARY))
    file.chmod(0o644)
    binary = binaries(server_name)
    with start_sandbox(binary, option_file=file, arguments=quickly(binary), small=True, templates=templates) as sandbox:
        yield sandbox


@pytest.mark.servers("mysql", "mariadb-10.11", "mariadb-11.8")
def test_snapshot_gives_the_same_findings(mycnf: Mycnf, bad_server: Sandbox, tmp_path: Path) -> None:
    """Live and from a snapshot the findings are the same, and no planted secret is in any output."""
    live = audit(mycnf, bad_server, "--format", "json")
    snap = tmp_path / "db.snap"
    saved = mycnf("collect", "--socket", bad_server.socket, "--user", "root", "--window", "0", "-o", snap)
    assert saved.code == 0
    again = mycnf("audit", "--snapshot", snap, "--format", "json")
    text = mycnf("audit", "--snapshot", snap)
    ticket = mycnf("audit", "--snapshot", snap, "--format", "markdown")
    # Servers of other tests may use up the host's asynchronous requests in between.
    assert [f for f in findings(live) if f["code"] != "SYS030"] == [f for f in findings(again) if f["code"] != "SYS030"]
    assert live.code == again.code
    assert {"BUF001", "BUF002"} & {f["code"] for f in findings(live)}
    assert snap.stat().st_mode & 0o777 == 0o600
    for output in (
        live.out,
        live.err,
        saved.out,
        saved.err,
        again.out,
        text.out,
        text.err,
        ticket.out,
        snap.read_text(),
    ):
        assert CANARY not in output


def test_every_action_is_accepted_by_the_server(mycnf: Mycnf, bad_server: Sandbox) -> None:
    """Each statement that a finding prints, and its undo, is in the ticket and runs on the server."""
    import pymysql

    actions = [a for f in findings(audit(mycnf, bad_server, "--format", "json")) for a in f["actions"]]
    statements = [s for a in actions for s in (a["statement"], a["undo"]) if s]
    assert statements
    ticket = audit(mycnf, bad_server, "--format", "markdown").out
    assert all(f"`{statement}`" in ticket for statement in statements)
    with pymysql.connect(unix_socket=bad_server.socket, user="root").cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.servers("mysql-8.0")
def test_a_snapshot_goes_to_stdout(mycnf: Mycnf, any_server: Sandbox, tmp_path: Path) -> None:
    """`collect -o -` prints the snapshot, as -o - of every other command prints its report, and makes no file."""
    words = ("collect", "--socket", any_server.socket, "--user", "root", "--window", "0")
    ended = mycnf(*words, "-o", "-")
    assert ended.code == 0
    assert "the snapshot on stdout has the facts of" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["home"]
    (tmp_path / "piped.json").write_text(ended.out, encoding="utf-8")
    assert findings(mycnf("audit", "--snapshot", "piped.json", "--format", "json"))


@pytest.mark.servers("mysql-8.0")
def test_wrong_password(mycnf: Mycnf, any_server: Sandbox) -> None:
    """A refused account is one line and exit code 3."""
    ended = mycnf("audit", "--socket", any_server.socket, "--user", "nobody-of-that-name", "--window", "0")
    assert ended.code == 3
    assert len(ended.err.splitlines()) == 1
    assert "nobody-of-that-name" in ended.err


def test_no_server(mycnf: Mycnf, tmp_path: Path) -> None:
    """No server behind a socket or port is one line and exit code 3."""
    for where in (("--socket", str(tmp_path / "none.sock")), ("--host", "127.0.0.1", "--port", "1")):
        ended = mycnf("audit", *where, "--user", "root")
        assert ended.code == 3
        assert len(ended.err.splitlines()) == 1


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_tcp_is_not_taken_for_this_host(mycnf: Mycnf, server_name: str, start: Start) -> None:
    """Through TCP nothing of this machine is taken for the server's, and the report says why."""
    sandbox = start(server_name, tcp=True, small=True)
    words = ("--host", "127.0.0.1", "--port", str(sandbox.port), "--user", "root", "--window", "0")
    report = json.loads(mycnf("audit", *words, "--format", "json").out)
    assert report["host"] is None
    assert any(s["code"] == "host" for s in report["skipped"])
    described = json.loads(mycnf("audit", *words, "--ram", "64G", "--cpus", "8", "--format", "json").out)
    assert described["host"]["memory"]["total"] == 64 << 30


@pytest.mark.servers("mysql-8.0")
def test_what_is_said_of_a_host_that_was_read(mycnf: Mycnf, any_server: Sandbox, tmp_path: Path) -> None:
    """A configuration describes hosts that can't be read; options replace what they name and leave the rest."""
    words = ("audit", "--socket", any_server.socket, "--user", "root", "--window", "0", "--format", "json")
    read = json.loads(mycnf(*words).out)["host"]
    (tmp_path / "mycnf.toml").write_text('ram = "8G"\ncpus = 77\ndisk = "hdd"\n')
    configured = json.loads(mycnf(*words).out)["host"]
    assert configured["memory"]["total"] == read["memory"]["total"]
    for changing in (configured, read):
        del changing["storage"]["space"]
    assert (configured["cpu"], configured["storage"]) == (read["cpu"], read["storage"])
    described = json.loads(mycnf(*words, "--ram", "64G", "--disk", "nvme").out)["host"]
    assert (described["memory"]["total"], described["cpu"]) == (64 << 30, read["cpu"])
    assert (described["process"]["pid"], described["storage"]["path"]) == (any_server.pid, read["storage"]["path"])
    assert [d["name"] for d in described["storage"]["devices"]] == ["nvme"]


def test_what_is_said_of_a_recorded_host(mycnf: Mycnf, tmp_path: Path) -> None:
    """The options replace what they name of a snapshot's host too; a configuration does not."""
    (tmp_path / "mycnf.toml").write_text('ram = "8G"\ncpus = 77\n')
    recording = CHECKOUT / "advisor" / "demo" / "recording.json"
    for words in (("audit", "--demo"), ("audit", "--snapshot", recording), ("report", recording)):
        hosts = [json.loads(mycnf(*words, "--format", "json", *more).out)["host"] for more in ((), ("--ram", "1G"))]
        assert [host["memory"]["total"] >> 30 for host in hosts] == [23, 1]
        assert hosts[0]["cpu"] == hosts[1]["cpu"]
        assert hosts[0]["cpu"]["logical"] != 77
    ended = mycnf("audit", "--demo", "--snapshot", recording, "--format", "text")
    assert (ended.code, ended.err) == (2, "mycnf: --snapshot and --demo are two different servers; use one of them\n")


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_server_that_dies_on_the_way(server_name: str, start: Start, tmp_path: Path) -> None:
    """Of a server that dies within the window, what was read is reported; one line says so, exit code 3."""
    sandbox = start(server_name, small=True)
    command = [sys.executable, "-m", "advisor", "audit", "--socket", sandbox.socket, "--user", "root"]
    with overheard(sandbox, tmp_path / "general.log") as heard:
        running = subprocess.Popen(
            [*command, "--window", "10", "--format", "json"],  # which it waits through, even if the server ends
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=CHECKOUT,
        )
        eventually(heard.waiting, what="its window begins")
        os.kill(sandbox.pid, signal.SIGKILL)
    out, err = running.communicate(timeout=PATIENCE)
    assert running.returncode == 3
    assert json.loads(out)["server"]["version"]
    assert len(err.decode().splitlines()) == 1


def test_something_else_behind_the_port(mycnf: Mycnf) -> None:
    """A port with another protocol is one line and exit code 3."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        threading.Thread(target=answer, daemon=True).start()
        ended = mycnf("audit", "--host", "127.0.0.1", "--port", str(listener.getsockname()[1]), "--user", "root")
    assert ended.code == 3
    assert len(ended.err.splitlines()) == 1


def test_broken_snapshots(mycnf: Mycnf, tmp_path: Path) -> None:
    """A snapshot cut in half, of a newer version, or none at all is one line and exit code 2."""
    whole = (CHECKOUT / "tests" / "snapshots" / "schema-1.0.json").read_text()
    newer = json.loads(whole)
    newer["schema"] = "2.0"
    for text in (whole[: len(whole) // 2], json.dumps(newer), "", "[mysqld]\nport=3306\n"):
        file = tmp_path / "broken.snap"
        file.write_text(text)
        ended = mycnf("audit", "--snapshot", file)
        assert (ended.code, ended.out) == (2, "")
        assert len(ended.err.splitlines()) == 1


def test_hostile_server_text_is_harmless(mycnf: Mycnf, tmp_path: Path) -> None:
    """Escapes, endless values and numbers beyond all bounds reach no terminal and break nothing."""
    snapshot = json.loads((CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json").read_text())
    snapshot["server"]["variables"].update(
        hostname="\x1b[31mdb1\x1b]0;title\x07\u202egnp",
        version_comment="\x1b[2J" + "A" * 5000,
        tls_version="TLSv1,\x1b[31m",
        max_connections="9" * 400,
        read_buffer_size="9" * 5000,
    )
    file = tmp_path / "hostile.snap"
    file.write_text(json.dumps(snapshot))
    for form in names("audit"):
        ended = mycnf("audit", "--snapshot", file, "--format", form)
        assert ended.code == 1, ended.err
        assert all(c.isprintable() or c == "\n" for c in ended.out.replace("\r\n", "\n"))


def test_a_line_is_kept_for_its_own_option(mycnf: Mycnf, tmp_path: Path) -> None:
    """Advice to write another option than the one on the finding's line names the file, not that line."""
    snapshot = json.loads((CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json").read_text())
    for file in snapshot["files"]["files"]:
        lines = file["text"].splitlines(keepends=True)
        file["text"] = "".join("\n" if "expire_logs" in line else line for line in lines)
    for name in ("binlog_expire_logs_seconds", "expire_logs_days"):
        snapshot["server"]["origins"][name] = {"source": "COMPILE-TIME", "path": ""}
    path = tmp_path / "no-expiry.snap"
    path.write_text(json.dumps(snapshot))
    out = mycnf("audit", "--snapshot", path, "--select", "BIN001,SEC004").out
    assert re.search(r"^  keep +\S+\.cnf  binlog_expire_logs_seconds", out, re.MULTILINE), out
    assert re.search(r"^  keep +\S+\.cnf:\d+  local_infile", out, re.MULTILINE), out


def test_a_setting_and_its_place_fit_the_page(mycnf: Mycnf) -> None:
    """Where both together are wider than a terminal the place has a line to itself."""
    out = mycnf("audit", "--snapshot", CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json").out
    lines = [line for line in out.splitlines() if not line.startswith("  keep ")]
    assert max(map(len, lines)) <= 80
    assert "\n  loose_binlog_expire_logs_seconds = 0\n  /etc/" in out


@pytest.mark.servers("mariadb-11.8", "mysql-8.0")
def test_an_account_that_may_only_set_a_new_password(mycnf: Mycnf, start: Start, server_name: str) -> None:
    """A server that lets such an account in refuses all that an audit asks: it ends, instead of reporting nothing."""
    server = start(server_name, arguments=("--disconnect-on-expired-password=OFF",), small=True)
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER watcher@localhost IDENTIFIED WITH mysql_native_password")
        cursor.execute("ALTER USER watcher@localhost PASSWORD EXPIRE")
    ended = mycnf("audit", "--socket", server.socket, "--user", "watcher", "--window", "0", "--format", "text")
    assert (ended.code, ended.out) == (CONNECTION, "")
    assert "the account's password has expired" in ended.err


def test_a_stopped_server_leaves_its_option_file_to_lint(mycnf: Mycnf, tmp_path: Path) -> None:
    """Where no server listens, the line names the commands that need none."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and no other process gets the port meanwhile
        places = (("--socket", tmp_path / "none.sock"), ("--host", "127.0.0.1", "--port", taken.getsockname()[1]))
        for place in places:
            ended = mycnf("audit", *map(str, place), "--user", "root", "--format", "text")
            assert (ended.code, ended.out) == (CONNECTION, "")
            assert " mycnf lint FILE checks the option file of a stopped server, mycnf audit --demo " in ended.err
            assert "?." not in ended.err
