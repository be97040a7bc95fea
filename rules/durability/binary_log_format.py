"""BIN: rules about statement-based binary logs, and about stored functions in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Confidence, Severity
from rules.core.advice import advise, help_line, present
from rules.core.rule import Docs, rule
from rules.core.subject import variable_subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from rules.core.context import RuleContext
from rules.durability.binary_log import row_format_action, writes_binary_log


@rule(
    "BIN003",
    "statement-based-log",
    confidence=Confidence.LIKELY,
    summary="Statements are replicated as text and may have another effect on a replica.",
    options=("binlog_format",),
    evidence=("ASK-14",),
    docs=Docs(
        why="Nondeterministic statements, and all with LIMIT without ORDER BY, can change other rows on a replica or "
        "in a restore. MySQL made ROW its default in 5.7.7; MariaDB's default MIXED changes to rows where it knows a "
        "statement to be unsafe.",
        fix="Set ROW, or remove the line.",
        risk="Changes of many rows make larger binary logs.",
        exceptions="Replicas with other table definitions, which rely on statements.",
        reconsider_when="A topology in which each statement is known to be safe.",
    ),
)
def statement_based_log(context: RuleContext) -> Iterator[Finding]:
    """Report an explicitly configured binlog_format = STATEMENT."""
    if context.text("binlog_format") == "STATEMENT" and context.is_set("binlog_format") and writes_binary_log(context):
        action = row_format_action(context)
        yield statement_based_log.finding(
            "Statements are logged as text; nondeterministic statements can have another effect on a replica.",
            variable_subject(context, "binlog_format"),
            help=help_line(action),
            actions=present(action),
        )


TRUST = "log_bin_trust_function_creators"


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
        reconsider_when="A list of all stored functions, each of them deterministic.",
    ),
)
def unchecked_functions_in_statement_log(context: RuleContext) -> Iterator[Finding]:
    """Report log_bin_trust_function_creators with a statement-based binary log."""
    if context.explicit_switch(TRUST) and context.text("binlog_format") == "STATEMENT" and writes_binary_log(context):
        action = advise(context, TRUST, "OFF", risk="functions without a declaration cannot be created any more")
        yield unchecked_functions_in_statement_log.finding(
            "Functions are created without a check, and the binary log holds the statements that call them: one that "
            "is not deterministic changes other rows on a replica.",
            variable_subject(context, TRUST),
            help=help_line(action),
            actions=present(action),
        )
