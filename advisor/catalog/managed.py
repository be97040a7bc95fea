"""What the documents of cloud providers state about the parameters of their MySQL and MariaDB services."""

from __future__ import annotations

from functools import cache

from advisor.catalog.targets import MAX_LENGTH
from advisor.core import NamedTuple, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from advisor.core.model import Target

_FILE = __file__.rpartition("/")[0] + "/data/managed.json"
# What the services fix when they create a server: a parameter group of that time may set it.
AT_CREATION = {"lower_case_table_names": " after the server is created"}
# Beginnings of the names that services add to those of the server.
OWN_NAMES = (
    *("aurora_", "aws_", "rds.", "rds_", "server_audit_", "binlog_backup", "cloudsql_"),
    *("aad_auth_only", "audit_log_", "azure_", "error_server_log_file", "query_store_", "redirect_enabled"),
)
# Parameter groups also contain these variables, which have no option in MySQL's manual: a service sets them in each
# session.
SESSION_VARIABLES = frozenset(
    (
        *("character_set_client", "character_set_connection", "character_set_database", "character_set_results"),
        *("collation_connection", "collation_database", "default_collation_for_utf8mb4", "foreign_key_checks"),
        *("gtid_executed", "gtid_next", "gtid_owned", "gtid_purged", "log_bin_basename", "lower_case_file_system"),
        *("original_commit_timestamp", "protocol_version", "pseudo_thread_id", "rbr_exec_mode", "relay_log_basename"),
        *("resultset_metadata", "sql_auto_is_null", "sql_big_selects", "sql_buffer_result", "sql_log_bin"),
        *("sql_log_off", "sql_notes", "sql_quote_show_create", "sql_safe_updates", "sql_select_limit"),
        *("sql_slave_skip_counter", "sql_warnings", "storage_engine", "system_time_zone", "time_zone", "timestamp"),
        *("transaction_allow_batching", "transaction_isolation", "transaction_read_only", "tx_isolation"),
        *("tx_read_only", "unique_checks", "version_comment", "version_compile_machine", "version_compile_os"),
        *("version_compile_zlib", "max_insert_delayed_threads", "skip_external_locking"),
        *("skip_character_set_client_handshake", "keyring_operations", "lc_time_names", "innodb_version"),
        # RDS lists these of debug builds and older patches.
        *("innodb_checkpoint_disabled", "innodb_ddl_log_crash_reset_debug", "innodb_scan_directories"),
    )
)
# What every provider decides: files and directories, ports, the server's identity, and whether there is a
# binary log (on RDS by the retention of backups).
PROVIDERS_OWN = frozenset(
    (
        *("basedir", "bind_address", "character_sets_dir", "datadir", "general_log_file", "innodb_data_file_path"),
        *("innodb_data_home_dir", "innodb_directories", "innodb_log_group_home_dir", "innodb_redo_log_archive_dirs"),
        *("innodb_temp_data_file_path", "innodb_undo_directory", "large_pages", "lc_messages_dir", "log_bin"),
        *("log_bin_index", "log_error", "pid_file", "plugin_dir", "port", "relay_log", "relay_log_index"),
        *("secure_file_priv", "server_id", "skip_networking", "slow_query_log_file", "socket", "ssl_ca", "ssl_cert"),
        *("report_host", "ssl_key", "tmpdir", "user", "wsrep_on"),
    )
)
MYSQL_8 = (8, 0)


class PlatformParameters(NamedTuple):
    """The parameters of one service for one target, as far as the provider documents them.

    `names` are all documented parameters; `complete` says that the document claims to list all of them, and
    `refuses_others` that the service takes no others. `cluster` are those that exist only in cluster parameter groups,
    `fixed` those that cannot be changed, `by_statement` those that only SET GLOBAL changes, `without_effect` those that
    the service ignores, `absent` those that the service removed from the server's. `source` is the document, `allowed`
    the values that it names for a parameter, in the notation of Amazon's lists.
    """

    names: frozenset[str] = frozenset()
    complete: bool = False
    refuses_others: bool = False
    cluster: frozenset[str] = frozenset()
    fixed: frozenset[str] = frozenset()
    by_statement: frozenset[str] = frozenset()
    without_effect: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    source: str = ""
    allowed: Mapping[str, str] = {}

    def can_change(self, name: str) -> bool:
        """Whether the service lets its users change the variable, with an effect, as far as its documents say."""
        kept = (PROVIDERS_OWN, self.fixed, self.by_statement, self.without_effect, self.absent)
        return not any(name in names for names in kept) and (not self.complete or name in self.names)

    def next_allowed(self, name: str, value: int) -> int | None:
        """Return the smallest number from `value` on that the documents allow for a variable; None above all.

        A variable for which they name no numbers takes any.
        """
        parts = [part.partition("-") for part in self.allowed.get(name, "").split(",")]
        spans = [(int(low), int(high or low)) for low, _, high in parts if low.isdigit() and (high or low).isdigit()]
        if len(spans) != len(parts):
            return value
        return min((max(low, value) for low, high in spans if value <= high), default=None)


def platform_parameters(target: Target) -> PlatformParameters:
    """Return what is documented for the service of a managed target; nothing for other targets."""
    return _parameters(target.build, target.flavour, target.version[:2] >= MYSQL_8)


@cache
def _parameters(build: str, flavour: str, new: bool) -> PlatformParameters:
    data = read_file(_FILE)
    own = data.get(f"{build}-{flavour}") or data.get(build)
    if own is None:
        return PlatformParameters()
    words = {key: _words(value) for key, value in own.items() if isinstance(value, list)}
    if build == "aurora":
        return _aurora(words, own["source"], new=new)._replace(allowed=own["allowed"])
    return PlatformParameters(
        names=words.get("names", frozenset()),
        complete="names" in words,
        refuses_others="unlisted" in own,
        fixed=words.get("fixed", frozenset()),
        by_statement=words.get("by_statement", frozenset()),
        without_effect=words.get("no_effect", frozenset()),
        absent=words.get("absent", frozenset()),
        source=own["source"],
        allowed=own.get("allowed", {}),
    )


def _aurora(words: dict[str, frozenset[str]], source: str, *, new: bool) -> PlatformParameters:
    """Return Aurora's parameters: version 3, which is compatible with MySQL 8.0, or version 2."""
    absent = words["gone_in_3"] if new else words["new_in_3"] - words["gone_in_3"]
    return PlatformParameters(
        names=(words["cluster"] | words["instance"] | words["both"]) - absent,
        complete=True,
        cluster=(words["cluster"] | (words["cluster_in_3"] if new else frozenset())) - absent,
        fixed=words["fixed"] | (words["fixed_in_3"] if new else frozenset()),
        without_effect=words["no_effect"],
        absent=absent,
        source=source,
    )


def _words(lines: Any) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


def find_instance_class(name: str) -> tuple[int, int]:
    """Return the processors and the bytes of memory of an instance class of Amazon RDS, such as db.r6g.2xlarge.

    Raises MycnfError for an unknown class.
    """
    families = read_file(_FILE)["instance_classes"]["classes"]
    known = {
        f"db.{family}.{size}": (int(processors), round(float(memory) * 2**30))
        for family, sizes in families.items()
        for size, processors, memory in (entry.split(":") for entry in sizes.split())
    }
    if name.lower() not in known:
        from advisor.core.errors import MycnfError, did_you_mean

        hint = did_you_mean(name, known, "give the memory with --ram instead")
        raise MycnfError(f"unknown instance class {name[:MAX_LENGTH]!r}{hint}")
    return known[name.lower()]
