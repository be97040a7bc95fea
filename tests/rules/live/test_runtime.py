"""What SET GLOBAL does while a server runs: as each server answers, and the same in audits and in preflight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pymysql
import pytest
from msgspec.structs import replace

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.analysis.restart import check_restart
from advisor.catalog import load
from advisor.collect.collect import CollectRequest, collect_from_account
from advisor.collect.connection.options import Account
from advisor.core.model import Severity
from rules.core.advice import advise
from rules.core.statements import NEW_SESSIONS, set_global_effect
from rules.versions import BEHIND, NEWEST

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Server, Start

    from advisor.facts import Facts
    from probes.sandbox import Sandbox

STARTED = ("--skip-innodb-doublewrite", "--event-scheduler=DISABLED", "--loose-query-cache-type=0")
WANTED = {
    "event_scheduler": "ON",
    "gtid_mode": "ON",
    "innodb_doublewrite": "ON",
    "innodb_read_only": "ON",
    "query_cache_type": "ON",
    "sort_buffer_size": "524288",
}


def collected(server: Sandbox) -> Facts:
    """What an audit without a window reads."""
    return collect_from_account(Account(user="root", socket=server.socket), CollectRequest(window=0.0))


def test_each_server_takes_what_is_said_to_work(server_name: str, start: Start) -> None:
    """SET GLOBAL of each value on a server that started with the other one: taken, or refused, as is said."""
    server = start(server_name, arguments=STARTED)
    catalog = load(server.binary.target)
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        running = {str(name): str(value) for name, value in cursor.fetchall()}
        for name in WANTED.keys() & running.keys():
            option = catalog.find_variable(name)
            assert option is not None
            text = WANTED[name] if WANTED[name].isdigit() else f"'{WANTED[name]}'"
            try:
                cursor.execute(f"SET GLOBAL {name} = {text}")
                taken = True
            except pymysql.Error:
                taken = False
            effect = set_global_effect(option, catalog.target, WANTED[name], running[name])
            assert effect.works is taken, (name, running[name], effect)
    option = catalog.get("sort_buffer_size")
    assert option is not None
    assert set_global_effect(option, catalog.target).words == NEW_SESSIONS


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11")
def test_delay_key_write_after_all(server_name: str, start: Start) -> None:
    """A server that started with ALL writes the index blocks of a table after ON, or delays them, as is said."""
    server = start(server_name, arguments=["--delay-key-write=ALL"])
    catalog = load(server.binary.target)
    option = catalog.find_variable("delay_key_write")
    assert option is not None
    written = []
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE mysql.delayed (a INT, KEY(a)) ENGINE=MyISAM")
        for value in ("ON", "OFF"):
            cursor.execute(f"SET GLOBAL delay_key_write = {value}")
            cursor.execute("FLUSH TABLES")
            cursor.execute("FLUSH STATUS")
            cursor.execute("INSERT INTO mysql.delayed VALUES (1)")
            cursor.execute("SHOW GLOBAL STATUS LIKE 'Key_blocks_not_flushed'")
            written.append(cursor.fetchall()[0][1] == "0")
        cursor.execute("DROP TABLE mysql.delayed")
    effects = [set_global_effect(option, catalog.target, value, "ALL") for value in ("ON", "OFF")]
    assert [effect.works for effect in effects] == written


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-10.11", "mariadb-11.8")
def test_audit_and_preflight_say_the_same_of_doublewrite(server_name: str, start: Start, tmp_path: Path) -> None:
    """A statement where the server takes it, a restart where it doesn't; in both commands alike."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\ninnodb_doublewrite = OFF\n".replace(" = OFF", " = 0"), "utf-8")
    server = start(server_name, option_file=file)
    (found,) = run_rules(build_context(collected(server)), select_rules(["DUR003"], None)).findings
    (action,) = found.actions
    assert action.restart is (action.statement is None)
    assert (action.statement is not None) is (server_name == "mariadb-11.8")
    file.write_text("[mysqld]\ninnodb_doublewrite = ON\n".replace(" = ON", " = 1"), "utf-8")
    items = [item for item in check_restart(collected(server)).items if item.variable == "innodb_doublewrite"]
    now = [a.statement for item in items for a in item.actions if a.undo]
    assert len(items) == 1
    assert now == ([action.statement] if action.statement else [])


