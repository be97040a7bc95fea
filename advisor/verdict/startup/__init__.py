"""Values that a server changes when it starts: those that differ between SHOW GLOBAL VARIABLES and `--verbose --help`.

Every rule was observed on real servers. Rules for families of options are in modules of their own, imported only if a
file sets one of those options.
"""

from __future__ import annotations

from advisor.verdict.number import parse_digits
from advisor.verdict.settings import (
    DAY,
    SECONDS,
    THREADS,
    TLS_SWITCHES,
    StartupSettings,
    is_binary_log_on,
    is_increment,
    is_too_long,
)
from advisor.verdict.special import is_plugin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict, Values

    Rule = Callable[[StartupSettings, str], str | None]

WORD = 32
# From these versions on MySQL reports the old utf8 as utf8mb3, as a character set and in collation names.
UTF8MB3, UTF8MB3_COLLATIONS = (8, 0, 28), (8, 0, 30)
DIGITS = 6
# Options that can make a start fail although `--verbose --help` accepts their values.
STOPPING = frozenset(
    {
        "admin_address",
        "authentication_policy",
        "bind_address",
        "default_storage_engine",
        "default_time_zone",
        "default_tmp_storage_engine",
        "encrypt_binlog",
        "encrypt_tmp_files",
        "enforce_gtid_consistency",
        "enforce_storage_engine",
        "extra_port",
        "gtid_mode",
        "ignore_builtin_innodb",
        "innodb",
        "innodb_compression_algorithm",
        "innodb_data_file_path",
        "innodb_encrypt_log",
        "innodb_encrypt_tables",
        "innodb_encrypt_temporary_tables",
        "innodb_page_size",
        "innodb_temp_data_file_path",
        "innodb_temp_tablespaces_dir",
        "max_session_mem_used",
        "proxy_protocol_networks",
        "secure_file_priv",
        "tc_heuristic_recover",
        "wsrep_on",
    }
)
ENOUGH_DIGITS = 9  # a buffer pool size with 9 digits or more fits every page size
MOST_CAPACITY, LEAST_CAPACITY = "innodb_io_capacity_max", 2000


def may_stop(effective: dict[str, LineVerdict], target: Target) -> bool:
    """Whether a line in effect is one of those that can make a start fail."""
    socket, pool, limit = (effective.get(name) for name in ("socket", "innodb_buffer_pool_size", THREADS))
    long = socket is not None and is_too_long(socket.value, target)
    small = target.is_mariadb and pool is not None and len(pool.value or "") < ENOUGH_DIGITS
    threads = target.is_mysql and limit is not None and len(limit.value or "") > 1  # a digit fits the smallest log
    bare = target.is_mariadb and not TLS_SWITCHES.isdisjoint(effective) and "ssl_cert" not in effective
    return long or small or threads or bare or not STOPPING.isdisjoint(effective) or target.platform == "windows"


def find_running_values(values: Values, lines: dict[str, LineVerdict], catalog: Catalog) -> Values:
    """Return the options in `values` whose running value differs from `--verbose --help`; `lines` set them."""
    start = StartupSettings(values, lines, catalog)
    running = {name: _find_running_value(name, start) for name in values}
    return {name: value for name, value in running.items() if value is not None and value != values[name]}


def help_value(value: str | None, option: Option | None, target: Target) -> str | None:
    """Return a value as `--verbose --help` prints it.

    MySQL before 8.0.16 prints the upper half of 32-bit numbers as negative. No server before 8.4 prints that a plugin
    is off.
    """
    if value is None or option is None:
        return value
    if value == "OFF" and is_plugin(option) and not target.since("mysql", 8, 4):
        return option.default
    if option.kind != "uint" or option.bits != WORD:
        return value
    number = parse_digits(value) or 0
    signed = target.is_mysql and not target.since("mysql", 8, 0, 16)
    return str(number - (1 << WORD)) if signed and number >> (WORD - 1) == 1 else value


