"""Options and libraries of plugins that a file loads, put to servers that are started for good."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from real_servers import Start
from start_and_compare import Run, shown
from verdict_agreement import Judge, judge_lines, refused_lines

from advisor.catalog import load
from advisor.catalog.targets import parse_target

LOADED = """
plugin_load=keyring_file.so
plugin_load_add=keyring_file.so
loose_plugin_load_add=keyring_file.so
early_plugin_load=keyring_file.so
plugin_load=keyring_file=keyring_file.so
early_plugin_load=keyring_file.so / keyring_file_data=/tmp/keys
early_plugin_load=keyring_file.so / loose_keyring_file_data=/tmp/keys
early_plugin_load=keyring_file.so / keyring_file_open_mode=1
keyring_file_data=/tmp/keys
"""
# A third of a start, and nothing here is about it.
QUICKLY = ("--performance-schema=OFF",)
STRANGE = """
plugin_load_add=semisync_source.so / rpl_semi_sync_source_foo=1
plugin_load_add=semisync_source.so / loose_rpl_semi_sync_source_foo=1
plugin_load_add=thread_pool.so / thread_pool_foo=8
plugin_load_add=thread_pool.so / thread_pool_size=8
plugin_load_add=validate_password.so / validate_password.policy=STRONG
validate_password.policy=STRONG
loose_validate_password.policy=STRONG
plugin_load_add=semisync_source.so / rpl_semi_sync_source_wait_point=SOMEWHERE
plugin_load=semisync_source.so / plugin_load=auth_socket.so / rpl_semi_sync_source_enabled=1
plugin_load_add=semisync_source.so / plugin_load=auth_socket.so / rpl_semi_sync_source_enabled=1
plugin_load=auth_socket.so / plugin_load_add=semisync_source.so / rpl_semi_sync_source_enabled=1
plugin_load=semisync_source.so / plugin_load= / rpl_semi_sync_source_enabled=1
"""
GROUPS = """
group_replication_ip_whitelist=AUTOMATIC
loose_group_replication_ip_whitelist=AUTOMATIC
group_replication_ip_allowlist=AUTOMATIC
group_replication_recovery_complete_at=TRANSACTIONS_APPLIED
group_replication_ip_alowlist=AUTOMATIC
"""
FIDO, GROUP, SEMISYNC = (
    f"plugin_load_add={n}.so" for n in ("authentication_fido", "group_replication", "semisync_master")
)
GONE = [
    ("mysql-8.4", "early_plugin_load=keyring_file.so", "keyring_file_data=/x", "removed"),
    ("mysql-8.0", "early_plugin_load=keyring_file.so", "keyring_file_data=/x", "accepted"),
    ("mysql-8.4", FIDO, "authentication_fido_rp_id=x", "removed"),
    ("mysql-8.0", FIDO, "authentication_fido_rp_id=x", "accepted"),
    ("mysql-8.4", "", "authentication_fido_rp_id=x", "removed"),
    ("mysql-8.0", "", "authentication_fido_rp_id=x", "unknown"),
    ("mysql-8.4", "plugin_load_add=libmemcached.so", "daemon_memcached_option=-l", "removed"),
    ("mysql-8.4", GROUP, "group_replication_ip_whitelist=x", "removed"),
    ("mysql-8.4", GROUP, "group_replication_recovery_complete_at=x", "removed"),
    ("mysql-8.4", GROUP, "group_replication_grup_name=x", "unknown"),
    ("mysql-8.4", "plugin_load_add=ours.so", "ours_size=1", "accepted"),
    ("mariadb-10.6", "plugin_load_add=server_audit2", "server_audit_logging=ON", "accepted"),
    ("mysql-8.0", "plugin_load_add=validate_password.so", "validate_password.policy=1", "unexamined"),
    ("mysql-8.0", "plugin_load_add=semisync_source.so", "rpl_semi_sync_source_wait_point=FOO", "invalid"),
    ("mysql-8.4", "plugin_load_add=semisync_source.so", "rpl_semi_sync_source_timeout=abc", "invalid"),
    ("mysql-8.4", "plugin_load_add=semisync_replica.so", "rpl_semi_sync_replica_enabled=ON", "accepted"),
    ("mysql-8.0.20", "plugin_load_add=semisync_source.so", "rpl_semi_sync_source_enabled=ON", "unknown"),
    ("mysql-8.0.20", "plugin_load_add=mysql_clone.so", "clone_block_ddl", "unknown"),
    ("mysql-8.0.43", "plugin_load_add=mysql_clone.so", "clone_block_ddl", "accepted"),
    ("mysql-8.4", GROUP, "group_replication_communication_stack=TCP", "invalid"),
    ("mysql-9.7.4", SEMISYNC, "rpl_semi_sync_master_enabled=1", "removed"),
    ("mysql-8.4", SEMISYNC, "rpl_semi_sync_master_enabled=1", "accepted"),
    ("mariadb-11.8", SEMISYNC, "rpl_semi_sync_master_enabled=1", "accepted"),
    ("mariadb-11.8", "plugin_load_add=validate_password.so", "validate_password.policy=1", "unknown"),
    ("mariadb-11.8", "plugin_load_add=validate_password.so", "validate_password_x=1", "unknown"),
    ("mariadb-11.8", "plugin_load=group_replication.so", "group_replication_x=1", "unknown"),
]


@pytest.mark.servers("mysql-9.7")
@pytest.mark.parametrize("lines", LOADED.strip().splitlines())
def test_a_library_that_went_stops_no_server_and_its_options_do(lines: str, run: Run, judge: Judge) -> None:
    """The server comes up exactly where no line is refused: without its library, and never with an option of it."""
    assert (run(lines.split(" / ")) is None) == bool(refused_lines(judge(lines.replace(" / ", "\n"))))


@pytest.mark.servers("mysql-9.7")
@pytest.mark.parametrize("line", GROUPS.strip().splitlines())
def test_options_of_a_loaded_plugin_are_judged_by_the_catalog(line: str, run: Run, judge: Judge) -> None:
    """Group Replication is loaded, and the server refuses exactly those of its options that the verdict refuses."""
    lines = ["plugin_load_add=group_replication.so", line]
    assert (run(lines) is None) == bool(refused_lines(judge("\n".join(lines))))


@pytest.mark.servers("mysql-9.7")
def test_the_server_says_what_the_line_is_said_to_do(start: Start, server_name: str, judge: Judge) -> None:
    """The line that loads a library that went is reported as ignored: the server logs an error and lacks the plugin."""
    (line,) = judge("early_plugin_load=keyring_file.so").lines
    assert line.outcome == "ignored"
    assert "logs an error and starts without the plugin" in line.reason
    server = start(server_name, arguments=[*QUICKLY, "--early-plugin-load=keyring_file.so"])
    assert re.search(r"\[ERROR\].*keyring_file.so", server.read_log())
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW PLUGINS")
        assert not [row for row in cursor.fetchall() if row[0] == "keyring_file"]


@pytest.mark.parametrize(("target", "loads", "option", "outcome"), GONE)
def test_options_of_plugins_by_version(target: str, loads: str, option: str, outcome: str) -> None:
    """The manual's removal decides, whether the file loads the plugin or not; an unknown plugin is assumed present."""
    last = judge_lines(f"{loads}\n{option}", load(parse_target(target))).lines[-1]
    assert last.outcome == outcome
    assert not (last.outcome == "accepted" and last.option is None and last.certain)


