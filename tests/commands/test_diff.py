"""`mycnf diff` compared with real servers: it reports what they report of themselves."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from diff_command import counted, diff, differing, plainly_alike, snapshot
from login_paths import write_login_file
from mycnf_command import CHECKOUT
from option_file_generator import compose
from server_restart import run, variables, written

from advisor.catalog import load
from probes.sandbox import Binary, Sandbox, SandboxError

if TYPE_CHECKING:
    from mycnf_command import Mycnf
    from real_servers import Server, Start

FILE = """[mysqld]
server-id = 7
MAX_CONNECTIONS = 180
innodb_buffer_pool_size = 64M
long_query_time = 2.5
slow_query_log = ON
sort_buffer_size = 512K
default_time_zone = +02:00
character_set_server = utf8mb4
loose_performance_schema_hosts_size = 40
"""
# How a server stores a bare value, written as few would write it.
CAPITALS = frozenset({"mysql-5.7", "mysql-8.0", "mysql-9.7", "mariadb-11.4"})
RECORDED = CHECKOUT / "examples" / "snapshots" / "mariadb-10.11.json"


def file_for(name: str, folder: Path) -> Path:
    """The file above as each server takes it: not all read names in capitals."""
    text = FILE.replace("MAX_CONNECTIONS", "max-connections") if name in CAPITALS else FILE
    return written(folder / "my.cnf", text)


def test_a_file_is_its_server(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """The server that a file started differs from it by the starter's arguments, and then by what was set."""
    file = file_for(server_name, tmp_path)
    sandbox = start(server_name, option_file=file)
    before = diff(mycnf, file, sandbox.socket)
    run(sandbox, "SET GLOBAL sort_buffer_size = 600000", "SET GLOBAL max_connections = 170")
    after = diff(mycnf, sandbox.socket, file)
    assert (differing(before), counted(before)) == (set(), [])
    assert before["alike"] > 350
    # What depends on max_connections follows the file on one side, and stays on the other.
    assert differing(after) >= {"sort_buffer_size", "max_connections"}
    pairs = {pair["variable"]: pair for pair in after["differences"]}
    assert all(pairs[n]["derived"] for n in differing(after) - {"sort_buffer_size", "max_connections"})
    assert [pairs["max_connections"][side]["value"] for side in "ab"] == ["170", "180"]
    assert pairs["max_connections"]["b"]["line"] == 3
    if server_name != "mysql-5.7":
        assert pairs["max_connections"]["a"]["origin"] == "set at run time"


def test_made_up_files_are_their_servers(mycnf: Mycnf, binary: Binary, start: Start, tmp_path: Path) -> None:
    """A file that was made up without a look at the verdict differs in nothing from the server started with it."""
    catalog = load(binary.target)
    chance = random.Random(f"diff {catalog.target}")  # noqa: S311 - no secrets here
    for _ in range(20):
        file = written(tmp_path / "made.cnf", "[mysqld]\n" + "\n".join(compose(catalog, chance, 24)) + "\n")
        try:
            sandbox = start(binary.name, option_file=file)
            break
        except SandboxError:
            continue
    report = diff(mycnf, file, sandbox.socket)
    assert (differing(report), counted(report)) == (set(), [])


def test_a_snapshot_is_its_server(mycnf: Mycnf, any_server: Sandbox, tmp_path: Path) -> None:
    """A server and a snapshot of it are alike in everything, whichever of them comes first."""
    snap = snapshot(mycnf, any_server, tmp_path / "db.json")
    there, back = diff(mycnf, snap, any_server.socket), diff(mycnf, "server", snap, "--socket", any_server.socket)
    for report in (there, back):
        assert not report["differs"]
        assert report["differences"] == report["only_a"] == report["only_b"] == report["by_nature"] == []
    assert there["alike"] == back["alike"] > 450


def test_defaults_are_an_untouched_server(mycnf: Mycnf, any_server: Sandbox) -> None:
    """A version's defaults as the catalog knows them are what its untouched server has, but for the host's part."""
    target = any_server.binary.target
    report = diff(mycnf, str(target), any_server.socket)
    catalog = load(target)
    assert (differing(report), counted(report)) == (set(), [])
    options = [catalog.find_variable(pair["variable"]) for pair in report["by_host"]]
    assert all(option is not None and option.host for option in options)
    assert report["alike"] > 400


