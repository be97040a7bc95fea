"""REP: rules about filters that exclude databases from the binary log or from what a replica applies."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from advisor.redaction import quote_value
from advisor.verdict import REFUSED
from rules.core import Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject, verdict_subject
from rules.durability import writes_binary_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext

LOGGED = ("binlog_do_db", "binlog_ignore_db")
APPLIED = ("replicate_do_db", "replicate_ignore_db")
TABLES = ("replicate_do_table", "replicate_ignore_table", "replicate_wild_do_table", "replicate_wild_ignore_table")
MOST_NAMED = 4  # databases listed in a message
# Changes in these are never written to a binary log, so excluding them has no effect.
NEVER_LOGGED = frozenset({"information_schema", "performance_schema", "sys"})


def filter_lines(context: RuleContext, names: tuple[str, ...]) -> list[LineVerdict]:
    """The lines that name databases in these filters; each line adds to the previous ones."""
    lines = context.file_verdict.lines
    return [line for line in lines if line.canonical in names and line.outcome not in REFUSED and _database_name(line)]


def _database_name(line: LineVerdict) -> str:
    return "" if line.placed.line.templated else line.placed.line.value or ""


@rule(
    "REP001",
    "filter-list-in-one-name",
    summary="A filter with a comma or an asterisk, which the server reads as part of one name.",
    options=(*LOGGED, *APPLIED, *TABLES),
    evidence=("ASK-REP-01", "ASK-REP-23", "ASK-REP-26", "ASK-REP-29"),
    docs=Docs(
        why="The comma is part of the name. With binlog_do_db = a,b six servers logged no changes of the database a "
        "and all changes of a database named a,b; replicate_do_db did the same on a replica. Table filters also treat "
        "the comma as part of the table's name or pattern. An asterisk is no wildcard in any of these filters: in the "
        "patterns of replicate_wild_do_table and replicate_wild_ignore_table, % stands for any text.",
        fix="Write one line for each database or table. binlog_do_db and binlog_ignore_db need a restart. A replica's "
        "filter can be changed while its applier is stopped: CHANGE REPLICATION FILTER (MySQL), SET GLOBAL (MariaDB, "
        "where a comma in the value does separate names).",
        risk="From then on the filter works as intended; changes that were lost before stay lost, and a replica stops "
        "at the first row or table that it lacks: copy the data first.",
        exceptions="A database whose name contains a comma or an asterisk.",
        reconsider_when="A server that logs the changes of one of the databases.",
    ),
)
def filter_list_in_one_name(context: RuleContext) -> Iterator[Finding]:
    """Report filter lines with commas or asterisks, which the server reads as part of one name."""
    for line in filter_lines(context, (*LOGGED, *APPLIED, *TABLES)):
        name = _database_name(line)
        if "," in name:
            what = "table" if line.canonical in TABLES else "database"
            yield filter_list_in_one_name.finding(
                f"The server reads {quote_value(name)} as the name of one {what}, so the filter matches none of the "
                f"{name.count(',') + 1}.",
                verdict_subject(line),
                help=f"write one {line.canonical} line for each {what}",
            )
        elif "*" in name:
            yield filter_list_in_one_name.finding(
                f"The server reads the * in {quote_value(name)} as a character of the name, not as a wildcard, so the "
                "filter matches nothing.",
                verdict_subject(line),
                help=_wildcard_help(line.canonical or ""),
            )


def _wildcard_help(name: str) -> str:
    """What to write for an asterisk that was meant as a wildcard."""
    if "_wild_" in name:
        return "write % in place of *"
    if name in TABLES:
        return f"use {name.replace('replicate_', 'replicate_wild_')} with % in place of *"
    return "name the databases one by one, a line for each, or remove the line"


@rule(
    "REP002",
    "filtered-binary-log",
    confidence=Confidence.LIKELY,
    summary="Changes to some databases are not written to the binary log, so they cannot be restored from it.",
    options=LOGGED,
    evidence=("REPL-01",),
    docs=Docs(
        why="Changes that are not in the binary log reach no replica, and after a point-in-time restore these "
        "databases are as they were in the backup. Beside binlog_do_db, binlog_ignore_db has no effect. For changes "
        "that are logged as statements, as DDL always is, the session's default database decides whether they are "
        "logged.",
        fix="Filter on the replicas that need less first (replicate_wild_ignore_table), or copy these databases to "
        "them. Then log everything.",
        risk="Larger binary logs. A replica without the filter stops at the first change of a table that it lacks.",
        restart=True,
        exceptions="Databases whose content can be recreated at any time.",
        reconsider_when="A test restore in which nothing was missing.",
    ),
)
def filtered_binary_log(context: RuleContext) -> Iterator[Finding]:
    """Report filters of an enabled binary log."""
    lines = [line for line in filter_lines(context, LOGGED) if _is_exclusion(line)]
    if lines and writes_binary_log(context):
        lines = [line for line in lines if line.canonical == LOGGED[0]] or lines  # without effect beside one of these
        names = list(dict.fromkeys(map(_database_name, lines)))
        listed = ", ".join(names) if len(names) <= MOST_NAMED else f"{names[0]} and {len(names) - 1} other databases"
        of_some = lines[0].canonical == "binlog_do_db"
        some = f"only changes of {listed}; other changes" if of_some else f"no changes of {listed}; these"
        yield filtered_binary_log.finding(
            f"The binary log contains {some} reach no replica and cannot be restored from it.",
            verdict_subject(lines[0]),
            help="filter on the replicas that need less, or copy these databases to them; then remove the filter here",
        )


def _is_exclusion(line: LineVerdict) -> bool:
    name = _database_name(line).lower()
    return "," not in name and (line.canonical == "binlog_do_db" or name not in NEVER_LOGGED)


@rule(
    "REP003",
    "filter-by-default-database",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="The replica filters statements by the session's default database, not by the tables that they change.",
    options=APPLIED,
    evidence=("ASK-REP-02", "REPL-01", "ASK-REP-29"),
    docs=Docs(
        why="A CREATE TABLE a.t from a session that uses the database b is ignored by replicate_do_db = a, and the "
        "first row for that table stops the replica: that happened on the servers that we tested, even with row-based "
        "logging, because DDL is always logged as a statement.",
        fix="Use replicate_wild_do_table = a.% or replicate_wild_ignore_table = a.% instead. Without a restart: stop "
        "the applier, then CHANGE REPLICATION FILTER (MySQL) or SET GLOBAL (MariaDB).",
        risk="The pattern also applies to statements that change tables of several databases; in it an underscore "
        "stands for any character, unless a backslash comes before it. Table patterns do not filter procedures, "
        "functions and events: the replica gets those of all databases, and stops with error 1049 at one in a database "
        "that it lacks.",
        exceptions="Applications that always select the database before they change its tables.",
        reconsider_when="A replica with this filter that holds what its source has in these databases.",
    ),
)
def filter_by_default_database(context: RuleContext) -> Iterator[Finding]:
    """Report replica filters that use the session's default database."""
    lines = [line for line in filter_lines(context, APPLIED) if "," not in _database_name(line)]
    channels = context.target.since("mysql", 8)  # a name before a colon is the channel that is filtered
    for line in lines[:1]:
        better = str(line.canonical).replace("_db", "_table").replace("replicate_", "replicate_wild_")
        connection, dot, _ = (line.placed.line.name or "").rpartition(".")  # MariaDB: a filter of one connection
        channel, colon, database = _database_name(line).rpartition(":") if channels else ("", "", _database_name(line))
        yield filter_by_default_database.finding(
            f"{line.canonical} filters DDL and other statements by the session's default database: one that changes a "
            f"table of {database} from a session with another default database is filtered as if it belonged to that "
            "database.",
            verdict_subject(line),
            help=f"write {connection}{dot}{better} with the pattern {channel}{colon}database.% instead",
        )


