"""Orders variables by what they affect: durability, data, accounts and replicas before sizes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from advisor.upgrade.change import WARNING_AREAS, Area
from advisor.upgrade.defaults import consequence_of, rank_of

if TYPE_CHECKING:
    from advisor.catalog.load import Option

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
