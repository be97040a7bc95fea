"""What real servers made of texts with rules of their own and of options that affect each other, without a server."""

from __future__ import annotations

import pytest
from verdict_agreement import judge_lines

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.verdict import Outcome

M57, M80, M97 = "mysql-5.7.22", "mysql-8.0.15", "mysql-9.7.4"
A1011, A114, A118 = "mariadb-10.11.19", "mariadb-11.4.5", "mariadb-11.8.9"
TAKEN = [
    (M57, "date_format=%d.%m.%Y", "%d.%m.%Y"),
    (M57, "enable-date_format", "%Y-%m-%d"),
    (A1011, "time_format=%h:%i:%s %p", "%h:%i:%s %p"),
    (A1011, "datetime_format=%Y-%m-%d %H:%i:%s.%f", "%Y-%m-%d %H:%i:%s.%f"),
    (A118, "redirect_url=mysql://h:3306", "mysql://h:3306"),
    (A118, "redirect_url=mysql://a/b", "mysql://a/b"),
    (A118, "redirect_url=", ""),
    (M97, "protocol_compression_algorithms=ZLIB,zstd", "ZLIB,zstd"),
    (M97, "log_error_services=log_filter_internal,log_sink_internal", "log_filter_internal,log_sink_internal"),
    (M97, "log_error_suppression_list=MY-000012", "MY-000012"),
    (M80, "log_error_suppression_list=ER_SERVER_SHUTDOWN_COMPLETE", "ER_SERVER_SHUTDOWN_COMPLETE"),
    (M97, "log_error_suppression_list=MY-013360", "MY-013360"),
    ("mysql-8.0.36", "log_error_suppression_list=MY-013360", "MY-013360"),
    (
        M97,
        "ssl_cipher=DHE-RSA-AES128-CCM:ECDHE-RSA-AES256-GCM-SHA384",
        "DHE-RSA-AES128-CCM:ECDHE-RSA-AES256-GCM-SHA384",
    ),
    (M97, "tls_ciphersuites=TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"),
    (M97, "tls_ciphersuites=TLS_AES_128_CCM_SHA256:!no", "TLS_AES_128_CCM_SHA256:!no"),
    (M97, "ssl_cipher=ECDHE-RSA-AES256-GCM-SHA384:!MD5", "ECDHE-RSA-AES256-GCM-SHA384:!MD5"),
    (M57, "session_track_system_variables=autocommit,last_insert_id", "autocommit,last_insert_id"),
    (A1011, "session_track_system_variables=autocommit,autocommit", "autocommit,autocommit"),
    (A1011, "session_track_system_variables=*", "*"),
    (A114, "ssl_crl=x", "(No default value)"),
    (M97, "ssl_fips_mode=0", "OFF"),
    (M97, "performance_schema_meter=a=b", "a"),
    (M97, "ndbinfo=FORCE", "OFF"),
    (A118, "init_rpl_role=slave", "SLAVE"),
    (A114, "note_verbosity=all", "basic,unusable_keys,explain"),
    (A114, "character_set_server=abc,latin1", "latin1"),
    (A1011, "innodb_sys=FORCE", ""),
    (A1011, "relay_log=x\nlog_basename=B", "B-relay-bin"),
    (A1011, "log_basename=B\nrelay_log=x", "x"),
    (A1011, "ignore_db_dirs=a\nignore_db_dirs=b", "a,b"),
    (A1011, "enable-ignore_db_dirs=x", "1"),
    (A1011, "maximum-innodb_io_capacity=777", "777"),
    (A1011, "maximum-sort_buffer_size=1M", "2097152"),
    (M97, "maximum-net_write_timeout=5", "5"),
    (M97, "maximum-net_write_timeout=455K", "60"),
    (A1011, "autoset_myisam_use_mmap", "TRUE"),
    (A1011, "loose_sql_mode=abc", ""),
    (A1011, "feedback=FORCE\nfeedback=OFF", "ON"),
    (A1011, "log_basename=/none/a", "/none/a"),
    (A118, "log_basename=/", "/"),
    (A114, "log_basename=a\\\\", "a\\"),
    (A1011, "loose_myisam_recover_options=abc", "OFF"),
    (A1011, "loose_port=-9", "3306"),
    (A1011, "loose_log_warnings=-7", "18446744073709551609"),
    (A1011, "loose-maximum-slow_launch_time=x", "2"),
    (M57, "log_warnings=-1", "18446744073709551615"),
    (M57, "query_cache_size=18446744073709551615", "0"),
    (M57, "query_cache_size=1M", "1048576"),
    (M57, "enable-ft_boolean_syntax", None),
    (M80, "binlog_row_value_options=PARTIAL_JSON", "PARTIAL_JSON"),
    (M80, "skip_log_bin", "(No default value)"),
    (A1011, "skip_query_cache_size=0", "0"),
    (M57, "ssl_ca=/x\nssl=0", "FALSE"),
    (M57, "optimizer_trace_features=range_optimizer=o", None),
    (M57, "enable-relay_log", "(No default value)"),
    (M57, "lc_messages=abc\nlc_messages=en_US", "en_US"),
    (M57, "binlog_transaction_dependency_tracking=WRITESET\ntransaction_write_set_extraction=XXHASH64", "XXHASH64"),
    (M57, "exit_info=5", None),
    (A114, "exit_info=", None),
    (A118, "ignore_builtin_innodb\ninnodb_trx=1", "ON"),
]
REFUSED = [
    (M57, "date_format=%d%m%Y"),
    (M57, "date_format=%d-%d-%Y"),
    (M57, "date_format=%d-%m-%x"),
    (A1011, "time_format=%h:%i:%s"),
    (A1011, "date_format=abc"),
    (A118, "redirect_url=mysql://h:99999"),
    (A118, "redirect_url=http://h:1"),
    (M97, "ssl_cipher=HIGH"),
    (M97, "ssl_cipher=ECDHE-RSA-AES256-GCM-SHA384:-MD5"),
    (M57, "session_track_system_variables=abc"),
    (M80, "session_track_system_variables=autocommit,autocommit"),
    (A1011, "log_basename=a.b"),
    (A1011, "log_basename=a/"),
    (A1011, "log_basename=a\\\\"),
    (A118, "log_basename=\\\\"),
    (A114, "log_basename=/none/a"),
    (A1011, "maximum-general_log=1"),
    (A1011, "maximum-sort_buffer_size"),
    (A1011, "loose_table_open_cache=abc"),
    (M80, "replicate_same_server_id"),
    (M80, "server_id_bits=0"),
    (M57, "binlog_transaction_dependency_tracking=WRITESET"),
    (M57, "exit_info="),
    (M80, "log_bin=/none/"),
    (M57, "enable-innodb_ft_aux_table"),
    (A1011, "innodb_io_capacity=300\nignore_builtin_innodb"),
]
MOVED = [
    (M97, "protocol_compression_algorithms=zlib, zstd", "zlib,zstd,uncompressed"),
    (M97, "log_error_services=abc", "log_filter_internal; log_sink_internal"),
    (M97, "log_error_suppression_list=2000", ""),
    (M80, "log_error_suppression_list=MY-013360", ""),
    (M97, "log_error_suppression_list=ER ABC", ""),
]


