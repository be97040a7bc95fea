"""Replacements for options that were removed, or that the target does not have yet: equivalent option lines.

Lint writes them in its fixes, and `upgrade` as lines for the new server.
"""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import exact_size
from advisor.optionfile import normalise
from advisor.verdict import judge_value
from advisor.verdict.number import SUFFIXES, leading_digits
from advisor.verdict.settings import DAY
from advisor.verdict.words import OFF, ON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog
    from advisor.core.model import Target
    from advisor.optionfile.lines import Line
    from advisor.verdict import FileVerdict


MOST_DAYS = 99  # maximum of expire_logs_days
REDO_FILES = 2  # default of innodb_log_files_in_group
REDO_FILE = 48 << 20  # bytes; default of innodb_log_file_size
LEAST_REDO_FILE = 4 << 20  # bytes; servers raise smaller files to it, and less than REDO_FILES of them to two
UNITS, MAX_DIGITS = ("k", "m", "g", "t"), 6  # of fractional sizes that are understood
LOUDEST = 3  # maximum of log_error_verbosity
SWITCHES = {"skip_": False, "disable_": False, "enable_": True}
# Word pairs that MySQL 8.0.26 replaced in its option names; MariaDB keeps the old ones.
TERM_PAIRS = (("slave", "replica"), ("master", "source"), ("replica", "slave"), ("source", "master"))
BUILT_IN = ("caching_sha2_password", "sha256_password")  # plugins that authentication_policy accepts without loading

Lines = tuple[tuple[str, str], ...]


class Successor(NamedTuple):
    """The equivalent lines, each a name and a value as written; empty if `words` describe the replacement instead."""

    lines: Lines = ()
    words: str = ""


class OldLine(NamedTuple):
    """A line with a removed option: `value` is None without one, `on` is its value as a switch or None.

    `file` is the verdict of the target's server on the file, and `server` the one that it was written for, if known.
    """

    line: Line
    value: str | None
    raw: str
    on: bool | None
    file: FileVerdict
    server: Target | None


def find_successor(name: str, line: Line, file: FileVerdict, server: Target | None = None) -> Successor | None:
    """The equivalent setting on the target; None if the option has no equivalent, or was only renamed.

    `file` is the verdict of the target's server on the file, and `server` the one that it was written for, if known.
    """
    written = name_without_loose(line)
    prefix = next((p for p in SWITCHES if written.startswith(p) and written not in CONVERTED), "")
    make = CONVERTED.get(name.removeprefix(prefix))
    if make is None:
        words = STATEMENT if name.startswith("master_") and name[7:] in SOURCE else equivalent_help(name, file.catalog)
        return Successor(words=words) if words else None
    word = (line.value or "").lower()
    on = True if line.value is None or word in ON else False if word in OFF else None
    if prefix:
        on = SWITCHES[prefix] is (word not in OFF)
    return make(OldLine(line, line.value, line.raw or "", on, file, server))


def other_names(name: str, catalog: Catalog) -> tuple[str, ...]:
    """The names of the option in other versions, with the same values, that the target has."""
    own = catalog.options
    backwards = [old for old, new in own.texts("replaced_by") if new == name]
    words = [name.replace(was, now) for was, now in TERM_PAIRS if was in name]
    again = [word.replace("master", "source").replace("slave", "replica") for word in words]
    names = (RENAMED.get(name, ""), *backwards, *words, *again)
    return tuple(dict.fromkeys(other for other in names if other in own and other != name))


def _log_switch(switch: str) -> Callable[[OldLine], Successor]:
    """A converter for options that enable a log by being present, optionally with its file name."""

    def make(old: OldLine) -> Successor:
        if old.on is not None:
            return Successor(((switch, "ON" if old.on else "OFF"),))
        return Successor(((f"{switch}_file", old.raw), (switch, "ON")))

    return make


def _set_variable(old: OldLine) -> Successor:
    """Convert `set-variable = name=value` of MySQL 4 and 5.0."""
    name, equals, value = (old.value or "").partition("=")
    name = name.strip()
    verdict = judge_value(name, value.strip(), old.file.catalog) if equals and name else None
    if verdict is None:
        return Successor(words="write the variable as a separate option")
    if verdict.canonical is None and verdict.candidates:
        name = verdict.candidates[0]
    return Successor(((name, value.strip()),), f"write {name} = {value.strip()}")