def test_a_target_that_has_the_library_takes_the_line() -> None:
    """The line that loads it is reported from the version on that lacks the library, and not before."""
    for target, outcome in (("mysql-8.0", "accepted"), ("mysql-8.4", "ignored"), ("mysql-9.7", "ignored")):
        (line,) = judge_lines("early_plugin_load=keyring_file.so", load(parse_target(target))).lines
        assert line.outcome == outcome


@pytest.mark.servers("mysql-9.7")
@pytest.mark.parametrize("lines", STRANGE.strip().splitlines())
def test_what_a_loaded_plugin_lacks_stops_the_server(lines: str, run: Run, judge: Judge) -> None:
    """The list of options is complete where exactly this server was queried with the plugin; dots are of components."""
    assert (run(lines.split(" / ")) is None) == bool(refused_lines(judge(lines.replace(" / ", "\n"))))


INSTALLED = [
    ("INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'", "rpl_semi_sync_source_timeout=77"),
    ("INSTALL COMPONENT 'file://component_validate_password'", "validate_password.length=15"),
]


@pytest.mark.servers("mysql-9.7")
@pytest.mark.parametrize(("statement", "line"), INSTALLED, ids=["plugin", "component"])
def test_what_was_installed_before_brings_its_options(
    statement: str, line: str, *, start: Start, server_name: str, tmp_path: Path, judge: Judge
) -> None:
    """The server starts with an option that no line of the file explains, so that the verdict is not certain."""
    file = tmp_path / "my.cnf"
    file.write_text("[mysqld]\n")
    server = start(server_name, option_file=file, arguments=QUICKLY)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(statement)
    file.write_text(f"[mysqld]\n{line}\n")
    server.restart()
    name, value = line.split("=")
    assert shown(server)[name] == value
    (verdict,) = judge(line).lines
    assert (verdict.outcome, verdict.certain) == ("unknown", False)


