"""What the rules about the server's own verdicts use from the catalogs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor.catalog.presence
from advisor.analysis import run_rules
from advisor.catalog import load
from advisor.catalog.targets import SERIES, parse_target
from advisor.core.model import Finding, exact_size
from advisor.optionfile import resolve
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from advisor.verdict.successors import CONVERTED, ON_MARIADB, ON_MYSQL, RENAMED, SOURCE, whole_size
from rules import all_rules
from rules.core.context import RuleContext
from rules.core.fixes import CONVERTIBLE, INCOMPATIBLE_SUCCESSORS

ELSEWHERE = Path(advisor.catalog.presence.__file__).parent / "data" / "elsewhere.json"
ALL = [f"{flavour}-{s[0]}.{s[1]}" for flavour, series in SERIES.items() for s in series]


@pytest.mark.parametrize("series", ALL)
def test_no_option_of_durability_or_security_counts_in_blocks(series: str) -> None:
    """Rounding to a block is a note, and an adjusted value of these must be a warning: so none of them may round."""
    catalog = load(parse_target(series))
    options = [option for name in catalog.options if (option := catalog.get(name)) is not None]
    assert any(option.block > 1 for option in options)
    assert [o.name for o in options if o.block > 1 and (o.durability or o.security)] == []


SEMI = "plugin_load_add = semisync_"
READ_COMMITTED = "transaction_isolation=READ-COMMITTED"
SLOW = "slow_query_log_file=/s.log\nslow_query_log=ON"


@pytest.mark.parametrize(
    ("server", "line", "help_", "becomes"),
    [
        ("mysql-8.0.43", "default-character-set = utf8mb4", "use character-set-server instead", "character-set-server"),
        ("mariadb-10.11", "default-collation = utf8_bin", "use collation-server instead", "collation-server"),
        ("mysql-8.0.43", "table_cache = 512", "use table_open_cache instead", "table_open_cache"),
        ("mysql-8.4.8", "innodb_log_file_size = 2G", "use innodb_redo_log_capacity = 4G", "innodb_redo_log_capacity"),
        ("mysql-9.7.4", "innodb_log_file_size = 1M", "use innodb_redo_log_capacity = 8M", "innodb_redo_log_capacity"),
        ("mysql-9.7.4", "log_slow_queries = /s.log", "use slow_query_log_file = /s.log and", SLOW),
        ("mysql-9.7.4", "set-variable = max_allowed_packet=1M", "use max_allowed_packet = 1M", "max_allowed_packet=1M"),
        ("mysql-5.7.44", "set-variable=key_buffer=16M", "use key_buffer_size = 16M", "key_buffer_size=16M"),
        ("mariadb-11.8.9", "set-variable=max_allowed_packet=1M", "use max_allowed_pac", "max_allowed_packet=1M"),
        ("mysql-5.7.44", "ignore_db_dirs = lost+found", "use ignore_db_dir instead", "ignore_db_dir"),
        ("mysql-5.7.44", "log=/q.log", "use general_log_file = /q.log and", "general_log_file=/q.log\ngeneral_log=ON"),
        ("mariadb-10.11", "log", "use general_log = ON instead", "general_log=ON"),
        ("mariadb-10.11", "super_read_only = 1", "use read_only = ON instead", "read_only"),
        ("mariadb-10.11", "super_read_only = 0", "remove the line", ""),
        ("mysql-9.7.4", "log_warnings", "use log_error_verbosity = 3 instead", "log_error_verbosity=3"),
        ("mysql-9.7.4", "innodb_log_files_in_group = 4", "use innodb_redo_log_cap", "innodb_redo_log_capacity"),
        ("mysql-8.4.8", "skip-host-cache", "use host_cache_size = 0 instead", "host-cache-size=0"),
        ("mysql-9.7.4", "temptable_use_mmap=0", "use temptable_max_mmap = 0 instead", "temptable_max_mmap"),
        ("mysql-9.7.4", "temptable_use_mmap=1", "remove the line", ""),
        ("mysql-5.7.44", "temptable_use_mmap=0", "remove the line", ""),
        ("mysql-8.0.43", "innodb_locks_unsafe_for_binlog", "use transaction_isol", READ_COMMITTED),
        ("mysql-5.7.44", "replica_parallel_workers = 4", "use slave_parallel_workers", "slave_parallel_workers"),
        ("mysql-5.7.44", "innodb_redo_log_capacity = 2G", "use innodb_log_file_size = 1G", "innodb_log_file_size"),
        ("mysql-5.7.44", "binlog_expire_logs_seconds=604800", "use expire_logs_days = 7", "expire_logs_days"),
        ("mysql-9.7.4", "expire_logs_days = 7d", "use binlog_expire_logs_seconds", None),
        ("mysql-9.7.4", "master-host = db1", "run CHANGE REPLICATION SOURCE TO", None),
        ("mysql-9.7.4", "default_authentication_plugin = mysql_native_password", "use authentication_policy", None),
        ("mysql-8.4.8", "log_syslog = ON", "run INSTALL COMPONENT", None),
        ("mysql-8.4.8", "log_syslog = OFF", "remove the line", ""),
        ("mysql-9.7.4", "slave_parallel_type = LOGICAL_CLOCK", "remove the line", ""),
        ("mysql-9.7.4", "innodb_doublewrite_file = /a/b", "did you mean innodb_doublewrite_files?", None),
        ("mysql-8.0.43", "slave_parallel_type = LOGICAL_CLOCK", "plan to remove the line", None),
        ("mysql-8.0.28", "slave_parallel_type = LOGICAL_CLOCK", "use replica_parallel_type", "replica_parallel_type"),
        ("mariadb-10.11", "slave_parallel_type = LOGICAL_CLOCK", "use slave_parallel_mode", None),
        ("mysql-9.7.4", "thread_concurrency = 8", "remove the line", ""),
        ("mysql-8.0.43", "log_slave_updates = ON", "use log_replica_updates", "log_replica_updates"),
        ("mysql-8.0.43", "slave_exec_mode = IDEMPOTENT", "use replica_exec_mode", "replica_exec_mode"),
        ("mysql-8.0.43", "master_verify_checksum = ON", "use source_verify_checksum", "source_verify_checksum"),
        ("mysql-8.0.43", "sync_master_info = 100", "use sync_source_info", "sync_source_info"),
        ("mariadb-10.11", "old_alter_table = DEFAULT", "plan to remove the line", None),
        ("mysql-8.0.43", f"{SEMI}master.so\nrpl_semi_sync_master_enabled = 1", "load semisync_source.so instead", None),
        ("mysql-8.4.8", f"{SEMI}slave.so\nrpl_semi_sync_slave_enabled = 1", "load semisync_replica.so instead", None),
        ("mysql-8.4.8", "skip-ssl", "remove the line to offer TLS, or write tls_version = to leave", "tls-version="),
        ("mysql-9.7.4", "rpl_semi_sync_master_enabled = 1", "load semisync_source.so instead", None),
        ("mysql-9.7.4", "rpl_semi_sync_slave_enabled = 1", "load semisync_replica.so instead", None),
        ("mysql-8.4.8", "keyring_file_data = /k", "move the keys to component_keyring_file", None),
        ("mysql-8.4.8", "authentication_fido_rp_id = x", "use authentication_webauthn_rp_id, with the plugin", None),
        ("mysql-9.7.4", "innodb_undo_tablespaces = 4", "run CREATE UNDO TABLESPACE", None),
        ("mysql-5.7.44", "innodb_log_checksum_algorithm=none", "use innodb_log_checks", "innodb_log_checksums"),
        ("mysql-9.7.4", "skip-symlink", "use symbolic_links = OFF instead", "symbolic-links=OFF"),
        ("mariadb-11.8.9", "wsrep_strict_ddl = ON", "use wsrep_mode = STRICT_REPLICATION", "wsrep_mode"),
        ("mariadb-11.8.9", "warnings = 3", "use log_warnings instead", "log_warnings"),
        ("mysql-9.7.4", "tmp_memory_table_size = 64M", "use tmp_table_size instead", "tmp_table_size"),
        ("mysql-9.7.4", "max_statement_time = 5", "use max_execution_time, in milliseconds", None),
        ("mysql-8.0.15", "slave_parallel_threads = 4", "use slave_parallel_workers", None),
        ("mariadb-11.8.9", "binlog_group_commit_sync_delay = 9", "use binlog_commit_wait_usec, with", None),
        ("mariadb-11.4.5", "wsrep_osu_method = TOI", "did you mean wsrep_OSU_method?", "wsrep_OSU_method"),
        ("mysql-8.4.8", "ssl = ON", "remove the line", ""),
    ],
)
def test_successors(server: str, line: str, help_: str, becomes: str | None) -> None:
    """An option that went is replaced by what says the same; its line goes only where its meaning went with it."""
    found = first(server, line, "OPT001", "OPT002", "OPT007", "OPT008")
    assert found.help is not None
    assert found.help.startswith(help_)
    assert (found.fix.edits[0].text if found.fix else None) == becomes


@pytest.mark.parametrize(
    ("server", "line", "help_", "becomes"),
    [
        ("mariadb-11.8.9", "wsrep_causal_reads = ON", "use wsrep_sync_wait = 1 instead", "wsrep_sync_wait"),
        ("mariadb-11.8.9", "wsrep_causal_reads = OFF", "remove the line", ""),
        ("mariadb-11.8.9", "innodb_stats_sample_pages=20", "use innodb_st", "innodb_stats_transient_sample_pages"),
        ("mariadb-11.8.9", "max_long_data_size = 16M", "use max_allowed_packet = 16M", "max_allowed_packet"),
        ("mariadb-11.8.9", "innodb_undo_logs = 20", "remove the line", ""),
        ("mariadb-11.8.9", "default_authentication_plugin = x", "remove the line", ""),
        ("mysql-8.4.8", "early-plugin-load = keyring_file.so", "move to what replaces the plugin, then remove", None),
        ("mysql-8.4.8", "plugin-load = libmemcached.so", "remove its library from the line", None),
    ],
)
def test_ignored_options_with_a_successor(server: str, line: str, help_: str, becomes: str | None) -> None:
    """What a server accepts without effect is replaced by what has the effect, and deleted only where nothing has."""
    found = first(server, line, "OPT009")
    assert (found.help or "").startswith(help_)
    assert (found.fix.edits[0].text if found.fix else None) == becomes
    assert found.fix is None or (found.fix.applicability == "safe") is (becomes == "")


def first(server: str, line: str, *codes: str) -> Finding:
    """The first finding of those rules about a file of one line."""
    return findings(server, line, *codes)[0]


def findings(server: str, line: str, *codes: str) -> list[Finding]:
    """All findings of those rules about a file of one line."""
    target, text = parse_target(server), f"[mysqld]\n{line}\n".encode()
    resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: text)
    verdict = judge_file(resolved, load(target))
    known = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict)
    return [f for f in run_rules(known, all_rules()).findings if f.code in codes]


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ("STRICT_ALL_TABLES,no_auto_create_user,ANSI", "STRICT_ALL_TABLES,ANSI"),
        ('"NO_AUTO_CREATE_USER,ANSI"', "ANSI"),
        ("NO_AUTO_CREATE_USER", None),
        ("NO_AUTO_CREATE_USER,ORACLE", None),
    ],
)
def test_modes_that_went(value: str, becomes: str | None) -> None:
    """A list of modes loses only the one removed in MySQL 8.0; help never names positions without one."""
    found = first("mysql-8.0.43", f"sql_mode = {value}", "OPT003")
    assert (found.fix.edits[0].text.strip('"') if found.fix else None) == becomes
    assert found.help is not None
    assert "NOT_USED" not in found.help


@pytest.mark.parametrize(
    ("server", "line", "says"),
    [
        ("mysql-8.0.43", "expire_logs_days = 7", "expire_logs_days is deprecated since 8.0.3."),
        ("mysql-8.0.43", "symbolic-links = 0", "symbolic_links is deprecated."),
        ("mariadb-11.8", "secure_auth = ON", "secure_auth is deprecated."),
    ],
)
def test_since_when_an_option_is_deprecated(server: str, line: str, says: str) -> None:
    """The version is reported where it is documented, and never the one of the server that reported the deprecation."""
    assert first(server, line, "OPT008").message == says


AS_OFF = "is not a boolean; the server reads it as OFF."
AS_0 = "is not a number; the server reads it as 0"


@pytest.mark.parametrize(
    ("server", "line", "says", "help_", "fix"),
    [
        ("mysql-9.7.4", "slow-query-log = yes", f"'yes' {AS_OFF}", "mean ON", "ON"),
        ("mysql-5.7.44", "slow-query-log = yes", f"'yes' {AS_OFF}", "mean ON", "ON"),
        ("mysql-8.0.43", "autocommit = Yes", f"'Yes' {AS_OFF}", "mean ON", "ON"),
        ("mysql-5.7.44", "innodb_file_per_table=Y", "The server ignores this line: 'Y'", "mean ON", "ON"),
        ("mariadb-11.8.9", "slow_query_log = no", f"'no' {AS_OFF}", "mean OFF", "OFF"),
        ("mysql-5.7.22", "read_only = enabled", f"'enabled' {AS_OFF}", "mean ON", "ON"),
        ("mysql-8.0.15", "read_only = 2", f"'2' {AS_OFF}", "mean ON", "ON"),
        ("mysql-8.0.15", "innodb_file_per_table=no", "The server ignores this line: 'no'", "mean OFF", "OFF"),
        ("mysql-9.7.4", "skip_name_resolve = 0", "The server takes ON: skip_name_resolve", "OFF", "OFF"),
        ("mysql-8.0.15", "skip_name_resolve = 0", "The server takes ON: skip_name_resolve", "remove the line", ""),
        ("mysql-9.7.4", "slow_query_log =", "The value is empty; the server reads it as OFF.", "ON or OFF", "OFF"),
        ("mysql-9.7.4", "sync_binlog = mixed", f"'mixed' {AS_0}.", "a whole number", None),
        ("mariadb-11.8.9", "sync_binlog = true", f"'true' {AS_0}.", "a whole number", None),
        ("mariadb-11.8.9", "long_query_time =", "The value is empty; the server reads it as 0.", "a number", None),
        ("mysql-9.7.4", "max_connections = ten", f"'ten' {AS_0} and takes 1 instead.", "from 1", None),
        ("mysql-8.0.43", "super_read_only\nread_only = 0", "The server takes ON instead of OFF", "ON (the value", "ON"),
    ],
)
def test_words_that_are_read_as_off_or_nought(server: str, line: str, says: str, help_: str, fix: str | None) -> None:
    """A word that the server can't read is reported as such, and no fix based on it counts as safe."""
    found = first(server, line, "OPT006")
    assert found.message.startswith(says)
    assert help_ in (found.help or "")
    assert (found.fix.edits[0].text if found.fix else None) == fix
    assert found.fix is None or found.fix.applicability == "unsafe"


