"""Compares any two of: option file, running server, snapshot, a version's defaults; what matters most comes first."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from advisor.compare.pairing import pair_settings
from advisor.compare.sides import default_of
from advisor.compare.values import (
    Category,
    Comparison,
    OneSided,
    SettingPair,
    Side,
    SideKind,
    SideSetting,
    is_completed_path,
    values_equal,
)
from advisor.core.model import Origin, exact_size
from advisor.preflight.changes import SELF_CHANGING
from advisor.preflight.next_values import SESSION_DEFAULTS
from advisor.redaction import MASK, redact_value
from advisor.upgrade.change import WARNING_AREAS, Area
from advisor.upgrade.defaults import consequence_of, rank_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from advisor.catalog import Option


# For variables without an upgrade consequence; the first matching pattern applies.
PATTERNS: tuple[tuple[Area, tuple[str, ...]], ...] = (
    (
        Area.DURABILITY,
        (
            *(
                "sync_*",
                "innodb_flush_log_at_*",
                "innodb_doublewrite*",
                "innodb_force_recovery",
                "innodb_fast_shutdown",
            ),
            *("*_recover", "*_recover_options", "aria_checkpoint_*", "innodb_checksum_*", "innodb_log_checksums"),
            *("innodb_support_xa", "flush", "binlog_order_commits"),
        ),
    ),
    (
        Area.DATA,
        (
            *("sql_mode", "old_mode", "old", "character_set_*", "collation_*", "lower_case_table_names", "*time_zone"),
            *("default_storage_engine", "storage_engine", "default_tmp_storage_engine", "enforce_storage_engine"),
            *("disabled_storage_engines", "innodb_strict_mode", "innodb_default_row_format", "sql_require_primary_key"),
            *(
                "foreign_key_checks",
                "unique_checks",
                "check_constraint_checks",
                "lc_time_names",
                "innodb_file_per_table",
            ),
            *("innodb_page_size", "div_precision_increment", "default_week_format", "init_connect", "innodb_read_only"),
        ),
    ),
    (
        Area.TRANSACTIONS,
        (
            *("transaction_*", "tx_*", "autocommit", "completion_type", "innodb_rollback_*", "innodb_deadlock_*"),
            *("innodb_lock_wait_timeout", "innodb_print_all_deadlocks", "innodb_table_locks"),
        ),
    ),
    (
        Area.ACCESS,
        (
            *("ssl*", "tls_*", "admin_ssl_*", "admin_tls_*", "mysqlx_ssl_*", "have_ssl", "require_secure_transport"),
            *("*authentication*", "*password*", "secure_*", "skip_name_resolve", "skip_networking", "local_infile"),
            *(
                "skip_show_database",
                "mandatory_roles",
                "activate_all_roles_*",
                "automatic_sp_privileges",
                "old_passwords",
            ),
            *(
                "*encrypt*",
                "keyring_*",
                "log_bin_trust_function_creators",
                "allow_suspicious_udfs",
                "skip_grant_tables",
            ),
            *("server_audit_*", "sql_safe_updates", "partial_revokes", "check_proxy_users", "*_tls_*"),
        ),
    ),
    (
        Area.REPLICATION,
        (
            *("binlog_row_event_max_size", "log_bin*", "binlog_*", "sql_log_bin", "gtid*", "enforce_gtid_*", "slave_*"),
            *("replica_*", "rpl_*", "relay_*", "replicate_*", "master_*", "source_*", "sync_*_info", "wsrep_*"),
            *("group_replication_*", "read_only", "super_read_only", "auto_increment_*", "expire_logs_days"),
            *("max_binlog_*", "max_relay_*", "skip_slave_start", "skip_replica_start", "init_slave", "init_replica"),
            *("log_slave_*", "log_replica_*", "*_semi_sync_*", "server_id_bits", "event_scheduler"),
        ),
    ),
    (Area.REST, ("performance_schema_*",)),
    (
        Area.MEMORY,
        (
            *(
                "innodb_buffer_pool_*",
                "innodb_log_buffer_size",
                "innodb_sort_buffer_size",
                "*_buffer_size",
                "query_cache_*",
            ),
            *(
                "*_cache_size",
                "key_cache_*",
                "tmp_*_size",
                "max_heap_table_size",
                "temptable_*",
                "*_mem_*",
                "*_memory_*",
            ),
            *("thread_stack", "large_pages", "innodb_numa_*", "innodb_dedicated_server", "performance_schema"),
            *("query_*_size", "range_alloc_*", "transaction_*_size", "*_session_mem_used", "preload_buffer_size"),
        ),
    ),
    (Area.IO, ("innodb_*", "aria_*", "myisam_*", "delay_key_write", "delayed_*", "concurrent_insert")),
    (
        Area.LIMITS,
        (
            *("max_*", "*_timeout", "*_limit", "*_open_cache*", "table_*", "thread_*", "back_log", "open_files_limit"),
            *("host_cache_size", "*_max_*", "cte_max_*", "net_*", "long_query_time"),
        ),
    ),
    (Area.OPTIMIZER, ("optimizer_*", "eq_range_*", "*_statistics", "use_stat_tables", "histogram_*", "join_cache_*")),
)
AREAS = list(Area)


def area_of(name: str, option: Option | None) -> Area:
    """Return what the variable affects."""
    by_upgrade = _area_by_upgrade(name)
    if by_upgrade is not None:
        return by_upgrade
    by_name = _by_name(name)
    if option is None or by_name in WARNING_AREAS:
        return by_name
    return Area.DURABILITY if option.durability else Area.ACCESS if option.security else by_name


def sort_key(name: str, area: Area) -> tuple[int, int, str]:
    """Return the sort key of a variable: area, consequence, name."""
    return AREAS.index(area), rank_of(name), name


@cache
def _area_by_upgrade(name: str) -> Area | None:
    """Return the area of a variable with an upgrade consequence; None if it has none."""
    area, message = consequence_of(name, "")
    return area if message else None


@cache
def _by_name(name: str) -> Area:
    for area, patterns in PATTERNS:
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return area
    return Area.REST


NAMES = frozenset(
    (
        *("hostname", "server_id", "server_uuid", "server_uid", "system_time_zone"),
        *(
            "datadir",
            "basedir",
            "tmpdir",
            "socket",
            "port",
            "extra_port",
            "admin_port",
            "admin_address",
            "bind_address",
        ),
        *("log_bin_basename", "log_bin_index", "log_error", "log_basename", "pid_file"),
        *("general_log_file", "slow_query_log_file", "log_slow_query_file", "innodb_version", "license", "language"),
        *("gtid_domain_id", "innodb_data_home_dir", "innodb_buffer_pool_filename", "large_page_size"),
        *("wsrep_node_name", "wsrep_node_address", "wsrep_node_incoming_address", "wsrep_sst_receive_address"),
        *("wsrep_provider", "wsrep_start_position", "wsrep_data_home_dir", "init_file", "have_dynamic_loading"),
        *("group_replication_local_address", "group_replication_view_change_uuid"),
        *("gtid_binlog_pos", "gtid_binlog_state", "gtid_current_pos", "gtid_slave_pos", "gtid_executed", "gtid_owned"),
        *("gtid_purged", "proxy_protocol_networks", "keyring_operations", "rbr_exec_mode"),
        *("lower_case_file_system", "mysqlx_document_id_unique_prefix"),
    )
)
NAME_PATTERNS = (
    *("version", "version_*", "report_*", "relay_log", "relay_log_*file", "relay_log_basename", "relay_log_index"),
    *("*_dir", "*_dirs", "*_directory", "*_tmpdir", "*_path", "*_port", "*_socket", "mysqlx_bind_address"),
    *("ssl_c*", "ssl_key", "admin_ssl_c*", "admin_ssl_key", "mysqlx_ssl_c*", "mysqlx_ssl_key", "*_public_key_path"),
)
# Paths whose presence is a choice even where the path itself depends on the server. CHOICES also has cipher lists.
PATHS_BY_CHOICE = ("ssl_", "admin_ssl_", "mysqlx_ssl_", "init_file")
CHOICES = frozenset(
    (
        *(
            "aria_sync_log_dir",
            "auth_socket",
            "unix_socket",
            "connect_json_all_path",
            "ignore_db_dir",
            "ignore_db_dirs",
        ),
        *("report_password", "secure_file_priv", "ssl_cipher", "admin_ssl_cipher", "mysqlx_ssl_cipher"),
        *("version_tokens", "version_tokens_session", "version_tokens_session_number"),
    )
)


def differs_by_nature(name: str, a: str | None, b: str | None) -> bool:
    """Whether the values of this variable differ between servers by nature, independent of the configuration."""
    if name.startswith(PATHS_BY_CHOICE) and bool(a) != bool(b):
        return False
    return _is_server_specific(name)


@cache
def _is_server_specific(name: str) -> bool:
    if name in CHOICES:
        return False
    return name in NAMES or name in SELF_CHANGING or any(fnmatchcase(name, pattern) for pattern in NAME_PATTERNS)


SIZES = ("_size", "_capacity")
HIDDEN = "a masked secret"
TEMPLATE = "a template, or a value that only the server can compute"


def compare_sides(a: Side, b: Side, wanted: Callable[[str], bool] = lambda _: True) -> Comparison:
    """Return the differences of two sides, most important first; `wanted` selects settings by name."""
    a, b = _with_unset(a, b), _with_unset(b, a)
    paired = pair_settings(a, b)
    pairs = [
        _pair(name, (mine, other), (a, b), paired.other_names.get(name, ()))
        for name, (mine, other) in paired.pairs.items()
        if wanted(name) or wanted(mine.name) or wanted(other.name)
    ]
    return Comparison(
        a,
        b,
        tuple(sorted(pairs, key=lambda pair: sort_key(pair.name, pair.area))),
        _one_sided(paired.only_a, a, b, wanted),
        _one_sided(paired.only_b, b, a, wanted),
        (*_unshown_settings(paired.only_a, a, b, wanted), *_unshown_settings(paired.only_b, b, a, wanted)),
    )


def _with_unset(side: Side, other: Side) -> Side:
    """Add the defaults of options that no server shows and that only the other side sets."""
    if side.runs:
        return side
    names = [name for name, held in other.settings.items() if not held.shown and name not in side.settings]
    unset = {name: held for name in names if (held := _unset(name, side)) is not None}
    unset |= _session_defaults(side, other)
    return side._replace(settings={**side.settings, **unset}) if unset else side


def _session_defaults(side: Side, other: Side) -> dict[str, SideSetting]:
    """Return the defaults of the variables that no option sets and that the other side, a server, shows."""
    if not other.runs or side.is_partial or side.target.flavour != other.target.flavour:
        return {}
    names = [name for name in SESSION_DEFAULTS if name in other.settings and name not in side.settings]
    return {name: SideSetting(name, SESSION_DEFAULTS[name], Origin.COMPILED) for name in names}


def _unset(name: str, side: Side) -> SideSetting | None:
    option = side.catalog.get(name)
    if option is None:
        return None
    return SideSetting(name, default_of(option), Origin.COMPILED, option=option, shown=False)


def _is_one_version(a: Side, b: Side) -> bool:
    return a.target == b.target


def _pair(
    name: str, both: tuple[SideSetting, SideSetting], sides: tuple[Side, Side], also: tuple[str, ...]
) -> SettingPair:
    a, b = both
    lot, reason = _categorize_unknown(a, b) if a.value is None or b.value is None else _categorize(name, both, sides)
    derived = lot is Category.DIFFERS and _is_one_version(*sides) and not any(map(_may_be_set, both))
    return SettingPair(name, a, b, area_of(name, b.option or a.option), lot, also, derived, reason)


def _may_be_set(held: SideSetting) -> bool:
    """Whether the setting is explicitly configured, or may be: the server does not report the source of its value."""
    settable = held.option is not None or held.name in SESSION_DEFAULTS
    return held.is_set or (held.origin is Origin.UNKNOWN and settable)


def _categorize(name: str, both: tuple[SideSetting, SideSetting], sides: tuple[Side, Side]) -> tuple[Category, str]:
    a, b = both
    if a.lower is not None or b.lower is not None:
        return _categorize_formula(a, b)
    mine, other = a.value or "", b.value or ""
    if MASK in mine or MASK in other:
        # Values read from a server have secrets masked, so a file's value is masked before they are compared.
        same = redact_value(a.name, mine) == redact_value(b.name, other)
        return (Category.UNDETERMINED, HIDDEN) if same else (Category.DIFFERS, "")
    if values_equal(a, b) or _is_completed(a, b, *sides) or _is_completed(b, a, *sides[::-1]):
        return Category.ALIKE, ""
    if differs_by_nature(name, mine, other):
        return Category.BY_NATURE, ""
    by_host = a.by_host or b.by_host
    return (Category.BY_HOST, by_host) if by_host and a.raw is not None and a.raw == b.raw else (Category.DIFFERS, "")


def _categorize_formula(a: SideSetting, b: SideSetting) -> tuple[Category, str]:
    """Compare the results of formulas, of which only bounds are known: a service keeps a part of the memory."""
    if a.raw == b.raw and a.lower == b.lower:
        return Category.ALIKE, ""
    (least, most), (low, high) = ((int(one.lower or one.value or 0), int(one.value or 0)) for one in (a, b))
    if most < low or high < least:
        return Category.DIFFERS, ""
    texts = [f"{letter} is {_bounds(one)}" for letter, one in (("A", a), ("B", b))]
    return Category.UNDETERMINED, f"{', '.join(texts)}: the service reserves a part of the memory"


def _bounds(held: SideSetting) -> str:
    number = int(held.value or 0)
    text = exact_size(number) if held.name.endswith(SIZES) else str(number)
    return f"at most {text} by the formula {held.raw}" if held.lower is not None else text


def _categorize_unknown(a: SideSetting, b: SideSetting) -> tuple[Category, str]:
    if a.raw is not None and a.raw == b.raw and a.is_set and b.is_set and a.unknown == b.unknown != "":
        return Category.ALIKE, ""
    unknown = next((held.unknown for held in (a, b) if held.value is None and held.unknown), "")
    if unknown:
        return Category.UNDETERMINED, unknown
    if any(held.value is None and held.is_set for held in (a, b)):
        return Category.UNDETERMINED, TEMPLATE
    if a.value is None and b.value is None:
        return Category.ALIKE, ""
    if differs_by_nature(a.name, a.value, b.value):
        return Category.BY_NATURE, ""
    return (Category.DIFFERS if a.is_set or b.is_set else Category.BY_HOST), ""


def _is_completed(written: SideSetting, running: SideSetting, side: Side, other: Side) -> bool:
    """Whether a bare name in a file and the server's absolute path are the same file."""
    return other.runs and not side.runs and written.raw is not None and is_completed_path(written, running)


