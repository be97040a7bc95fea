"""The verdict on traps, compared with each real server's answer to the same lines."""

from __future__ import annotations

import pytest
from verdict_agreement import Ask, Judge, disagreement, refused_lines

# One file each, lines separated by " / ".
NAMES = """
read-buffer-size=1M
read_buffer-size=1M
READ_BUFFER_SIZE=1M
read_buffer_siz=1M
foo.read_buffer_size=1M
hot.key_buffer_size=1M
default.key_buffer_size=1M / key_buffer_size=16M
hot.optimizer_row_copy_cost=-1
innodb.optimizer_disk_read_cost=5
aria.optimizer_where_cost=5
set-variable=key_buffer_size=16M
maximum-sort_buffer_size=1M
maximum-basedir=1
maximum-parser-max-mem-size=+8192
maximum-parser-max-mem-size=20000000
skip-read-buffer-size
disable-general-log
enable-general-log=0
skip-loose-general-log
loose-skip-general-log=0
loose-nonsense=1
nonsense=1
skip-skip-name-resolve=0
innodb_bufer_pool_size=1G
innodb_log_buf=64M
innodb_buff=64M
key_buf=64M
max_connect=64
log=x
query_cache_t=1
key_buf=64M / skip-getopt-prefix-matching
wsrep_certify_nonpk=1
wsrep_certify_nonPK=0
"""
NUMBERS = """
read_buffer_size=10GB
read_buffer_size=10gigs
read_buffer_size=1.5G
read_buffer_size=0x10
read_buffer_size=" -5"
read_buffer_size=-5
read_buffer_size="+8192"
read_buffer_size=
read_buffer_size
read_buffer_size=20E
read_buffer_size=1P
read_buffer_size=99999999999999999999
sort_buffer_size=18446744073709551615
max_allowed_packet=99999999999T
max_binlog_size=100000000
net_buffer_length=1000
innodb_autoextend_increment=2000
innodb_flush_log_at_trx_commit=7
innodb_lock_wait_timeout=0
long_query_time=1e2
long_query_time=-1
long_query_time=1.5s
long_query_time=
long_query_time=2000000
long_query_time=0.0000012
port=0
port=PORT
port=70000
port=
lower_case_table_names=2
log_warnings=5
log_warnings
log_warnings / log_warnings
log_warnings=-1
log_warnings=-1 / log_warnings
log_warnings=-2
log_warnings=-2G
log_warnings=3000000000
log_error_verbosity=2 / log_warnings
log_error_verbosity=1 / log_warnings
log_error_verbosity=2 / skip-log_warnings
log_error_verbosity=2 / log_warnings=4294967295
maximum-sort_buffer_size=10K
maximum-sort_buffer_size=-1
maximum-read_buffer_size=100000
maximum-max_points_in_geometry
maximum-wait_timeout=99999999
"""
WORDS = """
general_log=1abc
read_only=maybe
read_only=
innodb_file_per_table=maybe
skip-name-resolve=0
skip_name_resolve=OFF
skip-networking=0
local_infile=2
slow_query_log=/var/log/slow.log
general_log_file=a.cnf
slow_query_log_file=a.INI
slow_query_log_file=a.cnf / slow_query_log_file=a.log
skip_new
delay_key_write=ALL / concurrent_insert=2 / skip_new
skip_new / delay_key_write=ALL
upgrade=for
upgrade=4
upgrade=
binlog_format=
binlog_format=s
binlog_format=1
binlog_format=7
binlog_format=" row "
concurrent_insert=2
sql_mode=ansi
sql_mode=traditional
sql_mode=
sql_mode=4
sql_mode="ANSI_QUOTES,"
sql_mode="ANSI_QUOTES, STRICT_ALL_TABLES"
sql_mode=NO_AUTO_CREATE_USER
sql_mode=ANSI_QUOTES,NO_ENGINE_SUBS
sql_mode=ANSI_QUO,NO_ENGINE_SUBSTITUTION
optimizer_switch=index_merge=off
optimizer_switch=default
optimizer_switch=default,mrr=on
optimizer_switch=mrr=on,mrr=off
optimizer_switch=mrr=de
optimizer_switch="mrr=on, index_merge=off"
optimizer_switch=mrr=on / optimizer_switch=index_merge=off
log_output=file,table
log_output=
myisam-recover-options=
myisam-recover-options=BACKUP,FORCE
character_set_server=nonsense
character_set_server=utf8
character_set_server=latin1 / collation_server=utf8mb4_bin
collation_server=utf8mb4_0900_ai_ci / character_set_server=utf8mb4
character_set_server=UTF8MB4 / collation_server=utf8mb4_unicode_ci
character_set_server=utf8mb4 / collation_server=utf8mb4_unicode_cs
character_set_server=utf8mb4 / collation_server=utf8mb4_general1400_as_ci
character_set_server=utf8mb4 / collation_server=utf8mb4_0900_bin
character_set_server=latin1 / collation_server=latin1_swedish_cs
character_set_server=latin7 / collation_server=latin7_general_cs
thread_handling=pool-of-threads
default_storage_engine=memory
log_bin=/a.b/foo.bar.baz / server_id=1
skip-log-bin
log_bin=x / skip-log-bin
log_bin=x
log_bin=x.y / log_bin / server_id=1
skip-log-bin / log_bin / server_id=1
log_bin=0
loose-log_bin=0
skip-log-bin=1
enable-log-bin=0
skip-log-bin / log_bin=0
log_bin=0 / server_id=1
slave_transaction_retry_errors=foo,1062
slave_transaction_retry_errors=1062,foo,4294967298,0,9223372036854775808,7
slave_skip_errors=1062,1032
slave_skip_errors=all
replicate_do_table=abc
replicate_rewrite_db=a->b
ft_boolean_syntax=abc
session_track_system_variables=*
tls_version=TLSv1
tls_version=TLSv1 / tls_version=TLSv1.2
tls_version=TLSv1.2
tls_version=TLSv1.2,
tls_version=TLSv1.2,,
enable-tls_version=x
enable-admin_tls_version / admin_tls_version=TLSv1.2
query_cache_type=0 / query_cache_size=1M
max_connections=50 / thread_cache_size=128
skip-innodb / default_storage_engine=MyISAM
skip-bdb
innodb_thread_concurrency=5
secure_auth=0
old_passwords=1
"""
CASES = [line.replace(" / ", "\n") for line in (NAMES + NUMBERS + WORDS).strip().splitlines()]
PARTS = 8


def files_of(cases: list[str], judge: Judge) -> list[dict[str, str]]:
    """The cases in files, by the options that they set: single lines that are taken, for an option each, share one."""
    files: list[dict[str, str]] = []
    for lines in cases:
        verdict = judge(lines)
        options = {} if "\n" in lines or refused_lines(verdict) else verdict.effective
        fitting = (file for file in files if options and "" not in file and not options.keys() & file.keys())
        file = next(fitting, None)
        if file is None:
            files.append(file := {})
        file.update(dict.fromkeys(options or [""], lines))
    return files


@pytest.mark.parametrize("part", range(PARTS))
def test_traps(part: int, ask: Ask, judge: Judge) -> None:
    """The server stops exactly where the verdict says so, and prints the values that the verdict gives."""
    for file in files_of(CASES[part::PARTS], judge):
        cases = list(dict.fromkeys(file.values()))
        answer = ask("\n".join(cases))
        for lines in cases:
            if disagreement(lines, answer, judge(lines)) is not None:  # the server reports the line alone
                assert disagreement(lines, ask(lines), judge(lines)) is None