@pytest.mark.servers("mysql-9.7")
def test_a_library_of_mariadb(start: Start, server_name: str, judge: Judge, run: Run) -> None:
    """MySQL starts without a library that only MariaDB has, logs an error, and stops at an option of it."""
    lines = judge("plugin_load_add=server_audit\nserver_audit_logging=ON").lines
    assert (lines[0].outcome, lines[0].certain) == ("ignored", False)
    assert "server_audit is MariaDB's" in lines[0].reason
    server = start(server_name, arguments=[*QUICKLY, "--plugin-load-add=server_audit"])
    assert re.search(r"\[ERROR\].*server_audit", server.read_log())
    assert run(["plugin_load_add=server_audit", "server_audit_logging=ON"]) is None


@pytest.mark.servers("mysql-9.7")
def test_a_library_of_mysql_enterprise(judge: Judge, run: Run) -> None:
    """MySQL Community stops at an option of a plugin that only MySQL Enterprise has; other builds may have it."""
    text = "plugin_load_add=audit_log.so\naudit_log_policy=ALL"
    line = judge(text).lines[0]
    assert (line.outcome, line.certain) == ("ignored", False)
    assert "audit_log is not in MySQL Community" in line.reason
    assert run(text.split("\n")) is None
    for target in ("percona-8.0", "mysql-enterprise-8.4", "mysql-5.7"):
        assert judge_lines(text, load(parse_target(target))).lines[0].outcome == "accepted", target


def test_a_library_of_mariadb_where_it_may_lie() -> None:
    """MySQL 5.7 can load server_audit, and MariaDB has it."""
    for target in ("mysql-5.7", "mariadb-11.8"):
        assert judge_lines("plugin_load_add=server_audit", load(parse_target(target))).lines[0].outcome == "accepted"


@pytest.mark.servers("mariadb-10.11", "mariadb-11.8")
@pytest.mark.parametrize("library", ["validate_password", "semisync_master"])
def test_a_library_of_mysql(library: str, *, start: Start, server_name: str, judge: Judge) -> None:
    """MariaDB starts without a library that only MySQL has, and logs an error; semisynchronous replication it has."""
    (line,) = judge(f"plugin_load_add={library}.so").lines
    assert (line.outcome, line.certain) == ("ignored", False)
    log = start(server_name, arguments=[f"--plugin-load-add={library}.so", "--rpl-semi-sync-master-enabled=1"])
    assert re.search(rf"\[ERROR\].*{library}.so", log.read_log())
