"""Options that another plugin or the other flavour replaces in terms of its own: no line says quite the same there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.known import Known

KEYRING = "move the keys to {} on the server that still has the plugin, then remove the line"
SEMI_SYNC = ("rpl_semi_sync_master_", "rpl_semi_sync_slave_")
# By beginnings of names, on MySQL: what replaced a plugin that went.
PLUGINS = {
    "keyring_file_": KEYRING.format("component_keyring_file"),
    "keyring_encrypted_file_": KEYRING.format("component_keyring_encrypted_file"),
    "authentication_fido_": "use authentication_webauthn_rp_id, with the plugin authentication_webauthn",
}
# What does the same job on MariaDB as an option of MySQL, and the other way round: the option and how it differs.
ON_MARIADB = {
    "admin_port": ("extra_port", ""),
    "binlog_encryption": ("encrypt_binlog", ", with a key management plugin"),
    "binlog_group_commit_sync_delay": ("binlog_commit_wait_usec", ", with binlog_commit_wait_count above 0"),
    "binlog_group_commit_sync_no_delay_count": ("binlog_commit_wait_count", ""),
    "binlog_transaction_compression": ("log_bin_compress", ", which compresses each event by itself"),
    "cte_max_recursion_depth": ("max_recursive_iterations", ""),
    "innodb_redo_log_encrypt": ("innodb_encrypt_log", ", with a key management plugin"),
    "keyring_file_data": ("plugin_load_add", " = file_key_management, whose keys are made anew"),
    "max_execution_time": ("max_statement_time", ", in seconds; it counts for all statements"),
    "replica_parallel_type": ("slave_parallel_mode", ""),
    "replica_preserve_commit_order": ("slave_parallel_mode", ", whose modes keep the order of commits"),
    "slave_parallel_type": ("slave_parallel_mode", ""),
    "slave_preserve_commit_order": ("slave_parallel_mode", ", whose modes keep the order of commits"),
    "validate_password_length": ("plugin_load_add", " = simple_password_check, and its options"),
    "validate_password_policy": ("plugin_load_add", " = simple_password_check, and its options"),
}
ON_MYSQL = {
    "binlog_commit_wait_count": ("binlog_group_commit_sync_no_delay_count", ""),
    "binlog_commit_wait_usec": ("binlog_group_commit_sync_delay", ""),
    "encrypt_binlog": ("binlog_encryption", ", with a keyring"),
    "innodb_encrypt_log": ("innodb_redo_log_encrypt", ", with a keyring"),
    "log_bin_compress": ("binlog_transaction_compression", ", which compresses whole transactions"),
    "max_recursive_iterations": ("cte_max_recursion_depth", ""),
    "max_statement_time": ("max_execution_time", ", in milliseconds; it counts for SELECT alone"),
    "slave_parallel_mode": ("replica_parallel_type", ""),
    "slave_parallel_threads": ("replica_parallel_workers", ""),
}


def equivalent(name: str, known: Known) -> str:
    """What to use in place of an option that the target lacks, in words; nothing where no words are kept for it."""
    if name.startswith(SEMI_SYNC) and known.target.since("mysql", 9, 5):
        return other_library(name)
    if known.target.is_mysql:
        replaced = next((words for start, words in PLUGINS.items() if name.startswith(start)), "")
        if replaced:
            return replaced
    option, difference = (ON_MYSQL if known.target.is_mysql else ON_MARIADB).get(name, ("", ""))
    if known.catalog.get(option) is None:
        option = option.replace("replica", "slave")
    return f"use {option}{difference}" if option and known.catalog.get(option) is not None else ""


def other_library(name: str) -> str:
    """The option of the library that took the place of this one's: both cannot be loaded at once."""
    new = name.replace("master", "source").replace("slave", "replica")
    was, library = ("master", "source") if name.startswith(SEMI_SYNC[0]) else ("slave", "replica")
    return f"load semisync_{library}.so instead of semisync_{was}.so, and use {new}"
