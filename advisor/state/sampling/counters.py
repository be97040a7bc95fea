"""What is sampled: the counters that rules on redo, connections and temporary tables read, and some for people."""

from __future__ import annotations

REDO = (
    "innodb_log_waits",
    "innodb_checkpoint_age",
    "innodb_checkpoint_max_age",
    "innodb_redo_log_current_lsn",
    "innodb_redo_log_checkpoint_lsn",
    "innodb_redo_log_capacity_resized",
)
CONNECTIONS = (
    "connections",
    "connection_errors_max_connections",
    "threads_connected",
    "threads_running",
    "threads_created",
    "max_used_connections",
    "aborted_connects",
    "aborted_clients",
)
TEMPORARY = (
    "created_tmp_tables",
    "created_tmp_disk_tables",
    "created_tmp_files",
    "temptable_count_hit_max_ram",
)
WORK = (
    "uptime_since_flush_status",
    "questions",
    "com_select",
    "com_insert",
    "com_update",
    "com_delete",
    "com_commit",
    "slow_queries",
    "sort_merge_passes",
    "innodb_buffer_pool_read_requests",
    "innodb_buffer_pool_reads",
    "innodb_buffer_pool_wait_free",
    "innodb_os_log_written",
)
NAMES = (*REDO, *CONNECTIONS, *TEMPORARY, *WORK)
