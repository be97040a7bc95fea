"""The rules about table caches, temporary tables and statements, before servers that are set and driven badly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING, Any

import pymysql
import pytest
from counter_windows import SECONDS, lasting, rising
from process_checks import eventually

from advisor.analysis import run_rules
from advisor.analysis.context import build_context
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from rules import all_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from real_servers import Start

    from advisor.core.model import Finding
    from probes.sandbox import Sandbox

    Load = Callable[[Any], object]

OURS = [rule for rule in all_rules() if rule.family in {"TAB", "TMP", "WRK"}]
TURNS = 2  # of each load in a window, at least
MYSQL = """[mysqld]
table_open_cache = 64
internal_tmp_mem_storage_engine = MEMORY
big_tables = ON
tmp_table_size = 64K
temptable_max_ram = 2M
replica_load_tmpdir = /dev/shm
sort_buffer_size = 32K
binlog_cache_size = 32K
max_prepared_stmt_count = 20
sync_binlog = 0
innodb_flush_log_at_trx_commit = 0
"""
MARIADB = """[mysqld]
table_open_cache = 64
table_open_cache_instances = 1
table_definition_cache = 400
max_connections = 10
tmp_disk_table_size = 256K
max_heap_table_size = 512K
innodb_temp_data_file_path = ibtmp1:24M:autoextend
"""
ROWS = ",".join(f"({n}, REPEAT(SHA2({n}, 256), 3))" for n in range(1000))
TABLES = (
    "CREATE DATABASE IF NOT EXISTS test",
    "CREATE TABLE test.t (id INT PRIMARY KEY AUTO_INCREMENT, k INT, pad VARCHAR(200))",
    f"INSERT INTO test.t (k, pad) VALUES {ROWS}",  # noqa: S608 - numbers
    "CREATE TABLE test.m (id INT, k INT, pad VARCHAR(200)) ENGINE = MyISAM",
    "INSERT INTO test.m SELECT * FROM test.t",
    "CREATE TABLE test.s LIKE test.m",
    "INSERT INTO test.s SELECT * FROM test.t",
)
SYSTEM = tuple(
    f"TABLE mysql.{name} LIMIT 1"
    for name in ("user", "db", "tables_priv", "columns_priv", "procs_priv", "func", "plugin", "servers", "component")
)
GROUPED = (
    "SELECT COUNT(*) FROM (SELECT k, MAX(pad) FROM test.t GROUP BY k) a"
    " JOIN (SELECT k, MAX(pad) FROM test.t GROUP BY k) b USING (k)"
    " JOIN (SELECT k, MAX(pad) FROM test.t GROUP BY k) c USING (k)"
)


def said(sandbox: Sandbox, *statements: str) -> pymysql.Connection[Any]:
    """A connection that has sent the statements and stays open."""
    connection = sandbox.connect(autocommit=True)
    for statement in statements:
        send(connection, statement)
    return connection


def send(connection: pymysql.Connection[Any], statement: str) -> None:
    """Send one statement and throw away what it returns."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        cursor.fetchall()


def again(*statements: str, first: tuple[str, ...] = ()) -> Load:
    """A load that sends the statements in turn; `first` are sent once. Each call returns when one turn is over."""
    begun: set[int] = set()

    def turn(connection: Any) -> None:
        for statement in (*(() if id(connection) in begun else first), *statements):
            with suppress(pymysql.err.OperationalError):  # a deadlock's victim begins again
                send(connection, statement)
        begun.add(id(connection))

    return turn


def driven(sandbox: Sandbox, *loads: Load, **least: int) -> dict[str, Finding]:
    """What our rules find over a window in which each load runs in a session of its own.

    It ends when each has had its TURNS, and the counters that are named have risen by so much.
    """
    turns, over = [0] * len(loads), Event()

    def drive(number: int) -> None:
        with sandbox.connect(autocommit=True) as connection:
            while not over.is_set():
                loads[number](connection)
                turns[number] += 1

    def wait(_: float) -> None:
        with rising(sandbox, **least) as risen, ThreadPoolExecutor(len(loads)) as pool:
            ended = [pool.submit(drive, number) for number in range(len(loads))]
            try:
                eventually(
                    lambda: (min(turns) >= TURNS and risen()) or any(one.done() for one in ended),
                    what=lambda: f"{TURNS} turns of each: {turns}; {least}",
                )
            finally:
                over.set()
        for one in ended:
            one.result()

    facts = collect_from_account(Account(user="root", socket=sandbox.socket), CollectRequest(window=SECONDS), wait)
    return {f.name: f for f in run_rules(build_context(lasting(facts)), OURS).findings}


def takes_its_advice(sandbox: Sandbox, found: dict[str, Finding]) -> None:
    """Each statement of the advice runs, its undo too, and nothing is cut."""
    with sandbox.connect() as connection, connection.cursor() as cursor:
        for action in (a for f in found.values() for a in f.actions):
            for statement in filter(None, (action.statement, action.undo)):
                cursor.execute(statement)
                cursor.execute("SHOW WARNINGS")
                assert [row for row in cursor.fetchall() if "truncated" in str(row).lower()] == [], statement


