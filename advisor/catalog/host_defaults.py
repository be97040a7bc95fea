"""Defaults that depend on the host or on another option, of which a catalog has no value."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.catalog import Option
    from advisor.core.model import Target

LOWERED = "lower with a low limit of open files"
LIMITED_BY_FILES = ("max_connections", "table_open_cache", "table_cache")
# What an option that is not set depends on (`host` in the catalog); the other ones depend on the host itself.
DEPENDS_ON = {
    "where the server is installed": (
        *("basedir", "character_sets_dir", "datadir", "language", "lc_messages_dir", "plugin_dir"),
        *("secure_file_priv", "socket"),
    ),
    "the host name": (
        *("general_log_file", "log_basename", "log_slow_query_file", "pid_file", "relay_log", "relay_log_index"),
        *("slow_query_log_file", "wsrep_node_name"),
    ),
    "max_connections": ("back_log",),
    "table_open_cache": ("table_definition_cache", "table_open_cache_instances"),
    "innodb_buffer_pool_size": ("innodb_adaptive_hash_index_cells",),
    "datadir": ("aria_log_dir_path", "wsrep_data_home_dir"),
    "log_bin": ("log_bin_index",),
    "tmpdir": ("replica_load_tmpdir", "slave_load_tmpdir"),
    "the environment variable TMPDIR": ("tmpdir",),
    "the limit of open files": ("open_files_limit",),
    "the number of processors": (
        *("innodb_log_writer_threads", "innodb_parallel_read_threads", "innodb_purge_threads"),
        *("innodb_read_io_threads", "thread_pool_size"),
    ),
    "the memory of the host": ("temptable_max_ram",),
    "the file system": ("lower_case_table_names",),
}
# Answers of all six servers, for options whose default --verbose --help does not print or a host may change.
SAME_EVERYWHERE = {"default_time_zone": "SYSTEM", "log_tc": "tc.log", "report_host": "no value"}
BACKLOG = "10000"  # back_log of MySQL 9.7.4 with any max_connections


def default_on_host(option: Option, version: Target) -> str:
    """The default if it is the same on each host after all, or what it depends on."""
    if option.name == "back_log" and version.since("mysql", 9):
        return BACKLOG
    if option.name in SAME_EVERYWHERE:
        return SAME_EVERYWHERE[option.name]
    if option.name == "wsrep_provider" and version.is_mariadb:
        return "none"
    inputs = (text for text, names in DEPENDS_ON.items() if option.name in names)
    return f"depends on {next(inputs, 'the host')}"
