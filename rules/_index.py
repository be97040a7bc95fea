"""Modules of rules, by what a file must set before lint imports them; `make docs` writes this."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.core import QuietValues

# fmt: off
# A rule of these may concern any option of a file.
ANY_OPTION = (
    "rules.optionfile.adjusted",
    "rules.optionfile.refused",
    "rules.optionfile.structure",
    "rules.security.access",
    "rules.versions",
)
# Rules of these concern files that set one of the options.
BY_OPTION = {
    "rules.connections.limits": (
        "admin_port", "create_admin_listener_thread", "extra_max_connections", "host_cache_size",
        "max_connect_errors", "max_user_connections", "offline_mode", "skip_host_cache", "thread_stack",
    ),
    "rules.connections.login": (
        "default_password_lifetime", "init_connect",
    ),
    "rules.connections.packets": (
        "max_allowed_packet", "replica_max_allowed_packet", "slave_max_allowed_packet",
    ),
    "rules.connections.threads": (
        "thread_cache_size", "thread_pool_dedicated_listener", "thread_pool_idle_timeout",
        "thread_pool_max_threads", "thread_pool_oversubscribe", "thread_pool_prio_kickup_timer", "thread_pool_size",
        "thread_pool_stall_limit",
    ),
    "rules.connections.timeouts": (
        "autocommit", "connect_timeout", "innodb_deadlock_detect", "innodb_lock_wait_timeout",
        "interactive_timeout", "lock_wait_timeout", "net_read_timeout", "net_write_timeout", "wait_timeout",
    ),
    "rules.durability.binary_log": (
        "binlog_cache_size", "binlog_expire_logs_auto_purge", "binlog_expire_logs_seconds",
        "binlog_stmt_cache_size", "expire_logs_days", "log_bin", "max_binlog_cache_size", "max_binlog_size",
        "replica_skip_errors", "server_id", "slave_skip_errors",
    ),
    "rules.durability.binary_log_format": (
        "binlog_format", "binlog_storage_engine", "innodb_autoinc_lock_mode", "log_bin_trust_function_creators",
        "transaction_isolation", "tx_isolation",
    ),
    "rules.durability.crash_safety": (
        "binlog_checksum", "datadir", "innodb_checksum_algorithm", "innodb_checksums", "innodb_data_home_dir",
        "innodb_doublewrite", "innodb_doublewrite_dir", "innodb_flush_log_at_trx_commit", "innodb_flush_method",
        "innodb_log_group_home_dir", "innodb_parallel_doublewrite_path", "innodb_undo_directory", "log_bin",
        "relay_log", "sql_mode", "sync_binlog",
    ),
    "rules.durability.group_commit": (
        "binlog_commit_wait_count", "binlog_error_action", "binlog_group_commit_sync_delay",
    ),
    "rules.engines.aria": (
        "aria_checkpoint_interval", "aria_log_purge_type", "aria_page_checksum", "aria_recover_options",
    ),
    "rules.engines.myisam": (
        "default_storage_engine", "default_tmp_storage_engine", "delay_key_write", "flush_time",
        "low_priority_updates", "myisam_recover_options",
    ),
    "rules.innodb.buffer_pool": (
        "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_dump_at_shutdown", "innodb_buffer_pool_instances",
        "innodb_buffer_pool_load_at_startup", "innodb_buffer_pool_size", "innodb_data_file_buffering",
        "innodb_flush_method", "innodb_old_blocks_time", "innodb_random_read_ahead",
    ),
    "rules.innodb.flushing": (
        "innodb_adaptive_flushing", "innodb_flush_sync", "innodb_max_dirty_pages_pct",
        "innodb_max_dirty_pages_pct_lwm",
    ),
    "rules.innodb.io_capacity": (
        "innodb_io_capacity", "innodb_io_capacity_max",
    ),
    "rules.innodb.redo_log": (
        "innodb_buffer_pool_size", "innodb_log_file_size", "innodb_log_files_in_group", "innodb_redo_log_capacity",
    ),
    "rules.innodb.redo_log_writes": (
        "innodb_flush_log_at_timeout", "innodb_log_write_ahead_size",
    ),
    "rules.innodb.startup": (
        "innodb_dedicated_server", "innodb_fast_shutdown", "innodb_force_recovery",
    ),
    "rules.innodb.tablespaces": (
        "innodb_change_buffering", "innodb_data_file_path", "innodb_file_per_table", "innodb_stats_auto_recalc",
        "innodb_stats_on_metadata", "innodb_stats_persistent", "innodb_stats_persistent_sample_pages",
        "innodb_strict_mode", "innodb_temp_data_file_path", "innodb_undo_log_truncate", "innodb_undo_tablespaces",
    ),
    "rules.innodb.throughput": (
        "innodb_log_compressed_pages", "innodb_max_purge_lag", "innodb_max_purge_lag_delay",
        "innodb_max_undo_log_size", "innodb_use_native_aio", "innodb_validate_tablespace_paths",
    ),
    "rules.innodb.transactions": (
        "innodb_autoinc_lock_mode", "transaction_isolation",
    ),
    "rules.memory.server_caches": (
        "query_cache_size", "query_cache_type", "table_open_cache",
    ),
    "rules.memory.session_buffers": (
        "join_buffer_size", "max_heap_table_size", "read_buffer_size", "read_rnd_buffer_size", "sort_buffer_size",
        "tmp_memory_table_size", "tmp_table_size",
    ),
    "rules.memory.temporary_tables": (
        "big_tables", "innodb_temp_data_file_path", "innodb_tmpdir", "internal_tmp_mem_storage_engine",
        "max_heap_table_size", "replica_load_tmpdir", "slave_load_tmpdir", "temptable_max_mmap",
        "temptable_max_ram", "tmp_disk_table_size", "tmp_memory_table_size", "tmp_table_size", "tmpdir",
    ),
    "rules.replication.filters": (
        "binlog_do_db", "binlog_ignore_db", "log_replica_updates", "log_slave_updates", "replicate_do_db",
        "replicate_do_table", "replicate_ignore_db", "replicate_ignore_table", "replicate_wild_do_table",
        "replicate_wild_ignore_table",
    ),
    "rules.replication.galera": (
        "wsrep_cluster_address", "wsrep_new_cluster", "wsrep_on", "wsrep_osu_method", "wsrep_provider",
        "wsrep_provider_options", "wsrep_sst_method",
    ),
    "rules.replication.galera_node": (
        "pxc_strict_mode", "wsrep_certify_nonpk", "wsrep_cluster_address", "wsrep_node_address",
        "wsrep_provider_options", "wsrep_slave_threads", "wsrep_sst_method",
    ),
    "rules.replication.galera_provider": (
        "wsrep_on", "wsrep_provider", "wsrep_provider_options",
    ),
    "rules.replication.group_replication": (
        "group_replication_bootstrap_group", "group_replication_flow_control_mode", "group_replication_group_name",
        "group_replication_single_primary_mode", "group_replication_transaction_size_limit",
    ),
    "rules.replication.group_state": (
        "group_replication_autorejoin_tries", "group_replication_exit_state_action", "group_replication_group_name",
        "group_replication_ip_allowlist", "group_replication_ip_whitelist",
        "group_replication_member_expel_timeout", "group_replication_ssl_mode",
    ),
    "rules.replication.running": (
        "read_only", "relay_log_recovery", "replica_parallel_type", "replica_parallel_workers",
        "slave_parallel_type", "slave_parallel_workers", "super_read_only",
    ),
    "rules.replication.settings": (
        "gtid_mode", "relay_log_info_repository", "relay_log_purge", "relay_log_recovery", "relay_log_space_limit",
        "replica_exec_mode", "replica_parallel_type", "replica_parallel_workers", "replica_preserve_commit_order",
        "replica_type_conversions", "rpl_semi_sync_master_enabled", "rpl_semi_sync_master_wait_point",
        "rpl_semi_sync_source_enabled", "rpl_semi_sync_source_wait_point", "slave_exec_mode", "slave_parallel_type",
        "slave_parallel_workers", "slave_preserve_commit_order", "slave_type_conversions",
    ),
    "rules.replication.timeouts": (
        "replica_net_timeout", "replica_transaction_retries", "slave_net_timeout", "slave_parallel_mode",
        "slave_parallel_threads", "slave_transaction_retries",
    ),
    "rules.security.encryption": (
        "binlog_encryption", "core_file", "default_table_encryption", "early_plugin_load", "feedback",
        "file_key_management_filename", "innodb_encrypt_tables", "innodb_redo_log_encrypt",
        "innodb_undo_log_encrypt", "keyring_file_data", "plugin_load", "plugin_load_add",
    ),
    "rules.security.exposure": (
        "allow_suspicious_udfs", "authentication_policy", "bind_address", "default_authentication_plugin",
        "log_raw", "mysql_native_password", "old_passwords", "proxy_protocol_networks", "secure_auth",
        "show_replica_auth_info", "show_slave_auth_info", "symbolic_links", "user",
    ),
    "rules.security.tls": (
        "require_secure_transport", "ssl", "ssl_cert", "ssl_cipher", "ssl_key", "tls_ciphersuites", "tls_version",
    ),
    "rules.sql.logging": (
        "general_log", "general_log_file", "innodb_status_output", "log_error", "log_error_verbosity", "log_output",
        "log_queries_not_using_indexes", "log_slow_min_examined_row_limit", "log_slow_query", "log_slow_query_file",
        "log_slow_query_time", "log_slow_rate_limit", "log_throttle_queries_not_using_indexes", "log_warnings",
        "long_query_time", "min_examined_row_limit", "performance_schema", "slow_query_log", "slow_query_log_file",
    ),
    "rules.sql.modes": (
        "alter_algorithm", "ansi", "auto_increment_increment", "auto_increment_offset",
        "character_set_client_handshake", "character_set_server", "eq_range_index_dive_limit",
        "explicit_defaults_for_timestamp", "innodb_read_only", "max_execution_time", "max_join_size",
        "max_prepared_stmt_count", "max_session_mem_used", "max_statement_time", "old_alter_table",
        "optimizer_prune_level", "sql_mode", "transaction_read_only",
    ),
}
# Options of BY_OPTION that a flavour has too, although no rule of the module concerns its files with them.
SILENT: dict[str, dict[str, tuple[str, ...]]] = {
    "mysql": {
        "rules.innodb.tablespaces": ("innodb_change_buffering",),
        "rules.replication.galera": (
            "wsrep_cluster_address", "wsrep_new_cluster", "wsrep_on", "wsrep_osu_method", "wsrep_provider",
            "wsrep_provider_options", "wsrep_sst_method",
        ),
        "rules.replication.galera_node": (
            "wsrep_certify_nonpk", "wsrep_cluster_address", "wsrep_node_address", "wsrep_provider_options",
            "wsrep_slave_threads", "wsrep_sst_method",
        ),
        "rules.replication.galera_provider": (
            "wsrep_on", "wsrep_provider", "wsrep_provider_options",
        ),
        "rules.security.exposure": (
            "old_passwords", "proxy_protocol_networks", "secure_auth",
        ),
        "rules.sql.modes": ("optimizer_prune_level",),
    },
    "mariadb": {
        "rules.durability.binary_log": (
            "binlog_cache_size", "binlog_stmt_cache_size", "server_id",
        ),
        "rules.innodb.buffer_pool": (
            "innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances",
        ),
        "rules.innodb.redo_log_writes": ("innodb_log_write_ahead_size",),
        "rules.innodb.throughput": ("innodb_log_compressed_pages",),
        "rules.replication.running": (
            "read_only", "relay_log_recovery", "slave_parallel_workers",
        ),
        "rules.replication.settings": (
            "relay_log_info_repository", "relay_log_recovery", "slave_parallel_workers",
        ),
        "rules.security.encryption": (
            "core_file", "plugin_load", "plugin_load_add",
        ),
        "rules.security.exposure": (
            "bind_address", "default_authentication_plugin", "log_raw",
        ),
        "rules.sql.logging": ("performance_schema",),
    },
}
# Values of options with which no rule of the module has a finding: words, or the least and the largest number.
QUIET: dict[str, dict[str, QuietValues]] = {
    "rules.connections.login": {
        "default_password_lifetime": (0, 0),
    },
    "rules.connections.packets": {
        "max_allowed_packet": (1046528, 18446744073709551616),
    },
    "rules.connections.threads": {
        "thread_cache_size": (1, 18446744073709551616),
    },
    "rules.connections.timeouts": {
        "autocommit": ("TRUE",),
        "connect_timeout": (0, 60),
        "innodb_deadlock_detect": ("TRUE",),
        "innodb_lock_wait_timeout": (1, 3600),
        "lock_wait_timeout": (1, 86400),
        "net_read_timeout": (10, 18446744073709551616),
        "net_write_timeout": (10, 18446744073709551616),
        "wait_timeout": (31, 604800),
    },
    "rules.durability.binary_log": {
        "max_binlog_size": (1048576, 18446744073709551616),
        "server_id": (1, 18446744073709551616),
    },
    "rules.durability.binary_log_format": {
        "binlog_format": ("MIXED", "ROW"),
        "innodb_autoinc_lock_mode": (0, 18446744073709551616),
        "log_bin_trust_function_creators": ("FALSE",),
    },
    "rules.engines.myisam": {
        "default_storage_engine": ("INNODB",),
        "delay_key_write": ("OFF", "ON"),
    },
    "rules.innodb.buffer_pool": {
        "innodb_buffer_pool_dump_at_shutdown": ("TRUE",),
        "innodb_buffer_pool_load_at_startup": ("TRUE",),
        "innodb_old_blocks_time": (1, 18446744073709551616),
        "innodb_random_read_ahead": ("FALSE",),
    },
    "rules.innodb.tablespaces": {
        "innodb_change_buffering": ("NONE",),
        "innodb_file_per_table": ("TRUE",),
        "innodb_stats_auto_recalc": ("TRUE",),
        "innodb_stats_on_metadata": ("FALSE",),
        "innodb_stats_persistent": ("TRUE",),
        "innodb_stats_persistent_sample_pages": (5, 18446744073709551616),
        "innodb_strict_mode": ("TRUE",),
        "innodb_undo_tablespaces": (0, 18446744073709551616),
    },
    "rules.innodb.transactions": {
        "innodb_autoinc_lock_mode": (1, 18446744073709551616),
        "transaction_isolation": ("READ-COMMITTED", "REPEATABLE-READ"),
    },
    "rules.memory.temporary_tables": {
        "big_tables": ("FALSE",),
        "max_heap_table_size": (1048576, 18446744073709551616),
        "tmp_memory_table_size": (1048576, 18446744073709551616),
        "tmp_table_size": (1048576, 18446744073709551616),
    },
    "rules.security.exposure": {
        "symbolic_links": ("FALSE",),
        "user": ("MYSQL",),
    },
}
# All rules of these need more than option files.
BEYOND_FILES = (
    "rules.blocking.blockers",
    "rules.blocking.metadata",
    "rules.blocking.transactions",
    "rules.connections.usage",
    "rules.engines.caches",
    "rules.errorlog.clients",
    "rules.errorlog.ends",
    "rules.errorlog.storage",
    "rules.innodb.io_layout",
    "rules.memory.budget",
    "rules.optionfile.drift",
    "rules.optionfile.parameters",
    "rules.optionfile.suppressions",
    "rules.policy.rules",
    "rules.replication.chain",
    "rules.replication.galera_state",
    "rules.replication.lag",
    "rules.replication.stopped",
    "rules.schema.tables",
    "rules.security.accounts",
    "rules.sql.statements",
    "rules.sql.transactions",
    "rules.system.disks",
    "rules.system.file_system",
    "rules.system.growth",
    "rules.system.kernel",
    "rules.system.mounts",
    "rules.system.process_limits",
    "rules.system.virtual_memory",
)
