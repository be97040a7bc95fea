"""LOG: settings of InnoDB's redo log that a file shows to be a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from advisor.sizes import about, lasted
from rules.advice import advise, these, words
from rules.registry import Docs, Span, rule
from rules.subject import of_variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

CACHE_BLOCK = 4096  # bytes in which the kernel caches files
USUAL = 8192  # MySQL's default in every version
EACH_SECOND = 1
UNSYNCED = (0, 2)  # of innodb_flush_log_at_trx_commit: the log is synced by the clock, not by the commit


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
        fix="Take the line out.",
        risk="None known.",
        exceptions="Redo logs that always stay in the page cache, where nothing is read.",
        mind="No reads of the redo log's files (iosnoop, or blktrace) while it is written.",
    ),
)
def narrow_write_ahead(known: Known) -> Iterator[Finding]:
    """Write-ahead below a block of the page cache."""
    name = "innodb_log_write_ahead_size"
    size = known.number(name)
    if size is not None and size < CACHE_BLOCK and known.chosen(name):
        action = advise(known, name, USUAL, watch="Innodb_os_log_written")
        yield narrow_write_ahead.finding(
            f"Redo is written in units of {about(size)}, less than a block of the page cache (4K), which must then be "
            "read first.",
            of_variable(known, name),
            help=words(action),
            actions=these(action),
        )


@rule(
    "LOG006",
    "delayed-log-flush",
    confidence=Confidence.LIKELY,
    summary="A crash may lose the commits of several seconds.",
    options=("innodb_flush_log_at_timeout",),
    evidence=("DUR-02", "INNV-01"),
    docs=Docs(
        why="With innodb_flush_log_at_trx_commit at 0 or 2 the redo log is synced by the clock, every second. "
        "innodb_flush_log_at_timeout makes that every so many seconds, and as many seconds of commits are "
        "lost when the machine fails. With 1 every commit is synced, and the timeout loses nothing.",
        fix="Take the line out; the default is one second.",
        risk="One sync a second.",
        exceptions="Data that can be loaded again.",
        mind="Nothing.",
    ),
)
def delayed_log_flush(known: Known) -> Iterator[Finding]:
    """Seconds between syncs where commits don't sync."""
    name = "innodb_flush_log_at_timeout"
    seconds, commit = known.number(name), known.number("innodb_flush_log_at_trx_commit")
    if seconds is not None and seconds > EACH_SECOND and known.chosen(name) and commit in UNSYNCED:
        action = advise(known, name, EACH_SECOND, risk="one sync a second", watch="Innodb_os_log_fsyncs")
        yield delayed_log_flush.finding(
            f"With innodb_flush_log_at_trx_commit = {commit} the redo log is synced every {lasted(seconds)}; a crash "
            "loses as much of commits.",
            of_variable(known, name),
            help=words(action),
            actions=these(action),
        )
