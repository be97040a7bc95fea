"""The rules of mycnf: one module a family, the evidence beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    from rules.registry import Rule

# Another distribution installs a package of this name: advisor.belonging compares this before it trusts the import.
PRODUCT = "mycnf-advisor"

# Families that files alone can answer and whose rules may speak of any option.
FAMILIES = ("opt", "opttaken", "optfile", "sec")
# Families that can say nothing of files which set none of these options: lint imports them for the others alone.
ON_OPTIONS: dict[str, tuple[str, ...]] = {
    "buf": (
        "join_buffer_size", "max_heap_table_size", "read_buffer_size", "read_rnd_buffer_size", "sort_buffer_size",
        "tmp_memory_table_size", "tmp_table_size",
    ),
    "bufcache": ("query_cache_size", "query_cache_type"),
    "inn": (
        "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances", "innodb_buffer_pool_size",
        "innodb_data_file_buffering", "innodb_flush_method", "innodb_io_capacity", "innodb_io_capacity_max",
        "innodb_random_read_ahead",
    ),
    "log": ("innodb_buffer_pool_size", "innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity"),
    "dur": (
        "binlog_checksum", "innodb_checksum_algorithm", "innodb_checksums", "innodb_doublewrite",
        "innodb_flush_log_at_trx_commit", "innodb_flush_method", "log_bin", "sync_binlog",
    ),
    "durdata": ("default_storage_engine", "sql_mode"),
    "bin": (
        "binlog_expire_logs_auto_purge", "binlog_expire_logs_seconds", "binlog_format",
        "binlog_group_commit_sync_delay", "expire_logs_days", "log_bin", "max_binlog_size", "replica_skip_errors",
        "server_id", "slave_skip_errors",
    ),
    "tls": ("require_secure_transport", "ssl", "ssl_cert", "ssl_cipher", "ssl_key", "tls_version"),
    "secset": (
        "allow_suspicious_udfs", "authentication_policy", "bind_address", "default_authentication_plugin", "log_raw",
        "mysql_native_password", "old_passwords", "proxy_protocol_networks", "secure_auth", "show_replica_auth_info",
        "show_slave_auth_info", "symbolic_links", "user",
    ),
    "secenc": (
        "core_file", "default_table_encryption", "feedback", "file_key_management_filename", "innodb_encrypt_tables",
        "keyring_file_data",
    ),
    "con": (
        "create_admin_listener_thread", "extra_max_connections", "host_cache_size", "max_connect_errors",
        "max_user_connections", "skip_host_cache", "thread_stack",
    ),
    "conpool": (
        "thread_cache_size", "thread_pool_dedicated_listener", "thread_pool_idle_timeout", "thread_pool_max_threads",
        "thread_pool_oversubscribe", "thread_pool_prio_kickup_timer", "thread_pool_size", "thread_pool_stall_limit",
    ),
    "conpacket": ("max_allowed_packet", "replica_max_allowed_packet", "slave_max_allowed_packet"),
    "conwait": (
        "autocommit", "connect_timeout", "innodb_deadlock_detect", "innodb_lock_wait_timeout", "interactive_timeout",
        "lock_wait_timeout", "wait_timeout",
    ),
    "gal": (
        "wsrep_cluster_address", "wsrep_new_cluster", "wsrep_on", "wsrep_osu_method", "wsrep_provider",
        "wsrep_provider_options", "wsrep_sst_method",
    ),
    "grp": (
        "group_replication_bootstrap_group", "group_replication_flow_control_mode", "group_replication_group_name",
        "group_replication_single_primary_mode", "group_replication_transaction_size_limit",
    ),
    "rep": (
        "gtid_mode", "master_info_repository", "relay_log_info_repository", "relay_log_purge", "relay_log_recovery",
        "relay_log_space_limit", "replica_exec_mode", "replica_parallel_type", "replica_parallel_workers",
        "replica_preserve_commit_order", "replica_type_conversions", "rpl_semi_sync_master_enabled",
        "rpl_semi_sync_master_wait_point", "rpl_semi_sync_source_enabled", "rpl_semi_sync_source_wait_point",
        "slave_exec_mode", "slave_parallel_type", "slave_parallel_workers", "slave_preserve_commit_order",
        "slave_type_conversions",
    ),
    "repapply": (
        "replica_net_timeout", "replica_transaction_retries", "slave_net_timeout", "slave_parallel_mode",
        "slave_parallel_threads", "slave_transaction_retries",
    ),
    "repreadonly": ("read_only", "super_read_only"),
    "repfilter": ("binlog_do_db", "binlog_ignore_db", "replicate_do_db", "replicate_ignore_db"),
    "myi": ("delay_key_write", "flush_time", "low_priority_updates", "myisam_recover_options"),
    "ari": ("aria_checkpoint_interval", "aria_log_purge_type", "aria_page_checksum", "aria_recover_options"),
    "obs": (
        "general_log", "innodb_status_output", "log_error_verbosity", "log_output", "log_queries_not_using_indexes",
        "log_slow_min_examined_row_limit", "log_slow_query", "log_slow_query_file", "log_slow_query_time",
        "log_slow_rate_limit", "log_throttle_queries_not_using_indexes", "log_warnings", "long_query_time",
        "min_examined_row_limit", "performance_schema", "slow_query_log", "slow_query_log_file",
    ),
    "mod": (
        "alter_algorithm", "ansi", "character_set_client_handshake", "character_set_server",
        "default_tmp_storage_engine", "eq_range_index_dive_limit", "explicit_defaults_for_timestamp",
        "old_alter_table", "optimizer_prune_level", "sql_mode",
    ),
    "tab": ("table_open_cache",),
    "tmp": (
        "big_tables", "innodb_temp_data_file_path", "innodb_tmpdir", "internal_tmp_mem_storage_engine",
        "max_heap_table_size", "replica_load_tmpdir", "slave_load_tmpdir", "tmp_disk_table_size",
        "tmp_memory_table_size", "tmp_table_size", "tmpdir",
    ),
    "innset": (
        "innodb_adaptive_flushing", "innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_load_at_startup",
        "innodb_dedicated_server", "innodb_fast_shutdown", "innodb_flush_sync", "innodb_force_recovery",
        "innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_old_blocks_time",
    ),
    "inntab": (
        "binlog_format", "innodb_autoinc_lock_mode", "innodb_change_buffering", "innodb_data_file_path",
        "innodb_file_per_table", "innodb_stats_on_metadata", "innodb_stats_persistent", "innodb_strict_mode",
        "innodb_undo_log_truncate", "innodb_undo_tablespaces", "transaction_isolation",
    ),
    "innslow": (
        "innodb_io_capacity", "innodb_max_purge_lag", "innodb_max_purge_lag_delay", "innodb_max_undo_log_size",
        "innodb_purge_threads", "innodb_use_native_aio",
    ),
    "logset": ("innodb_flush_log_at_timeout", "innodb_log_write_ahead_size"),
}  # fmt: skip
# Modules of rules that all need a host or a running server.
ON_HOSTS = (
    "mem", "innlay", "sys", "ver", "conlive", "conhost", "reprunning", "replag", "enginelive", "tlslive", "seclive",
    "sysmore", "sto", "stomount", "stodisk", "tablive", "wrk", "wrktrx", "innflush",
)  # fmt: skip
# Rules that speak only where somebody wrote something for mycnf itself: suppressions, house rules.
ON_REQUEST = ("sup", "house")


def all_rules() -> list[Rule]:
    """Every rule, by code."""
    return _registered((*FAMILIES, *ON_OPTIONS, *ON_HOSTS, *ON_REQUEST))


def file_rules(*, house: bool = False, families: tuple[str, ...] | None = None) -> list[Rule]:
    """The rules that need nothing but option files, by code; those that need more are not even imported.

    `house` says that there are house rules too; `families` are those of `awake`, all where none are given.
    """
    more = tuple(ON_OPTIONS) if families is None else families
    modules = (*FAMILIES, *more, *(("house",) if house else ()))
    return [rule for rule in _registered(modules) if not rule.needs or (house and rule.needs == ("house",))]


def awake(options: Container[str]) -> tuple[str, ...]:
    """The families of ON_OPTIONS that may have something to say about files which set these options."""
    return tuple(family for family, about in ON_OPTIONS.items() if any(name in options for name in about))


def find(word: str) -> Rule | None:
    """The rule of that code or name, in either case; None where there is none."""
    wanted = word.strip().lower().replace("_", "-")
    return next((r for r in all_rules() if wanted in (r.code.lower(), r.name)), None)


def _registered(modules: tuple[str, ...]) -> list[Rule]:
    for module in modules:
        __import__(f"rules.{module}")
    from rules.registry import RULES

    return sorted(RULES)
