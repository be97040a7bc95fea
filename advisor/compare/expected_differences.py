"""What differs between any two servers: their names, places and numbers, and what they have been through."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from advisor.preflight.changes import SELF_CHANGING

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
PATTERNS = (
    *("version", "version_*", "report_*", "relay_log", "relay_log_*file", "relay_log_basename", "relay_log_index"),
    *("*_dir", "*_dirs", "*_directory", "*_tmpdir", "*_path", "*_port", "*_socket", "mysqlx_bind_address"),
    *("ssl_c*", "ssl_key", "admin_ssl_c*", "admin_ssl_key", "mysqlx_ssl_c*", "mysqlx_ssl_key", "*_public_key_path"),
)
# Whether there is one at all is a choice, and so is the list of ciphers.
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
    """Whether the values of this variable differ between servers as such, whatever was chosen for them."""
    if name.startswith(PATHS_BY_CHOICE) and bool(a) != bool(b):
        return False
    return _is_server_specific(name)


@cache
def _is_server_specific(name: str) -> bool:
    if name in CHOICES:
        return False
    return name in NAMES or name in SELF_CHANGING or any(fnmatchcase(name, pattern) for pattern in PATTERNS)
