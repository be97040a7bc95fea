"""What the rules about caches, temporary tables and statements say in numbers, and what they advise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rule_cases import Case, context_of_case

from rules import find_rule
from rules.memory.server_caches import NO_LARGER

if TYPE_CHECKING:
    from pathlib import Path

    from advisor.core.model import Finding


def first(rule: str, target: str, folder: Path, **words: object) -> Finding:
    """What the rule of that name finds in a small case."""
    found = find_rule(rule)
    assert found is not None
    return next(iter(found.check(context_of_case(Case("", "", target, **words), folder))))


def lines(finding: Finding) -> list[str | None]:
    """The option lines that it advises."""
    return [action.option_line for action in finding.actions]


@pytest.mark.parametrize(
    ("target", "instances", "used", "ends"),
    [
        ("mysql-9.7.4", 16, 270, "the cache holds 2,000, of which 270 are in use: each of its 16 instances holds 125."),
        ("mysql-9.7.4", 16, 1001, "the cache holds 2,000."),
        ("mysql-9.7.4", 1, 270, "the cache holds 2,000."),
        ("mariadb-11.8.9", 8, 270, "the cache holds 2,000."),
    ],
)
def test_an_instance_of_the_table_cache_overflows_alone(
    target: str, instances: int, used: int, ends: str, tmp_path: Path
) -> None:
    """Where most of the cache is unused, the message says how many tables one of its instances holds."""
    variables = {"table_open_cache": "2000", "table_open_cache_instances": str(instances), "open_files_limit": "20000"}
    found = first(
        "overflowing-table-cache",
        target,
        tmp_path,
        server={"variables": variables, "status": {"open_tables": str(used)}},
        workload={"rises": {"table_open_cache_overflows": 790}},
    )
    assert found.message.endswith(ends)


@pytest.mark.parametrize(
    ("cache", "files", "connections", "tables", "needed"),
    [
        (64, 20000, 151, 2000, None),
        (1000, 20000, 151, 2000, None),
        (1001, 20000, 151, 2002, None),
        (4000, 20000, 151, 8000, None),
        (4000, 16184, 151, 8000, None),
        (4000, 16183, 151, 8000, 16184),
        (4000, 16183, 150, 8000, None),
        (2000, 1024, 151, 4000, 8184),
        (83, 1024, 800, 2000, 5000),
        (1000, 30000, 5000, 5000, None),
        (1000, 15032, 5000, 5000, 25000),
        (4000, 0, 151, 8000, None),
    ],
)
def test_a_wider_cache_with_the_files_that_it_needs(  # noqa: PLR0917 - a row of the table
    cache: int, files: int, connections: int, tables: int, needed: int | None, tmp_path: Path
) -> None:
    """Twice the tables are advised, at least an ordinary cache and one a connection; too few files come first."""
    variables = {
        "table_open_cache": str(cache),
        "open_files_limit": str(files),
        "max_connections": str(connections),
    }
    found = first(
        "overflowing-table-cache",
        "mysql-9.7.4",
        tmp_path,
        server={"variables": variables},
        workload={"rises": {"table_open_cache_overflows": 5000}},
    )
    line = f"table_open_cache = {tables}"
    assert lines(found) == [line]
    assert "500 tables a second" in found.message
    remedy = f"write {line}"
    if needed:
        remedy = f"set LimitNOFILE={needed} in the service's unit (systemctl edit SERVICE), {remedy}, and restart"
    assert found.help == remedy
    assert found.actions[0].restart is bool(needed)


def test_a_file_alone_is_given_an_ordinary_cache(tmp_path: Path) -> None:
    """Where the limit on files is unknown the advice is an ordinary cache."""
    found = first("tiny-table-cache", "mysql-8.4", tmp_path, file="table_open_cache = 64")
    assert lines(found) == ["table_open_cache = 2000"]
    assert found.message == "The server keeps 64 tables open, fewer than one for each of 151 connections."


def test_the_servers_own_minimum_is_reported(tmp_path: Path) -> None:
    """With fewer connections than tables the message names the minimum that the server would keep."""
    found = first("tiny-table-cache", "mariadb-10.11", tmp_path, file="table_open_cache = 160")
    assert found.message == "The server keeps 160 tables open; by default it keeps at least 200."


@pytest.mark.parametrize(("size", "advised"), [(400, 800), (262144, 524288), (262145, 524288), (524288, None)])
def test_twice_the_definitions(size: int, advised: int | None, tmp_path: Path) -> None:
    """Twice the definitions are advised, up to what every version takes."""
    found = first(
        "overflowing-definition-cache",
        "mysql-9.7.4",
        tmp_path,
        server={"variables": {"table_definition_cache": str(size)}, "status": {"open_table_definitions": size}},
        workload={"rises": {"opened_table_definitions": 600}},
    )
    assert lines(found) == ([f"table_definition_cache = {advised}"] if advised else [])
    assert found.message.startswith("60 definitions")
    assert bool(advised) == found.help.startswith("write ")


@pytest.mark.parametrize(
    ("target", "size", "advised"),
    [
        ("mysql-9.7.4", 300000, 524288),
        ("mysql-9.7.4", 524288, None),
        ("mariadb-11.8", 524288, 1048576),
        ("mariadb-11.8", 1048576, None),
    ],
)
def test_a_table_cache_is_doubled_up_to_what_the_server_takes(
    target: str, size: int, advised: int | None, tmp_path: Path
) -> None:
    """A cache that cannot be larger has other advice than a line that the server would lower."""
    found = first(
        "overflowing-table-cache",
        target,
        tmp_path,
        server={"variables": {"table_open_cache": str(size), "open_files_limit": "9999999"}},
        workload={"rises": {"table_open_cache_overflows": 5000}},
    )
    assert lines(found) == ([f"table_open_cache = {advised}"] if advised else [])
    assert found.help == (f"write table_open_cache = {advised}" if advised else NO_LARGER)


def test_mariadb_keeps_more_definitions_than_mysql(tmp_path: Path) -> None:
    """The largest cache of definitions is the version's own."""
    found = first(
        "overflowing-definition-cache",
        "mariadb-11.8",
        tmp_path,
        server={"variables": {"table_definition_cache": "524288"}, "status": {"open_table_definitions": 524288}},
        workload={"rises": {"opened_table_definitions": 600}},
    )
    assert lines(found) == ["table_definition_cache = 1048576"]


