"""`mycnf preflight` compared with the restart itself: what it predicts is what the server then does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from server_restart import QUICKLY, by_newer_name, differing, items, preflight, run, stops, variables, written

if TYPE_CHECKING:
    from mycnf_command import Mycnf
    from real_servers import Start

    from probes.sandbox import Sandbox

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
# Values changed, lines taken out and put in; table_open_cache is unchanged, beyond the limit on files.
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


def test_a_restart_is_predicted(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Every variable that a restart changes is reported with the value that it then has, and no other one is."""
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
    by_variable = {i["variable"]: (i["running"], i["next"]) for i in items(ended)}
    sandbox.restart()
    real = differing(before, variables(sandbox))
    assert by_newer_name(by_variable) == by_newer_name(real)
    assert len(by_variable) == len(by_newer_name(real)) > 30


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


def test_what_follows_is_predicted(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Variables not set explicitly change with those that are, and are reported with what they follow."""
    file = written(tmp_path / "my.cnf", NAMES_BEFORE)
    sandbox = start(server_name, option_file=file)
    written(file, NAMES_AFTER)
    before = variables(sandbox)
    found = items(preflight(mycnf, sandbox, "--format", "json"))
    sandbox.restart()
    real = differing(before, variables(sandbox))
    by_variable = {i["variable"]: (i["running"], i["next"]) for i in found}
    # Of MariaDB's Performance Schema the server alone knows what it becomes.
    untold = {n for n, (_, after) in by_variable.items() if after is None}
    known = {n: v for n, v in by_variable.items() if n not in untold}
    assert by_newer_name(known) == by_newer_name({n: v for n, v in real.items() if n not in untold})
    assert untold <= {n for n in real if n.startswith("performance_schema_")}
    follows = {i["variable"]: i["follows"] for i in found}
    assert follows["log_bin_basename"] == ["log_bin"]
    assert follows["character_set_client"] == ["character_set_server"]


@pytest.mark.servers("mysql-8.0")
def test_a_boolean_that_was_persisted_as_a_number(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """MySQL 8.0.15 keeps what SET PERSIST_ONLY was given, and stops at a boolean that is neither ON nor OFF."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST_ONLY read_only = 1")
    (refused,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (refused["kind"], refused["help"]) == ("refused", "RESET PERSIST read_only")
    assert stops(sandbox)


@pytest.mark.servers("mysql-9.7")
def test_a_persisted_boolean_at_which_the_others_are_lost(
    mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path
) -> None:
    """MySQL 9.7.4 keeps a 1 for InnoDB's booleans, cannot set it, and sets nothing that was persisted later."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST wait_timeout = 1234", "SET PERSIST_ONLY innodb_print_all_deadlocks = 1")
    run(sandbox, "SET PERSIST long_query_time = 3")
    (lost,) = items(preflight(mycnf, sandbox, "--format", "json"))
    assert (lost["kind"], lost["option"]) == ("lost", "innodb_print_all_deadlocks")
    assert "nor what was persisted later" in lost["message"]
    before = variables(sandbox)
    sandbox.restart()
    assert differing(before, variables(sandbox)) == {"long_query_time": ("3.000000", "10.000000")}


def test_an_untouched_server(mycnf: Mycnf, any_server: Sandbox) -> None:
    """For an untouched server of any series no change is predicted, with exit code 0."""
    ended = preflight(mycnf, any_server, "--format", "json")
    assert (items(ended), ended.code) == ([], 0)
    assert "The next restart changes nothing." in preflight(mycnf, any_server).out


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.8")
def test_an_untouched_server_that_listens_on_a_port(
    mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path
) -> None:
    """A server on a TCP port reports that port to its source (report_port), and does so again after a restart."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True, tcp=True)
    assert items(preflight(mycnf, sandbox, "--format", "json")) == []


REFUSED = """[mysqld]
sort_buffer_size = 1M
innodb_bufer_pool_size = 1G
max_connections = 1.5G
"""


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-11.8")
def test_an_instrument_that_stays_off(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Without the Performance Schema its sizes are 0 on MySQL, before and after."""
    (tmp_path / "quick.cnf").write_text(QUICKLY)
    sandbox = start(server_name, option_file=tmp_path / "quick.cnf", small=True)
    assert items(preflight(mycnf, sandbox, "--format", "json")) == []


@pytest.mark.servers("mysql", "mariadb-11.8")  # the reader of MariaDB's options is one
def test_what_is_refused_does_not_start(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """Lines that the server would stop at come first, with their places; and it does stop."""
    file = written(tmp_path / "my.cnf", QUICKLY)
    sandbox = start(server_name, option_file=file, small=True)
    for lines, numbers in ((REFUSED, [3, 4]), ("[mysqld\n", [1]), ("port = 1\n[mysqld]\n", [1])):
        written(file, lines)
        ended = preflight(mycnf, sandbox, "--format", "json", "--fail-on", "error")
        refused = [i for i in items(ended) if i["kind"] == "refused"]
        assert [(i["path"], i["line"]) for i in refused] == [(str(file), n) for n in numbers]
        assert ended.code == 1
    written(file, REFUSED)
    assert stops(sandbox)


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_a_broken_file_of_persisted_options(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """A mysqld-auto.cnf that is no JSON is refused, and the server does not start with it."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST max_connections = 30")
    auto = Path(sandbox.datadir, "mysqld-auto.cnf")
    auto.write_text(auto.read_text()[:20])
    entries = items(preflight(mycnf, sandbox, "--format", "json"))
    assert [i["path"] for i in entries if i["kind"] == "refused"] == [str(auto)]
    assert stops(sandbox)


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_persisted_options_that_everybody_may_write(
    mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path
) -> None:
    """The server ignores a world-writable mysqld-auto.cnf, and preflight reports that."""
    sandbox = start(server_name, option_file=written(tmp_path / "my.cnf", QUICKLY), small=True)
    run(sandbox, "SET PERSIST_ONLY back_log = 88", "SET PERSIST max_connections = 30")
    Path(sandbox.datadir, "mysqld-auto.cnf").chmod(0o642)
    ended = preflight(mycnf, sandbox, "--format", "json")
    by_variable = {i["variable"]: (i["running"], i["next"]) for i in items(ended)}
    (skipped,) = (s["reason"] for s in json.loads(ended.out)["skipped"])
    assert "mysqld-auto.cnf: it is world-writable" in skipped
    before = variables(sandbox)
    sandbox.restart()
    assert by_variable == differing(before, variables(sandbox))
    assert "max_connections" in by_variable
    assert "back_log" not in by_variable


@pytest.mark.servers("mysql-8.0", "mysql-9.7")
def test_persisted_values_outrank_the_command_line(
    mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path
) -> None:
    """Of file, command line and persisted value the last wins, dynamic or not, unless the server is told otherwise."""
    file = written(tmp_path / "my.cnf", f"{QUICKLY}sort_buffer_size = 300000\n")
    sandbox = start(server_name, option_file=file, arguments=["--max-connections=111", "--back-log=77"])
    run(sandbox, "SET PERSIST_ONLY back_log = 88", "SET PERSIST_ONLY max_connections = 122")
    run(sandbox, "SET PERSIST_ONLY sort_buffer_size = 400000")
    by_variable = {i["variable"]: i["next"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    before = variables(sandbox)
    sandbox.restart()
    assert by_variable == {n: after for n, (_, after) in differing(before, variables(sandbox)).items()}
    assert by_variable["back_log"] == "88"
    assert by_variable["max_connections"] == "122"
    written(file, f"{QUICKLY}sort_buffer_size = 300000\npersisted_globals_load = OFF\n")
    by_variable = {i["variable"]: i["next"] for i in items(preflight(mycnf, sandbox, "--format", "json"))}
    before = variables(sandbox)
    sandbox.restart()
    assert by_variable == {n: after for n, (_, after) in differing(before, variables(sandbox)).items()}
    assert by_variable["back_log"] == "77"
