"""Generate option files with which a server still starts, from option names and classes of values.

The verdict is not used: the catalog's records give names, kinds and ranges, and the classes are defined here.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from advisor.catalog import Catalog, Option

# Options that end the program, need files, accounts, plugins or a network, prevent or delay the start with most
# values, or set the server's own paths; by prefix.
LEFT_OUT = (
    "abort_", "admin_", "ansi", "aria_block_size", "aria_log_dir_path", "aria_log_file_size", "authentication",
    "auto_generate", "basedir", "bind_address", "binlog_do_db", "binlog_encryption", "binlog_ignore_db",
    "bootstrap", "caching_sha2_password_auto", "character_sets_dir", "chroot", "console", "core_file", "crash_",
    "daemonize", "datadir", "debug", "default_auth", "default_table_encryption", "defaults", "des_key",
    "disabled_storage_engines", "disconnect_slave", "early_plugin", "encrypt", "enforce_storage_engine",
    "extra_port", "feedback", "gdb", "group_replication", "gtid_pos_auto", "help", "ignore_builtin", "ignore_db",
    "init_file", "initialize", "innodb_buffer_pool_load", "innodb_checksum", "innodb_compression_algorithm",
    "innodb_data_", "innodb_dedicated_server", "innodb_default_encryption", "innodb_directories",
    "innodb_doublewrite_dir", "innodb_encrypt", "innodb_file_format", "innodb_force", "innodb_ft_aux",
    "innodb_ft_server", "innodb_ft_user", "innodb_log_checksum", "innodb_log_group_home_dir", "innodb_monitor",
    "innodb_optimize_full", "innodb_page_size", "innodb_read_only", "innodb_redo_log_archive_dirs",
    "innodb_redo_log_encrypt", "innodb_rollback_segments", "innodb_sync_debug", "innodb_temp", "innodb_tmpdir",
    "innodb_undo_directory", "innodb_undo_log_encrypt", "innodb_undo_tablespaces", "innodb_use_fallocate",
    "innodb_validate", "install", "kerberos", "keyring_", "language", "large_pages", "lc_messages", "locked",
    "locked_in_memory", "log_basename", "log_bin_basename", "log_bin_index", "log_error", "log_tc_size",
    "lower_case", "mandatory_roles", "master_info_file", "max_binlog_dump", "max_session_mem_used", "memlock",
    "mysqlx_bind", "mysqlx_port", "mysqlx_socket", "mysqlx_ssl", "named_pipe", "ndb_connect", "ndb_mgm",
    "ndb_nodeid", "ndb_wait", "ndbcluster", "old_passwords", "partition", "performance_schema_instrument",
    "persist", "pid_file", "plugin", "port", "proxy_protocol", "relay_log_index", "relay_log_info", "remove",
    "replica_load_tmpdir", "replicate_", "report_", "require_secure", "secure_auth", "secure_file", "server_uuid",
    "session_track_system", "sha256_", "shared_memory", "show_compat", "skip_grant_tables", "skip_networking",
    "slave_load_tmpdir", "socket", "sporadic_", "ssl", "stack_trace", "standalone", "super_large_pages",
    "tc_heuristic", "temp_pool", "thread_handling", "thread_pool", "tls_", "tmpdir", "transaction_write_set",
    "upgrade", "user", "validate_config", "verbose", "version", "wsrep",
)  # fmt: skip
# Exceptions from these prefixes that are used nevertheless.
BUT = ("log_error_verbosity", "large_page_")
NEVER = frozenset(
    [
        "lc_time_names",
        "server_id_bits",
        "server_memory",
        "default_password_lifetime",
        "innodb",
        "innodb_status_file",
        "innodb_numa_interleave",
        "binlog_transaction_dependency_tracking",
    ]
)
# Options that affect each other, so that files contain more of them than by chance; by prefix.
CLOSE = (
    ("innodb_buffer_pool_", "innodb_page_cleaners", "innodb_purge_threads"),
    ("innodb_io_capacity", "innodb_max_dirty", "innodb_change_buffer", "innodb_flush", "innodb_lru", "innodb_idle"),
    ("innodb_log_", "innodb_redo_log", "innodb_thread", "innodb_concurrency"),
    ("innodb_flush_method", "innodb_data_file_", "innodb_log_file_", "innodb_doublewrite", "flush", "query_cache_"),
    ("query_cache", "key_", "tmp_", "max_heap", "max_tmp"),
    ("thread_", "max_conn", "table_", "open_files", "back_log", "host_cache", "innodb_open_files", "max_user_conn"),
    ("read_only", "super_read_only", "gtid", "enforce_gtid", "log_", "binlog_", "expire_logs", "sync_", "transaction_"),
    ("slave_", "replica_", "relay_", "max_relay", "max_binlog", "rpl_", "init_", "master_"),
    ("performance_schema",),
    ("character_set", "collation", "default_", "sql_mode", "optimizer_", "event_scheduler", "lc_time", "explicit_"),
    ("aria_", "myisam_", "delay", "flush", "concurrent", "low_priority", "ft_", "range_", "query_", "max_"),
)
# The values for each string option.
TEXTS: dict[str, list[str | None]] = {
    "collation_server": [],
    "default_storage_engine": ["MyISAM", "innodb", "MEMORY"],
    "default_tmp_storage_engine": ["MyISAM", "InnoDB", "memory"],
    "default_time_zone": ["+02:00", "SYSTEM", "-05:30"],
    "ft_stopword_file": [""],
    "init_connect": ["SET @a=1", ""],
    "init_slave": ["SET @a=1"],
    "character_set_filesystem": ["latin1", "utf8mb4"],
    "log_bin": [None, "binlog", "mysql-bin", "mysql-bin.log", "OFF", "0"],
    "relay_log": ["relay", "relay-bin.log", ""],
    "general_log_file": ["general.log", ""],
    "slow_query_log_file": ["slow.log", ""],
    "innodb_buffer_pool_filename": ["pool"],
    "slave_skip_errors": ["OFF", "1062", "1032,1062", "all"],
    "replica_skip_errors": ["OFF", "1062", "1032,1062"],
    "slave_type_conversions": ["ALL_LOSSY", "ALL_NON_LOSSY", ""],
}
# Upper limits for numbers, by prefix or part of the name; larger ones would take memory, disk or time.
BOUNDS = (
    ("autoextend", 64),
    ("innodb_buffer_pool_size", 1400 << 20),
    ("innodb_buffer_pool_chunk_size", 1400 << 20),
    ("innodb_thread_concurrency", 64),
    ("innodb_log_file_size", 96 << 20),
    ("innodb_redo_log_capacity", 200 << 20),
    ("innodb_log_buffer_size", 64 << 20),
    ("files_in_group", 4),
    ("performance_schema", 3000),
    ("threads", 20),
    ("instances", 64),
    ("thread_stack", 2 << 20),
    ("host_cache_size", 5000),
    ("innodb_sort_buffer_size", 64 << 20),
    ("max_connections", 400),
    ("table_open_cache", 3000),
    ("table_cache", 3000),
    ("open_files", 8000),
    ("table_definition_cache", 5000),
    ("_cache", 64 << 20),
    ("buffer", 64 << 20),
    ("cache_size", 64 << 20),
    ("hash", 1 << 16),
    ("io_threads", 64),
)
LEAST = {
    "tmp_memory_table_size": 1 << 20,
    "tmp_disk_table_size": 1 << 20,
    "tmp_table_size": 1 << 20,
    "max_heap_table_size": 1 << 20,
    "innodb_buffer_pool_size": 8 << 20,
    "max_connections": 5,
}
PLAIN = (0, 1, 2, 3, 7, 10, 33, 100, 255, 1000, 1023, 4095, 4097, 9999, 65536, 100_000, 1_000_000, 3 << 20, 100_000_001)
LARGEST = (1 << 64) - 1
DASHED = 0.2  # share of the names written with dashes
# Options that a server accepts at startup only together with others.
TOGETHER = {
    "collation_server": (
        ("character_set_server=utf8mb4", "collation_server=utf8mb4_bin"),
        ("character_set_server=UTF8MB4", "collation_server=utf8mb4_unicode_ci"),
        ("character_set_server=latin1",),
        ("character_set_server=latin1", "collation_server=latin1_german2_ci"),
        ("collation_server=utf8mb4_GENERAL_ci", "character_set_server=utf8mb4"),
        ("character_set_server=binary",),
    ),
    "gtid_mode": (
        ("gtid_mode=OFF", "enforce_gtid_consistency=OFF"),
        ("gtid_mode=ON", "enforce_gtid_consistency=ON"),
        ("gtid_mode=0", "enforce_gtid_consistency=1"),
        ("gtid_mode=OFF_PERMISSIVE", "enforce_gtid_consistency=WARN"),
        ("gtid_mode=on_permissive", "enforce_gtid_consistency=on"),
    ),
}

COMPANY = {line.partition("=")[0] for choices in TOGETHER.values() for lines in choices for line in lines}


def names(catalog: Catalog) -> list[str]:
    """The options for the files: the server's own, without those that would prevent it from starting."""
    found = []
    for name in sorted(catalog.options):
        option = _option(name, catalog)
        left = name in NEVER or (name.startswith(LEFT_OUT) and not name.startswith(BUT))
        if not left and not option.plugin and option.kind != "flag" and (option.kind != "string" or name in TEXTS):
            found.append(name)
    return found