def test_files_are_told_apart(tmp_path: Path) -> None:
    """InnoDB's files, others and connections each have their number."""
    status = {"open_files": 20, "innodb_num_open_files": 900, "threads_connected": 5}
    found = first(
        "open-files-near-limit",
        "mysql-9.7.4",
        tmp_path,
        server={"variables": {"open_files_limit": "1000"}, "status": status},
    )
    assert "925 of 1,000 file descriptors are in use" in found.message
    assert "InnoDB's files 900, other files 20, connections 5" in found.message


def test_no_memory_for_temporary_tables_is_said_to_be_none(tmp_path: Path) -> None:
    """A limit of 0 sends tables to disk at once; any other as soon as they hold that much."""
    none = first("starved-temporary-tables", "mariadb-11.8.9", tmp_path, file="tmp_table_size = 0")
    assert none.message == "Internal temporary tables go to disk at once."
    some = first("starved-temporary-tables", "mariadb-11.8.9", tmp_path, file="tmp_memory_table_size = 64K")
    assert some.message == "Internal temporary tables go to disk as soon as they hold 64K."
    assert lines(some) == ["tmp_memory_table_size = 16M"]


def test_the_written_name_of_a_limit_counts(tmp_path: Path) -> None:
    """Of MariaDB's two names for one limit only the written one is reported, so nothing is reported twice."""
    rule = find_rule("starved-temporary-tables")
    assert rule is not None
    variables = {"tmp_table_size": "65536", "tmp_memory_table_size": "65536"}
    known = context_of_case(
        Case("", "", "mariadb-10.11", file="tmp_memory_table_size = 64K", server={"variables": variables}), tmp_path
    )
    assert [f.option for f in rule.check(known)] == ["tmp_memory_table_size"]