def test_what_follows_from_a_misread_word_names_the_word() -> None:
    """A rule that reports what a value of 0 costs says that the file says something else."""
    assert first("mysql-9.7.4", "innodb_flush_log_at_trx_commit = mixed", "DUR001").message.startswith("'mixed' is not")
    assert "mixed" not in first("mysql-9.7.4", "innodb_flush_log_at_trx_commit = 0", "DUR001").message


@pytest.mark.parametrize(
    ("line", "safe"),
    [
        ("innodb_buffer_pool_size = 10GB", True),
        ("innodb_buffer_pool_size = 10gigs", True),
        ("binlog_expire_logs_seconds = 10Minutes", False),
        ("wait_timeout = 30ms", False),
    ],
)
def test_letters_that_are_no_unit_of_bytes_are_not_dropped_safely(line: str, *, safe: bool) -> None:
    """10 minutes are ten million to the server: writing 10M would keep an unintended value."""
    found = first("mysql-9.7.4", line, "OPT017")
    assert found.fix is not None
    assert (found.fix.applicability, found.severity) == (("safe", "note") if safe else ("unsafe", "warning"))


@pytest.mark.parametrize(
    ("server", "lines"),
    [
        ("mysql-9.7.4", "log_bin = /var/lib/mysql/mysql-bin.log"),
        ("mariadb-11.8.9", "log_bin = /var/lib/mysql/mysql-bin.log"),
        ("mysql-9.7.4", "skip_networking\nport = 3306"),
        ("mariadb-11.8.9", "skip_networking\nextra_port = 3307"),
    ],
)
def test_what_the_server_changes_as_meant_is_a_note(server: str, lines: str) -> None:
    """An extension that is cut, and a port that nothing listens on, do no harm; the help can be followed."""
    found = first(server, lines, "OPT006")
    assert found.severity == "note"
    if "skip_networking" in lines:  # 0 would give up the port that is meant for later
        assert (found.help, found.fix) == ("remove skip_networking if clients should connect over TCP", None)


