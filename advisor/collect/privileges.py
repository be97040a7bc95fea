"""The privileges that an audit uses, each with its purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Target


class Grant(NamedTuple):
    """A privilege and what an audit reads with it; an `optional` one gives access to more than an audit needs.

    `gives` describes that access, `since` is the first version that has the table.
    """

    privilege: str
    on: str
    why: str
    optional: bool = False
    since: tuple[int, ...] = ()
    gives: str = ""

    @property
    def needed(self) -> str:
        """The name of the privilege for parts that could not be read: PROCESS, or SELECT on a table."""
        return self.privilege if self.on == "*.*" else f"{self.privilege.partition(' ')[0]} on {self.on}"

    def statement(self, account: str) -> str:
        """The GRANT statement for a quoted account."""
        return f"GRANT {self.privilege} ON {self.on} TO {account};"


PROCESS = Grant("PROCESS", "*.*", "InnoDB's status and counters: redo position, checkpoint age, open transactions")
_SIZES = Grant("SELECT", "mysql.innodb_table_stats", "how much InnoDB data there is, without opening a table of users")
_MEMORY = Grant(
    "SELECT",
    "performance_schema.memory_summary_global_by_event_name",
    "the memory that the server accounts for, where performance_schema is on",
)
_KINDS = "how many accounts are anonymous, without a password, too powerful"
_HASHES = "mycnf reads no hash, but with this grant everyone who has the account's password can."
_PRIVILEGES = "With this grant everyone who has the account's password can list the privileges of all accounts."
_LOG = (
    "mycnf counts lines of the error log, but with this grant everyone who has the account's password can read all "
    "of them."
)
_TEXTS = (
    "With this grant everyone who has the account's password can read the statements of all accounts, without values."
)
_WATCHED = (
    Grant("SELECT", "performance_schema.events_waits_summary_global_by_event_name", "for the app: the top waits"),
    Grant(
        "SELECT",
        "performance_schema.events_statements_summary_global_by_event_name",
        "for the app: the kinds of statements that take longest",
    ),
)
_DIGESTS = Grant(
    "SELECT",
    "performance_schema.events_statements_summary_by_digest",
    "for the app: the statements that take longest",
    optional=True,
    gives=_TEXTS,
)
_MYSQL = (
    PROCESS,
    Grant("REPLICATION CLIENT", "*.*", "whether the server is a replica, and of which source"),
    _SIZES,
    _MEMORY,
    Grant("SELECT", "performance_schema.threads", "which sessions wait for locks, how many replicas there are"),
    Grant("SELECT", "performance_schema.metadata_locks", "which sessions hold the metadata locks that others wait for"),
    Grant(
        "SELECT",
        "performance_schema.data_lock_waits",
        "which sessions lock the rows that others wait for",
        since=(8, 0, 1),
    ),
    Grant("SELECT", "performance_schema.file_summary_by_event_name", "how many bytes of binary log the server writes"),
    Grant("SELECT", "performance_schema.replication_group_members", "the states of its replication group"),
    Grant(
        "SELECT",
        "performance_schema.replication_group_member_stats",
        "how many transactions wait in the queues of its replication group",
    ),
    Grant(
        "SELECT",
        "performance_schema.replication_applier_status_by_worker",
        "the age of the transactions that a replica applies",
    ),
    *_WATCHED,
    Grant(
        "SELECT (User, Host, plugin, authentication_string, account_locked, Super_priv, File_priv, Grant_priv, "
        "ssl_type)",
        "mysql.user",
        _KINDS,
        optional=True,
        gives=_HASHES,
    ),
    Grant(
        "SELECT",
        "mysql.global_grants",
        "which accounts have privileges that replace SUPER",
        optional=True,
        since=(8, 0),
        gives=_PRIVILEGES,
    ),
    Grant(
        "SELECT",
        "performance_schema.error_log",
        "crashes, corruption, full disks and other events in the error log",
        optional=True,
        since=(8, 0, 22),
        gives=_LOG,
    ),
    _DIGESTS,
)
_MARIADB = (
    PROCESS,
    Grant("SLAVE MONITOR", "*.*", "whether the server is a replica, and of which source"),
    _SIZES,
    _MEMORY,
    *_WATCHED,
    Grant("SELECT", "mysql.global_priv", _KINDS, optional=True, gives=_HASHES),
    _DIGESTS,
)


_SCHEMA = (
    Grant("REFERENCES", "*.*", "for --schema: definitions of all tables; it gives access to no row"),
    Grant("SELECT", "sys.*", "for --schema: redundant indexes, by the server's own view"),
)


def schema_grants_for(target: Target) -> tuple[Grant, ...]:
    """The privileges for --schema beside those of an audit; MariaDB has the sys schema since 10.6."""
    return _SCHEMA[:1] if target.is_mariadb and target.version < (10, 6) else _SCHEMA


def grants_for(target: Target) -> tuple[Grant, ...]:
    """All privileges that an audit of this server can use, optional ones last."""
    grants = _MARIADB if target.is_mariadb else _MYSQL
    return tuple(grant for grant in grants if target.version >= grant.since)


def quote_account(account: str) -> str:
    """An account from CURRENT_USER() (name@host), quoted for statements: 'name'@'host'."""
    name, _, host = account.rpartition("@")
    return "@".join("'" + part.replace("\\", "\\\\").replace("'", "''") + "'" for part in (name, host))
