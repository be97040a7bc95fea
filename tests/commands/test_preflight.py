"""`mycnf preflight` beside the restart itself: what it foretells is what the server then does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from asking import CHECKOUT
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from advisor.preflight.changes import RESTLESS
from probes.sandbox import Sandbox, SandboxError

if TYPE_CHECKING:
    from asking import Ended, Mycnf
    from servers_plugin import Start

CANARY = "kanarienvogel-7391"
BEFORE = """[mysqld]
server_id = 7
sort_buffer_size = 512K
max_connections = 200
long_query_time = 5
innodb_buffer_pool_size = 160M
log_bin = foo
read_buffer_size = 256K
join_buffer_size = 400000
table_open_cache = 100000
innodb_flush_log_at_trx_commit = 2
slow_query_log = 1
innodb_io_capacity = 500
wait_timeout = 1000
default_storage_engine = MyISAM
character_set_server = utf8mb4
tmp_table_size = 32M
innodb_log_buffer_size = 8M
"""
# Values changed, lines taken out and put in; table_open_cache stays as it is, beyond the limit on files.
AFTER = """[mysqld]
server_id = 7
sort_buffer_size = 512K
max_connections = 300
long_query_time = 2.5
innodb_buffer_pool_size = 64M
log_bin = foo
read_buffer_size = 8M
table_open_cache = 100000
innodb_flush_log_at_trx_commit = 1
slow_query_log = 1
innodb_io_capacity = 1500
wait_timeout = 1000
max_allowed_packet = 32M
skip_name_resolve
innodb_log_buffer_size = 16M
sql_mode = ANSI
"""
STATEMENTS = (
    "SET GLOBAL sort_buffer_size = 600000",
    "SET GLOBAL max_connections = 250",
    "SET GLOBAL wait_timeout = 2000",
    "SET GLOBAL net_read_timeout = 77",
    "SET GLOBAL read_only = 1",
    "SET GLOBAL general_log = 1",
    "SET GLOBAL init_connect = 'select 1'",
    "SET GLOBAL innodb_flush_log_at_trx_commit = 1",
    "SET GLOBAL thread_cache_size = 33",
    "SET GLOBAL foreign_key_checks = 0",
    "SET GLOBAL time_zone = '+03:00'",
    "SET GLOBAL innodb_io_capacity_max = 9000",
    "SET GLOBAL table_definition_cache = 777",
    "SET GLOBAL host_cache_size = 50",
    "SET GLOBAL max_heap_table_size = 67108864",
    "SET GLOBAL optimizer_switch = 'index_merge=off'",
    "SET GLOBAL log_output = 'TABLE'",
    "SET GLOBAL character_set_client = latin1",
)
PERSISTING = (
    "SET PERSIST net_write_timeout = 99",
    "SET PERSIST_ONLY innodb_read_io_threads = 6",
    "SET PERSIST lock_wait_timeout = 5000",
    "SET PERSIST tmp_table_size = 9000000",
    "SET PERSIST max_heap_table_size = 33554432",
    "SET GLOBAL max_heap_table_size = 67108864",
)
# The server alone knows how it sizes these: preflight says that they change, and of what.
UNTOLD = frozenset({"innodb_adaptive_hash_index_cells"})


def preflight(mycnf: Mycnf, sandbox: Sandbox, *more: str | Path) -> Ended:
    """A preflight of a sandbox as root."""
    return mycnf("preflight", "--socket", sandbox.socket, "--user", "root", *more)


def items(ended: Ended) -> list[dict[str, Any]]:
    """The items of a preflight printed as JSON, which keeps to its schema."""
    report: dict[str, Any] = json.loads(ended.out)
    contents = {s: json.loads((CHECKOUT / "schemas" / f"{s}.schema.json").read_text()) for s in ("lint", "preflight")}
    known: Registry[Any] = Registry().with_resources(
        (f"{s}.schema.json", Resource.from_contents(c)) for s, c in contents.items()
    )
    Draft202012Validator(contents["preflight"], registry=known).validate(report)
    found: list[dict[str, Any]] = report["items"]
    return found


def run(sandbox: Sandbox, *statements: str) -> None:
    """Run statements as root."""
    with sandbox.connect(autocommit=True) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def variables(sandbox: Sandbox) -> dict[str, str]:
    """SHOW GLOBAL VARIABLES."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        return {name.lower(): value for name, value in cursor.fetchall()}