def _days_to_seconds(old: OldLine) -> Successor:
    """Convert expire_logs_days; servers take a larger number of days for MOST_DAYS."""
    number, rest = leading_digits(old.value or "")
    if not old.value or rest or number < 0:
        return Successor(words="use binlog_expire_logs_seconds")
    return Successor((("binlog_expire_logs_seconds", str(min(number, MOST_DAYS) * DAY)),))


def _seconds_to_days(old: OldLine) -> Successor:
    number, rest = leading_digits(old.value or "")
    if not old.value or rest or number < 0 or number % DAY or number > MOST_DAYS * DAY:
        return Successor(words=f"use expire_logs_days, with {MOST_DAYS} days at most")
    return Successor((("expire_logs_days", str(number // DAY)),))


def _warnings_to_verbosity(old: OldLine) -> Successor | None:
    """Convert log_warnings to log_error_verbosity on MySQL.

    Without a value log_warnings meant one more than its default, 1.
    """
    if not old.file.catalog.target.is_mysql:
        return None
    number, rest = (REDO_FILES, "") if old.value is None else leading_digits(old.value)
    if rest or number < 0 or old.value == "":
        return Successor(words="use log_error_verbosity")
    return Successor((("log_error_verbosity", str(min(number + 1, LOUDEST))),))


def _verbosity_to_warnings(old: OldLine) -> Successor:
    number, rest = leading_digits(old.value or "")
    whole = bool(old.value) and not rest and 1 <= number <= LOUDEST
    return Successor((("log_warnings", str(number - 1)),) if whole else (), "use log_warnings")


def _redo_file_size(old: OldLine) -> Successor | None:
    """Convert innodb_log_file_size, the size of one file, to innodb_redo_log_capacity, the size of all files.

    If several lines set it, the last one is used.
    """
    if not old.file.catalog.target.is_mysql or "innodb_redo_log_capacity" in old.file.effective:
        return None
    size = redo_files_capacity(old.file, old.server) if _size_bytes(old.value) else None
    if size is None:
        return Successor(words="use innodb_redo_log_capacity")
    return Successor((("innodb_redo_log_capacity", exact_size(size)),))


def _redo_count(old: OldLine) -> Successor | None:
    """Convert innodb_log_files_in_group, unless a line sets the file size, where both are reported together."""
    sized = ("innodb_log_file_size", "innodb_redo_log_capacity")
    given = {name_without_loose(p.line) for p in old.file.resolved.options}
    if not old.file.catalog.target.is_mysql or given.intersection(sized):
        return None
    return Successor((("innodb_redo_log_capacity", exact_size(REDO_FILE * _redo_files(old.file, old.server))),))


def _capacity_to_files(old: OldLine) -> Successor:
    """Convert innodb_redo_log_capacity (MySQL 8.0.30, one size for all files) to innodb_log_file_size.

    MariaDB has a single redo log file.
    """
    size = _size_bytes(old.value)
    files = REDO_FILES if old.file.catalog.target.is_mysql else 1
    words = "use innodb_log_file_size" + (" and innodb_log_files_in_group" if files > 1 else "")
    return Successor((("innodb_log_file_size", exact_size(size // files)),) if size else (), words)


def redo_files_capacity(file: FileVerdict, server: Target | None = None) -> int | None:
    """The total size of the redo log files in bytes, by the last lines that set it; None without such a line.

    `server` is the one that the lines were written for, if known.
    """
    given = {name_without_loose(p.line): p.line.value for p in file.resolved.options}
    if not given.keys() & {"innodb_log_file_size", "innodb_log_files_in_group"}:
        return None
    size = _size_bytes(given["innodb_log_file_size"]) if "innodb_log_file_size" in given else REDO_FILE
    return None if size is None else max(size, LEAST_REDO_FILE) * _redo_files(file, server)


def name_without_loose(line: Line) -> str:
    """The name as written, in lower case with underscores, without the prefix `loose_`."""
    return normalise((line.name or "").strip()).removeprefix("loose_")


def _redo_files(file: FileVerdict, server: Target | None) -> int:
    """How many files the redo log has; MariaDB has one since 10.5, regardless of the option."""
    if server is not None and server.since("mariadb", 10, 5):
        return 1
    given = [p.line.value for p in file.resolved.options if name_without_loose(p.line) == "innodb_log_files_in_group"]
    number, rest = leading_digits(given[-1] or "") if given else (REDO_FILES, "")
    return max(number, REDO_FILES) if not rest else REDO_FILES


def _size_bytes(text: str | None) -> int | None:
    number, rest = leading_digits(whole_size(text or "") or text or "")
    is_size = not rest or rest[:1].lower() in SUFFIXES
    return number << SUFFIXES.get(rest[:1].lower(), 0) if text and is_size and number > 0 else None


def whole_size(text: str) -> str | None:
    """A size as servers read it: 1.5G becomes 1536M, and 10 GB 10G; None where it is not a number of whole bytes."""
    whole, _, rest = text.lower().removesuffix("b").replace(" ", "").partition(".")
    if " " in text and whole[:-1].isdecimal() and whole[-1:] in UNITS and not rest:
        return whole.upper()
    part, unit = rest[:-1], rest[-1:]
    if unit not in UNITS or not whole.isdecimal() or not part.isdecimal() or max(len(whole), len(part)) > MAX_DIGITS:
        return None
    size, left = divmod(int(whole + part) << SUFFIXES[unit], 10 ** len(part))
    return None if left else exact_size(size)


def utf8mb3_name(text: str) -> str | None:
    """The utf8mb3 name of a utf8 character set or collation, for versions without the short name."""
    name = text.lower()
    return text[:4] + "mb3" + text[4:] if name == "utf8" or name.startswith("utf8_") else None


def _authentication_policy(old: OldLine) -> Successor | None:
    """Convert default_authentication_plugin to authentication_policy; MariaDB has no such option.

    mysql_native_password must be enabled or loaded first, and was removed in MySQL 9.0.
    """
    if not old.file.catalog.target.is_mysql:
        return None
    if old.value in BUILT_IN:
        return Successor((("authentication_policy", f"{old.value},,"),))
    if old.value == "mysql_native_password" and old.file.catalog.target.since("mysql", 9):
        return Successor(words="use authentication_policy with another plugin: MySQL 9.0 removed this one")
    return Successor(words="use authentication_policy; the server must have loaded its plugins")


def _first_factor(old: OldLine) -> Successor | None:
    if not old.file.catalog.target.is_mysql:
        return None
    first = (old.value or "").partition(",")[0].strip("*: ")
    return Successor((("default_authentication_plugin", first),) if first else (), "use default_authentication_plugin")


def _log_checksums(old: OldLine) -> Successor | None:
    """Convert innodb_log_checksum_algorithm to innodb_log_checksums, a switch, since MySQL 5.7.

    MariaDB always writes checksums of the redo log.
    """
    if not old.file.catalog.target.is_mysql:
        return None
    return Successor((("innodb_log_checksums", "OFF" if (old.value or "").lower() == "none" else "ON"),))


def _undo_tablespaces(old: OldLine) -> Successor | None:
    """Convert innodb_undo_tablespaces: since MySQL 8.0.14 a statement creates undo tablespaces."""
    return Successor(words=UNDO) if old.file.catalog.target.since("mysql", 8, 0, 14) else None


def _replica_files(old: OldLine) -> Successor | None:
    """FILE keeps a replica's position where MySQL 8.3 and later do not look; they have the tables alone."""
    in_files = (old.value or "").upper() in ("FILE", "0")
    return Successor(words=POSITIONS) if in_files and old.file.catalog.target.is_mysql else None


def _switch(
    *, on: Lines | None = None, off: Lines | None = None, words: str = ""
) -> Callable[[OldLine], Successor | None]:
    """A converter for switches with the lines for ON and for OFF; None if the target always behaves that way."""

    def make(old: OldLine) -> Successor | None:
        if old.on is None:
            return Successor(words=words or f"use {(on or off or (('', ''),))[0][0]}")
        lines = on if old.on else off
        return None if lines is None else Successor(lines)

    return make


# Switches of MariaDB before 10.7 that became members of one set.
GALERA_MODES = {"wsrep_replicate_myisam": "REPLICATE_MYISAM", "wsrep_strict_ddl": "STRICT_REPLICATION"}


def _galera_modes(old: OldLine) -> Successor | None:
    """Convert a switch to wsrep_mode, together with the other one: of two lines with wsrep_mode the last wins."""
    if not old.on:
        return None if old.on is False else Successor(words="use wsrep_mode")
    name = name_without_loose(old.line)  # enable_ may come before it
    own = next(mode for switch, mode in GALERA_MODES.items() if name.endswith(switch))
    lines = [p.line for p in old.file.resolved.options]
    given = {name_without_loose(line).removeprefix("enable_"): (line.value or "1").lower() for line in lines}
    if "wsrep_mode" in given:
        return Successor(words=f"add {own} to wsrep_mode")
    modes = [mode for switch, mode in GALERA_MODES.items() if mode == own or given.get(switch, "0") in ON]
    return Successor((("wsrep_mode", ",".join(modes)),))


def _fixed_lines(*lines: tuple[str, str]) -> Callable[[OldLine], Successor]:
    return lambda _: Successor(lines)


def _same_value(name: str) -> Callable[[OldLine], Successor]:
    return lambda old: Successor(((name, old.raw),) if old.value is not None else (), f"use {name}")


def _advice_only(words: str) -> Callable[[OldLine], Successor | None]:
    """A converter for options without an equivalent line; returns None if the line switches the option off."""
    return lambda old: None if old.on is False else Successor(words=words)


STATEMENT = "run CHANGE REPLICATION SOURCE TO (CHANGE MASTER TO) on the replica, then remove the line"
SOURCE = frozenset(
    (
        *("host", "user", "password", "port", "connect_retry", "ssl", "ssl_ca", "ssl_capath", "ssl_cert"),
        *("ssl_cipher", "ssl_key"),
    )
)
SYSLOG = "run INSTALL COMPONENT 'file://component_log_sink_syseventlog' and set its variables, then remove the line"
UNDO = "run CREATE UNDO TABLESPACE if you need more than two undo tablespaces, then remove the line"
POSITIONS = (
    "on a replica, stop replication and set master_info_repository and relay_log_info_repository to TABLE with SET "
    "GLOBAL before an upgrade, then remove the line"
)
CONVERTED: dict[str, Callable[[OldLine], Successor | None]] = {
    "set_variable": _set_variable,
    "log": _log_switch("general_log"),
    "log_slow_queries": _log_switch("slow_query_log"),
    "log_update": lambda old: Successor((("log_bin", old.raw),) if old.value else (), "use log_bin"),
    "expire_logs_days": _days_to_seconds,
    "binlog_expire_logs_seconds": _seconds_to_days,
    "log_warnings": _warnings_to_verbosity,
    "warnings": _warnings_to_verbosity,
    "log_error_verbosity": _verbosity_to_warnings,
    "innodb_log_file_size": _redo_file_size,
    "innodb_log_files_in_group": _redo_count,
    "innodb_redo_log_capacity": _capacity_to_files,
    "default_authentication_plugin": _authentication_policy,
    "authentication_policy": _first_factor,
    "innodb_checksums": _switch(
        on=(("innodb_checksum_algorithm", "crc32"),), off=(("innodb_checksum_algorithm", "none"),)
    ),
    "innodb_file_io_threads": _advice_only("use innodb_read_io_threads and innodb_write_io_threads"),
    "innodb_locks_unsafe_for_binlog": _switch(on=(("transaction_isolation", "READ-COMMITTED"),)),
    "engine_condition_pushdown": _switch(off=(("optimizer_switch", "engine_condition_pushdown=off"),)),
    "delay_key_write_for_all_tables": _switch(on=(("delay_key_write", "ALL"),)),
    "one_thread": _switch(on=(("thread_handling", "no-threads"),)),
    "skip_host_cache": _fixed_lines(("host_cache_size", "0")),
    "ssl": _switch(off=(("tls_version", ""),)),
    "admin_ssl": _switch(off=(("admin_tls_version", ""),)),
    "temptable_use_mmap": _switch(off=(("temptable_max_mmap", "0"),)),
    **dict.fromkeys(GALERA_MODES, _galera_modes),
    "wsrep_causal_reads": _switch(on=(("wsrep_sync_wait", "1"),)),
    "innodb_log_checksum_algorithm": _log_checksums,
    "innodb_undo_tablespaces": _undo_tablespaces,
    "master_info_repository": _replica_files,
    "relay_log_info_repository": _replica_files,
    "super_read_only": _switch(on=(("read_only", "ON"),)),
    "symlink": _switch(on=(("symbolic_links", "ON"),), off=(("symbolic_links", "OFF"),)),
    "bootstrap": _advice_only("start the server once with --initialize on the command line, then remove the line"),
    "default_table_type": _same_value("default_storage_engine"),
    "table_type": _same_value("default_storage_engine"),
    "storage_engine": _same_value("default_storage_engine"),
    "record_buffer": _same_value("read_buffer_size"),
    "innodb_stats_sample_pages": _same_value("innodb_stats_transient_sample_pages"),
    "max_long_data_size": _same_value("max_allowed_packet"),
    "log_syslog": _advice_only(SYSLOG),
    "log_syslog_facility": _advice_only(SYSLOG),
    "log_syslog_include_pid": _advice_only(SYSLOG),
    "log_syslog_tag": _advice_only(SYSLOG),
}
# Renamed options, in either direction, that take the same values.
RENAMED = {
    "binlogging_impossible_mode": "binlog_error_action",
    "simplified_binlog_gtid_recovery": "binlog_gtid_simple_recovery",
    "innodb_adaptive_hash_index_partitions": "innodb_adaptive_hash_index_parts",
    "binlog_annotate_row_events": "binlog_rows_query_log_events",
    "ignore_db_dirs": "ignore_db_dir",
    "tmp_memory_table_size": "tmp_table_size",
    "warnings": "log_warnings",
    "log_slow_min_examined_row_limit": "min_examined_row_limit",
    "log_slow_query": "slow_query_log",
    "log_slow_query_file": "slow_query_log_file",
    "log_slow_query_time": "long_query_time",
    "use_symbolic_links": "symbolic_links",
}


KEYRING = "move the keys to {} on the server that still has the plugin, then remove the line"
SEMI_SYNC = ("rpl_semi_sync_master_", "rpl_semi_sync_slave_")
# Replacements of removed plugins on MySQL, by the prefix of their options.
PLUGINS = {
    "keyring_file_": KEYRING.format("component_keyring_file"),
    "keyring_encrypted_file_": KEYRING.format("component_keyring_encrypted_file"),
    "authentication_fido_": "use authentication_webauthn_rp_id, with the plugin authentication_webauthn",
}
# MariaDB options that serve the same purpose as MySQL options, and the reverse, with the differences.
ON_MARIADB = {
    "admin_port": ("extra_port", ""),
    "binlog_encryption": ("encrypt_binlog", ", with a key management plugin"),
    "binlog_group_commit_sync_delay": ("binlog_commit_wait_usec", ", with binlog_commit_wait_count above 0"),
    "binlog_group_commit_sync_no_delay_count": ("binlog_commit_wait_count", ""),
    "binlog_transaction_compression": ("log_bin_compress", ", which compresses each event by itself"),
    "cte_max_recursion_depth": ("max_recursive_iterations", ""),
    "innodb_redo_log_encrypt": ("innodb_encrypt_log", ", with a key management plugin"),
    "keyring_file_data": ("plugin_load_add", " = file_key_management, whose keys are created again"),
    "max_execution_time": ("max_statement_time", ", in seconds; it applies to all statements"),
    "replica_parallel_type": ("slave_parallel_mode", ""),
    "replica_preserve_commit_order": ("slave_parallel_mode", ", whose modes keep the commit order"),
    "slave_parallel_type": ("slave_parallel_mode", ""),
    "slave_preserve_commit_order": ("slave_parallel_mode", ", whose modes keep the commit order"),
    "validate_password_length": ("plugin_load_add", " = simple_password_check, and its options"),
    "validate_password_policy": ("plugin_load_add", " = simple_password_check, and its options"),
}
ON_MYSQL = {
    "binlog_commit_wait_count": ("binlog_group_commit_sync_no_delay_count", ""),
    "binlog_commit_wait_usec": ("binlog_group_commit_sync_delay", ""),
    "encrypt_binlog": ("binlog_encryption", ", with a keyring"),
    "innodb_encrypt_log": ("innodb_redo_log_encrypt", ", with a keyring"),
    "log_bin_compress": ("binlog_transaction_compression", ", which compresses whole transactions"),
    "max_recursive_iterations": ("cte_max_recursion_depth", ""),
    "max_statement_time": ("max_execution_time", ", in milliseconds; it applies to SELECT only"),
    "slave_parallel_mode": ("replica_parallel_type", ""),
    "slave_parallel_threads": ("replica_parallel_workers", ""),
}


def equivalent_help(name: str, catalog: Catalog) -> str:
    """What to use instead of an option that the target lacks; empty if there is no equivalent."""
    if name.startswith(SEMI_SYNC) and catalog.target.since("mysql", 9, 5):
        return semi_sync_library_help(name)
    if catalog.target.is_mysql:
        replaced = next((words for start, words in PLUGINS.items() if name.startswith(start)), "")
        if replaced:
            return replaced
    option, difference = (ON_MYSQL if catalog.target.is_mysql else ON_MARIADB).get(name, ("", ""))
    if catalog.get(option) is None:
        option = option.replace("replica", "slave")
    return f"use {option}{difference}" if option and catalog.get(option) is not None else ""


def semi_sync_library_help(name: str) -> str:
    """The option of the newer semisynchronous replication library; it cannot be loaded together with the old one."""
    new = name.replace("master", "source").replace("slave", "replica")
    was, library = ("master", "source") if name.startswith(SEMI_SYNC[0]) else ("slave", "replica")
    return f"load semisync_{library}.so instead of semisync_{was}.so, and use {new}"
