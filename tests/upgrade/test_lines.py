"""What becomes of single lines on a move, and what is to be written in their place."""

from __future__ import annotations

import pytest
from upgrade_comparison import Moved

from advisor.core.model import Confidence, Severity
from advisor.upgrade.change import LineChange, LineEffect

PLUGIN = "default_authentication_plugin"


def only(moved: Moved, line: str, before: str, after: str, group: str = "mysqld") -> LineChange | None:
    """What is reported for the last line of a group, None where nothing is."""
    lines = moved(f"[{group}]\n{line}\n", before, after).lines
    last = line.count("\n") + 2
    return next((change for change in lines if change.location.line == last), None)


@pytest.mark.parametrize(
    ("line", "way", "kind", "write"),
    [
        ("query_cache_size = 64M", "mysql-5.7 mysql-8.0", LineEffect.REMOVED, None),
        ("expire_logs_days = 7", "mysql-5.7 mysql-8.4", LineEffect.RENAMED, "binlog_expire_logs_seconds = 604800"),
        ("log_warnings = 1", "mysql-5.7 mysql-8.0", LineEffect.RENAMED, "log_error_verbosity = 2"),
        ("innodb_undo_logs = 64", "mysql-5.7 mysql-8.0", LineEffect.RENAMED, "innodb_rollback_segments = 64"),
        ("innodb_checksums = 0", "mysql-5.7 mysql-8.0", LineEffect.RENAMED, "innodb_checksum_algorithm = none"),
        ("skip-slave-start", "mysql-5.7 mysql-9.7", LineEffect.DEPRECATED, "skip_replica_start"),
        ("replica_net_timeout = 30", "mysql-9.7 mariadb-11.8", LineEffect.RENAMED, "slave_net_timeout = 30"),
        ("innodb_log_file_size = 1G", "mariadb-10.11 mysql-9.7", LineEffect.RENAMED, "innodb_redo_log_capacity = 1G"),
        ("innodb_log_file_size = 1G", "mysql-8.0 mysql-9.7", LineEffect.RENAMED, "innodb_redo_log_capacity = 2G"),
        ("innodb_redo_log_capacity = 2G", "mysql-8.4 mariadb-11.8", LineEffect.RENAMED, "innodb_log_file_size = 2G"),
        ("sql_mode = ANSI_QUOTES,NO_AUTO_CREATE_USER", "mysql-5.7 mysql-8.0", LineEffect.REFUSED,
         "sql_mode = ANSI_QUOTES"),
        ("character_set_server = utf8", "mysql-8.4 mysql-9.7", LineEffect.REFUSED, "character_set_server = utf8mb3"),
        ("skip-innodb-checksums", "mysql-5.7 mysql-8.0", LineEffect.RENAMED, "innodb_checksum_algorithm = none"),
        ("skip_host_cache", "mysql-8.0 mysql-8.4", LineEffect.RENAMED, "host_cache_size = 0"),
        ("skip-ssl", "mysql-8.0 mysql-8.4", LineEffect.RENAMED, "tls_version ="),
        ("ssl = 1", "mysql-8.0 mysql-8.4", LineEffect.REMOVED, None),
        ("temptable_use_mmap = OFF", "mysql-8.0 mysql-8.4", LineEffect.DEPRECATED, "temptable_max_mmap = 0"),
        ("innodb_locks_unsafe_for_binlog", "mysql-5.7 mysql-8.0", LineEffect.RENAMED,
         "transaction_isolation = READ-COMMITTED"),
        ("innodb_locks_unsafe_for_binlog", "mysql-5.7 mariadb-11.8", LineEffect.IGNORED,
         "transaction_isolation = READ-COMMITTED"),
        ("log_error_verbosity = 2", "mysql-8.0 mariadb-11.8", LineEffect.RENAMED, "log_warnings = 1"),
        ("tls_version = TLSv1.1,TLSv1.2", "mysql-5.7 mysql-8.4", LineEffect.REFUSED, "tls_version = TLSv1.2"),
        ("tls_version = TLSv1.1", "mysql-5.7 mysql-8.4", LineEffect.REFUSED, None),
        ("ssl_cipher = AES128-SHA:ECDHE-RSA-AES128-GCM-SHA256", "mysql-5.7 mysql-9.7", LineEffect.REFUSED,
         "ssl_cipher = ECDHE-RSA-AES128-GCM-SHA256"),
        ("default_authentication_plugin = caching_sha2_password", "mysql-8.0 mysql-9.7", LineEffect.RENAMED,
         "authentication_policy = caching_sha2_password,,"),
        (f"{PLUGIN} = mysql_native_password", "mysql-8.0 mysql-8.4", LineEffect.REMOVED, None),
        (f"{PLUGIN} = mysql_native_password", "mysql-8.0 mysql-9.7", LineEffect.REMOVED, None),
        ("no_such_thing = 1", "mysql-5.7 mysql-8.0", LineEffect.STILL_REFUSED, None),
        ("innodb_buffer_pool_instances = 8", "mysql-8.0 mariadb-10.11", LineEffect.IGNORED, None),
        ("loose_query_cache_size = 1M", "mysql-5.7 mysql-8.0", LineEffect.IGNORED, None),
        ("skip-name-resolve = 0", "mysql-5.7 mariadb-10.11", LineEffect.VALUE, None),
        ("default_storage_engine = Aria\nignore_builtin_innodb", "mysql-5.7 mariadb-10.11", LineEffect.VALUE, None),
        ("alter_algorithm = NOCOPY", "mariadb-11.8 mariadb-10.11", LineEffect.VALUE, None),
        ("innodb_flush_log_at_trx_commit = 3", "mariadb-10.11 mysql-8.0", LineEffect.ADJUSTED, None),
        ("query_cache_size = {{ size }}", "mysql-5.7 mysql-8.0", LineEffect.REMOVED, None),
        ("admin_port = 33062", "mysql-5.7 mysql-8.0", LineEffect.NOW_ACCEPTED, None),
        ("super_read_only = 1", "mysql-8.0 mariadb-11.8", LineEffect.RENAMED, "read_only = ON"),
        ("super_read_only = 0", "mysql-8.0 mariadb-11.8", LineEffect.REMOVED, None),
        ("mysql_native_password = OFF", "mysql-8.4 mysql-9.7", LineEffect.REMOVED, None),
    ],
)  # fmt: skip
def test_kinds(moved: Moved, line: str, way: str, kind: LineEffect, write: str | None) -> None:
    """Each change in a line's effect is reported, with the line that the new server takes instead."""
    change = only(moved, line, *way.split())
    assert change is not None
    assert (change.kind, change.write) == (kind, write)
    assert change.message


