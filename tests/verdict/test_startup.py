"""What a started server reports for a setting, without a server: recorded answers, and where the host decides."""

from __future__ import annotations

import pytest
from verdict_agreement import judge_lines

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.verdict.startup.host import host_note

# target / lines / option / what runs; - where it is unknown, or it runs as help prints it
RUNNING = """
mysql-8.0.15  / innodb_buffer_pool_size=512M, innodb_buffer_pool_instances=8 / innodb_buffer_pool_instances / 1
mysql-8.0.15  / innodb_buffer_pool_size=1100M, innodb_buffer_pool_instances=8 / innodb_buffer_pool_size / 2147483648
mysql-5.7.22  / innodb_buffer_pool_size=1300M, innodb_buffer_pool_instances=7, innodb_buffer_pool_chunk_size=200M \
/ innodb_buffer_pool_chunk_size / 194735543
mysql-9.7.4   / innodb_buffer_pool_size=1300M, innodb_buffer_pool_instances=7, innodb_buffer_pool_chunk_size=200M \
/ innodb_buffer_pool_size / 1365245952
mysql-9.7.4   / innodb_buffer_pool_size=8G / innodb_buffer_pool_size / -
mysql-9.7.4   / innodb_dedicated_server=ON, innodb_page_cleaners=4 / innodb_page_cleaners / -
mariadb-11.4.5 / innodb_buffer_pool_size=333M, innodb_buffer_pool_chunk_size=10M / innodb_buffer_pool_size / 356515840
mariadb-11.4.5 / innodb_buffer_pool_size=20M, innodb_buffer_pool_chunk_size=0 / innodb_buffer_pool_chunk_size / 1048576
mariadb-11.8.9 / innodb_buffer_pool_size=300M, innodb_buffer_pool_size_max=100M / innodb_buffer_pool_size_max \
/ 318767104
mysql-8.0.15  / innodb_io_capacity_max=18446744073709551615 / innodb_io_capacity_max / 2000
mariadb-11.8.9 / innodb_io_capacity=4294967295, innodb_io_capacity_max=4294967295 / innodb_io_capacity_max / -
mysql-9.7.4   / innodb_io_capacity_max=4294967295 / innodb_io_capacity_max / -
mysql-8.0.15  / innodb_io_capacity=400, innodb_io_capacity_max=300 / innodb_io_capacity / 300
mysql-8.0.15  / innodb_io_capacity=400 / innodb_io_capacity / -
mysql-5.7.22  / innodb_open_files=1, table_open_cache=400, innodb_file_per_table=0 / innodb_open_files / 300
mariadb-11.8.9 / innodb_flush_method=fsync, innodb_data_file_buffering=0 / innodb_data_file_buffering / ON
mariadb-11.8.9 / innodb_flush_method=fsync, innodb_log_file_buffering=0 / innodb_log_file_buffering / -
mariadb-11.8.9 / innodb_flush_method=O_DSYNC, innodb_log_file_write_through=0 / innodb_log_file_write_through / ON
mariadb-11.8.9 / innodb_flush_method=O_DIRECT, innodb_data_file_buffering=1 / innodb_data_file_buffering / -
mariadb-11.8.9 / innodb_flush_method=O_DIRECT_NO_FSYNC, innodb_doublewrite=1 / innodb_doublewrite / fast
mariadb-10.11.19 / innodb_flush_method=O_DIRECT_NO_FSYNC, innodb_doublewrite=1 / innodb_doublewrite / -
mysql-8.0.15  / log_bin=0 / log_bin / ON
mysql-8.0.15  / skip-log-bin / log_bin / OFF
mariadb-11.8.9 / skip-log-bin, flashback=1 / log_bin / ON
mysql-8.0.15  / expire_logs_days=3, binlog_expire_logs_seconds=100000 / expire_logs_days / 0
mysql-8.0.15  / expire_logs_days=3 / expire_logs_days / -
mariadb-11.4.5 / expire_logs_days=3, binlog_expire_logs_seconds=100000 / expire_logs_days / 1.157407
mariadb-11.4.5 / expire_logs_days=12.3456789 / expire_logs_days / 12.345679
mariadb-10.11.19 / character_set_server=utf8 / character_set_server / utf8mb3
mariadb-10.11.19 / character_set_server=utf8, old_mode= / character_set_server / utf8mb4
mysql-8.0.15  / slave_skip_errors=abc / slave_skip_errors / OFF
mysql-8.0.15  / slave_skip_errors=all / slave_skip_errors / ALL
mysql-8.0.15  / slave_skip_errors=ddl_exist_errors / slave_skip_errors \
/ 1007,1008,1050,1051,1054,1060,1061,1068,1091,1146
mysql-8.0.15  / enforce_gtid_consistency / enforce_gtid_consistency / ON
mysql-8.0.15  / enable-enforce_gtid_consistency=5 / enforce_gtid_consistency / ON
mysql-8.0.15  / skip-enforce_gtid_consistency / enforce_gtid_consistency / OFF
mysql-8.0.15  / enforce_gtid_consistency=2 / enforce_gtid_consistency / WARN
mysql-8.0.15  / enforce_gtid_consistency=abc / enforce_gtid_consistency / OFF
mysql-9.7.4   / enforce_gtid_consistency=abc / enforce_gtid_consistency / ON
mysql-5.7.22  / log_warnings / log_warnings / 2
mysql-5.7.22  / log_warnings=1 / log_warnings / -
mysql-5.7.22  / log_error_verbosity=1, log_warnings / log_warnings / -
mysql-5.7.22  / skip-log-bin=1 / log_bin / OFF
mysql-8.0.15  / character_set_server=utf8mb3 / character_set_server / utf8
mysql-8.0.15  / character_set_server=utf8 / character_set_server / -
mysql-8.0.28  / character_set_server=utf8, collation_server=utf8_bin / character_set_server / utf8mb3
mysql-8.0.28  / character_set_server=utf8, collation_server=utf8_bin / collation_server / -
mysql-8.0.30  / character_set_server=utf8, collation_server=utf8_bin / collation_server / utf8mb3_bin
mysql-9.7.4   / character_set_server=utf8mb3 / character_set_server / -
mariadb-11.8.9 / character_set_server=utf8mb3 / character_set_server / -
mysql-8.0.15  / mysqlx=OFF / mysqlx / OFF
mysql-8.0.15  / skip_grant_tables, port=3307 / port / 0
mysql-9.7.4   / skip_grant_tables, skip_networking=0 / skip_networking / ON
mysql-9.7.4   / skip_grant_tables=0, port=3307 / port / -
mysql-5.7.22  / skip_grant_tables, port=3307 / port / -
mysql-9.7.4   / mysqlx=OFF / mysqlx / -
mysql-8.0.15  / long_query_time=0.0000001 / long_query_time / 0.000000
mariadb-10.11.19 / log_slow_query_time=12.3456789, long_query_time=1 / log_slow_query_time / -
mariadb-10.11.19 / long_query_time=1, log_slow_query_time=12.3456789 / long_query_time / 12.345679
mariadb-10.11.19 / sql_mode=ANSI, long_query_time=2, log_slow_query_time=1.23456789 / long_query_time / 1.234568
mariadb-11.8.9 / loose-optimizer_rowid_copy_cost=abc / optimizer_rowid_copy_cost / -
mysql-9.7.4   / innodb_log_write_ahead_size=3000 / innodb_log_write_ahead_size / 2048
mysql-8.0.15  / performance_schema_consumer_thread_instrumentation=1 \
/ performance_schema_consumer_thread_instrumentation / -
mysql-8.0.15  / long_query_time=100000001 / long_query_time / -
mysql-8.0.15  / performance_schema=0, performance_schema_error_size=77 / performance_schema_error_size / -
mysql-8.0.15  / performance_schema_digests_size=-1, max_connections=200, table_open_cache=400, \
table_definition_cache=400 / performance_schema_digests_size / 5000
"""
NOTES = """
mysql-8.0.15   / open_files_limit=70000 / open_files_limit / keeps a higher limit
mariadb-11.8.9 / open_files_limit=70000 / open_files_limit / uses what it needs
mysql-8.0.15   / max_connections=3000, table_open_cache=400 / max_connections / fewer than 3,810 files
mariadb-11.8.9 / max_connections=3000, table_open_cache=400 / max_connections / fewer than 3,430 files
mysql-8.0.15   / max_connections=100, table_open_cache=5000 / table_open_cache / fewer than 10,110 files
mysql-8.0.15   / max_connections=100, table_open_cache=300 / table_open_cache / -
mariadb-11.8.9 / table_open_cache=1000, table_open_cache_instances=8 / table_open_cache_instances / fewer than 16,181
mysql-8.0.15   / table_open_cache_instances=8 / table_open_cache_instances / -
mysql-8.0.15   / innodb_open_files=90000 / innodb_open_files / fewer than 90,000 files
mysql-9.7.4    / innodb_buffer_pool_size=8G / innodb_buffer_pool_size / processors decide
mysql-9.7.4    / innodb_buffer_pool_size=512M / innodb_buffer_pool_size / -
mysql-8.0.15   / innodb_buffer_pool_size=8G / innodb_buffer_pool_size / -
mariadb-11.8.9 / innodb_log_write_ahead_size=1024 / innodb_log_write_ahead_size / disk decides
mariadb-11.8.9 / innodb_log_write_ahead_size=4096 / innodb_log_write_ahead_size / -
mysql-8.0.15   / innodb_thread_sleep_delay=5 / innodb_thread_sleep_delay / load decides
mysql-8.0.15   / port=3307 / port / -
"""


def cases(text: str) -> list[list[str]]:
    """The fields of a table whose lines are separated by slashes."""
    return [[field.strip() for field in line.split(" / ")] for line in text.strip().splitlines()]


@pytest.mark.parametrize(("target", "lines", "option", "runs"), cases(RUNNING))
def test_running(target: str, lines: str, option: str, runs: str) -> None:
    """Each server answered so when it was started with these lines."""
    verdict = judge_lines("\n".join(lines.split(", ")), load(parse_target(target)))
    assert verdict.effective[option].running == (None if runs == "-" else runs)


@pytest.mark.parametrize(("target", "lines", "option", "message"), cases(NOTES))
def test_host_notes(target: str, lines: str, option: str, message: str) -> None:
    """The operating system's limits, processors, disks and load are named where they decide, and only there."""
    found = host_note(judge_lines("\n".join(lines.split(", ")), load(parse_target(target))), option)
    assert (found is None) if message == "-" else (message in found)