LOGS_UPDATES = ("log_replica_updates", "log_slave_updates")
READ_ONLY = ("super_read_only", "read_only")  # switched off they are the lines of a source
OF_A_REPLICA = ("replica_", "slave_", "relay_", "replicate_", *READ_ONLY)


@rule(
    "REP030",
    "replica-updates-switched-off",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="A replica's option file enables the binary log, but disables logging of replicated changes.",
    options=LOGS_UPDATES,
    evidence=("REPL-11", "ASK-REP-19"),
    docs=Docs(
        why="The binary log then contains only what is written on the replica itself. Replicas of this server, a "
        "restore from its backup and binary logs, and replicas that follow it after a failover miss all changes that "
        "came from the source. A running replica is reported by replica-updates-not-logged.",
        fix="Set log_replica_updates = ON (log_slave_updates on MariaDB and before MySQL 8.0.26), or disable the "
        "binary log.",
        risk="The replica writes each change twice, as the source does.",
        restart=True,
        exceptions="A replica that is never a source and is never restored from its own binary logs.",
        reconsider_when="A binary log that nothing reads.",
    ),
)
def replica_updates_switched_off(context: RuleContext) -> Iterator[Finding]:
    """Report an option file of a replica with a binary log and an explicit log_replica_updates = OFF."""
    from rules.core.network import uses_galera  # lazily: galera-logs-half and group-needs-unmet report nodes

    name = next((n for n in LOGS_UPDATES if context.explicit_switch(n) is False), None)
    if name is None or context.has("server") or not writes_binary_log(context) or uses_galera(context):
        return
    lines = context.file_verdict.effective.items()
    names = {n for n, line in lines if n != name and not (n in READ_ONLY and line.value in {"FALSE", "OFF"})}
    if context.is_set("group_replication_group_name") or not any(n.startswith(OF_A_REPLICA) for n in names):
        return
    action = advise(context, name, "ON", risk="the replica writes each change twice")
    yield replica_updates_switched_off.finding(
        "The replica's binary log contains none of the changes that it applies: its own replicas, and a restore from "
        "it, miss them.",
        variable_subject(context, name),
        help=help_line(action),
        actions=present(action),
    )