def _find_running_value(name: str, start: StartupSettings) -> str | None:
    option = start.catalog.get(name)
    own = MYSQL if start.catalog.target.is_mysql else MARIADB
    rule = own.get(name) or EVERYWHERE.get(name)
    if rule is None and option is not None:
        rule = own.get("performance_schema_*") if name.startswith("performance_schema_") else KINDS.get(option.kind)
    return rule(start, name) if rule else None


def _log_bin(start: StartupSettings, name: str) -> str:
    """ON with any base name, including 0; only a prefix switches the log off, unless flashback needs it."""
    return (
        "ON"
        if is_binary_log_on({name: start.values[name]}, start.lines) or start.values.get("flashback") == "TRUE"
        else "OFF"
    )


def _charset(start: StartupSettings, name: str) -> str:
    """Character sets and collations are in lower case; MariaDB names the utf8 that old_mode selects."""
    written = start.values[name].lower()
    first, line, rest = written.partition("_")
    target = start.catalog.target
    if first not in ("utf8", "utf8mb3"):
        return written
    if target.is_mysql:
        return (
            ("utf8mb3" if target.since("mysql", *(UTF8MB3_COLLATIONS if line else UTF8MB3)) else "utf8") + line + rest
        )
    if first == "utf8mb3":
        return written
    modes = start.text("old_mode")
    return ("utf8mb3" if modes is None or "UTF8_IS_UTF8MB3" in modes else "utf8mb4") + line + rest


def _log_warnings(start: StartupSettings, name: str) -> str | None:
    """A line without a value increments the start value, which is higher than that of `--verbose --help`."""
    alone = start.values[name] == "1" and "log_error_verbosity" not in start.lines and is_increment(start.lines[name])
    option = start.catalog.get(name)
    return option.running if option and alone else None


def _at_most(most: str) -> Rule:
    """Return a rule that limits a size by another option."""

    def lower_of_both(start: StartupSettings, name: str) -> str | None:
        size, bound = start.number(name), start.number(most)
        return None if size is None or bound is None else str(min(size, bound))

    return lower_of_both


def _always(value: str, instead_of: str) -> Rule:
    return lambda start, name: value if start.values[name] == instead_of else None


def _as_default(start: StartupSettings, name: str) -> str | None:
    """An option set to its default runs as if it were not set."""
    option = start.catalog.get(name)
    return option.running if option and start.values[name] == option.default else None


def _io_capacity(start: StartupSettings, name: str) -> str | None:
    """innodb_io_capacity is limited by innodb_io_capacity_max.

    Before MySQL 8.4 and on MariaDB a maximum at its default is no limit; the server derives it from the rate.
    """
    rate, greatest = start.number("innodb_io_capacity") or 0, start.catalog.get(MOST_CAPACITY)
    most, unset = start.text(MOST_CAPACITY), greatest.default if greatest else None
    if name == MOST_CAPACITY:
        made = most == unset and not start.catalog.target.since("mysql", 8, 4)
        return str(min(max(2 * rate, LEAST_CAPACITY), int(most))) if made and most else None
    return str(min(rate, int(most))) if most and most != unset else None


def _whole_chunks(start: StartupSettings, name: str) -> str | None:
    """MariaDB rounds the pool to chunks until it can resize in place; from then on it runs with the size set."""
    return None if "innodb_buffer_pool_size_max" in start.catalog.options else _POOL(start, name)


def _days(start: StartupSettings, name: str) -> str | None:
    """expire_logs_days with binlog_expire_logs_seconds.

    MySQL sets the days to 0 for any seconds; MariaDB stores both as one setting. `--verbose --help` rounds the days.
    """
    seconds = parse_digits(start.values.get(SECONDS))
    if start.catalog.target.is_mysql:
        return "0" if seconds else None
    if not _may_be_rounded(start.values[name]):
        return None
    return _DECIMAL(start, name) if seconds is None else f"{seconds / DAY:.6f}"


def _may_be_rounded(printed: str) -> bool:
    """Whether `--verbose --help` may have dropped digits; it prints at least six."""
    return len(printed) >= DIGITS or "e" in printed