@pytest.mark.parametrize(
    ("file", "advised"),
    [
        ("", []),
        ("tmp_table_size = 2M", ["tmp_table_size = 16M"]),
        ("tmp_table_size = 16M", []),
        ("tmp_table_size = 64M", []),
    ],
)
def test_only_a_lowered_limit_is_put_back(file: str, advised: list[str], tmp_path: Path) -> None:
    """Tables on disk alone are no reason to raise a limit above its default."""
    found = first(
        "temporary-tables-on-disk",
        "mysql-9.7.4",
        tmp_path,
        file=file,
        server={},
        workload={"rises": {"created_tmp_disk_tables": 400, "created_tmp_tables": 1000}},
    )
    assert lines(found) == advised
    assert "40 temporary tables a second are created on disk" in found.message
    assert "400 of 1,000" in found.message
    assert bool(advised) == found.help.startswith("write ")


@pytest.mark.parametrize(
    ("file", "advised"),
    [
        ("temptable_max_ram = 2M", ["temptable_max_ram = 1G"]),
        ("temptable_max_ram = 1G", []),
        ("temptable_max_ram = 2G", []),
        ("", []),
    ],
)
def test_only_a_lowered_store_is_put_back(file: str, advised: list[str], tmp_path: Path) -> None:
    """A used-up store is raised to 1G at most, and only where its size was explicitly lowered."""
    found = first(
        "exhausted-temporary-memory",
        "mysql-9.7.4",
        tmp_path,
        file=file,
        server={"variables": {} if file else {"temptable_max_ram": "536870912"}},
        workload={"rises": {"temptable_count_hit_max_ram": 400}},
    )
    assert lines(found) == advised
    assert found.message.startswith("40 times a second")
    assert bool(advised) == found.help.startswith("write ")


@pytest.mark.parametrize(
    ("file", "advised"),
    [
        ("sort_buffer_size = 64K", ["sort_buffer_size = 256K"]),
        ("sort_buffer_size = 256K", []),
        ("sort_buffer_size = 1M", []),
        ("", []),
    ],
)
def test_only_a_lowered_sort_buffer_is_put_back(file: str, advised: list[str], tmp_path: Path) -> None:
    """Merge passes alone are no reason to raise the buffer of all sessions above its default."""
    found = first(
        "sorts-in-many-passes",
        "mysql-9.7.4",
        tmp_path,
        file=file,
        server={"variables": {} if file else {"sort_buffer_size": "65536"}},
        workload={"rises": {"sort_merge_passes": 5000}},
    )
    assert lines(found) == advised
    assert "500 times a second" in found.message
    assert bool(advised) == found.help.startswith("write ")


@pytest.mark.parametrize(
    ("size", "advised"),
    [
        (32768, ["binlog_cache_size = 64K"]),
        (524288, ["binlog_cache_size = 1M"]),
        (528384, []),
        (1048576, []),
    ],
)
def test_twice_the_cache_up_to_a_megabyte(size: int, advised: list[str], tmp_path: Path) -> None:
    """The cache of the binary log is doubled while it stays within a megabyte for each session."""
    found = first(
        "spilling-binary-log-cache",
        "mysql-9.7.4",
        tmp_path,
        server={"variables": {"binlog_cache_size": str(size)}},
        workload={"rises": {"binlog_cache_disk_use": 500, "binlog_cache_use": 1000}},
    )
    assert lines(found) == advised
    assert "50 transactions a second" in found.message
    assert "500 of 1,000" in found.message
    assert bool(advised) == found.help.startswith("write ")