@pytest.mark.parametrize(("target", "lines", "value"), TAKEN)
def test_taken(target: str, lines: str, value: str | None) -> None:
    """The server starts, and prints this for the option of the last line, or of the one line that is moved."""
    verdict = judge_lines(lines, load(parse_target(target)))
    assert not [line for line in verdict.lines if line.outcome in REFUSING]
    values = [line.value for line in verdict.effective.values()]
    assert value is None or value in values


REFUSING = (Outcome.INVALID, Outcome.UNKNOWN, Outcome.MISSING_ARGUMENT, Outcome.UNEXPECTED_ARGUMENT)


@pytest.mark.parametrize(("target", "lines"), REFUSED)
def test_refused(target: str, lines: str) -> None:
    """The server stops at one of the lines, and the reason is reported."""
    verdict = judge_lines(lines, load(parse_target(target)))
    stops = [line for line in verdict.lines if line.outcome in REFUSING]
    assert len(stops) == 1
    assert stops[0].reason


@pytest.mark.parametrize(("target", "line", "value"), MOVED)
def test_moved(target: str, line: str, value: str) -> None:
    """The server takes another value instead, and says why."""
    (found,) = judge_lines(line, load(parse_target(target))).lines
    assert (found.outcome, found.value) == (Outcome.ADJUSTED, value)
    assert found.reason


@pytest.mark.parametrize(
    ("target", "text", "runs"),
    [
        (M57, "ddl_exist_errors,1062", "1007,1008,1050,1051,1054,1060,1061,1062,1068,1091,1146"),
        (M97, "ddl_exist_errors", "1007,1008,1050,1051,1054,1060,1061,1068,1091,1146"),
        (M97, "1062,ddl_exist_errors", "1062"),
        (M97, "all,1062", "OFF"),
        (A118, "ddl_exist_errors,1062", "OFF"),
    ],
)
def test_errors_that_a_replica_skips(target: str, text: str, runs: str) -> None:
    """Numbers may follow ddl_exist_errors, which only MySQL knows; other words end the list."""
    line = judge_lines(f"slave_skip_errors={text}", load(parse_target(target))).effective["slave_skip_errors"]
    assert runs == (line.value if line.running is None else line.running)


@pytest.mark.parametrize(
    ("target", "line", "reason"),
    [
        (A118, "slave_skip_errors=ddl_exist_errors,1062", "drops 'ddl_exist_errors,1062' without a message: the"),
        (M97, "replica_skip_errors=1062,abc,1032", "drops 'abc' without a message: the replica skips 1032,1062."),
        (A118, "slave_skip_errors=1062,99999", "drops '99999' without a message: the replica skips 1062."),
        (A118, "gtid_pos_auto_engines=innodb, myisam,foo", "drops ' myisam', 'foo' without a message and uses InnoDB"),
        (A118, "character_set_collations=utf8mb4=foo", "ignores the whole value, and starts"),
        (A118, "character_set_collations=latin1=latin1_bin,utf8mb4=bin", "uses latin1=latin1_bin and ignores the rest"),
    ],
)
def test_words_that_are_dropped_from_lists(target: str, line: str, reason: str) -> None:
    """The reason names what the server drops and what it uses."""
    (judged,) = judge_lines(line, load(parse_target(target))).lines
    assert judged.outcome is Outcome.ADJUSTED
    assert reason in judged.reason
