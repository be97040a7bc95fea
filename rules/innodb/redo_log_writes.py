"""LOG, DUR: rules about how InnoDB writes and flushes its redo log, or writes none."""

from __future__ import annotations

from advisor.core.model import Action, Confidence, Severity, exact_duration
from rules.core import Docs, Span, rule
from rules.core.advice import advise, help_line, present
from rules.core.subject import variable_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext


CACHE_BLOCK = 4096  # bytes; block size of the kernel's page cache
USUAL = 8192  # MySQL's default in all versions
EACH_SECOND = 1
# Values of innodb_flush_log_at_trx_commit with which the log is synced periodically, and what then loses commits.
UNSYNCED = {0: "a crash of the server", 2: "a crash of the system"}


@rule(
    "LOG005",
    "narrow-write-ahead",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Redo is written in pieces smaller than the kernel's blocks, which it must read before it can write.",
    targets=(Span("mysql"),),
    options=("innodb_log_write_ahead_size",),
    evidence=("WB-01", "INNA-10"),
    docs=Docs(
        why="The redo log is written through the page cache, whose blocks are 4096 bytes. A write of less than a "
        "block into a part that isn't cached reads the block from disk first. MySQL's manual says to set "
        "innodb_log_write_ahead_size to the block size of the system or its cache; the default is 8192. "
        "MariaDB raises it to the disk's block size by itself.",
        fix="Remove the line.",
        risk="None known.",
        exceptions="Redo logs that always stay in the page cache, where nothing is read.",
        reconsider_when="No reads of the redo log's files (iosnoop, or blktrace) while it is written.",
    ),
)
def narrow_write_ahead(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_log_write_ahead_size below the block size of the page cache."""
    name = "innodb_log_write_ahead_size"
    size = context.number(name)
    if size is not None and size < CACHE_BLOCK and context.is_set(name):
        action = advise(context, name, USUAL, watch="Innodb_os_log_written")
        yield narrow_write_ahead.finding(
            f"Redo is written in units of {size} bytes, less than a block of the page cache ({CACHE_BLOCK} bytes), "
            "which must then be read first unless it is cached.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "LOG006",
    "delayed-log-flush",
    confidence=Confidence.LIKELY,
    summary="A crash may lose the commits of several seconds.",
    options=("innodb_flush_log_at_timeout",),
    evidence=("DUR-02", "INNV-01"),
    docs=Docs(
        why="With innodb_flush_log_at_trx_commit at 0 or 2 the redo log is synced once a second, not at each commit. "
        "innodb_flush_log_at_timeout changes that interval, and the commits since the last sync are lost when the "
        "machine fails, with 0 also when the server crashes. With 1 every commit is synced.",
        fix="Remove the line; the default is one second.",
        risk="One sync a second.",
        exceptions="Data that can be loaded again.",
        reconsider_when="Nothing.",
    ),
)
def delayed_log_flush(context: RuleContext) -> Iterator[Finding]:
    """Report innodb_flush_log_at_timeout above one second if commits do not sync."""
    name = "innodb_flush_log_at_timeout"
    seconds, commit = context.number(name), context.number("innodb_flush_log_at_trx_commit")
    cause = None if commit is None else UNSYNCED.get(commit)
    if seconds is not None and seconds > EACH_SECOND and context.is_set(name) and cause:
        watch = "Innodb_os_log_fsyncs" if context.target.is_mysql else None  # MariaDB 10.11 and later lack it
        action = advise(context, name, EACH_SECOND, risk="one sync a second", watch=watch)
        yield delayed_log_flush.finding(
            f"With innodb_flush_log_at_trx_commit = {commit} the redo log is synced every {exact_duration(seconds)}; "
            f"{cause} can lose the commits since the last sync.",
            variable_subject(context, name),
            help=help_line(action),
            actions=present(action),
        )


@rule(
    "DUR007",
    "redo-log-disabled",
    severity=Severity.ERROR,
    summary="Redo logging is disabled; a crash now can corrupt the whole instance.",
    needs=("server",),
    targets=(Span("mysql", since=(8, 0, 21)),),
    evidence=("ASK-11",),
    docs=Docs(
        why="ALTER INSTANCE DISABLE INNODB REDO_LOG is meant for loading a new server. If the server crashes before "
        "redo logging is enabled again, it refuses to start, and data that was written earlier can be lost too.",
        fix="ALTER INSTANCE ENABLE INNODB REDO_LOG, with the privilege INNODB_REDO_LOG_ENABLE.",
        risk="The statement first writes all changed pages to disk, which takes time with a large buffer pool.",
        exceptions="While a new server is being loaded.",
        reconsider_when="Nothing.",
    ),
)
def redo_log_disabled(context: RuleContext) -> Iterator[Finding]:
    """Report a running server with redo logging disabled."""
    if context.server.status.get("innodb_redo_log_enabled", "").upper() == "OFF":
        yield redo_log_disabled.finding(
            "The server writes no redo log; a crash now can lose all its data.",
            help="enable redo logging as soon as the bulk load has ended",
            actions=(Action(statement="ALTER INSTANCE ENABLE INNODB REDO_LOG;", watch="Innodb_redo_log_enabled"),),
        )
