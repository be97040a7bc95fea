"""INN: rules about transactions: isolation, and the locks that AUTO_INCREMENT takes."""

from __future__ import annotations

from advisor.core.model import Confidence, Severity
from rules.core import MOST, Docs, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject
from rules.durability import ISOLATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

TABLE_LOCK = 0


@rule(
    "INN030",
    "table-locked-auto-increment",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Each INSERT into a table with AUTO_INCREMENT holds a lock on the whole table until it ends.",
    options=("innodb_autoinc_lock_mode",),
    quiet={"innodb_autoinc_lock_mode": (1, MOST)},
    evidence=("INNV-08",),
    docs=Docs(
        why="Mode 0 is kept for programs of MySQL 5.0. With it even a single-row INSERT holds the table's AUTO-INC "
        "lock until the statement ends, so sessions insert one after the other. Mode 1 takes a lightweight lock for "
        "inserts whose number of rows is known.",
        fix="Set 1, or remove the line: the default is 2 on MySQL 8.0 and later, 1 on MySQL 5.7 and MariaDB.",
        risk="With mode 2 the numbers of one INSERT ... SELECT need not be consecutive, and replication of statements "
        "is unsafe: with binlog_format = STATEMENT set 1.",
        restart=True,
        exceptions="Statement-based replication of statements that insert in an order that differs on the replica.",
        reconsider_when="Nothing.",
    ),
)
def table_locked_auto_increment(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_autoinc_lock_mode = 0."""
    name = "innodb_autoinc_lock_mode"
    if context.is_set(name) and context.number(name) == TABLE_LOCK and not _is_galera_finding(context):
        action = advise(context, name, 1, risk="none known with any binlog_format", watch="Innodb_row_lock_waits")
        yield table_locked_auto_increment.finding(
            "Each INSERT into a table with AUTO_INCREMENT holds a lock on the table until it ends.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


def _is_galera_finding(context: RuleContext) -> bool:
    """Whether galera-locks-auto-increment reports the setting instead."""
    from rules.core.network import uses_galera

    return uses_galera(context)


@rule(
    "INN032",
    "dirty-reads",
    summary="Dirty reads: sessions see uncommitted changes, which may be rolled back.",
    options=("transaction_isolation",),
    quiet={"transaction_isolation": ("READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE")},
    evidence=("INNA-09",),
    docs=Docs(
        why="With READ-UNCOMMITTED as the default of all sessions a SELECT sees changes before they are committed, and "
        "those that are rolled back later. The servers that we tested returned such a row. It saves no locks: InnoDB's "
        "plain reads take none at READ-COMMITTED and REPEATABLE-READ either.",
        fix="Remove the line, or set READ-COMMITTED; sessions that want dirty reads can ask for them.",
        risk="Sessions keep a view of the data while they read, which keeps old versions of rows a little longer.",
        exceptions="Servers that only run estimates, on data without concurrent writes.",
        reconsider_when="Nothing.",
    ),
)
def dirty_reads(context: RuleContext) -> Iterator[Finding]:
    """Report READ UNCOMMITTED as the default isolation level."""
    name = next((n for n in ISOLATION if context.is_set(n)), None)
    if name is not None and context.text(name) == "READ-UNCOMMITTED":
        action = advise(context, name, "READ-COMMITTED", risk="sessions that are open keep their level")
        yield dirty_reads.finding(
            "All sessions read rows that others have not committed and may roll back.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "INN051",
    "serializable-by-default",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Each SELECT in a transaction locks the rows that it reads, in all sessions.",
    options=("transaction_isolation",),
    quiet={"transaction_isolation": ("READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ")},
    evidence=("INNA-40",),
    docs=Docs(
        why="With SERIALIZABLE a plain SELECT in a transaction takes shared locks and keeps them until the transaction "
        "ends: writers of these rows wait for readers, and two sessions that read a row and then change it deadlock. "
        "A SELECT with autocommit takes no locks.",
        fix="Remove the line, and set SERIALIZABLE in the sessions that need it.",
        risk="A transaction that relies on the locks of its reads can act on rows that change meanwhile: let it read "
        "them with SELECT ... FOR UPDATE or LOCK IN SHARE MODE (FOR SHARE from MySQL 8.0 on).",
        exceptions="Applications that were written for SERIALIZABLE and retry after a deadlock, and XA transactions "
        "over several servers.",
        reconsider_when="Innodb_row_lock_waits near zero under load.",
    ),
)
def serializable_by_default(context: RuleContext) -> Iterator[Finding]:
    """Report SERIALIZABLE as the default isolation level."""
    name = next((n for n in ISOLATION if context.is_set(n)), None)
    if name is not None and context.text(name) == "SERIALIZABLE":
        action = advise(context, name, "REPEATABLE-READ", risk="sessions that are open keep their level")
        yield serializable_by_default.finding(
            "Each SELECT in a transaction locks the rows that it reads, and writers wait until the transaction ends.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )
