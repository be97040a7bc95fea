"""`mycnf preflight` as its user meets it: snapshots, staged files, bad words, and what a reader sees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from mycnf_command import CHECKOUT
from server_restart import items, preflight, run, written

from advisor.core.errors import CONNECTION
from probes.sandbox import Sandbox

if TYPE_CHECKING:
    from mycnf_command import Mycnf
    from real_servers import Start

CANARY = "kanarienvogel-7391"


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11")
def test_a_snapshot_reports_the_same(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Live and from a snapshot the items are the same, and no planted secret is in any output."""
    secret = f"loose_wsrep_sst_auth = root:{CANARY}\nreport_password = {CANARY}\n"
    file = written(tmp_path / "my.cnf", f"[mysqld]\n{secret}")
    sandbox = start(server_name, option_file=file, small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000", f"SET GLOBAL init_connect = 'set password = \"{CANARY}\"'")
    written(file, f"[mysqld]\n{secret}unheard_of_password = {CANARY}\n")
    snap = tmp_path / "db.snap"
    saved = mycnf("collect", "--socket", sandbox.socket, "--user", "root", "--window", "0", "-o", snap)
    live = preflight(mycnf, sandbox, "--format", "json")
    again = mycnf("preflight", "--snapshot", snap, "--format", "json")
    text = preflight(mycnf, sandbox)
    assert items(live) == items(again)
    assert live.code == again.code == text.code == 1
    assert "sort_buffer_size" in {i["variable"] for i in items(live)}
    for output in (saved.err, live.out, live.err, again.out, text.out, text.err, snap.read_text()):
        assert CANARY not in output


def test_57_says_that_it_was_inferred(mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """Of MySQL 5.7, which doesn't report where values come from, nothing is certain, and the report says why."""
    sandbox = start("mysql-5.7", option_file=written(tmp_path / "my.cnf", "[mysqld]\n"), small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000")
    ended = preflight(mycnf, sandbox, "--format", "json")
    assert [(i["variable"], i["kind"], i["confidence"], i["origin"]) for i in items(ended)] == [
        ("sort_buffer_size", "lost", "likely", None)
    ]
    assert "origins" in {s["part"] for s in json.loads(ended.out)["skipped"]}


UNIT = """[Service]
Type=notify
EnvironmentFile=-/etc/default/mariadb
ExecStart=/usr/sbin/mariadbd --defaults-file=/etc/mysql/my.cnf --user=root \\
  --datadir={datadir} --socket={socket} --skip-networking \\
  $MYSQLD_OPTS $_WSREP_NEW_CLUSTER $_WSREP_START_POSITION
LimitNOFILE=15000
"""


@pytest.fixture
def staged(start: Start, tmp_path: Path) -> tuple[Sandbox, Path]:
    """A running server, and a directory with the files that it would be started on next time."""
    sandbox = start("mariadb-10.11", option_file=written(tmp_path / "my.cnf", "[mysqld]\n"))
    root = tmp_path / "staged"
    for folder in ("etc/mysql/conf.d", "etc/default", "etc/systemd/system/mariadb.service.d", "lib/systemd/system"):
        (root / folder).mkdir(parents=True)
    unit = UNIT.format(datadir=sandbox.datadir, socket=sandbox.socket)
    (root / "lib/systemd/system/mariadb.service").write_text(unit)
    (root / "etc/systemd/system/mariadb.service.d/limits.conf").write_text("[Service]\nLimitNOFILE=12000\n")
    (root / "etc/default/mariadb").write_text("# options\nMYSQLD_OPTS='--max-connections=77 --sort-buffer-size 1M'\n")
    (root / "etc/mysql/my.cnf").write_text("[mysqld]\nmax_connections = 500\n!includedir /etc/mysql/conf.d\n")
    (root / "etc/mysql/conf.d/a.cnf").write_text("[mysqld]\njoin_buffer_size = 1M\n")
    return sandbox, root


def test_a_copy_of_the_host_s_files(mycnf: Mycnf, staged: tuple[Sandbox, Path]) -> None:
    """Below --root stand unit, drop-ins, environment file and option files, each value with its own place."""
    sandbox, root = staged
    ended = preflight(mycnf, sandbox, "--root", root, "--format", "json")
    assert json.loads(ended.out)["start"]["service"] == "mariadb.service"
    by_variable = {i["variable"]: (i["next"], i["source"], i["path"], i["line"]) for i in items(ended)}
    assert by_variable["max_connections"] == ("77", "command line", "/etc/default/mariadb", 2)
    assert by_variable["sort_buffer_size"] == ("1048576", "command line", "/etc/default/mariadb", 2)
    assert by_variable["join_buffer_size"] == ("1048576", "file", "/etc/mysql/conf.d/a.cnf", 2)
    assert by_variable["open_files_limit"][0] == "12000"


def refused_below(mycnf: Mycnf, sandbox: Sandbox, root: Path) -> list[dict[str, Any]]:
    """What would be refused of the files below a directory."""
    return [i for i in items(preflight(mycnf, sandbox, "--root", root, "--format", "json")) if i["kind"] == "refused"]


def test_a_word_that_is_no_option(mycnf: Mycnf, staged: tuple[Sandbox, Path]) -> None:
    """What the server would stop at on its command line is refused, with the line of the unit or of its environment."""
    sandbox, root = staged
    (root / "etc/default/mariadb").write_text("MYSQLD_OPTS='--max-connectoins=77 nonsense'\n")
    refused = refused_below(mycnf, sandbox, root)
    assert {(i["name"], i["path"], i["line"]) for i in refused} == {
        ("unknown-option", "/etc/default/mariadb", 1),
        ("syntax-error", "/etc/default/mariadb", 1),
    }
    unit = root / "lib/systemd/system/mariadb.service"
    unit.write_text("[Service]\nExecStart=/usr/sbin/mariadbd --defaults-file=/gone\n")
    assert "/gone" in refused_below(mycnf, sandbox, root)[0]["message"]


def test_what_a_reader_sees(mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """On a page of 80 columns: the sentence first, each value with its place, and lines alone may be longer."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 1M\n")
    sandbox = start("mysql-8.0", option_file=file, small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000", "SET GLOBAL sql_mode = 'ANSI'")
    ended = preflight(mycnf, sandbox)
    assert "The next restart will lose 2 values." in ended.out
    assert f"keep      {file}:2" in ended.out
    assert "sort_buffer_size = 600000\n" in ended.out
    long = [line for line in ended.out.splitlines() if len(line) > 80 and str(tmp_path) not in line]
    assert all("sql_mode = " in line for line in long)
    out = tmp_path / "report.txt"
    assert preflight(mycnf, sandbox, "-o", out).out == ""
    assert "lose 2 values" in out.read_text()


def test_bad_words(mycnf: Mycnf, tmp_path: Path) -> None:
    """No server is exit 3; a snapshot that is none, a directory or unit that isn't there exit 2; each is one line."""
    snapshot = CHECKOUT / "tests" / "snapshots" / "schema-1.0.json"
    for code, words in (
        (3, ("--socket", tmp_path / "none.sock", "--user", "root")),
        (2, ("--snapshot", tmp_path / "none.snap")),
        (2, ("--snapshot", snapshot, "--root", tmp_path / "none")),
        (2, ("--snapshot", snapshot, "--root", tmp_path, "--service", "nothing")),
        (2, ("--snapshot", snapshot, "--service", "mysql")),
    ):
        ended = mycnf("preflight", *words)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (code, "", 1), ended.err


def test_hostile_snapshots(mycnf: Mycnf, tmp_path: Path) -> None:
    """Escapes, endless values and numbers beyond all bounds reach no terminal and break nothing."""
    snapshot = json.loads((CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json").read_text())
    snapshot["taken_at"] = "yesterday"
    snapshot["server"]["variables"].update(
        hostname="\x1b[31mdb1\x1b]0;title\x07\u202egnp",
        max_connections="9" * 400,
        table_open_cache="\u00b2",
        open_files_limit="9" * 5000,
        read_buffer_size="9" * 5000,
        expire_logs_days="1e999",
        sql_mode="\x1b[2J,ANSI",
    )
    for name in ("sql_mode", "read_buffer_size", "max_connections", "expire_logs_days", "table_open_cache"):
        snapshot["server"]["origins"][name] = {"source": "SQL", "path": ""}
    snapshot["files"]["command_line"] = ["mariadbd", "--\x1b[31m", "--=", "--max-connections", "--sql-mode=\x07"]
    file = tmp_path / "hostile.snap"
    file.write_text(json.dumps(snapshot))
    for form in ("text", "json"):
        ended = mycnf("preflight", "--snapshot", file, "--format", form)
        assert (ended.code, ended.err) == (1, "")
        assert all(c.isprintable() or c == "\n" for c in ended.out)


def test_an_old_snapshot(mycnf: Mycnf) -> None:
    """A snapshot from before preflight was there is looked at all the same."""
    ended = mycnf("preflight", "--snapshot", CHECKOUT / "tests" / "snapshots" / "schema-1.0.json", "--format", "json")
    assert ended.code in (0, 1), ended.err
    items(ended)


def test_through_tcp_the_files_are_unknown(mycnf: Mycnf, start: Start) -> None:
    """Of a server that is not known to be on this host the report says that its files were not read."""
    sandbox = start("mariadb-10.11", tcp=True, small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000")
    words = ("--host", "127.0.0.1", "--port", str(sandbox.port), "--user", "root")
    ended = mycnf("preflight", *words, "--format", "json")
    assert {i["variable"] for i in items(ended)} == {"sort_buffer_size"}
    assert "files" in {s["part"] for s in json.loads(ended.out)["skipped"]}


def test_a_server_that_shows_no_variables(mycnf: Mycnf, start: Start) -> None:
    """MariaDB refuses SHOW GLOBAL VARIABLES without session memory: nothing is compared, and that is no success."""
    sandbox = start("mariadb-10.11", small=True)
    run(sandbox, "SET GLOBAL max_session_mem_used = 65536")
    for command in (("preflight",), ("audit", "--window", "0")):
        ended = mycnf(*command, "--socket", sandbox.socket, "--user", "root")
        assert (ended.code, ended.out) == (CONNECTION, "")
        assert "no variables" in ended.err
        assert "max-session-mem-used" in ended.err


def test_the_account_needs_no_more_than_audits_do(mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """An account with no privilege at all gets the same report."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 1M\n")
    sandbox = start("mysql-8.0", option_file=file, small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000", "CREATE USER nobody@localhost")
    mine = mycnf("preflight", "--socket", sandbox.socket, "--user", "nobody", "--format", "json")
    assert items(mine) == items(preflight(mycnf, sandbox, "--format", "json"))
    with pytest.raises(pymysql.err.OperationalError), sandbox.connect(user="nobody").cursor() as cursor:
        cursor.execute("SET GLOBAL sort_buffer_size = 1")
