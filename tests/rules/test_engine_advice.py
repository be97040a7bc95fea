"""What the rules about engines, logs and modes advise: the exact values, and none where they are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rule_cases import Case, context_of_case

from advisor.analysis import run_rules
from rules import find_rule
from rules.core.advice import advise

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding

WEEKS = {"uptime": 14 * 86400}


def first(tmp_path: Path, rule: str, target: str, file: str, **parts: Any) -> Finding:
    """The first finding of the rule about a small case."""
    found = find_rule(rule)
    assert found is not None
    return next(iter(found.check(context_of_case(Case(rule, "", target, file, **parts), tmp_path))))


@pytest.mark.parametrize(
    ("rule", "target", "file", "lines"),
    [
        ("repair-without-copy", "mysql-9.7.4", "myisam_recover_options = FORCE", ["BACKUP,FORCE"]),
        ("repair-without-copy", "mariadb-10.11", "myisam_recover_options = DEFAULT", ["BACKUP"]),
        ("no-myisam-repair", "mariadb-11.8", "myisam_recover_options = OFF", ["BACKUP,QUICK"]),
        ("periodic-table-close", "mysql-5.7.22", "flush_time = 60", ["0"]),
        ("updates-behind-selects", "mariadb-11.8", "low_priority_updates", ["OFF"]),
        ("temporary-tables-without-rollback", "mysql-5.7.22", "default_tmp_storage_engine = MyISAM", ["InnoDB"]),
        ("aria-checkpoints-off", "mariadb-10.11", "aria_checkpoint_interval = 0", ["30"]),
        ("every-statement-in-slow-log", "mysql-9.7.4", "slow_query_log = 1\nlong_query_time = 0", ["10"]),
        ("unused-slow-log-settings", "mysql-9.7.4", "long_query_time = 1", ["ON"]),
        ("unused-slow-log-settings", "mariadb-11.8", "log_slow_query_time = 1", ["ON"]),
        ("warnings-not-logged", "mysql-8.0.15", "log_error_verbosity = 1", ["2"]),
        ("warnings-not-logged", "mariadb-10.11", "log_warnings = 0", ["2"]),
        ("three-byte-unicode", "mysql-8.0.15", "character_set_server = utf8", ["utf8mb4"]),
        (
            "three-byte-unicode",
            "mariadb-10.11",
            "character_set_server = utf8\ncollation_server = UTF8_bin",
            ["utf8mb4", "utf8mb4_bin"],
        ),
        (
            "three-byte-unicode",
            "mysql-8.0.15",
            "character_set_server = utf8\ncollation_server = utf8_tolower_ci",
            [],
        ),
        ("exhaustive-join-search", "mariadb-10.11", "optimizer_prune_level = 0", ["2"]),
        ("exhaustive-join-search", "mariadb-10.9", "optimizer_prune_level = 0", ["1"]),
        ("few-index-dives", "mysql-5.7.22", "eq_range_index_dive_limit = 10", ["200"]),
        ("copying-alter-table", "mysql-9.7.4", "old_alter_table = ON", ["OFF"]),
        ("copying-alter-table", "mariadb-10.11", "alter_algorithm = COPY", ["DEFAULT"]),
    ],
)
def test_what_is_advised(rule: str, target: str, file: str, lines: list[str], tmp_path: Path) -> None:
    """Each rule advises these values and no others."""
    actions = first(tmp_path, rule, target, file).actions
    assert [(action.option_line or "").partition(" = ")[2] for action in actions] == lines


@pytest.mark.parametrize(
    ("target", "blocks", "line"),
    [
        ("mysql-9.7.4", 0, "key_buffer_size = 8M"),
        ("mysql-9.7.4", 4096, "key_buffer_size = 8M"),
        ("mysql-9.7.4", 4097, "key_buffer_size = 16M"),
        ("mysql-9.7.4", 131072, "key_buffer_size = 256M"),
        ("mariadb-10.11", 131072, "key_buffer_size = 256M"),
        ("mariadb-10.11", 1, "key_buffer_size = 128M"),
    ],
)
def test_a_key_buffer_is_lowered_to_twice_its_use(target: str, blocks: int, line: str, tmp_path: Path) -> None:
    """The advised size is the default, or the power of two that holds twice what was ever used."""
    server = {"status": WEEKS | {"key_blocks_used": blocks}}
    found = first(tmp_path, "idle-key-buffer", target, "key_buffer_size = 1G", server=server)
    assert [action.option_line for action in found.actions] == [line]
    assert "14 days ago" in found.message


def test_logs_that_are_thrown_away_are_counted(tmp_path: Path) -> None:
    """One log that log_output throws away is spoken of as one, two as two."""
    one = first(tmp_path, "log-output-none", "mysql-9.7.4", "slow_query_log = 1\nlog_output = NONE")
    two = first(tmp_path, "log-output-none", "mysql-9.7.4", "slow_query_log = 1\ngeneral_log = 1\nlog_output = NONE")
    assert one.message.startswith("The slow log is on")
    assert one.message.endswith("discards it.")
    assert two.message.startswith("The slow and the general log are on")
    assert two.message.endswith("discards them.")


@pytest.mark.parametrize(("read", "memory", "line"), [
    (1, 64, "key_buffer_size = 32M"),
    (20 * 1024, 64, "key_buffer_size = 64M"),
    (10**9, 64, "key_buffer_size = 64M"),
])  # fmt: skip
def test_a_key_buffer_for_what_is_read(read: int, memory: int, line: str, tmp_path: Path) -> None:
    """A full buffer grows two to four times, by the blocks of 1K that came from files since the start."""
    found = key_blocks(read, memory, tmp_path)
    assert [a.option_line for a in found.actions] == [line]
    assert found.help == f"convert the tables to InnoDB; otherwise write {line}"


def test_no_larger_key_buffer_without_memory(tmp_path: Path) -> None:
    """Where the server takes all memory at its peak there is no value to write."""
    found = key_blocks(10**9, 0.2, tmp_path)
    assert found.actions == ()
    assert "there is none for a larger cache" in found.help


def key_blocks(read: int, memory: float, tmp_path: Path) -> Finding:
    """The finding about a key buffer of 16M of which so many blocks were read, on a host with so many gigabytes."""
    return first(
        tmp_path, "key-blocks-from-disk", "mysql-5.7.22", "key_buffer_size = 16M",
        server={"status": {"key_reads": read}}, host={"memory": {"total": int(memory * (1 << 30))}},
        workload={"rises": {"key_reads": 5000}, "gauges": {"key_blocks_unused": [0, 0]}},
    )  # fmt: skip


UNIT = "[Service]\nExecStart=/usr/sbin/mysqld --sync-binlog=0 --skip-grant-tables\n"
OF_UNIT: dict[str, Any] = {
    "unit": UNIT,
    "variables": {"log_bin": "ON", "sync_binlog": "0", "skip_grant_tables": "ON", "skip_networking": "ON"},
    "origins": {"sync_binlog": "COMMAND_LINE", "skip_grant_tables": "COMMAND_LINE"},
}


def test_a_unit_that_was_changed_is_read_again_before_the_restart(tmp_path: Path) -> None:
    """A restart alone starts the server with the command line that systemd read before the unit was edited."""
    synced = first(tmp_path, "unsynced-binary-log", "mysql-8.0.15", "", server=OF_UNIT)
    (action,) = synced.actions
    assert action.argument == "--sync-binlog=1"
    assert "run systemctl daemon-reload before the restart" in action.risk
    known = context_of_case(Case("no-access-control", "", "mysql-8.0.15", "", server=OF_UNIT), tmp_path)
    rule = find_rule("no-access-control")
    assert rule is not None
    (refused,) = run_rules(known, [rule]).findings
    assert refused.help == (
        "remove --skip-grant-tables from /usr/lib/systemd/system/mysqld.service:2, and run systemctl daemon-reload and "
        "restart"
    )


def test_an_index_that_two_others_cover_is_hidden_once(tmp_path: Path) -> None:
    """The view of the sys schema has a row for each index that covers another: each is counted and hidden once."""
    pairs = (("c", "a"), ("c", "b"), ("b", "a"))
    rows = [
        {"schema": "shop", "table": "t", "index": index, "columns": "x", "covered_by": by, "covering_columns": "x"}
        for index, by in pairs
    ]
    found = first(tmp_path, "redundant-indexes", "mysql-9.7.4", "", server={}, schema={"redundant_indexes": rows})
    assert found.message == "Index `c` of `shop`.`t` repeats the first columns of `a`. 1 more is redundant."
    assert [action.statement for action in found.actions] == [
        f"ALTER TABLE `shop`.`t` ALTER INDEX `{index}` INVISIBLE;" for index in "cb"
    ]


@pytest.mark.parametrize(
    ("target", "covered_by", "columns", "says"),
    [
        ("mysql-9.7.4", "k1", "a", "; hide `k1` instead if error 3522 says that this one is the primary key"),
        ("mysql-8.0.15", "k1", "a,b", "; add a primary key instead if error 3522 says that"),
        ("mariadb-11.8.9", "k1", "a", "; hide `k1` instead if error 4174 says that this one is the primary key"),
        ("mysql-9.7.4", "PRIMARY", "a", "in a hint fail"),
    ],
)
def test_an_index_that_serves_as_primary_key_cannot_be_hidden(
    tmp_path: Path, target: str, covered_by: str, columns: str, says: str
) -> None:
    """Servers refuse to hide the unique index that is the primary key of a table without one."""
    row = {"schema": "d", "table": "t", "index": "k9", "columns": columns, "covered_by": covered_by}
    rows = [{**row, "covering_columns": "a"}]
    found = first(tmp_path, "redundant-indexes", target, "", server={}, schema={"redundant_indexes": rows})
    assert says in found.actions[0].risk
    assert found.actions[0].risk.endswith("fail") is (covered_by == "PRIMARY")


def test_a_new_character_set_does_not_reach_existing_databases(tmp_path: Path) -> None:
    """On three servers a new table of a database from before SET GLOBAL character_set_server had the database's."""
    (action,) = first(tmp_path, "three-byte-unicode", "mysql-5.7.22", "character_set_server = utf8", server={}).actions
    assert "new tables of other databases get the character set of their database" in action.risk