def compose(catalog: Catalog, chance: random.Random, size: int = 40) -> list[str]:
    """The lines of a [mysqld] group; half of the options are related to each other."""
    known = names(catalog)
    near = [name for name in known if name.startswith(chance.choice(CLOSE))]
    chosen = chance.sample(near, min(size // 2, len(near)))
    chosen += chance.sample([name for name in known if name not in chosen], size - len(chosen))
    lines = ["server_id=7"]
    for name in chosen:
        if name in TOGETHER:
            lines += [line for line in chance.choice(TOGETHER[name]) if line.partition("=")[0] in catalog.options]
        elif name not in COMPANY:
            lines.append(_line(_option(name, catalog), chance))
    return lines


def _option(name: str, catalog: Catalog) -> Option:
    option = catalog.get(name)
    assert option is not None, name
    return option


def _line(option: Option, chance: random.Random) -> str:
    name = option.name.replace("_", "-") if chance.random() < DASHED else option.name
    value = chance.choice(list(values(option)) or ["1"])
    return name if value is None else f"{name}={value}"


def values(option: Option) -> Iterator[str | None]:
    """Values of every class for the option's kind."""
    if option.name in TEXTS:
        yield from TEXTS[option.name]
    elif option.kind == "bool":
        yield from ("0", "1", "ON", "off", "TRUE")
    elif option.kind in ("enum", "set"):
        yield from option.values
        if option.kind == "set":
            yield ",".join(option.values[:2])
            yield ""
    elif option.kind == "flagset":
        for flag in [f for f in option.values if f != "default"][:12]:
            yield from (f"{flag}=on", f"{flag}=off")
    else:
        yield from numbers(option)


def numbers(option: Option) -> Iterator[str]:
    """The limits of the range and values beyond them, the default and its neighbours, and random values."""
    most = next((bound for part, bound in BOUNDS if part in option.name), LARGEST)
    least = LEAST.get(option.name, 0)
    low, high = int(option.min or 0), int(option.max or LARGEST)
    base = int(float(option.default)) if option.default and option.default.lstrip("-").replace(".", "").isdigit() else 8
    near = (base, base + 1, base * 2, base * 3 + 1, base // 2, base - 1)
    for number in (*near, *near, low, low - 1, high, high + 1, *PLAIN):
        if least <= abs(number) <= min(most, LARGEST) and (number >= 0 or low < 0) and _fits(number, option):
            yield str(number)
    for text in ("1K", "4M", "17m") if least == 0 else ("17m", "200M"):
        if option.kind != "double" and int(text[:-1]) << (20 if text[-1] in "mM" else 10) <= most:
            yield text


def _fits(number: int, option: Option) -> bool:
    """Whether the server accepts the number at all.

    Some numbers are rejected for their size, or because they are not a power of two.
    """
    if option.name == "innodb_log_write_ahead_size":
        return number >= 512 and number & (number - 1) == 0
    return option.kind != "int" or -(1 << 63) <= number < 1 << 63


def startable(text: str, refused: set[str], catalog: Catalog) -> list[str]:
    """The lines of a real file's [mysqld] group with which a server on this host can start.

    Options that it rejects (names with underscores), options that are not usable here, and large numbers are left out.
    """
    known, lines, ours = set(names(catalog)) - refused, ["server_id=7"], False
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            ours = line.strip().lower() == "[mysqld]"
        name, _, value = line.partition("#")[0].strip().partition("=")
        plain = name.strip().lower().replace("-", "_")
        if ours and plain in known and plain not in COMPANY and _bearable(plain, value.strip(" \t\"'"), catalog):
            lines.append(line.strip())
    return lines


def _bearable(name: str, value: str, catalog: Catalog) -> bool:
    option = catalog.get(name)
    if option is None or option.kind not in ("int", "uint"):
        return option is not None and option.kind != "string"
    digits = value.rstrip("bBkKmMgG")
    factor = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(value[len(digits) : len(digits) + 1].lower(), 1)
    most = next((bound for part, bound in BOUNDS if part in name), LARGEST)
    return digits.isdigit() and LEAST.get(name, 0) <= int(digits) * factor <= most and _fits(int(digits), option)
