"""Options that are one setting under several names, or switch others: the verdict beside each real server's help."""

from __future__ import annotations

import pytest
from asking_servers import Ask, Judge, disagreement

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
"""


@pytest.mark.parametrize("lines", [line.replace(" / ", "\n") for line in CASES.strip().splitlines()])
def test_linked(lines: str, ask: Ask, judge: Judge) -> None:
    """The server stops exactly where the verdict says so, and prints the values that the verdict gives."""
    assert disagreement(lines, ask(lines), judge(lines)) is None


@pytest.mark.parametrize("connections", [151, 1000, 9000])
def test_back_log(connections: int, ask: Ask, judge: Judge) -> None:
    """A back_log of 0 is made of the connections."""
    lines = f"back_log=0\nmax_connections={connections}"
    assert judge(lines).effective["back_log"].value == ask(lines).values["back_log"]
