"""ARI: rules about the logs, checkpoints and checksums of Aria, MariaDB's engine for system and temporary tables."""

from __future__ import annotations

from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext

MARIADB = (Span("mariadb"),)
PURGE = "aria_log_purge_type"
CHECKPOINT = "aria_checkpoint_interval"
CHECKSUM = "aria_page_checksum"
RECOVER = "aria_recover_options"
KEPT = {
    "EXTERNAL": "the server never removes them",
    "AT_FLUSH": "they stay until FLUSH LOGS",
}
NO_REPAIR = frozenset({"OFF", ""})


@rule(
    "ARI001",
    "aria-logs-kept",
    summary="Aria log files are not purged automatically and fill the disk.",
    targets=MARIADB,
    options=(PURGE,),
    evidence=("ENG-04",),
    docs=Docs(
        why="Aria writes a log for its transactional tables, the system tables among them, and by default removes a "
        "log file as soon as a checkpoint makes it unnecessary. With external it removes none, not even at FLUSH LOGS; "
        "with at_flush it waits for that statement. Each file takes up to aria_log_file_size, by default 1G.",
        fix="Go back to immediate.",
        risk="Old logs are removed at the next checkpoint.",
        exceptions="Servers where a job copies the logs away and sends FLUSH LOGS or removes them.",
        reconsider_when="A job that removes them, and its schedule.",
    ),
)
def aria_logs_kept(context: RuleContext) -> Iterator[Finding]:
    """Report aria_log_purge_type values that do not purge logs automatically."""
    how = context.text(PURGE)
    if how in KEPT and context.is_set(PURGE):
        action = advise(
            context, PURGE, "immediate", risk="old logs are removed at the next checkpoint",
            watch="Aria_transaction_log_syncs",
        )  # fmt: skip
        yield aria_logs_kept.finding(
            f"Aria log files that recovery no longer needs are kept: {KEPT[how]}.",
            variable_subject(context, PURGE),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "ARI002",
    "aria-checkpoints-off",
    summary="Aria makes no checkpoints, so its log grows and recovery starts far back.",
    targets=MARIADB,
    options=(CHECKPOINT,),
    evidence=("ENG-04", "ENG-05"),
    docs=Docs(
        why="With aria_checkpoint_interval = 0 Aria makes no checkpoints by itself while the server runs; MariaDB's "
        "documentation says that this makes sense only for testing. No log file then becomes unnecessary: a server "
        "kept every file until it was shut down, and after a kill it read all that it had written since its start.",
        fix="Remove the line: the default is 30 seconds.",
        risk="Changed pages are written at each checkpoint.",
        exceptions="Tests of the server.",
        reconsider_when="Nothing.",
    ),
)
def aria_checkpoints_off(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured aria_checkpoint_interval = 0."""
    if context.number(CHECKPOINT) == 0 and context.is_set(CHECKPOINT):
        action = advise(
            context, CHECKPOINT, 30, risk="changed pages are written at each checkpoint", watch="Aria_pagecache_writes"
        )
        yield aria_checkpoints_off.finding(
            "Aria makes no checkpoints: its log files accumulate, and crash recovery reads them all.",
            variable_subject(context, CHECKPOINT),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "ARI003",
    "aria-checksums-off",
    summary="Corrupted pages of new Aria tables are returned as if they were valid.",
    targets=MARIADB,
    options=(CHECKSUM,),
    evidence=("ENG-06",),
    docs=Docs(
        why="In a test we changed one letter of a stored string on disk. In a table that was created with "
        "aria_page_checksum = OFF the server returned the changed string and CHECK TABLE reported OK; with the default "
        "it reported the page.",
        fix="Remove the line: the default is ON. Existing tables keep the setting they were created with; ALTER TABLE "
        "with PAGE_CHECKSUM=1 adds checksums.",
        risk="None known; a checksum is computed for each page that is read or written.",
        exceptions="Tables that can be recreated.",
        reconsider_when="A measurement on this host in which checksums cost more than the damage that they find.",
    ),
)
def aria_checksums_off(context: RuleContext) -> Iterator[Finding]:
    """Report disabled checksums of new Aria tables."""
    if context.settings.on(CHECKSUM) is False and context.is_set(CHECKSUM):
        action = advise(
            context, CHECKSUM, "ON", risk="existing tables keep their setting", watch="Aria_pagecache_reads"
        )
        yield aria_checksums_off.finding(
            "New Aria tables get no checksums: a page that the disk damaged is returned as if it were valid.",
            variable_subject(context, CHECKSUM),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "ARI004",
    "no-aria-repair",
    summary="Non-transactional Aria tables that a crash left open refuse reads and writes until they are repaired.",
    targets=MARIADB,
    options=(RECOVER,),
    evidence=("ENG-07",),
    docs=Docs(
        why="After a kill, a table with TRANSACTIONAL=0 answered SELECT, INSERT and ALTER TABLE with an error (the "
        "table should be repaired); with the default BACKUP,QUICK the first statement checked it and returned its "
        "rows. Tables with TRANSACTIONAL=1, the default, were recovered from the log either way.",
        fix="Remove the line: the default is BACKUP,QUICK.",
        risk="The first statement on a table after a crash waits for its check.",
        exceptions="Servers where a job repairs all Aria tables after a crash before clients come back.",
        reconsider_when="No Aria table of yours with TRANSACTIONAL=0.",
    ),
)
def no_aria_repair(context: RuleContext) -> Iterator[Finding]:
    """Report aria_recover_options that disable the check after a crash."""
    if context.text(RECOVER) in NO_REPAIR and context.is_set(RECOVER):
        action = advise(context, RECOVER, "BACKUP,QUICK", risk="the first statement after a crash waits for the check")
        yield no_aria_repair.finding(
            "After a crash, non-transactional Aria tables refuse reads and writes until they are repaired.",
            variable_subject(context, RECOVER),
            help=help_line(action),
            actions=present(action),
        )
