"""What a running server reported: rows as sent, values derived from them, and the risks in its tables' definitions."""

import re
from datetime import UTC, datetime

from msgspec import UNSET, Struct, UnsetType, field

from advisor.facts.workload import Blocking

DIGITS = 20  # of the greatest number in 64 bits
LAST_SECOND = 253_402_300_799  # seconds since 1970 at the end of the year 9999


class VariableSetter(Struct, frozen=True):
    """Who ran the last SET of a variable: `account` is user@host, `at` the time in seconds since 1970; 0 if unknown.

    For the statements of init_file, the account is `boot` without a host.
    """

    account: str
    at: int = 0

    @property
    def is_init_file(self) -> bool:
        """Whether init_file set the variable, which it does at each start."""
        return self.account == "boot"

    @property
    def words(self) -> str:
        """`app@10.0.0.3 at 2026-11-28 03:12 UTC`."""
        when = f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%d %H:%M} UTC" if 0 < self.at <= LAST_SECOND else ""
        who = "init_file" if self.is_init_file else self.account
        return f"{who} at {when}" if when else who


class VariableOrigin(Struct, frozen=True):
    """The source of a variable's value, as the server reports it.

    `source` is the server's own word (GLOBAL, EXPLICIT, PERSISTED, COMMAND_LINE, DYNAMIC, COMPILED; on MariaDB CONFIG,
    COMMAND-LINE, SQL, AUTO, COMPILE-TIME), DIFFERS where a text shows only that it isn't the default; `path`
    the option file that it names, empty where it names none. `set_by` is missing if no SET is known: on MariaDB, on
    MySQL before 8.0, and in snapshots of earlier versions of mycnf.
    """

    source: str
    path: str = ""
    set_by: VariableSetter | UnsetType = UNSET


class Plugin(Struct, frozen=True):
    """One plugin of the server; `library` is empty for a built-in one."""

    name: str
    status: str
    type: str
    library: str = ""


class Link(Struct, frozen=True):
    """The connection to the server, as far as it affects which facts are reliable.

    `via` is socket or tcp, or text where no server was asked; `peer_pid` the process behind the socket, 0 where the
    kernel doesn't report it; `proxied` says that the handshake's connection id is not the server's own.
    """

    via: str
    user: str = ""
    peer_pid: int = 0
    tls: bool = False
    proxied: bool = False


class ApplierTimes(Struct, frozen=True):
    """What the applier threads of one channel do; ages are seconds at the time of asking, None where there is none.

    `applying` counts from the commit on the first source of the oldest transaction that is being applied, `from_source`
    from its commit on the replica's own source, `applying_here` from the moment a worker began with it. `applied`
    counts from the commit of the newest transaction applied since the workers were started. `locked` workers wait for
    a lock of tables or metadata; waits for rows are not counted. `workers` counts all, `busy` those at a transaction,
    `used` those that have applied one; `workers` is 0 in older snapshots. `failed_table` is the table that the error of
    a worker names.
    """

    channel: str
    applying: int | None = None
    applied: int | None = None
    locked: int = 0
    workers: int = 0
    busy: int = 0
    used: int = 0
    applying_here: int | None = None
    from_source: int | None = None
    failed_table: str = ""


class ChannelProgress(Struct, frozen=True):
    """The state of one channel before the window: its lag in seconds, the position applied, its relay logs in bytes.

    `log_file` and `position` are of the source's binary log, `received_file` and `received` how far it was received;
    `own_transactions` counts what the replica itself has written by its GTIDs (MySQL), None where its server_uuid or
    its set is unknown.
    """

    channel: str
    behind: int | None = None
    log_file: str = ""
    position: int | None = None
    relay_log_space: int | None = None
    own_transactions: int | None = None
    received_file: str = ""
    received: int | None = None


class GroupMember(Struct, frozen=True):
    """One member of the replication group, as this server lists it.

    `own` marks this server. `certifying` and `applying` are the transactions in its queues for certification and for
    the applier, None where the server does not list them.
    """

    state: str
    role: str = ""
    version: str = ""
    own: bool = False
    certifying: int | None = None
    applying: int | None = None