def _one_sided(
    part: Mapping[str, SideSetting], side: Side, other: Side, wanted: Callable[[str], bool]
) -> tuple[OneSided, ...]:
    """Return the settings that the other side does not have, most consequential first."""
    both_run = side.runs and other.runs and _is_one_version(side, other)
    settings = [
        OneSided(held, area_of(name, held.option), not differs_by_nature(name, None, "") and (held.is_set or both_run))
        for name, held in part.items()
        if wanted(name) and _is_unknown(held, side, other)
    ]
    return tuple(sorted(settings, key=lambda one: sort_key(one.setting.name, one.area)))


def _is_unknown(held: SideSetting, side: Side, other: Side) -> bool:
    """Whether the other side does not have the setting at all, as opposed to not showing it."""
    if side.runs and other.runs:
        return True
    if side.runs:
        return held.option is not None
    if not other.runs:
        return held.is_set or not _is_one_version(side, other)
    return held.shown and not _is_one_version(side, other)


def _unshown_settings(
    part: Mapping[str, SideSetting], side: Side, other: Side, wanted: Callable[[str], bool]
) -> Iterator[SideSetting]:
    """Yield explicitly set options that a server does not show: options without a variable, or of another build."""
    for held in part.values():
        if other.runs and held.is_set and wanted(held.name) and not (held.shown and not _is_one_version(side, other)):
            yield held


__all__ = ["Category", "Comparison", "SettingPair", "Side", "SideKind", "SideSetting", "compare_sides"]
