"""BIN: a server that writes no binary log, or functions without a check into a log of statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Confidence, Severity
from rules.advice import advise, these, words
from rules.bin import log_bin_line, switches_off, writes_binary_log
from rules.registry import Docs, Span, rule
from rules.subject import of_variable, of_verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.model import Finding
    from rules.known import Known

TRUST = "log_bin_trust_function_creators"


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


@rule(
    "BIN011",
    "unchecked-functions-in-statement-log",
    severity=Severity.NOTE,
    confidence=Confidence.LIKELY,
    summary="Stored functions are created without a check, and a log of statements repeats their calls on replicas.",
    options=(TRUST,),
    triggers=("binlog_format",),
    evidence=("ASK-BIN-02",),
    docs=Docs(
        why="With OFF a function must be declared DETERMINISTIC, NO SQL or READS SQL DATA, and its creator needs "
        "SUPER. With ON a function that changes rows by RAND() is created; the binary log then holds the statement "
        "that calls it, and a replica computes other rows. A log of rows holds the rows themselves.",
        fix="Set binlog_format to ROW, or log_bin_trust_function_creators to OFF.",
        risk="With OFF accounts without SUPER cannot create functions, nor functions without such a declaration.",
        exceptions="Servers whose functions change no rows.",
        mind="A list of all stored functions, each of them deterministic.",
    ),
)
def unchecked_functions_in_statement_log(known: Known) -> Iterator[Finding]:
    """Functions created without a check, in a binary log of statements."""
    if known.switched(TRUST) and known.text("binlog_format") == "STATEMENT" and writes_binary_log(known):
        action = advise(known, TRUST, "OFF", risk="functions without a declaration cannot be created any more")
        yield unchecked_functions_in_statement_log.finding(
            "Functions are created without a check, and the binary log holds the statements that call them: one that "
            "is not deterministic changes other rows on a replica.",
            of_variable(known, TRUST),
            help=words(action),
            actions=these(action),
        )