class Replication(Struct, frozen=True):
    """The server's part in replication: its own replica rows as sent, and the replicas connected to it.

    `group_states` counts the members of its replication group by MEMBER_STATE as this member sees them, and
    `group_state` is its own; both are empty where they weren't asked. `group_members` counts all that are listed.
    `earlier` is the state of each channel `earlier_seconds` before `replica_rows`; None if it was not read twice.
    `members` are these members themselves, None where they weren't read (before MySQL 8.0.2, and in old snapshots).
    """

    replica_rows: tuple[dict[str, str | None], ...] = ()
    replicas_connected: int = 0
    galera: bool = False
    group_members: int = 0
    group_states: dict[str, int] = field(default_factory=dict)
    group_state: str = ""
    applier_times: tuple[ApplierTimes, ...] = ()
    earlier: tuple[ChannelProgress, ...] | None = None
    earlier_seconds: float = 0.0
    members: tuple[GroupMember, ...] | None = None

    @property
    def is_replica(self) -> bool:
        """Whether the server is a replica."""
        return bool(self.replica_rows)


class DataSizes(Struct, frozen=True):
    """Bytes of InnoDB data and indexes, from one aggregate over `mysql.innodb_table_stats`, and the tables counted.

    `clustered_bytes` is the part that holds the rows themselves and `rows` their estimated number, `largest_bytes` the
    largest table with its indexes, or partition; 0 where not reported.
    """

    innodb_bytes: int
    innodb_tables: int
    clustered_bytes: int = 0
    rows: int = 0
    largest_bytes: int = 0


class Accounts(Struct, frozen=True):
    """The accounts of one kind that are not locked: how many, and the names of three at most, joined by commas.

    `reach` says from where they may come: here (the server's own host), there (hosts that are named) or anywhere
    (a host with a wildcard). `passwordless` log in without a password; `supreme` have SUPER,
    `files` the FILE privilege, `grants` GRANT OPTION on *.*; `plain` need no TLS; `admin` have a privilege that
    replaces SUPER (MySQL's SYSTEM_VARIABLES_ADMIN and others, MariaDB's SET USER). These are None if not read.
    `plugin` joins the names by ` or ` where any of several MariaDB plugins lets the accounts in.
    """

    plugin: str
    anonymous: bool
    passwordless: bool
    supreme: bool
    reach: str
    count: int
    names: str = ""
    files: bool | None = None
    grants: bool | None = None
    plain: bool | None = None
    admin: bool | None = None


class RedoWaits(Struct, frozen=True):
    """Warnings of the error log that the redo log was full, since the start and since the log was last resized.

    `newest` is the age of the newest in seconds, None where there is none.
    """

    count: int
    newest: int | None = None


class LogEvent(Struct, frozen=True):
    """Messages of one kind in the error log: how many, and the times of the first and the last as in `ErrorLog`.

    `kind` is one of `advisor.collect.error_log_messages.KINDS`, `peak` the largest number within an hour. `details` are
    the most frequent causes, codes, or names of tables, at most three; never the text of a message.
    """

    kind: str
    count: int
    first: str
    last: str
    peak: int = 0
    details: tuple[str, ...] = ()


class ErrorLog(Struct, frozen=True):
    """What was counted in the server's error log.

    `read_from` is table (performance_schema.error_log), file or text, `path` the file. Times are `YYYY-MM-DD HH:MM:SS`
    in `zone`: UTC, or empty for the server's own time zone, which MariaDB logs. `since` and `until` are the times of
    the first and the last message that were read, `last_start` that of the last successful start, each empty if
    unknown. `cut` says why older messages were not read. `version` is the version that the server logged, `running`
    whether it had started, and neither stopped nor crashed, when the last message was logged.
    """

    read_from: str
    events: tuple[LogEvent, ...] = ()
    path: str = ""
    zone: str = ""
    since: str = ""
    until: str = ""
    last_start: str = ""
    cut: str = ""
    version: str = ""
    running: bool = False


