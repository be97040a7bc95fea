"""How a server takes one option and its value: finds the option, applies prefixes, and dispatches on the option's kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.verdict import special
from advisor.verdict.boolean import take_boolean
from advisor.verdict.enumeration import take_enum, take_set
from advisor.verdict.flags import take_flags
from advisor.verdict.names import Found, find
from advisor.verdict.number import limited, take_number
from advisor.verdict.outcome import Outcome, Taken
from advisor.verdict.real import take_real
from advisor.verdict.strings import take_string
from advisor.verdict.unknown import missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog, Option
    from advisor.model import Target

NEGATIVE = ("skip", "disable")


class Argument(NamedTuple):
    """The value that reaches the option: None without one; `implied` where the server itself put a 1 there."""

    text: str | None
    implied: bool = False


def take_option(
    written: str, value: str | None, catalog: Catalog, before: Mapping[str, str], loaded: frozenset[str] = frozenset()
) -> tuple[Found, Taken]:
    """Where the name leads and how the value is taken.

    `before` holds what options had before this line, in help notation; `loaded` the plugins that the file loads.
    """
    found = find(written, catalog, has_value=value is not None)
    option = None if found.canonical is None else catalog.get(found.canonical)
    if option is None or (option.plugin and option.plugin not in loaded):
        return missing(written, found, catalog, loaded)
    taken = _take(option, found, value, catalog.target, before.get(option.name))
    if found.cache:
        taken = taken._replace(value=None)
    if found.loose and catalog.target.is_mariadb and taken.outcome is Outcome.INVALID:
        taken = _passed_over(option, taken)
    return found, taken


def _take(option: Option, found: Found, value: str | None, target: Target, before: str | None) -> Taken:
    if found.prefix == "maximum":
        return _maximum(option, value)
    if found.prefix == "autoset":
        return _autoset(option, value)
    argument = _argument(found.prefix, value)
    if option.arg == "none" and option.kind != "bool" and argument.text is not None:
        return Taken(Outcome.UNEXPECTED_ARGUMENT, None, f"{option.name} takes no value.")
    if option.arg == "required" and argument.text is None:
        return Taken(Outcome.MISSING_ARGUMENT, None, f"{option.name} needs a value.")
    handler = special.handler(option.name, target)
    if handler is not None:
        return handler(argument.text, option, target)
    return by_kind(argument, option, target, before)


def _argument(prefix: str, value: str | None) -> Argument:
    """skip- and disable- replace the value by 0, enable- by 1, and each by its contrary where the value is 0."""
    if prefix in NEGATIVE:
        return Argument("1", implied=True) if value == "0" else Argument("0")
    if prefix == "enable":
        return Argument("0") if value == "0" else Argument("1", implied=True)
    return Argument(value)


def by_kind(argument: Argument, option: Option, target: Target, before: str | None) -> Taken:
    """The value as options of that kind read it."""
    text = argument.text
    kind = option.kind
    if kind == "string":
        return take_string(None if argument.implied else text, target)
    if kind == "bool":
        return take_boolean(text, option, target)
    if kind == "flag":
        return Taken(Outcome.ACCEPTED)
    if text is None:
        text = "1"
    if kind in ("int", "uint"):
        return take_number(text, option, target)
    if kind == "double":
        return take_real(text, option, target)
    if kind == "flagset" or (not option.values and option.default and "=o" in option.default):
        return take_flags(text, option, before, target)
    if not option.values:
        return Taken(Outcome.ACCEPTED, text)
    return take_set(text, option, target) if kind == "set" else take_enum(text, option, target)


def _maximum(option: Option, value: str | None) -> Taken:
    """maximum- bounds what sessions may set; the option's own value stays."""
    if value is None:
        return Taken(Outcome.MISSING_ARGUMENT, None, f"maximum-{option.name} needs a value.")
    if option.kind not in ("int", "uint", "double"):
        return Taken(Outcome.INVALID, None, f"{option.name} has no maximum that could be set.")
    return Taken(Outcome.ACCEPTED)


def _autoset(option: Option, value: str | None) -> Taken:
    if value is not None:
        return Taken(Outcome.UNEXPECTED_ARGUMENT, None, f"autoset-{option.name} takes no value.")
    return Taken(Outcome.ACCEPTED)


def _passed_over(option: Option, taken: Taken) -> Taken:
    """MariaDB starts with a bad value behind loose-: a number ends at what zero becomes, everything else stays."""
    value = limited(0, option).value if option.kind in ("int", "uint") else None
    return Taken(Outcome.ADJUSTED, value, f"{taken.reason} Behind loose- the server goes on without it.")