@pytest.mark.parametrize("server", ["mysql-5.7.44", "mysql-8.4.8", "mysql-9.7.4", "mariadb-10.11.19", "mariadb-11.8.9"])
def test_no_successor_is_refused(server: str) -> None:
    """All that a fix writes for an old option is known to the target; no fix deletes one with a named successor."""
    catalog = load(parse_target(server))
    for name in {*CONVERTED, *RENAMED, *(f"master_{word}" for word in SOURCE)}:
        for value in ("1", "0", "caching_sha2_password", "max_connections=10"):
            if catalog.get(name) is not None:
                continue
            found = first(server, f"{name} = {value}", "OPT001", "OPT002", "OPT007")
            deletes = found.fix is not None and found.fix.edits[0].text == ""
            assert not deletes or (found.help or "").startswith("remove"), (name, value, found)


@pytest.mark.parametrize("series", ALL)
def test_deprecated_options_with_a_successor_in_other_terms(series: str) -> None:
    """Successors are looked up of every deprecated or ignored option that one in other terms is known of."""
    options = load(parse_target(series)).options
    known = {name: options.get(name, {}) for name in CONVERTED}
    assert {name for name, raw in known.items() if raw.get("deprecated") or raw.get("ignored")} <= CONVERTIBLE


@pytest.mark.parametrize("server", ["mysql-5.7.44", "mysql-9.7.4", "mariadb-11.8.9"])
def test_no_fix_deletes_what_another_option_does(server: str) -> None:
    """Of every name that any version knows: where a successor is documented that the target has, no line is deleted."""
    target = parse_target(server)
    catalog = load(target)
    known: dict[str, dict[str, str]] = {name: {} for name in (*ON_MARIADB, *ON_MYSQL)}
    known |= json.loads(ELSEWHERE.read_text())
    for name, entry in known.items():
        elsewhere, _ = (ON_MYSQL if target.is_mysql else ON_MARIADB).get(name, ("", ""))
        there = catalog.get(entry.get("replaced_by") or elsewhere)
        if there is None or catalog.get(name) is not None or name in INCOMPATIBLE_SUCCESSORS:
            continue
        found = findings(server, f"{name} = 1", "OPT001", "OPT002", "OPT007", "OPT009")
        assert all(f.fix is None or f.fix.edits[0].text for f in found), found