class Server(Struct, frozen=True):
    """One running server's answers; names are lower case, values as sent.

    `flavour` is mysql or mariadb, `version` the digits alone (the variable `version` has the whole text), `vendor` says
    MySQL, Percona or MariaDB, `managed` names the platform (rds, aurora, …) or is empty. `instrumented_bytes` is the
    sum that performance_schema accounts for, None where it doesn't. `accounts` is None where they weren't read.
    `lock_waits` counts the sessions that wait for a lock of tables or metadata by their state, asked for once after the
    window; `blocking` is who waits for whom, None where it was not read. `redo_waits` are the warnings of the
    error log that the redo log was full, `binary_log_bytes` what was written of the binary log since the start; both
    are None where MySQL was not asked or did not answer. `error_log` is None where it was not read.
    """

    flavour: str
    version: str
    version_comment: str
    vendor: str
    link: Link
    variables: dict[str, str]
    status: dict[str, str]
    origins: dict[str, VariableOrigin] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    engines: dict[str, str] = field(default_factory=dict)
    replication: Replication | None = None
    innodb_metrics: dict[str, int] = field(default_factory=dict)
    innodb_status: str = ""
    data: DataSizes | None = None
    instrumented_bytes: int | None = None
    managed: str = ""
    accounts: tuple[Accounts, ...] | None = None
    lock_waits: dict[str, int] = field(default_factory=dict)
    redo_waits: RedoWaits | None = None
    binary_log_bytes: int | None = None
    error_log: ErrorLog | None = None
    blocking: Blocking | None = None

    def counter(self, name: str) -> int | None:
        """A status counter since the server started; None if the server does not have it."""
        text = self.status.get(name.lower())
        if text is None:
            return None
        if len(text) <= DIGITS and text.isascii() and text.isdigit():  # nearly all, and asked for hundreds of times
            return int(text)
        return int(text) if re.fullmatch(r"-[0-9]{1,20}", text) else None

    @property
    def uptime(self) -> int:
        """Seconds since the server started; 0 if unknown."""
        return self.counter("uptime") or 0

    @property
    def peak_seconds(self) -> int:
        """Seconds in which Max_used_connections was counted: since the start, or since FLUSH STATUS reset it."""
        reset = self.counter("uptime_since_flush_status")
        return self.uptime if reset is None else min(self.uptime, reset)


BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
Name = tuple[str, str]  # a schema and a table


class AutoIncrement(Struct, frozen=True):
    """An AUTO_INCREMENT column that has used more than half of its type.

    `type` is the column's type as the server prints it (`int(10) unsigned`), `next` the next value. `per_day` is the
    number of values used a day since an earlier snapshot, None if there is none.
    """

    schema: str
    table: str
    column: str
    type: str
    next: int
    per_day: float | None = None

    @property
    def greatest(self) -> int | None:
        """The greatest value of the column's type; None for a type that is no integer."""
        bits = BITS.get(self.type.lower().partition("(")[0].partition(" ")[0])
        if bits is None:
            return None
        return (1 << bits) - 1 if "unsigned" in self.type.lower() else (1 << bits - 1) - 1


class UnkeyedTable(Struct, frozen=True):
    """A table without a primary key, and without a unique key of columns that are NOT NULL.

    `rows` is their estimated number, None if unknown; tables with fewer than 1,000 rows have 0.
    """

    schema: str
    table: str
    rows: int | None = None


class EngineTable(Struct, frozen=True):
    """A table of another engine than InnoDB."""

    schema: str
    table: str
    engine: str


class RedundantIndex(Struct, frozen=True):
    """An index whose columns are the first ones of another index, by the server's own view."""

    schema: str
    table: str
    index: str
    columns: str
    covered_by: str
    covering_columns: str


class SchemaRisks(Struct, frozen=True):
    """What was read of the tables of users; each part is None if it was not read, empty if there is nothing to report.

    `tables` is the number of tables and views in `schemas` schemas that the account can list. `taken_at` is UTC in
    ISO 8601, `seconds` the time that the statements took.
    """

    tables: int
    schemas: int
    taken_at: str = ""
    seconds: float = 0.0
    auto_increments: tuple[AutoIncrement, ...] | None = None
    without_key: tuple[UnkeyedTable, ...] | None = None
    other_engines: tuple[EngineTable, ...] | None = None
    redundant_indexes: tuple[RedundantIndex, ...] | None = None