def _socket_only(value: str) -> Rule:
    """Return a rule for a setting of TCP, which MySQL 8 and later disable with skip_grant_tables (ASK-SEC-12)."""

    def value_without_accounts(start: StartupSettings, name: str) -> str | None:
        unchecked = start.text("skip_grant_tables") == "TRUE" and start.catalog.target.since("mysql", 8)
        return value if unchecked and start.values[name] != "TRUE" else None

    return value_without_accounts


# Imported lazily: only files that set one of these options need the module.
def _pool(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import buffer_pool_value

    return buffer_pool_value(start, name)


def _file_opening(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import file_opening

    return file_opening(start, name)


def _storage_engine(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.word_lists import engine_spelling

    return engine_spelling(start.values[name])


def _list_in_force(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.word_lists import list_in_force

    return list_in_force(start, name)


def _decimal(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.stops import decimal

    return decimal(start, name)


def _flags(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.stops import flags

    return flags(start, name)


def _low_water_mark(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import low_water_mark

    return low_water_mark(start, name)


def _open_files(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import open_files

    return open_files(start, name)


def _sort_degree(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import sort_degree

    return sort_degree(start, name)


def _size(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import size

    return size(start, name)


def _write_ahead(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.host import write_ahead

    return write_ahead(start, name)


def _gtid_consistency(start: StartupSettings, name: str) -> str | None:
    from advisor.verdict.startup.stops import gtid_consistency

    return gtid_consistency(start, name)


def _when_set(other: str, rule: Rule) -> Rule:
    """Return a rule that applies only if a line sets another option."""
    return lambda start, name: rule(start, name) if other in start.values else None


_POOL = _pool
_FILE_OPENING = _when_set("innodb_flush_method", _file_opening)
_ENGINE = _storage_engine
_LIST = _list_in_force
_DECIMAL = _decimal
KINDS: dict[str, Rule] = {
    "flagset": _flags,
    "double": lambda start, name: _DECIMAL(start, name) if _may_be_rounded(start.values[name]) else None,
}
EVERYWHERE: dict[str, Rule] = {
    "expire_logs_days": _days,
    "log_bin": _log_bin,
    "event_scheduler": _always("OFF", instead_of="ORIGINAL"),
    "innodb_io_capacity": _io_capacity,
    "innodb_io_capacity_max": _io_capacity,
    "innodb_max_dirty_pages_pct_lwm": _low_water_mark,
    "innodb_open_files": _open_files,
    "innodb_ft_sort_pll_degree": _sort_degree,
    "character_set_server": _charset,
    "character_set_filesystem": _charset,
    "collation_server": _charset,
    "default_storage_engine": _ENGINE,
    "default_tmp_storage_engine": _ENGINE,
}
MYSQL: dict[str, Rule] = {
    "performance_schema_*": _size,
    "port": _socket_only("0"),
    "skip_networking": _socket_only("ON"),
    "binlog_cache_size": _at_most("max_binlog_cache_size"),
    "binlog_stmt_cache_size": _at_most("max_binlog_stmt_cache_size"),
    "innodb_buffer_pool_size": _POOL,
    "innodb_buffer_pool_chunk_size": _POOL,
    "innodb_buffer_pool_instances": _POOL,
    "innodb_page_cleaners": _POOL,
    "innodb_log_write_ahead_size": _write_ahead,
    "innodb_support_xa": _always("ON", instead_of="FALSE"),
    "log_warnings": _log_warnings,
    "enforce_gtid_consistency": _gtid_consistency,
    "slave_skip_errors": _LIST,
    "replica_skip_errors": _LIST,
}
MARIADB: dict[str, Rule] = {
    "character_set_collations": _LIST,
    "gtid_pos_auto_engines": _LIST,
    "innodb_buffer_pool_size": _whole_chunks,
    "innodb_buffer_pool_chunk_size": _whole_chunks,
    "innodb_buffer_pool_size_max": _POOL,
    "innodb_buffer_pool_size_auto_min": _POOL,
    "innodb_data_file_buffering": _FILE_OPENING,
    "innodb_data_file_write_through": _FILE_OPENING,
    "innodb_doublewrite": _FILE_OPENING,
    "innodb_log_file_buffering": _FILE_OPENING,
    "innodb_log_file_write_through": _FILE_OPENING,
    "innodb_log_file_mmap": _as_default,
}
