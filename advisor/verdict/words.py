"""Parses booleans, enumerations and sets: ON and OFF words, members by name, abbreviation and number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.number import leading_digits
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.catalog.load import Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import LineVerdict

ON = ("1", "on", "true")
OFF = ("0", "off", "false")
MAX_SHOWN = 10  # members that a message lists at most
SEVERAL = -1
NONE = -2
ALL = "ALL"  # MariaDB's word for every member, unless a member starts with it
UNNAMED_BITS = {"new_mode": 2}  # MariaDB 11.8 takes 8 and 16 in its number, and ignores them


def find_member(text: str, values: Sequence[str], *, whole: bool = False) -> int:
    """Return the index of the member that a text names, else NONE or SEVERAL.

    A unique abbreviation is enough unless `whole` is set; trailing spaces are ignored.
    """
    word = text.upper()
    names = [value.upper() for value in values]
    if word.rstrip(" ") in names:
        return names.index(word.rstrip(" "))
    begun = [place for place, name in enumerate(names) if name.startswith(word)]
    if not begun or not word or whole:
        return NONE
    return begun[0] if len(begun) == 1 else SEVERAL


def parse_enum(text: str, option: Option, target: Target) -> TakenValue:
    """Parse one member of an enumeration; the value is the member's name."""
    if not text and target.is_mysql:
        return TakenValue(Outcome.INVALID, None, "One of the names is needed, and the value is empty.")
    place = find_member(text, option.values)
    if place == NONE:
        place = _parse_enum_number(text, len(option.values))
    if place < 0:
        why = "begins the names of several" if place == SEVERAL else "is none of"
        return TakenValue(Outcome.INVALID, None, f"{quote_value(text)} {why} {', '.join(option.values)}.")
    return TakenValue(Outcome.ACCEPTED, option.values[place])


def _parse_enum_number(text: str, count: int) -> int:
    number, rest = leading_digits(text)
    if rest or not 0 <= number < count:
        return NONE
    return number


def parse_set(text: str, option: Option, target: Target) -> TakenValue:
    """Parse set members separated by commas, or their number; the value lists them in the server's order."""
    bits = parse_set_bits(text, option.values, equals_ends=target.is_mysql, unnamed=UNNAMED_BITS.get(option.name, 0))
    if bits is None:
        strange = unknown_words(text, option.values, equals_ends=target.is_mysql)
        verb, members_ = ("is", "no member") if len(strange) == 1 else ("are", "no members")
        known = named_members(option.values)
        which = f"none of {', '.join(known)}" if len(known) <= MAX_SHOWN else f"{members_} of {option.name}"
        why = f"{', '.join(map(quote_value, strange))} {verb} {which}."
        return TakenValue(Outcome.INVALID, None, why)
    return TakenValue(Outcome.ACCEPTED, ",".join(members_of_bits(bits, option.values)))


def parse_set_bits(text: str, values: Sequence[str], *, equals_ends: bool, unnamed: int = 0) -> int | None:
    """Return the set as bits, None if invalid; all servers refuse a trailing comma and a space after a comma.

    A number may have so many `unnamed` bits beyond those of the members.
    """
    bits = 0
    for _, place in _find_places(text, values, equals_ends=equals_ends):
        if place < 0:
            every = text.upper() == ALL and not equals_ends
            return (1 << len(values)) - 1 if every else _parse_set_number(text, len(values) + unnamed)
        bits |= 1 << place
    return bits


def unknown_words(text: str, values: Sequence[str], *, equals_ends: bool) -> list[str]:
    """Return the words of a text that name no member."""
    return [word for word, place in _find_places(text, values, equals_ends=equals_ends) if place < 0]


def _find_places(text: str, values: Sequence[str], *, equals_ends: bool) -> Iterator[tuple[str, int]]:
    """Yield the words of a text, each with the index of its member, or NONE or SEVERAL."""
    words = text.replace("=", ",").split(",") if equals_ends else text.split(",")
    for at, word in enumerate(words if text else [], 1):
        # The servers' parser accepts an abbreviation only at the very end; MariaDB stops at an =.
        name, equals, _ = word.partition("=")
        yield word, find_member(name, values, whole=at < len(words) or bool(equals))


def named_members(values: Sequence[str]) -> list[str]:
    """Return the members in use: MySQL keeps placeholders for removed modes."""
    return [value for value in values if value != "," and not value.startswith("NOT_USED")]


def members_of_bits(bits: int, values: Sequence[str]) -> list[str]:
    """Return the members that the bits stand for, in the server's order."""
    return [value for place, value in enumerate(values) if bits >> place & 1]


def _parse_set_number(text: str, count: int) -> int | None:
    number, rest = leading_digits(text)
    return None if rest or not text or not 0 <= number < 1 << count else number


def parse_boolean(text: str | None, option: Option, target: Target) -> TakenValue:
    """Parse a boolean; no value means ON. `--verbose --help` prints TRUE and FALSE."""
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
    """Parse a boolean that officially takes no argument; MariaDB accepts any value that starts with 0 or 1."""
    word = text.lower()
    if word in ON or (target.is_mariadb and word.startswith("1")):
        return TakenValue(Outcome.ACCEPTED, "TRUE")
    if word in OFF or (target.is_mariadb and word.startswith("0")):
        return TakenValue(Outcome.ACCEPTED, "FALSE")
    what = f"{quote_value(text)} is not a boolean" if text else "the value is empty"
    return TakenValue(Outcome.ADJUSTED, None, f"The server ignores this line: {what}.")


def is_switch(line: LineVerdict) -> bool:
    """Whether the line sets a boolean; log_bin is not one, though some servers list it as such."""
    return line.option is not None and line.option.kind == "bool" and line.value in ("TRUE", "FALSE", None)


def is_misread(line: LineVerdict) -> bool:
    """Whether the server reads an invalid boolean or number, or an empty value, as OFF or 0."""
    text, option = line.placed.line.value, line.option
    if line.outcome is not Outcome.ADJUSTED or text is None or option is None:
        return False
    if option.kind == "bool":
        return text.lower() not in (*ON, *OFF) and is_switch(line)
    return option.kind in ("int", "uint", "double") and leading_digits(text)[1] == text
