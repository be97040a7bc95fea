"""Options that are one setting under several names, or switch others: the verdict beside each real server's help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from verdict_agreement import Ask, Judge, disagreement

from advisor.verdict import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from real_servers import Start

CASES = """
flush=1 / flush_time=9
flush=0 / flush_time=9
super_read_only=1 / read_only=0
super_read_only=1
query_cache_size=4097
query_cache_size=50177
expire_logs_days=3 / binlog_expire_logs_seconds=255
binlog_expire_logs_seconds=255 / expire_logs_days=3
expire_logs_days=0.5
long_query_time=20 / log_slow_query_time=5
log_slow_query_time=5 / long_query_time=20
long_query_time=100000001
log_slow_disabled_statements=call / log_slow_slave_statements=0
log_slow_slave_statements=0 / log_slow_disabled_statements=call
log_slow_disabled_statements=admin / log_slow_admin_statements=1
log_slow_admin_statements=1 / log_slow_disabled_statements=admin / log_slow_slave_statements=1
log_queries_not_using_indexes=1 / log_slow_filter=admin
log_slow_filter=admin / log_queries_not_using_indexes=1
log_slow_filter=admin,not_using_index / log_queries_not_using_indexes=0
performance_schema=1 / performance_schema_digests_size=-1 / performance_schema_events_waits_history_long_size=-1
performance_schema=1 / max_connections=303 / performance_schema_digests_size=-1
performance_schema=0 / performance_schema_digests_size=-1
old_mode=UTF8_IS_UTF8MB3 / old=1
old_mode=NO_PROGRESS_INFO,UTF8_IS_UTF8MB3 / old=0
flashback / binlog_format=MIXED
flashback / skip_log_bin
optimizer_switch=not_null_range_scan=on
ansi
ansi / sql_mode=NO_ZERO_DATE
transaction_isolation=READ-COMMITTED / ansi
sql_mode=NO_ZERO_DATE / loose-ansi / transaction_isolation=READ-COMMITTED
mysqlx=0 / mysqlx_socket=/tmp/x
mysqlx=0 / mysqlx_ssl_ca=/tmp/x / mysqlx_port=33065
mysqlx=0 / mysqlx_compression_algorithms=LZ4_MESSAGE
mysqlx_socket=/tmp/x / mysqlx=OFF / mysqlx=FORCE
skip-mysqlx / mysqlx_socket
core_file / gdb
gdb / core_file
gdb / skip_core_file
gdb=0 / core_file
gdb / skip_gdb / core_file
loose_debug_gdb / core_file
"""


@pytest.mark.parametrize("lines", [line.replace(" / ", "\n") for line in CASES.strip().splitlines()])
def test_linked(lines: str, ask: Ask, judge: Judge) -> None:
    """The server stops exactly where the verdict says so, and prints the values that the verdict gives."""
    assert disagreement(lines, ask(lines), judge(lines)) is None


@pytest.mark.servers("mysql-5.7", "mysql-9.7", "mariadb-10.11", "mariadb-11.8", whole="mysql-8.0 mariadb-11.4")
@pytest.mark.parametrize("lines", ["gdb\ncore_file", "core_file\ngdb", "core_file", "gdb=0\ncore_file"])
def test_gdb_disables_core_files(lines: str, server_name: str, start: Start, judge: Judge, tmp_path: Path) -> None:
    """Beside gdb the started server writes no core file, and the verdict says so where the line asks for one."""
    file = tmp_path / "my.cnf"
    file.write_text(f"[mysqld]\n{lines}\n")
    sandbox = start(server_name, option_file=file, small=True)
    with sandbox.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES LIKE 'core_file'")
        _, value = cursor.fetchone()
    line = judge(lines).effective["core_file"]
    assert (line.outcome is Outcome.ADJUSTED) == (value == "OFF")
    assert ("gdb disables core files" in line.reason) == (value == "OFF")


@pytest.mark.parametrize("connections", [151, 1000, 9000])
def test_back_log(connections: int, ask: Ask, judge: Judge) -> None:
    """A back_log of 0 is made of the connections."""
    lines = f"back_log=0\nmax_connections={connections}"
    assert judge(lines).effective["back_log"].value == ask(lines).values["back_log"]