@pytest.mark.servers("mysql-5.7", "mysql-9.7")
def test_a_buffer_that_counts_at_the_start_has_no_statement(server_name: str, start: Start, tmp_path: Path) -> None:
    """MySQL 8.0 and later use the read_buffer_size that they started with; on 5.7 new sessions have the new one."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\nread_buffer_size = 128K\n", "utf-8")
    server = start(server_name, option_file=file)
    file.write_text("[mysqld]\nread_buffer_size = 1M\n", "utf-8")
    (item,) = (item for item in check_restart(collected(server)).items if item.variable == "read_buffer_size")
    now = [a for a in item.actions if a.undo]
    assert [a.statement for a in now] == (
        ["SET GLOBAL read_buffer_size = 1048576;"] if server_name == "mysql-5.7" else []
    )
    assert [a.risk for a in now] == [NEW_SESSIONS] * len(now)


@pytest.mark.servers("mariadb-10.11", "mariadb-11.8", "mysql-9.7")
def test_a_pool_is_advised_at_run_time_as_far_as_the_server_takes_it(server_name: str, start: Start) -> None:
    """MariaDB truncates SET GLOBAL to innodb_buffer_pool_size_max; beyond that a restart is advised, and works."""
    bound = ["--loose-innodb-buffer-pool-size-max=128M"]
    server = start(server_name, arguments=["--innodb-buffer-pool-size=64M", *bound])
    known = build_context(collected(server))
    bounded = server_name != "mysql-9.7"
    for size, works in ((128 << 20, True), (256 << 20, not bounded)):
        action = advise(known, "innodb_buffer_pool_size", size, size=True, risk="resizing can stall statements")
        assert action is not None
        assert (action.statement is not None, action.restart) == (works, not works)
        assert ("innodb_buffer_pool_size_max = 128M" in action.risk) is not works
        with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(f"SET GLOBAL innodb_buffer_pool_size = {size}")
            cursor.execute("SHOW WARNINGS")
            assert any("Truncated" in str(row) for row in cursor.fetchall()) is not works
    larger = start(server_name, arguments=["--innodb-buffer-pool-size=256M", *bound])
    assert build_context(collected(larger)).number("innodb_buffer_pool_size") == 256 << 20


@pytest.mark.servers("mysql-8.0", "mysql-9.7", "mariadb-11.4", "mariadb-11.8")
def test_a_real_release_is_judged_by_its_vendors_list(any_server: Sandbox) -> None:
    """A server of a vendor's own build gets the patch distance of its series, and no fault that its release lacks."""
    facts = collected(any_server)
    found = {f.code: f for f in run_rules(build_context(facts), select_rules(["VER"], None)).findings}
    version = tuple(map(int, facts.server.version.split(".")))
    behind = NEWEST[facts.server.flavour].get(version[:2], 0) - version[2]
    assert ("VER005" in found) is (behind >= BEHIND)
    assert "VER004" not in found


def test_a_release_with_a_fault(server: Server) -> None:
    """The facts of a real server as those of a withdrawn release: a finding, and none for another vendor's build."""
    facts = collected(server("mysql-8.0"))
    builds: dict[tuple[str, str], set[str]] = {
        ("8.0.29", "MySQL"): {"VER004"},
        ("8.0.29", "Percona"): set(),
        ("8.0.38", "MySQL"): {"VER004"},
    }
    for (version, vendor), codes in builds.items():
        changed = replace(facts, server=replace(facts.server, version=version, vendor=vendor))
        found = run_rules(build_context(changed), select_rules(["VER004"], None)).findings
        assert {f.code for f in found} == codes, version
        if version == "8.0.38":  # a default server has few tables, which the fault does not concern
            assert [f.severity for f in found] == [Severity.NOTE]


@pytest.mark.servers("mysql-9.7")
def test_a_disabled_redo_log_is_enabled_by_the_printed_statement(server_name: str, start: Start) -> None:
    """The finding's only statement, sent as printed, ends the finding."""
    server = start(server_name, small=True)
    with server.connect(autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("ALTER INSTANCE DISABLE INNODB REDO_LOG")
        (found,) = run_rules(build_context(collected(server)), select_rules(["DUR007"], [])).findings
        (action,) = found.actions
        assert action.statement is not None
        cursor.execute(action.statement)
    assert not run_rules(build_context(collected(server)), select_rules(["DUR007"], [])).findings