@pytest.mark.parametrize(("target", "warned"), [("mysql-8.0.15", True), ("mariadb-10.11.19", False)])
def test_replicas_that_log_statements_are_changed_first(target: str, warned: bool, tmp_path: Path) -> None:
    """A replica of MySQL that logs statements stops at the first row of its source; one of MariaDB goes on."""
    file = "log_bin = b\nserver_id = 1\nbinlog_format = STATEMENT"
    (action,) = first(tmp_path, "statement-based-log", target, file, server={"variables": {"log_bin": "ON"}}).actions
    assert ("change replicas first" in action.risk) is warned


@pytest.mark.parametrize(
    ("target", "name", "value"),
    [("mysql-9.7.4", "super_read_only", "ON"), ("mariadb-11.8.9", "read_only", "ON")],
)
def test_read_only_waits_for_the_writes_that_are_under_way(target: str, name: str, value: str, tmp_path: Path) -> None:
    """On five servers SET GLOBAL waited behind LOCK TABLES ... WRITE, and an INSERT into another table behind it."""
    known = context_of_case(Case("writable-replica", "", target, "", server={}), tmp_path)
    action = advise(known, name, value, risk="clients that write here get errors")
    assert action is not None
    assert "later writes wait behind it" in action.risk


@pytest.mark.parametrize(("increment", "offset", "same"), [(2, 4, 2), (2, 5, 1), (3, 5, 2), (3, 10, 1), (5, 100, 5)])
def test_a_large_offset_is_that_of_another_server(increment: int, offset: int, same: int, tmp_path: Path) -> None:
    """Numbers with an offset above the increment are those of the offset that remains (AINC-01)."""
    file = f"auto_increment_increment = {increment}\nauto_increment_offset = {offset}"
    message = first(tmp_path, "ignored-auto-increment-offset", "mysql-8.0.15", file).message
    assert message.endswith(f"new rows get numbers that a server with offset {same} gives too.")


def test_a_delay_before_each_sync_is_one_of_many_groups(tmp_path: Path) -> None:
    """With sync_binlog above 1 only the groups that are synced wait (ASK-BIN-36)."""
    for period, groups in ((0, "Each commit"), (1, "Each commit"), (10, "One group of commits in 10")):
        file = f"binlog_group_commit_sync_delay = 1000000\nsync_binlog = {period}"
        assert first(tmp_path, "delayed-commits", "mysql-9.7.4", file).message.startswith(f"{groups} may wait up to")