# Two words of servers for one thing: all addresses, the default engine, and the old method.
ONE_MEANING = {
    "bind_address": {"*", ""},
    "default_tmp_storage_engine": {"InnoDB", ""},
    "innodb_flush_method": {"fsync", ""},
}


@pytest.fixture(
    params=["mysql-5.7 mysql-8.0", "mysql-8.0 mysql-9.7", "mariadb-10.11 mariadb-11.8", "mysql-8.0 mariadb-11.4"]
)
def both(request: pytest.FixtureRequest, server: Server, start: Start, tmp_path: Path) -> tuple[Sandbox, Sandbox]:
    """An untouched server, and one of another series or flavour with the file above."""
    one, two = request.param.split()
    return server(one), start(two, option_file=file_for(two, tmp_path))


def test_two_servers_as_they_print_themselves(mycnf: Mycnf, both: tuple[Sandbox, Sandbox]) -> None:
    """Of what both print, exactly that differs which differs in a plain comparison of SHOW GLOBAL VARIABLES."""
    a, b = both
    report = diff(mycnf, a.socket, f"socket:{b.socket}")
    mine, other = variables(a), variables(b)
    common = mine.keys() & other.keys()
    plainly = {name for name in common if not plainly_alike(mine[name], other[name])}
    plainly -= {name for name in plainly & ONE_MEANING.keys() if {mine[name], other[name]} == ONE_MEANING[name]}
    named = {
        name
        for pair in (*report["differences"], *report["by_nature"])
        for name in (pair["variable"], *pair["also"], pair["a"]["name"])
    }
    # One setting that each side prints under a name of its own is no common variable.
    assert named & common == plainly
    assert named >= {"sort_buffer_size", "innodb_buffer_pool_size", "slow_query_log", "long_query_time"}
    lone = {one["name"] for side in ("only_a", "only_b") for one in report[side]}
    assert not lone & common


def test_what_matters_comes_first(mycnf: Mycnf, any_server: Sandbox, tmp_path: Path) -> None:
    """Durability, SQL modes and replication stand before sizes, and those before the rest."""
    lines = (
        "net_retry_count=20\nread_buffer_size=1M\nlog_bin_trust_function_creators=1\nsync_binlog=17\nsql_mode=ansi\n"
    )
    file = written(tmp_path / "my.cnf", f"[mysqld]\nserver_id=3\nbinlog_cache_size=1M\n{lines}")
    report = diff(mycnf, file, any_server.socket)
    names = [pair["variable"] for pair in report["differences"] if pair["a"]["origin"] == "file"]
    areas = [pair["area"] for pair in report["differences"] if pair["a"]["origin"] == "file"]
    assert names[0] == "sync_binlog"
    assert set(names) == {"sync_binlog", "sql_mode", "log_bin_trust_function_creators", "binlog_cache_size",
                          "read_buffer_size", "net_retry_count"}  # fmt: skip
    assert [area for area, _ in itertools.groupby(areas)] == [*dict.fromkeys(areas)]
    assert areas.index("data") < areas.index("memory") < areas.index("limits")
    assert "server_id" in {pair["variable"] for pair in report["by_nature"]}