@pytest.fixture(autouse=True)
def _young(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of a few seconds counts as warm: a test can't wait ten minutes."""
    monkeypatch.setattr("rules.core.counters.MINIMUM_UPTIME", 0)


@pytest.mark.servers("mysql-9.7")
def test_a_busy_mysql(server_name: str, start: Start, tmp_path: Path) -> None:
    """Each load triggers its rule, the file's lines too, and the advice runs as printed."""
    file = tmp_path / "my.cnf"
    file.write_text(MYSQL, "utf-8")
    sandbox = start(server_name, option_file=file)
    said(sandbox, *TABLES).close()
    held = said(sandbox, *(f"PREPARE p{n} FROM 'SELECT {n}'" for n in range(16)))
    found = driven(
        sandbox,
        again(*SYSTEM),
        again("SELECT DISTINCT k FROM test.t WHERE id < 20"),
        again(
            GROUPED,
            first=("SET big_tables = OFF, internal_tmp_mem_storage_engine = TempTable, tmp_table_size = 16777216",),
        ),
        again("EXECUTE r", "FLUSH TABLES test.m", first=("PREPARE r FROM 'SELECT COUNT(*) FROM test.m WHERE id = 1'",)),
        *[again("BEGIN", "UPDATE test.t SET k = k WHERE id = 1", "DO SLEEP(0.05)", "COMMIT")] * 3,
        innodb_row_lock_time=12_000,  # ms: two wait at any time
        created_tmp_disk_tables=200,
        opened_tables=200,
        com_stmt_reprepare=30,
    )
    held.close()
    found |= driven(
        sandbox,
        again("SELECT COUNT(*) FROM test.s a JOIN test.s b ON a.k = b.k"),
        again("SELECT MAX(p) FROM (SELECT pad AS p FROM test.s ORDER BY pad, k DESC LIMIT 900) a"),
        again("UPDATE test.t SET pad = REVERSE(pad)"),
        again("UPDATE test.m SET pad = REVERSE(pad)"),
        select_full_join=30,
        sort_merge_passes=150,
        binlog_cache_disk_use=30,
        binlog_stmt_cache_disk_use=30,
    )
    found |= driven(
        sandbox,
        again("INSERT INTO test.i VALUES (1)", first=("CREATE TABLE test.i (k INT)",)),
        again("PREPARE q FROM 'SELECT 1'", "EXECUTE q"),
        again("SELECT SUM((SELECT COUNT(*) FROM test.s b WHERE b.k >= a.k)) FROM test.s a"),
        com_insert=1500,
        com_stmt_prepare=1500,
    )
    assert {
        "tiny-table-cache",
        "overflowing-table-cache",
        "padded-temporary-tables",
        "temporary-tables-forced-to-disk",
        "starved-temporary-tables",
        "memory-backed-temporary-files",
        "temporary-tables-on-disk",
        "exhausted-temporary-memory",
        "sorts-in-many-passes",
        "joins-without-index",
        "rows-read-by-scans",
        "prepared-for-one-execution",
        "prepared-statements-near-limit",
        "statements-prepared-again",
        "sessions-waiting-for-rows",
        "spilling-binary-log-cache",
        "spilling-statement-cache",
        "transaction-for-each-change",
    } - set(found) == set()
    takes_its_advice(sandbox, found)


@pytest.mark.servers("mariadb-10.11")
def test_a_crowded_mariadb(server_name: str, start: Start, tmp_path: Path) -> None:
    """More tables, definitions and files than there is room for, changes that scan, and deadlocks are all reported."""
    file = tmp_path / "my.cnf"
    file.write_text(MARIADB, "utf-8")
    sandbox = start(server_name, option_file=file)
    said(sandbox, *TABLES, *(f"CREATE TABLE test.e{n} (a INT) ENGINE = MEMORY" for n in range(450))).close()
    visits = tuple(f"DESCRIBE test.e{n}" for n in range(450))
    said(sandbox, *visits).close()
    held = said(sandbox, *(f"CREATE TABLE test.f{n} (a INT) ENGINE = MyISAM" for n in range(75)))
    for n in range(75):
        send(held, f"HANDLER test.f{n} OPEN")
    found = driven(
        sandbox,
        again(*visits),
        again("UPDATE test.m SET k = 1 WHERE pad = 'none'"),
        again("BEGIN", "UPDATE test.t SET k = 1 WHERE id = 1", "UPDATE test.t SET k = 1 WHERE id = 2", "COMMIT"),
        again("BEGIN", "UPDATE test.t SET k = 1 WHERE id = 2", "UPDATE test.t SET k = 1 WHERE id = 1", "COMMIT"),
        innodb_deadlocks=20,
        opened_table_definitions=600,
        com_update=300,
    )
    held.close()
    assert {
        "tiny-table-cache",
        "overflowing-definition-cache",
        "open-files-near-limit",
        "starved-temporary-tables",
        "temporary-tables-too-large-for-disk",
        "endless-temporary-tablespace",
        "changes-by-full-scan",
        "frequent-deadlocks",
    } - set(found) == set()
    takes_its_advice(sandbox, found)