@pytest.mark.parametrize("server", ["mysql-5.7.22", "mysql-9.7.4", "mariadb-11.4.5"])
def test_an_unknown_name_is_reported_in_two_sentences(server: str) -> None:
    """What is wrong with the name, and that this server does not start: the server is named once."""
    target = parse_target(server)
    text = "[mysqld]\n" + "".join(f"{name}\n" for name in json.loads(ELSEWHERE.read_text()))
    resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=lambda _: text.encode())
    verdict = judge_file(resolved, load(target))
    rules = [rule for rule in all_rules() if rule.code in ("OPT001", "OPT007")]
    for f in run_rules(RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict), rules).findings:
        assert f.message.count(target.label) <= 1, f
        assert "Only another server" not in f.message, f


BAD = ("yes", "", "abc", "1.5G", "C:\\mysql\\binlogs", "99999999999999999999")


@pytest.mark.parametrize("server", ["mysql-5.7.22", "mysql-9.7.4", "mariadb-11.8.9"])
def test_no_message_says_it_twice_or_prints_control_characters(server: str) -> None:
    """Every option with values that no server takes makes readable sentences, and says once that it won't start."""
    target = parse_target(server)
    catalog = load(target)
    rules = [rule for rule in all_rules() if not rule.needs and rule.concerns(target)]
    for value in BAD:
        text = "[mysqld]\n" + "".join(f"{name} = {value}\n" for name in sorted(catalog.options))
        loader = dict.fromkeys(["my.cnf"], text.encode()).__getitem__
        resolved = resolve(["my.cnf"], flavour=target.flavour, version=target.version, loader=loader)
        verdict = judge_file(resolved, catalog)
        for f in run_rules(RuleContext(target, catalog, Settings.from_file(verdict), verdict), rules).findings:
            assert f.message.isprintable() or "\ufffd" in f.message, f
            assert len(re.findall(r"(?:does|do|will|can) not start|refuses to start", f.message)) < 2, f
            assert not [raw for raw in ("\\\\", "''", "MYSQL<") if raw in f.message], f
            assert len(f.message) < 420, f


@given(st.from_regex(r"[0-9]{0,7}\.?[0-9]{0,7}[kmgtKMGTpb]?[bB]?", fullmatch=True))
def test_fractional_sizes(text: str) -> None:
    """A fractional size has a number of up to six digits on each side, a unit, and a whole number of bytes."""
    found = re.fullmatch(r"(\d{1,6})\.(\d{1,6})([kmgt])b?", text.lower())
    size, left = 0, 1
    if found:
        unit = 1024 ** ("kmgt".index(found[3]) + 1)
        size, left = divmod(int(found[1] + found[2]) * unit, 10 ** len(found[2]))
    assert whole_size(text) == (None if left else exact_size(size))