def test_a_server_by_every_word(mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """A server is the same by its socket, host and port, client's option file or the connection options."""
    sandbox = start("mysql-8.0", tcp=True, small=True)
    account = written(tmp_path / "client.cnf", f"[client]\nsocket={sandbox.socket}\nuser=root\n")
    port = sandbox.port
    words = (f"tcp:root@127.0.0.1:{port}", f"127.0.0.1:{port}", f"defaults:{account}", sandbox.socket)
    for word in words:
        report = diff(mycnf, word, "server", "--socket", sandbox.socket)
        assert (report["differs"], report["a"]["kind"], report["a"]["name"]) == (False, "server", str(word))


@pytest.mark.servers("mysql-5.7", "mariadb-10.11")
def test_a_server_by_login_path_and_by_group(mycnf: Mycnf, any_server: Sandbox, tmp_path: Path) -> None:
    """login:NAME takes the lines of that login path, group:SUFFIX those of the groups with that suffix."""
    home = tmp_path / "home"
    home.mkdir()
    write_login_file(home / ".mylogin.cnf", f'[there]\nuser = "root"\nsocket = "{any_server.socket}"\n')
    written(home / ".my.cnf", f"[client]\nuser=nobody\n[client_there]\nuser=root\nsocket={any_server.socket}\n")
    for word in ("login:there", "group:_there"):
        report = diff(mycnf, word, any_server.socket)
        assert (report["differs"], report["a"]["kind"], report["a"]["name"]) == (False, "server", word)


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_persisted_values_are_reported(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """What SET PERSIST stored is told apart from what SET GLOBAL and --skip-log-bin set."""
    file = file_for(server_name, tmp_path)
    sandbox = start(server_name, option_file=file, small=True)
    assert "--skip-log-bin" in sandbox.arguments
    run(sandbox, "SET PERSIST sort_buffer_size = 700000", "SET GLOBAL read_buffer_size = 262144")
    pairs = {p["variable"]: p["b"]["origin"] for p in diff(mycnf, file, sandbox.socket)["differences"]}
    assert (pairs["sort_buffer_size"], pairs["read_buffer_size"]) == ("persisted", "set at run time")
    assert pairs["log_bin"] == "command line"


@pytest.mark.servers("mysql-5.7")
def test_a_source_that_is_not_reported(server_name: str, mycnf: Mycnf, start: Start, tmp_path: Path) -> None:
    """A value that neither the file's line nor the default explains has no source, in diff and in history."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nmax_connections = 180\nsort_buffer_size = 512K\n")
    sandbox = start(server_name, option_file=file, arguments=("--net-read-timeout=40", "--net-write-timeout=70"))
    keep = ("collect", "--socket", sandbox.socket, "--user", "root", "--window", "0", "--keep")
    assert mycnf(*keep).code == 0
    changed = ("max_connections = 300", "long_query_time = 3", "net_read_timeout = 50")
    run(sandbox, *(f"SET GLOBAL {words}" for words in changed))
    pairs = {pair["variable"]: pair for pair in diff(mycnf, file, sandbox.socket)["differences"]}
    assert pairs["net_write_timeout"]["b"]["origin"] == "command line"
    for pair in (pairs[words.partition(" ")[0]] for words in changed):
        assert (pair["b"]["origin"], pair["b"]["line"], pair["derived"]) == ("unknown", None, False)
    other = written(tmp_path / "other.cnf", "[mysqld]\n")
    told = {pair["variable"]: pair["b"] for pair in diff(mycnf, other, sandbox.socket)["differences"]}
    assert (told["sort_buffer_size"]["origin"], told["sort_buffer_size"]["line"]) == ("file", 3)
    assert mycnf("diff", file, sandbox.socket, "--user", "root").out.count("source not reported") == len(changed)
    assert mycnf(*keep).code == 0
    (server,) = json.loads(mycnf("history", "--isolated", "--format", "json").out)["servers"]
    sources = {setting["name"]: setting["source"] for setting in server["changes"][0]["settings"]}
    assert sources == dict.fromkeys((words.partition(" ")[0] for words in changed), "")


@pytest.mark.servers("mysql-8.0", "mariadb-11.8", whole="mysql-5.7 mysql-9.7 mariadb-10.11")
def test_a_variable_that_no_option_sets(server_name: str, mycnf: Mycnf, any_server: Sandbox) -> None:
    """SET GLOBAL of unique_checks is a difference from the defaults, with its source."""
    run(any_server, "SET GLOBAL unique_checks = 0")
    try:
        report = diff(mycnf, str(any_server.binary.target), any_server.socket)
    finally:
        run(any_server, "SET GLOBAL unique_checks = 1")
    (pair,) = (pair for pair in report["differences"] if pair["variable"] == "unique_checks")
    assert (pair["a"]["value"], pair["b"]["value"], pair["derived"]) == ("ON", "OFF", False)
    assert pair["b"]["origin"] == ("unknown" if server_name == "mysql-5.7" else "set at run time")


def test_without_a_server(mycnf: Mycnf, tmp_path: Path) -> None:
    """No connection is exit 3, and nothing is printed that could be taken for an answer."""
    ended = mycnf("diff", RECORDED, f"socket:{tmp_path}/none.sock", "--user", "root")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("given", [("--socket", "s"), ("--user", "root"), ("--defaults-file", "x.cnf")])
def test_options_of_a_connection_without_a_server(given: tuple[str, str], mycnf: Mycnf, tmp_path: Path) -> None:
    """Where neither side is a running server, an option for one is refused instead of ignored."""
    (tmp_path / "my.cnf").write_text("[mysqld]\nport = 3307\n")
    ended = mycnf("diff", "my.cnf", "mysql-8.4", *given)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"mycnf: neither side is a running server, so {given[0]} has no effect; omit it, or compare with server\n"
    )
