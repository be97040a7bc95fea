"""BIN: a server that writes no binary log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from rules.bin import log_bin_line, switches_off
from rules.registry import Docs, Span, rule
from rules.subject import of_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known


@rule(
    "BIN010",
    "binary-log-switched-off",
    severity=Severity.NOTE,
    confidence=Confidence.OPINION,
    summary="No binary log is written, so a restore ends at the last backup, and no replica can follow.",
    targets=(Span("mysql", since=(8, 0)),),
    options=("log_bin",),
    evidence=("REPL-15",),
    docs=Docs(
        why="MySQL 8.0 and later write a binary log by default. Without it what was written since the last backup "
        "cannot be restored, and the server cannot be a source. Whether that is wanted no file says.",
        fix="Take the line out, if a restore to a point in time or a replica is wanted.",
        risk="Each commit is written and synced once more, and the logs need disk until they expire.",
        restart=True,
        exceptions="Replicas that are never promoted, data that can be loaded again, and tests.",
        mind="A plan for restores that does without.",
    ),
)
def binary_log_switched_off(known: Known) -> Iterator[Finding]:
    """A line that switches the binary log off."""
    line = log_bin_line(known)
    if line is not None and switches_off(line):
        yield binary_log_switched_off.finding(
            "No binary log is written: a restore ends at the last backup, and no replica can follow this server.",
            of_verdict(line),
            help="remove the line, if a restore to a point in time or a replica is wanted",
        )
