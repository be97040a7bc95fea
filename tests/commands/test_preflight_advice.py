"""What `mycnf preflight` advises: lines and statements that keep what runs, and none that trades durability away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from server_restart import differing, items, preflight, run, variables, written

from advisor.redaction import MASK

if TYPE_CHECKING:
    from mycnf_command import Mycnf
    from real_servers import Start

    from probes.sandbox import Sandbox

LINES_KEEP = (
    "SET GLOBAL sort_buffer_size = 600000",
    "SET GLOBAL init_connect = 'set @a = 1 /* #1 */'",
    "SET GLOBAL time_zone = '+03:00'",
    "SET GLOBAL max_allowed_packet = 32 * 1024 * 1024",
    "SET GLOBAL optimizer_switch = 'index_merge=off'",
    "SET GLOBAL sql_mode = 'ANSI'",
    "SET GLOBAL long_query_time = 0.25",
    "SET GLOBAL general_log = 1",
)


@pytest.mark.servers("mysql-8.0", "mariadb-10.11")
def test_what_may_hold_a_password_is_reported_without_it(mycnf: Mycnf, any_server: Sandbox) -> None:
    """A statement with a literal is lost like any other; it is said, masked, and no line is made of the mask."""
    run(any_server, "SET GLOBAL init_connect = 'set @a = \"canary\"'")
    try:
        report = mycnf("preflight", "--socket", any_server.socket, "--user", "root", "--format", "json").out
        (lost,) = (item for item in json.loads(report)["items"] if item["variable"] == "init_connect")
    finally:
        run(any_server, "SET GLOBAL init_connect = DEFAULT")
    assert "canary" not in report
    assert (lost["kind"], lost["running"], lost["actions"]) == ("lost", f'set @a = "{MASK}"', [])
    assert "yourself" in lost["help"]


def test_lines_keep_what_runs(mycnf: Mycnf, server_name: str, start: Start, tmp_path: Path) -> None:
    """With the advised lines in the file, where they were said to belong, values of SET GLOBAL outlive the restart."""
    file = written(tmp_path / "my.cnf", "[mysqld]\nsort_buffer_size = 1M\n")
    sandbox = start(server_name, option_file=file, small=True)
    run(sandbox, *LINES_KEEP)
    lost = items(preflight(mycnf, sandbox, "--format", "json"))
    # MySQL 5.7 doesn't report the source, and this file is as young as the server.
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
    """A value that loses commits in a crash is reported; no advice keeps it or brings it about; a safe one is kept."""
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
    assert "affects durability" in found["sync_binlog"]["help"]
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


@pytest.mark.servers("mariadb-11.4", "mysql-8.0")
def test_a_variable_with_several_names_is_one_item(mycnf: Mycnf, server_name: str, any_server: Sandbox) -> None:
    """A change of a variable that has two names is listed once, by its main name."""
    mariadb = server_name.startswith("mariadb")
    statement = "SET GLOBAL long_query_time = %s" if mariadb else "SET GLOBAL slave_net_timeout = %s"
    run(any_server, statement % "3")
    try:
        report = mycnf("preflight", "--socket", any_server.socket, "--user", "root", "--format", "json").out
    finally:
        run(any_server, statement % "DEFAULT")
    names = {"long_query_time", "log_slow_query_time", "slave_net_timeout", "replica_net_timeout"}
    found = [item["variable"] for item in json.loads(report)["items"] if item["variable"] in names]
    assert found == ["log_slow_query_time" if mariadb else "slave_net_timeout"]
