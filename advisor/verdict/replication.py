"""Replication filters, and lists of error numbers that a replica skips or retries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.number import leading_digits
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from advisor.verdict.outcome import ValueContext

# The highest error number that each release accepts; 10.6 was not tested.
LAST: dict[tuple[int, ...], int] = {(10, 11): 4192, (11, 4): 4205}
NEWEST_LAST = 4208
# The server stops printing when fewer than ten characters of its buffer of 2048 are left.
MAX_TEXT = 2038
# 11.4.5 prints ALL; 10.11.19 and 11.8.9 print the numbers, as many as fit into their buffer.
IN_NUMBERS: dict[tuple[int, ...], tuple[int, ...]] = {(10, 11): (10, 11, 19), (11, 8): (11, 8, 9)}


def parse_table_rule(case: ValueContext) -> TakenValue | None:
    """Check a table filter: it must name the database and the table."""
    text = case.text or ""
    if "." in text:
        return None
    return TakenValue(Outcome.INVALID, None, f"{quote_value(text)} is no table of a database: write database.table.")


def parse_rewrite(case: ValueContext) -> TakenValue | None:
    """Check a rule that renames one database to another."""
    text = case.text or ""
    old, arrow, new = text.partition("->")
    if arrow and old.strip() and new.strip():
        return None
    return TakenValue(Outcome.INVALID, None, f"{quote_value(text)} renames no database: write from->to.")


def parse_skip_errors(case: ValueContext) -> TakenValue:
    """Parse the error numbers that a MariaDB replica skips; they are sorted, and unknown numbers are dropped."""
    text = (case.text or "").lstrip(" ")
    if case.argument.implied:
        return TakenValue(Outcome.ACCEPTED, case.text)
    if text.lower() == "all":
        since = IN_NUMBERS.get(case.target.version[:2])
        return TakenValue(
            Outcome.ACCEPTED, _print_numbers(range(MAX_TEXT)) if since and case.target.version >= since else "ALL"
        )
    last = LAST.get(case.target.version[:2], NEWEST_LAST)
    return TakenValue(Outcome.ACCEPTED, _print_numbers(sorted({n for n in _read_numbers(text) if n <= last})) or "OFF")


def parse_retry_errors(case: ValueContext) -> TakenValue:
    """Parse the error numbers at which a MariaDB replica retries; they are appended to those that it always retries."""
    always = (case.option.default or "").split(",")
    more = [str(n) for n in _read_numbers((case.text or "").lstrip(" ")) if n]
    return TakenValue(Outcome.ACCEPTED, ",".join([*always, *more]))


def _read_numbers(text: str) -> list[int]:
    found: list[int] = []
    while text and text[0] in "0123456789":
        number, text = leading_digits(text)
        found.append(number)
        while text and text[0] not in "0123456789":
            text = text[1:]
    return found


def _print_numbers(numbers: list[int] | range) -> str:
    line = ""
    for number in numbers:
        if len(line) >= MAX_TEXT:
            return line[:-1] + "..."
        line += f"{number},"
    return line[:-1]
