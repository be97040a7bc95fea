"""Rules about option files themselves, and what to write for a value at which a start stops."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from advisor.core.model import Target

# Without bind_address the server listens on every address.
HELP_AT_START = {
    "admin_address": "write one address of this host, such as 127.0.0.1",
    "bind_address": "write an address of this host, 127.0.0.1 for the host alone, or * for all",
    "binlog_format": "write binlog_format = ROW",
    "default_time_zone": "write an offset such as +02:00, or SYSTEM", "socket": "write a shorter path",
    **dict.fromkeys(("default_storage_engine", "default_tmp_storage_engine"), "write InnoDB, or one in this list"),
    "innodb_buffer_pool_size": "write a larger pool, or remove the line",
    "innodb_page_size": "write one of these sizes; a server with data can only use the size that it was created with",
    "innodb_thread_concurrency": "write 0, which is no limit, or enlarge the redo log",
    "enforce_gtid_consistency": "write ON, or remove the line",
    "gtid_mode": "also write enforce_gtid_consistency = ON, or remove the line",
    "log_bin_index": "write the name of a file", "relay_log": "write another name",
    "max_session_mem_used": "write a larger value, or remove the line", "memlock": "remove the line",
    "proxy_protocol_networks": "correct the list, or remove the line",
    "secure_file_priv": "write the path of an empty directory, or remove the line",
    "server_id_bits": "write a smaller server_id, or remove the line",
    "tc_heuristic_recover": "remove the line, and give the option on the command line of that single start",
    "wsrep_on": "also write wsrep_cluster_address, or remove the line",
    "wsrep_provider": "also write binlog_format = ROW",
    **dict.fromkeys(("chroot", "replicate_same_server_id"), "remove the line"),
    **dict.fromkeys(("innodb_data_file_path", "innodb_temp_data_file_path"), "correct the list of files"),
    **dict.fromkeys(("admin_port", "extra_port", "port"), "write another number, or remove the line"),
}  # fmt: skip
ADVICE = ("add ", "use ", "give ", "load ", "set ", "write ", "remove ")  # how a reason asks for something at its end
HELP_ON_WINDOWS = {
    "innodb_flush_method": "write unbuffered or normal, or remove the line",
    "lower_case_table_names": "write 1, the default on Windows, or remove the line",
}


def help_at_start(name: str, target: Target) -> str:
    """What to write for an option with whose value the server stops; empty if it depends on the value or on others."""
    if target.platform == "windows" and name in HELP_ON_WINDOWS:
        return HELP_ON_WINDOWS[name]
    return HELP_AT_START.get(name, "")


def split_advice(reason: str) -> tuple[str, str]:
    """The reason, and what it asks for at its end (`: use another number.`) as help; empty if it asks for nothing."""
    start, found, rest = reason.rpartition(": ")
    if not found or not rest.startswith(ADVICE) or "'" in rest or ". " in rest:
        return reason, ""
    return f"{start}.", rest.removesuffix(".")
