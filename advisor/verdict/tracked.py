"""Names of system variables that sessions are to tell of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from advisor.redaction.secrets import quoted
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.verdict.outcome import Case

# Variables that no option sets, as the servers list them; the first ones exist in sessions alone.
WITHOUT_OPTION: Final = """
error_count external_user identity insert_id last_insert_id proxy_user pseudo_slave_mode
pseudo_thread_id rand_seed1 rand_seed2 sql_log_bin timestamp warning_count character_set_client
character_set_connection character_set_database character_set_results character_set_system
collation_connection collation_database foreign_key_checks unique_checks profiling sql_auto_is_null
sql_big_selects sql_buffer_result sql_log_off sql_notes sql_quote_show_create sql_safe_updates
sql_select_limit sql_slave_skip_counter sql_warnings have_compress have_dynamic_loading have_geometry
have_openssl have_profiling have_query_cache have_rtree_keys have_ssl have_symlink hostname
large_files_support large_page_size license locked_in_memory log_bin_basename lower_case_file_system
max_insert_delayed_threads protocol_version relay_log_basename skip_external_locking system_time_zone
time_zone tx_isolation tx_read_only version version_comment version_compile_machine version_compile_os
port socket
"""
MYSQL: Final = """
gtid_executed gtid_next gtid_owned gtid_purged have_statement_timeout innodb_version keyring_operations
rbr_exec_mode server_uuid transaction_allow_batching default_collation_for_utf8mb4
immediate_server_version original_commit_timestamp original_server_version pseudo_replica_mode
require_row_format resultset_metadata show_create_table_skip_secondary_engine sql_replica_skip_counter
statement_id use_secondary_engine version_compile_zlib
"""
MARIADB: Final = """
aria_used_for_temp_tables check_constraint_checks default_master_connection gtid_binlog_pos
gtid_binlog_state gtid_current_pos gtid_seq_no gtid_slave_pos have_crypt in_transaction last_gtid
server_uid skip_parallel_replication skip_replication sql_if_exists storage_engine
system_versioning_asof version_malloc_library version_source_revision version_ssl_library
wsrep_gtid_seq_no wsrep_patch_version
"""


def take_tracked(case: Case) -> Taken | None:
    """Names that exist, separated by commas, or a star; MySQL minds a name that comes twice."""
    text = case.text or ""
    if not text.strip(" ") or text.strip(" ") == "*":
        return None
    names = [name.strip(" ").lower() for name in text.split(",")]
    bad = next((name for name in names if name and not _known(name, case)), None)
    if bad is not None:
        return Taken(Outcome.INVALID, text, f"{quoted(bad)} is no system variable of this server.")
    if case.target.is_mysql and len(set(names)) < len(names):
        return Taken(Outcome.INVALID, text, f"{quoted(text)} names a variable twice.")
    return None


def _known(name: str, case: Case) -> bool:
    from advisor.catalog.load import load

    own = MYSQL if case.target.is_mysql else MARIADB
    catalog = load(case.target)
    return catalog.find_variable(name) is not None or name in WITHOUT_OPTION.split() or name in own.split()
