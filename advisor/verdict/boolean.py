"""Booleans: what is on, what is off, and what the server makes of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.model import Target

ON = ("1", "on", "true")
OFF = ("0", "off", "false")


def take_boolean(text: str | None, option: Option, target: Target) -> Taken:
    """A boolean; without a value it is on. Help prints TRUE and FALSE."""
    word = "1" if text is None else text.lower()
    if option.arg == "none":
        return _plain(word, option, target)
    if word in ON:
        return Taken(Outcome.ACCEPTED, "TRUE")
    if word in OFF:
        return Taken(Outcome.ACCEPTED, "FALSE")
    return Taken(Outcome.ADJUSTED, "FALSE", f"The server takes OFF: {text!r} is neither ON, TRUE, 1 nor OFF, FALSE, 0.")


def _plain(word: str, option: Option, target: Target) -> Taken:
    """A boolean that knows no argument officially; for MariaDB the first character of a number is enough."""
    if word in ON or (target.is_mariadb and word.startswith("1")):
        return Taken(Outcome.ACCEPTED, "TRUE")
    if word in OFF or (target.is_mariadb and word.startswith("0")):
        return Taken(Outcome.ACCEPTED, "FALSE")
    why = f"{word!r} is neither ON, TRUE, 1 nor OFF, FALSE, 0, and {option.name} stays as it was"
    return Taken(Outcome.ADJUSTED, None, f"The server passes over the line: {why}.")