@pytest.mark.parametrize(
    ("line", "way", "words"),
    [
        ("log_syslog = 1", "mysql-5.7 mysql-8.0", "Run INSTALL COMPONENT"),
        ("innodb_undo_tablespaces = 4", "mysql-5.7 mysql-8.0", "Run CREATE UNDO TABLESPACE"),
        ("max_execution_time = 1000", "mysql-8.0 mariadb-11.8", "Use max_statement_time, in seconds"),
        ("mysql_native_password = ON", "mysql-8.4 mysql-9.7", "can neither log in nor be created"),
        ("loose_mysql_native_password = ON", "mysql-8.4 mysql-9.7", "can neither log in nor be created"),
        ("enforce_gtid_consistency = ON\ngtid_mode = ON", "mysql-8.0 mariadb-11.8", "have to be set up again"),
        ("master_info_repository = FILE", "mysql-5.7 mysql-8.4", "set both repositories to TABLE"),
        (f"{PLUGIN} = mysql_native_password", "mysql-8.0 mysql-8.4", "must have loaded its plugins"),
        (f"{PLUGIN} = mysql_native_password", "mysql-8.0 mysql-9.7", "with another plugin: MySQL 9.0"),
        ("master_info_repository = TABLE", "mysql-5.7 mariadb-10.11", "set both repositories to FILE"),
        ("collation_server = latin1_bin", "mysql-5.7 mysql-8.0", "Add character_set_server = latin1"),
        ("collation_server = latin1_bin", "mariadb-10.11 mariadb-11.8", "Add character_set_server = latin1"),
    ],
)
def test_replacements_that_are_no_line(moved: Moved, line: str, way: str, words: str) -> None:
    """Where a statement or an option with another meaning replaces a line, the message says so, as lint does."""
    change = only(moved, line, *way.split())
    assert change is not None
    assert words in change.message
    assert change.message.count("Use ") < 2


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        ("max_connections = 100", "mysql-5.7", "mysql-9.7"),
        ("innodb_doublewrite = 1", "mysql-5.7", "mysql-9.7"),  # a boolean there, a list of words here
        ("slow_query_log = {{ slow }}", "mysql-5.7", "mysql-9.7"),
        ("optimizer_switch = mrr=off", "mysql-5.7", "mysql-9.7"),  # the other switches are defaults
        ("loose_no_such_thing = 1", "mysql-5.7", "mysql-9.7"),
        ("innodb_flush_method = O_DIRECT", "mysql-5.7", "mariadb-11.8"),
        ("enforce_gtid_consistency = 1", "mysql-8.0", "mysql-9.7"),  # printed by number there, by name here
        ("skip-federated", "mysql-8.0", "mysql-9.7"),  # help of 8.0 prints ON in any state
        ("performance_schema_instrument = '%=ON'", "mysql-5.7", "mariadb-11.8"),
    ],
)
def test_what_stays(moved: Moved, line: str, before: str, after: str) -> None:
    """Of a line that both servers take alike nothing is said."""
    change = only(moved, line, before, after)
    assert change is None or change.kind is LineEffect.DEPRECATED


