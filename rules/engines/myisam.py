"""MYI, DUR, MOD: rules about MyISAM: a default engine, and settings that corrupt indexes, lose rows or close tables."""

from __future__ import annotations

from advisor.core.model import Severity, exact_duration
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

RECOVER = "myisam_recover_options"
LOW = "low_priority_updates"
ENGINE, WITHOUT_INNODB = "default_storage_engine", "ignore_builtin_innodb"
# With one of these, a repair keeps the old data file, does not rewrite it, or does not run.
KEEPS_ROWS = frozenset({"BACKUP", "BACKUP_ALL", "QUICK", "OFF", ""})
NO_REPAIR = frozenset({"OFF", ""})
TEMPORARY = "default_tmp_storage_engine"


@rule(
    "MYI001",
    "delayed-key-writes",
    summary="Changes of MyISAM indexes stay in memory until the table is closed, so a crash destroys the indexes.",
    options=("delay_key_write",),
    quiet={"delay_key_write": ("ON", "OFF")},
    evidence=("ENG-01", "ENG-23"),
    docs=Docs(
        why="With delay_key_write = ALL the index blocks of every MyISAM table are written when the table is closed, "
        "not after each statement. Servers that were killed a second after 10,000 rows had been written found the "
        "index corrupt after the restart; with the default it was intact.",
        fix="Go back to ON, which delays only for tables that were created with DELAY_KEY_WRITE=1. MySQL does so at "
        "its next start: after SET GLOBAL delay_key_write = ON a server that was started with ALL still delays the "
        "writes of all tables; OFF ends that. At run time tables that are open change at FLUSH TABLES.",
        risk="Index blocks are written after each statement, which makes many small changes slower.",
        exceptions="Tables that can be recreated, such as those of a nightly load.",
        reconsider_when="Nothing: what may be lost is for the owner of the data to say.",
    ),
)
def delayed_key_writes(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured delay_key_write = ALL."""
    if context.text("delay_key_write") == "ALL" and context.is_set("delay_key_write"):
        action = advise(
            context, "delay_key_write", "ON", risk="index blocks are written after each statement", watch="Key_writes",
            live=not context.target.is_mysql,
        )  # fmt: skip
        yield delayed_key_writes.finding(
            "Index blocks of all MyISAM tables stay in memory until a table is closed: a crash leaves them corrupt.",
            variable_subject(context, "delay_key_write"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "MYI002",
    "repair-without-copy",
    summary="Damaged MyISAM tables are repaired automatically, and the rows that the repair drops are lost.",
    options=(RECOVER,),
    evidence=("ENG-02",),
    docs=Docs(
        why="The server repairs a MyISAM table that wasn't closed properly when it is opened next. With DEFAULT or "
        "FORCE alone it drops the rows that it can't read: of 1,000 rows in a damaged data file 997 were left, and the "
        "statement that opened the table succeeded. With BACKUP the old data file is kept under a name that ends in "
        ".BAK.",
        fix="Add BACKUP.",
        risk="A repair that drops rows takes the disk space of the data file once more.",
        restart=True,
        exceptions="Tables that can be recreated.",
        reconsider_when="A backup of each data file from shortly before the crash.",
    ),
)
def repair_without_copy(context: RuleContext) -> Iterator[Finding]:
    """Report myisam_recover_options that repair without a backup of the dropped rows."""
    value = context.text(RECOVER)
    if value is None or not context.is_set(RECOVER) or KEEPS_ROWS.intersection(value.split(",")):
        return
    wanted = "BACKUP,FORCE" if "FORCE" in value else "BACKUP"
    action = advise(context, RECOVER, wanted, risk="a repair that drops rows takes the data file's space once more")
    yield repair_without_copy.finding(
        f"With {RECOVER} = {value} a repair drops the rows that it can't read, and keeps no copy of them.",
        variable_subject(context, RECOVER),
        help=help_line(action),
        actions=present(action),
    )


@rule(
    "MYI003",
    "no-myisam-repair",
    summary="After a crash, MyISAM tables are used without a check.",
    targets=(Span("mariadb"),),
    options=(RECOVER,),
    evidence=("ENG-22", "ENG-02", "ASK-20"),
    docs=Docs(
        why="MariaDB checks a MyISAM table that wasn't closed properly when it is opened next, and rebuilds its index "
        "if it is damaged. With this off, statements use whatever the crash left: in a test, a statement that used the "
        "damaged index failed, and one that read all rows did not notice the damage.",
        fix="Remove the line: the default is BACKUP,QUICK.",
        risk="The first statement on a table after a crash waits for its check.",
        restart=True,
        exceptions="Servers where a job checks all MyISAM tables after a crash before clients come back.",
        reconsider_when="No important data in MyISAM tables.",
    ),
)
def no_myisam_repair(context: RuleContext) -> Iterator[Finding]:
    """Report myisam_recover_options that disable the check after a crash."""
    if context.text(RECOVER) in NO_REPAIR and context.is_set(RECOVER):
        action = advise(context, RECOVER, "BACKUP,QUICK", risk="the first statement after a crash waits for the check")
        yield no_myisam_repair.finding(
            "MyISAM tables that a crash left open are used without a check, until a statement meets the damage.",
            variable_subject(context, RECOVER),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "MYI004",
    "periodic-table-close",
    summary="The server closes all tables periodically, and the next statements open them again.",
    options=("flush_time",),
    evidence=("ENG-03",),
    docs=Docs(
        why="The server closes all tables of all engines every flush_time seconds, and the next statements open them "
        "again. With flush_time = 1, twenty tables that were read constantly were opened 119 times in six seconds, "
        "without it not once.",
        fix="Set flush_time to 0, the default.",
        risk="Changes of MyISAM tables stay in the system's cache until it writes them, as without the option.",
        exceptions="Hosts whose MyISAM files are copied or read by other programs while the server runs.",
        reconsider_when="Opened_tables that does not rise with it.",
    ),
)
def periodic_table_close(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured flush_time above 0."""
    seconds = context.number("flush_time")
    if seconds and context.is_set("flush_time"):
        action = advise(context, "flush_time", 0, risk="tables stay open between statements", watch="Opened_tables")
        yield periodic_table_close.finding(
            f"Every {exact_duration(seconds)} all tables are closed, and the next statements open them again.",
            variable_subject(context, "flush_time"),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "MYI005",
    "updates-behind-selects",
    severity=Severity.NOTE,
    summary="Writes to MyISAM and Aria tables wait until no statement reads the table, which may be never.",
    options=(LOW,),
    evidence=("ENG-20",),
    docs=Docs(
        why="A change of a MyISAM, MERGE, MEMORY or Aria table waits for its readers, and new readers wait behind it. "
        "With low_priority_updates = ON they do not wait: with one reader after another, an UPDATE waited for six "
        "seconds instead of two, and would have waited as long as new readers came. On MySQL it also ends concurrent "
        "inserts: an INSERT at the end of a MyISAM table then waits for the table's readers. InnoDB tables are not "
        "affected.",
        fix="Switch it off; use UPDATE LOW_PRIORITY for single statements.",
        risk="Readers wait behind a change that waits for a long SELECT.",
        exceptions="Tables that are read by long statements and changed by a job that may wait.",
        reconsider_when="Table_locks_waited that doesn't rise.",
        disagree="Old templates for web servers with MyISAM tables switch it on to make pages fast.",
    ),
)
def updates_behind_selects(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured low_priority_updates = ON."""
    if context.settings.on(LOW) and context.is_set(LOW):
        action = advise(
            context, LOW, "OFF", risk="readers wait behind a change that waits for a long SELECT",
            watch="Table_locks_waited",
        )  # fmt: skip
        yield updates_behind_selects.finding(
            "A change to a MyISAM or Aria table waits as long as new statements read it; InnoDB is not affected.",
            variable_subject(context, LOW),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "DUR008",
    "myisam-by-default",
    summary="New tables are MyISAM tables, which have no transactions and no recovery after a crash.",
    options=(ENGINE,),
    quiet={ENGINE: ("INNODB",)},
    evidence=("ASK-20",),
    docs=Docs(
        why="A table that is created without an engine takes the default. In a MyISAM table ROLLBACK undoes nothing, "
        "and there is no log for crash recovery: on all six servers that were killed while rows went in, CHECK TABLE "
        "then reported that the table was not closed properly.",
        fix="Remove the line: InnoDB is the default of every version that mycnf knows. Existing tables keep their "
        "engine; convert them one by one with ALTER TABLE.",
        risk="New tables take more disk space, and use the buffer pool.",
        exceptions="A program that was written for MyISAM and is tested with nothing else.",
        reconsider_when="Nothing: what may be lost is for the owner of the data to say.",
    ),
)
def myisam_by_default(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured default_storage_engine = MyISAM."""
    if context.text(ENGINE) == "MYISAM" and context.is_set(ENGINE):
        from rules.core.network import is_switched_on  # lazily: few files make MyISAM the default

        leaves_out = context.target.is_mariadb and is_switched_on(context, WITHOUT_INNODB)
        both = f"remove this line together with {WITHOUT_INNODB}, with which InnoDB cannot be the default"
        action = None if leaves_out else advise(context, ENGINE, "InnoDB", risk="existing tables keep their engine")
        yield myisam_by_default.finding(
            "Tables created without an ENGINE clause become MyISAM tables: no rollback, and no recovery after a crash.",
            variable_subject(context, ENGINE),
            help=both if leaves_out else help_line(action),
            actions=present(action),
        )


@rule(
    "MOD009",
    "temporary-tables-without-rollback",
    severity=Severity.NOTE,
    summary="Temporary tables that clients create are MyISAM tables: ROLLBACK does not undo their changes.",
    options=(TEMPORARY,),
    evidence=("ENG-21",),
    docs=Docs(
        why="CREATE TEMPORARY TABLE without an ENGINE clause uses default_tmp_storage_engine. A row that was inserted "
        "into a MyISAM table in a transaction stayed after a rollback, while the other tables of the transaction were "
        "rolled back. Internal temporary tables are not affected.",
        fix="Remove the line: the default is InnoDB, and on MariaDB the engine in default_storage_engine.",
        risk="Temporary tables take space in the buffer pool and in the temporary tablespace.",
        exceptions="Programs that fill temporary tables outside of transactions, or intentionally keep rows after a "
        "rollback.",
        reconsider_when="A program of this server that was tested with nothing else.",
    ),
)
def temporary_tables_without_rollback(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured default_tmp_storage_engine = MyISAM."""
    if context.text(TEMPORARY) == "MYISAM" and context.is_set(TEMPORARY):
        action = advise(context, TEMPORARY, "InnoDB", risk="temporary tables take space in the buffer pool")
        yield temporary_tables_without_rollback.finding(
            "Temporary tables created without an ENGINE clause are MyISAM tables, in which ROLLBACK undoes nothing.",
            variable_subject(context, TEMPORARY),
            help=help_line(action),
            actions=present(action),
        )
