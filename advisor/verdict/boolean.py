"""Booleans: what is on, what is off, and what the server makes of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.number import leading_digits
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict

ON = ("1", "on", "true")
OFF = ("0", "off", "false")


def parse_boolean(text: str | None, option: Option, target: Target) -> TakenValue:
    """A boolean; without a value it is on. Help prints TRUE and FALSE."""
    word = "1" if text is None else text.lower()
    if option.arg == "none":
        return _parse_loosely("1" if text is None else text, target)
    if word in ON:
        return TakenValue(Outcome.ACCEPTED, "TRUE")
    if word in OFF:
        return TakenValue(Outcome.ACCEPTED, "FALSE")
    what = f"{quote_value(text)} is not a boolean" if text else "The value is empty"
    return TakenValue(Outcome.ADJUSTED, "FALSE", f"{what}; the server reads it as OFF.")


def _parse_loosely(text: str, target: Target) -> TakenValue:
    """A boolean that knows no argument officially; for MariaDB the first character of a number is enough."""
    word = text.lower()
    if word in ON or (target.is_mariadb and word.startswith("1")):
        return TakenValue(Outcome.ACCEPTED, "TRUE")
    if word in OFF or (target.is_mariadb and word.startswith("0")):
        return TakenValue(Outcome.ACCEPTED, "FALSE")
    what = f"{quote_value(text)} is not a boolean" if text else "the value is empty"
    return TakenValue(Outcome.ADJUSTED, None, f"The server ignores this line: {what}.")


def is_switch(line: LineVerdict) -> bool:
    """Whether the line sets a boolean: log_bin is none, though some servers call it so."""
    return line.option is not None and line.option.kind == "bool" and line.value in ("TRUE", "FALSE", None)


def is_misread(line: LineVerdict) -> bool:
    """Whether the server takes a word for OFF or 0 that is neither boolean nor number, or an empty value."""
    text, option = line.placed.line.value, line.option
    if line.outcome is not Outcome.ADJUSTED or text is None or option is None:
        return False
    if option.kind == "bool":
        return text.lower() not in (*ON, *OFF) and is_switch(line)
    return option.kind in ("int", "uint", "double") and leading_digits(text)[1] == text