def written(path: Path, text: str) -> Path:
    """An option file that servers read."""
    path.write_text(text)
    path.chmod(0o644)
    return path


def differing(before: dict[str, str], after: dict[str, str]) -> dict[str, tuple[str, str | None]]:
    """What a restart changed, beside what servers move by themselves."""
    return {n: (v, after.get(n)) for n, v in before.items() if after.get(n) != v and n not in RESTLESS}


def test_a_restart_is_foretold(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Every variable that a restart changes is told with the value that it then has, and no other one is."""
    file = written(tmp_path / "my.cnf", BEFORE)
    sandbox = start(server_name, option_file=file)
    run(sandbox, *STATEMENTS)
    isolation = "tx_isolation" if server_name in ("mysql-5.7", "mariadb-10.11") else "transaction_isolation"
    run(sandbox, f"SET GLOBAL {isolation} = 'READ-COMMITTED'")
    if server_name in ("mysql-8.0", "mysql-9.7"):
        run(sandbox, *PERSISTING)
    written(file, AFTER)
    before = variables(sandbox)
    ended = preflight(mycnf, sandbox, "--format", "json")
    assert ended.code == 1, ended.err
    told = {i["variable"]: (i["running"], i["next"]) for i in items(ended)}
    sandbox.restart()
    real = differing(before, variables(sandbox))
    assert {n: v for n, v in told.items() if n not in UNTOLD} == {n: v for n, v in real.items() if n not in UNTOLD}
    assert all(told[n] == (real[n][0], None) for n in UNTOLD & real.keys())
    assert len(real) > 30


# What brings others along: names of logs, character sets, table caches, and switches.
NAMES_BEFORE = """[mysqld]
server_id = 7
log_bin = foo
relay_log = rel
character_set_server = latin2
lc_time_names = de_DE
slow_query_log_file = ss.log
general_log_file = gg.log
max_connections = 100
performance_schema = ON
"""
NAMES_AFTER = """[mysqld]
server_id = 7
log_bin = bar
character_set_server = utf8mb4
table_open_cache = 800
max_binlog_size = 64M
performance_schema = OFF
thread_cache_size = 5
innodb_buffer_pool_size = 200M
"""


def test_what_follows_is_foretold(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Variables that nobody sets move along with those that somebody does, and are told with what they follow."""
    file = written(tmp_path / "my.cnf", NAMES_BEFORE)
    sandbox = start(server_name, option_file=file)
    written(file, NAMES_AFTER)
    before = variables(sandbox)
    found = items(preflight(mycnf, sandbox, "--format", "json"))
    sandbox.restart()
    real = differing(before, variables(sandbox))
    told = {i["variable"]: (i["running"], i["next"]) for i in found}
    # Of MariaDB's Performance Schema and of a few more the server alone knows what they become.
    untold = {n for n, (_, after) in told.items() if after is None}
    assert {n: v for n, v in told.items() if n not in untold} == {n: v for n, v in real.items() if n not in untold}
    assert untold <= {n for n in real if n in UNTOLD or n.startswith("performance_schema_")}
    follows = {i["variable"]: i["follows"] for i in found}
    assert follows["log_bin_basename"] == ["log_bin"]
    assert follows["character_set_client"] == ["character_set_server"]


@pytest.mark.servers("mysql-8.0")
def test_a_boolean_that_was_persisted_as_a_number(
    mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path
) -> None:
    """MySQL 8.0.15 keeps what SET PERSIST_ONLY was given, and stops at a boolean that is neither ON nor OFF."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", "[mysqld]\n"), small=True)
    run(sandbox, "SET PERSIST_ONLY read_only = 1")
    (refused,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (refused["kind"], refused["help"]) == ("refused", "RESET PERSIST read_only")
    with pytest.raises(SandboxError):
        sandbox.restart()


def test_a_server_that_nobody_touched(mycnf: Mycnf, any_server: Sandbox) -> None:
    """An untouched server, whatever its series, is told to come back as it is, with exit code 0."""
    ended = preflight(mycnf, any_server, "--format", "json")
    assert (items(ended), ended.code) == ([], 0)
    assert "The next restart changes nothing." in preflight(mycnf, any_server).out


REFUSED = """[mysqld]
sort_buffer_size = 1M
innodb_bufer_pool_size = 1G
max_connections = 1.5G
"""


def test_what_is_refused_does_not_start(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Lines that the server would stop at come first, with their places; and it does stop."""
    file = written(tmp_path / "my.cnf", "[mysqld]\n")
    sandbox = start(server_name, option_file=file, small=True)
    for lines, numbers in ((REFUSED, [3, 4]), ("[mysqld\n", [1]), ("port = 1\n[mysqld]\n", [1])):
        written(file, lines)
        ended = preflight(mycnf, sandbox, "--format", "json", "--fail-on", "error")
        refused = [i for i in items(ended) if i["kind"] == "refused"]
        assert [(i["path"], i["line"]) for i in refused] == [(str(file), n) for n in numbers]
        assert ended.code == 1
    written(file, REFUSED)
    with pytest.raises(SandboxError):
        sandbox.restart()


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_a_broken_file_of_persisted_options(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """A mysqld-auto.cnf that is no JSON is refused, and the server does not start with it."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", "[mysqld]\n"), small=True)
    run(sandbox, "SET PERSIST max_connections = 30")
    auto = Path(sandbox.datadir, "mysqld-auto.cnf")
    auto.write_text(auto.read_text()[:20])
    told = items(preflight(mycnf, sandbox, "--format", "json"))
    assert [i["path"] for i in told if i["kind"] == "refused"] == [str(auto)]
    with pytest.raises(SandboxError):
        sandbox.restart()


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_persisted_values_outrank_the_command_line(
    mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path
) -> None:
    """Of file, command line and persisted value the last wins, dynamic or not, unless the server is told otherwise."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 300000\n")
    sandbox = start(server_name, option_file=file, arguments=["--max-connections=111", "--back-log=77"])
    run(sandbox, "SET PERSIST_ONLY back_log = 88", "SET PERSIST_ONLY max_connections = 122")
    run(sandbox, "SET PERSIST_ONLY sort_buffer_size = 400000")
    told = {i["variable"]: i["next"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    before = variables(sandbox)
    sandbox.restart()
    assert told == {n: after for n, (_, after) in differing(before, variables(sandbox)).items()}
    assert told["back_log"] == "88"
    assert told["max_connections"] == "122"
    written(file, "[mysqld]\nsort_buffer_size = 300000\npersisted_globals_load = OFF\n")
    told = {i["variable"]: i["next"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    before = variables(sandbox)
    sandbox.restart()
    assert told == {n: after for n, (_, after) in differing(before, variables(sandbox)).items()}
    assert told["back_log"] == "77"


LINES_KEEP = (
    "SET GLOBAL sort_buffer_size = 600000",
    "SET GLOBAL init_connect = 'set @a = \"#1\"'",
    "SET GLOBAL time_zone = '+03:00'",
    "SET GLOBAL max_allowed_packet = 32 * 1024 * 1024",
    "SET GLOBAL optimizer_switch = 'index_merge=off'",
    "SET GLOBAL sql_mode = 'ANSI'",
    "SET GLOBAL long_query_time = 0.25",
    "SET GLOBAL general_log = 1",
)


def test_lines_keep_what_runs(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """With the advised lines in the file, where they were said to belong, values of SET GLOBAL outlive the restart."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 1M\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(sandbox, *LINES_KEEP)
    lost = items(preflight(mycnf, sandbox, "--format", "json"))
    # MySQL 5.7 doesn't tell, and this file is as young as the server.
    assert {i["kind"] for i in lost} <= ({"lost", "changed"} if server_name == "mysql-5.7" else {"lost"})
    lines = file.read_text().splitlines()
    for item in lost:
        path, _, number = item["write_at"].partition(":")
        assert path == str(file)
        line = item["actions"][0]["option_line"]
        if number:
            lines[int(number) - 1] = line
        else:
            lines.append(line)
    assert len(lines) >= 2 + len(LINES_KEEP) - 1
    file.write_text("\n".join(lines) + "\n")
    before = variables(sandbox)
    assert items(preflight(mycnf, sandbox, "--format", "json")) == []
    sandbox.restart()
    assert differing(before, variables(sandbox)) == {}


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_no_advice_trades_durability_away(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """A value that loses commits in a crash is told, and no advice keeps it or brings it about; a safe one is kept."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsync_binlog = 0\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(sandbox, "SET GLOBAL innodb_flush_log_at_trx_commit = 2", "SET GLOBAL sync_binlog = 1")
    found = {i["variable"]: i for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    assert found["innodb_flush_log_at_trx_commit"]["actions"] == []
    (keep,) = found["sync_binlog"]["actions"]
    assert keep["option_line"] == "sync_binlog = 1"
    written(file, "[mysqld]\nsync_binlog = 500\ndefault_storage_engine = MyISAM\n")
    run(sandbox, "SET GLOBAL sync_binlog = 50")
    found = {i["variable"]: i for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    assert found["sync_binlog"]["actions"] == []
    assert "survives a crash" in found["sync_binlog"]["help"]
    assert [a["option_line"] for a in found["default_storage_engine"]["actions"]] == ["default_storage_engine = InnoDB"]


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_statements_are_taken(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Each statement that is printed runs, and after those that keep a value nothing more is lost."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 1M\nback_log = 60\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(sandbox, *LINES_KEEP, "SET PERSIST_ONLY back_log = 50")
    written(file, "[mysqld]\nsort_buffer_size = 1M\nback_log = 60\njoin_buffer_size = 1M\n")
    found = items(preflight(mycnf, sandbox, "--format", "json"))
    statements = [a["statement"] for i in found for a in i["actions"] if a["statement"]]
    assert "SET PERSIST_ONLY back_log = 60;" in statements
    run(sandbox, *(s for s in statements if s.startswith("SET PERSIST")))
    kept = {i["variable"] for i in found if any((a["statement"] or "").startswith("SET PERSIST") for a in i["actions"])}
    still = {i["variable"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    assert kept
    assert not kept & still
    run(sandbox, *(s for s in statements if s.startswith("SET GLOBAL")))


@pytest.mark.servers("mysql-5.7", "mysql-8.0", "mariadb-10.11")
def test_a_snapshot_tells_the_same(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
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
    """Of MySQL 5.7, which doesn't tell where values come from, nothing is certain, and the report says why."""
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
    told = {i["variable"]: (i["next"], i["source"], i["path"], i["line"]) for i in items(ended)}
    assert told["max_connections"] == ("77", "command line", "/etc/default/mariadb", 2)
    assert told["sort_buffer_size"] == ("1048576", "command line", "/etc/default/mariadb", 2)
    assert told["join_buffer_size"] == ("1048576", "file", "/etc/mysql/conf.d/a.cnf", 2)
    assert told["open_files_limit"][0] == "12000"


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
    """Of a server that can't be told to be on this host the report says that its files were not read."""
    sandbox = start("mariadb-10.11", tcp=True, small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000")
    words = ("--host", "127.0.0.1", "--port", str(sandbox.port), "--user", "root")
    ended = mycnf("preflight", *words, "--format", "json")
    assert {i["variable"] for i in items(ended)} == {"sort_buffer_size"}
    assert "files" in {s["part"] for s in json.loads(ended.out)["skipped"]}


def test_the_account_needs_no_more_than_audits_do(mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """An account with no privilege at all is told the same."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 1M\n")
    sandbox = start("mysql-8.0", option_file=file, small=True)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000", "CREATE USER nobody@localhost")
    mine = mycnf("preflight", "--socket", sandbox.socket, "--user", "nobody", "--format", "json")
    assert items(mine) == items(preflight(mycnf, sandbox, "--format", "json"))
    with pytest.raises(pymysql.err.OperationalError), sandbox.connect(user="nobody").cursor() as cursor:
        cursor.execute("SET GLOBAL sort_buffer_size = 1")
