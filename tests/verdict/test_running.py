"""The second judge: what started servers run with, compared with what show prints for the same file.

`running` where known, else `value`, is what SHOW GLOBAL VARIABLES prints for every option that the file sets.
"""

from __future__ import annotations

import pytest
from start_and_compare import Run, compare

from advisor.catalog import Catalog

# One file each; lines that a server doesn't know are left out for it.
SIZES = """
innodb_buffer_pool_size=1100M
innodb_buffer_pool_instances=8
innodb_page_cleaners=16
innodb_io_capacity=5000
innodb_io_capacity_max=1000
innodb_max_dirty_pages_pct=50
innodb_max_dirty_pages_pct_lwm=60
innodb_open_files=5
innodb_ft_sort_pll_degree=7
innodb_purge_threads=3
table_open_cache=700
table_definition_cache=25
max_connections=180
back_log=0
flush=ON
flush_time=9
binlog_cache_size=64K
max_binlog_cache_size=4096
binlog_stmt_cache_size=64K
max_binlog_stmt_cache_size=8192
query_cache_size=4097
key_buffer_size=1000001
thread_cache_size=77
host_cache_size=99
performance_schema=1
performance_schema_digests_size=-1
performance_schema_events_waits_history_long_size=-1
performance_schema_events_stages_history_size=-1
performance_schema_session_connect_attrs_size=-1
performance_schema_max_table_instances=-1
innodb_buffer_pool_size_max=100M
innodb_buffer_pool_size_auto_min=2000M
long_query_time=1.2345678
log_slow_query_time=2.5
max_statement_time=3145728.5
"""
WORDS = """
character_set_server=UTF8MB4
collation_server=utf8mb4_GENERAL_CI
character_set_filesystem=LATIN1
default_storage_engine=heap
default_tmp_storage_engine=memory
event_scheduler=OFF
optimizer_switch=mrr=on,index_merge=off
optimizer_trace=enabled=off
slave_skip_errors=1062,1032,ddl_exist_errors
sql_mode=ansi
transaction_isolation=READ-COMMITTED
log_bin=0
super_read_only=1
read_only=0
enforce_gtid_consistency=1
gtid_mode=0
innodb_support_xa=0
innodb_change_buffering=inserts
innodb_flush_method=O_DSYNC
innodb_data_file_buffering=1
innodb_log_file_buffering=1
innodb_log_file_write_through=0
default_time_zone=+02:00
performance_schema=0
performance_schema_digests_size=77
performance_schema_max_digest_length=900
innodb_buffer_pool_chunk_size=1M
innodb_buffer_pool_size=33M
innodb_log_file_mmap=1
expire_logs_days=3
binlog_expire_logs_seconds=100000
log_slow_disabled_statements=call
log_slow_slave_statements=0
log_slow_filter=admin,filesort
log_queries_not_using_indexes=1
slave_parallel_mode=conservative
"""
SMALL = """
skip_log_bin
innodb_flush_method=O_DIRECT_NO_FSYNC
innodb_doublewrite=1
innodb_data_file_buffering=1
innodb_buffer_pool_chunk_size=256M
innodb_buffer_pool_size=1300M
table_definition_cache=400
table_open_cache=400
max_connections=100
performance_schema_digests_size=-1
performance_schema_events_stages_history_size=-1
performance_schema_events_stages_history_long_size=-1
innodb_io_capacity=300
innodb_io_capacity_max=18446744073709551615
max_relay_log_size=0
max_binlog_size=100000
log_queries_not_using_indexes=1
log_slow_filter=admin
log_slow_query_time=7
long_query_time=3
sync_binlog=4294967295
slave_skip_errors=ddl_exist_errors,1062
gtid_pos_auto_engines=heap,foo,innodb
character_set_collations=latin1=latin1_bin,utf8mb4=uca1400_as_ci,foo=bar,ucs2=ucs2_bin
"""
FILES = {"sizes": SIZES, "words": WORDS, "small": SMALL}


def known(text: str, catalog: Catalog) -> list[str]:
    """The lines whose options the server has."""
    options = [*catalog.options, "skip_log_bin"]
    return ["server_id=7", *[line for line in text.split() if line.partition("=")[0] in options]]


@pytest.mark.parametrize("name", FILES)
def test_rounded_derived_and_autosized(name: str, catalog: Catalog, run: Run) -> None:
    """Sizes, rates, words and flags run as predicted, alone and where they depend on each other."""
    lines = known(FILES[name], catalog)
    if catalog.target.since("mysql", 8, 4):  # its number of instances depends on the processors
        lines = [line for line in lines if "=1300M" not in line]
    variables = run(lines)
    assert variables is not None
    compared = compare(lines, variables, catalog)
    assert compared.settings >= len(lines) // 2
    assert compared.wrong == []