def test_rounding_is_a_note(moved: Moved) -> None:
    """A value that only one server rounds is reported, but not as loudly as one that means something else."""
    rounded = only(moved, "innodb_buffer_pool_size = 700M", "mariadb-10.11", "mysql-8.0")
    assert (rounded.kind, rounded.severity) == (LineEffect.VALUE, Severity.NOTE)
    assert "700M" in rounded.message
    assert "768M" in rounded.message
    assert only(moved, "skip-name-resolve = 0", "mysql-5.7", "mariadb-10.11").severity is Severity.WARNING


def test_group_that_only_one_reads(moved: Moved) -> None:
    """A group of the old flavour is lost with a warning, one of the old version as meant; a new one is reported."""
    text = "[mariadb]\nsort_buffer_size = 1M\n[mysqld-5.7]\nsort_buffer_size = 2M\n[mysqld-8.0]\nport = 3307\n"
    to_mysql = moved(text, "mariadb-10.11", "mysql-8.0").lines
    assert [(c.kind, c.severity, c.location.line) for c in to_mysql] == [
        (LineEffect.NOT_READ, Severity.WARNING, 2),
        (LineEffect.NEWLY_READ, Severity.NOTE, 6),
    ]
    to_8 = moved(text, "mysql-5.7", "mysql-8.0").lines
    assert [(c.kind, c.severity, c.location.line) for c in to_8] == [
        (LineEffect.NOT_READ, Severity.NOTE, 4),
        (LineEffect.NEWLY_READ, Severity.NOTE, 6),
    ]


def test_lines_that_the_reader_rejects(moved: Moved) -> None:
    """A line at which the reader itself stops is reported, though no verdict covers it."""
    lines = moved("port = 3306\n[mysqld]\nport = 3307\n", "mysql-5.7", "mysql-8.0").lines
    assert [(c.kind, c.severity, c.location.line) for c in lines] == [(LineEffect.SYNTAX, Severity.ERROR, 1)]


def test_sureness(moved: Moved) -> None:
    """What a server that was asked refuses is certain, what only a catalog says is likely."""
    line = "query_cache_size = 1M"
    assert only(moved, line, "mysql-5.7", "mysql-9.7").confidence is Confidence.CERTAIN
    assert only(moved, line, "mysql-5.7", "mysql-8.4").confidence is Confidence.LIKELY


def test_worst_first(moved: Moved) -> None:
    """Errors come before warnings, warnings before notes, each in the order of the file."""
    text = "[mysqld]\nslave_net_timeout = 9\nloose_query_cache_type = 1\nlog_warnings = 1\nquery_cache_size = 1M\n"
    lines = moved(text, "mysql-5.7", "mysql-8.0").lines
    assert [c.location.line for c in lines] == [4, 5, 3, 2]


def test_the_same_server(moved: Moved) -> None:
    """A move to the same version changes nothing but names what it refuses anyway."""
    move = moved("[mysqld]\nno_such_thing = 1\nmax_connections = 7\n", "mysql-8.0", "mysql-8.0")
    assert [c.kind for c in move.lines] == [LineEffect.STILL_REFUSED]
    assert move.defaults == ()


def test_another_name_of_a_character_set_is_no_change(moved: Moved) -> None:
    """utf8 of MySQL 5.7 and utf8mb3 of MySQL 8.0 are one character set, and so are their collations."""
    assert only(moved, "character_set_server = utf8", "mysql-5.7", "mysql-8.0") is None
    lines = "character_set_server = utf8\ncollation_server = utf8_unicode_ci"
    change = only(moved, lines, "mysql-5.7", "mysql-8.0")
    assert change is None or change.kind is not LineEffect.VALUE