@pytest.mark.parametrize(
    ("rule", "target", "fields", "says"),
    [
        (
            "joins-without-index",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"select_full_join": 50, "handler_read_rnd_next": 100000}}},
            "5 joins a second read a table without an index in a window of 10 s, server up 1 d; 10,000 rows a second",
        ),
        (
            "rows-read-by-scans",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"handler_read_rnd_next": 9990000, "handler_read_first": 10000}}},
            "999,000 rows a second come from scans in a window of 10 s, server up 1 d, 99 % of all",
        ),
        (
            "changes-by-full-scan",
            "mariadb-10.11",
            {"server": {}, "workload": {"rises": {"update_scan": 50, "delete_scan": 3}}},
            "5 UPDATE statements a second",
        ),
        (
            "prepared-for-one-execution",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"com_stmt_prepare": 2000, "com_stmt_execute": 2400}}},
            "200 statements a second are prepared in a window of 10 s, server up 1 d, and each is executed 1.2 times",
        ),
        (
            "prepared-statements-near-limit",
            "mysql-9.7.4",
            {
                "server": {
                    "variables": {"max_prepared_stmt_count": "1000"},
                    "status": {"prepared_stmt_count": 900, "threads_connected": 10},
                },
                "workload": {"rises": {}},
            },
            "900 of 1,000 prepared statements are open, 90 for each connection",
        ),
        (
            "prepared-statements-near-limit",
            "mysql-9.7.4",
            {
                "server": {"variables": {"max_prepared_stmt_count": "1000"}, "status": {"prepared_stmt_count": 900}},
                "workload": {"rises": {}},
            },
            "900 of 1,000 prepared statements are open, 900 for each connection",
        ),
        (
            "statements-prepared-again",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"com_stmt_reprepare": 50, "opened_table_definitions": 70}}},
            "or leave the table cache, and 7 definitions a second are read.",
        ),
        (
            "statements-prepared-again",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"com_stmt_reprepare": 50, "opened_table_definitions": 0}}},
            "their tables change, are flushed or leave the table cache.",
        ),
        (
            "sessions-waiting-for-rows",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"innodb_row_lock_waits": 100, "innodb_row_lock_time": 25000}}},
            "2.5 sessions on average wait for locked rows in a window of 10 s, server up 1 d: 100 waits of 250 ms",
        ),
        (
            "frequent-deadlocks",
            "mariadb-10.11",
            {"server": {}, "workload": {"rises": {"innodb_deadlocks": 20}}},
            "20 deadlocks in a window of 10 s, server up 1 d, 2 a second",
        ),
        (
            "frequent-deadlocks",
            "mysql-9.7.4",
            {
                "server": {"status": {"uptime": 86400}, "innodb_metrics": {"lock_deadlocks": 43200}},
                "workload": {"rises": {}},
            },
            "43,200 deadlocks since the server started 1 d ago, one every 2.0 s",
        ),
        (
            "transaction-for-each-change",
            "mysql-9.7.4",
            {"server": {}, "workload": {"rises": {"com_insert": 2000, "binlog_cache_use": 1900, "com_commit": 10}}},
            "200 changes a second in 190 transactions",
        ),
    ],
)
def test_a_message_has_its_numbers(
    rule: str, target: str, fields: dict[str, object], says: str, tmp_path: Path
) -> None:
    """Rates are a second of the window, shares are of all, and averages of what was counted."""
    assert says in first(rule, target, tmp_path, **fields).message


def test_the_smaller_limit_in_memory_is_reported(tmp_path: Path) -> None:
    """A table leaves memory at the smaller of two limits, and may hold what the disk's limit says."""
    found = first(
        "temporary-tables-too-large-for-disk",
        "mariadb-10.11",
        tmp_path,
        file="tmp_disk_table_size = 1M\ntmp_table_size = 4M\nmax_heap_table_size = 2M",
    )
    assert "more than 2M does not fit in memory, and on disk it may be only 1M" in found.message
    assert lines(found) == ["tmp_disk_table_size = 18446744073709551615"]


@pytest.mark.parametrize(("reads", "says"), [(3594, "359 pages a second, 100 % of all page requests, are read"),
                                             (3617, "362 pages a second are read")])  # fmt: skip
def test_a_scan_on_mariadb_reads_more_pages_than_sessions_request(reads: int, says: str, tmp_path: Path) -> None:
    """Pages that are read ahead are counted as read, so there is no share above 100 percent."""
    found = first(
        "small-buffer-pool",
        "mariadb-11.8",
        tmp_path,
        file="innodb_buffer_pool_size = 1G",
        server={"status": {"innodb_buffer_pool_pages_free": 100, "innodb_buffer_pool_pages_total": 65536}},
        host={"memory": {"total": 16 << 30}},
        workload={"rises": {"innodb_buffer_pool_reads": reads, "innodb_buffer_pool_read_requests": 3594}},
    )
    assert found.message.startswith(says)
