"""Flag sets such as optimizer_switch: flag=on, flag=off, flag=default, or default for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quoted
from advisor.verdict.enumeration import SEVERAL, member, members, set_bits, strangers
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog.load import Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext


ALL = "default"
SETTINGS = ("off", "on", "default")


def flags_of(text: str) -> dict[str, str]:
    """Flags as help prints them, `a=on,b=off`, by name."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def take_flags(text: str, option: Option, before: str | None, target: Target) -> Taken:
    """Flags set over what was there before; setting one twice is refused."""
    state, bad = _read(text, option, before, target)
    if bad is not None:
        return Taken(Outcome.INVALID, None, f"{quoted(bad)} is no flag with =on, =off or =default, or is there twice.")
    return Taken(Outcome.ACCEPTED, _print(state))


def flags_before(text: str, option: Option, before: str | None) -> str:
    """What MariaDB makes of flags of which one is bad, where it goes on: those before the bad one are set."""
    state, _ = _read(text, option, before, None)
    return _print(state)


def _read(text: str, option: Option, before: str | None, target: Target | None) -> tuple[dict[str, str], str | None]:
    """The flags that a text sets over those before, and the first bad part of it; no target stands for MariaDB's."""
    defaults = _state(option, option.default)
    changed: dict[str, str] = {}
    whole, bad = False, None
    parts = text.split(",") if text else []
    for at, part in enumerate(parts, 1):
        name, equals, setting = part.partition("=")
        # MySQL takes a beginning for the whole word at the very end of the text, and only there.
        short = target is not None and target.is_mysql and at == len(parts)
        flag = _named(name, defaults, whole=not short or bool(equals))
        if flag == ALL and not equals and not whole:
            whole = True
            continue
        place = member(setting, SETTINGS, whole=not short)
        if flag in defaults and flag not in changed and place == SEVERAL and short and setting:
            continue  # MySQL takes the beginning of several words at the very end, and does nothing with it
        if flag is None or flag == ALL or flag in changed or place < 0:
            bad = part
            break
        changed[flag] = SETTINGS[place] if SETTINGS[place] != "default" else defaults[flag]
    state = defaults if whole or before is None else _state(option, before)
    return state | changed, bad


def _state(option: Option, printed: str | None) -> dict[str, str]:
    """Every flag with its setting; help leaves out those behind the last that is on."""
    known = flags_of(printed or "")
    names = [name for name in option.values if name.lower() != ALL] or list(flags_of(option.default or ""))
    return {name: known.get(name, "off") for name in names}


def _print(state: dict[str, str]) -> str:
    last = max((place for place, setting in enumerate(state.values(), 1) if setting == "on"), default=0)
    return ",".join([f"{name}={setting}" for name, setting in list(state.items())[:last]])


def _named(name: str, flags: dict[str, str], *, whole: bool) -> str | None:
    names = (*flags, ALL)
    place = member(name, names, whole=whole)
    return names[place] if place >= 0 else None


_ANSI = ("REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE")
_OTHERS = ("PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "NO_FIELD_OPTIONS")
# What each server printed for the mode alone; members that a target doesn't have are passed over.
BRINGS = {
    "ANSI": _ANSI,
    "TRADITIONAL": (
        "STRICT_TRANS_TABLES",
        "STRICT_ALL_TABLES",
        "NO_ZERO_IN_DATE",
        "NO_ZERO_DATE",
        "ERROR_FOR_DIVISION_BY_ZERO",
        "NO_AUTO_CREATE_USER",
        "NO_ENGINE_SUBSTITUTION",
    ),
    "POSTGRESQL": _OTHERS,
    "ORACLE": (*_OTHERS, "NO_AUTO_CREATE_USER", "SIMULTANEOUS_ASSIGNMENT"),
    "MSSQL": _OTHERS,
    "DB2": _OTHERS,
    "MAXDB": (*_OTHERS, "NO_AUTO_CREATE_USER"),
    "MYSQL323": ("HIGH_NOT_PRECEDENCE",),
    "MYSQL40": ("HIGH_NOT_PRECEDENCE",),
}
# What MySQL 5.7 has and 8.0 has no longer.
GONE = (
    *("DB2", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40", "NO_AUTO_CREATE_USER", "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS"),
    *("NO_TABLE_OPTIONS", "ORACLE", "POSTGRESQL"),
)


def take_sql_mode(case: ValueContext) -> Taken | None:
    """A list of modes, printed with all that they bring."""
    if not case.option.values:
        return None
    bits = set_bits(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    if bits is None:
        return _gone(case)
    values = case.option.values
    return Taken(Outcome.ACCEPTED, with_brought(members(bits, values), values, case.target))


def _gone(case: ValueContext) -> Taken | None:
    """Modes of MySQL 5.7 alone stand in the way; None where others do."""
    strange = strangers(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    gone = [mode.strip().upper() for mode in strange]
    if not case.target.is_mysql or not set(gone) <= set(GONE):
        return None
    modes = "the modes" if len(gone) > 1 else "the mode"
    return Taken(Outcome.INVALID, None, f"MySQL 8.0 removed {modes} {', '.join(gone)}.")


def with_brought(given: Sequence[str], values: Sequence[str], target: Target) -> str:
    """The modes with all that they bring; MySQL's ANSI brings ONLY_FULL_GROUP_BY too, MariaDB's does not."""
    names = set(given).union(*(BRINGS.get(mode, ()) for mode in given))
    if "ANSI" in names and target.is_mysql:
        names.add("ONLY_FULL_GROUP_BY")
    return ",".join([mode for mode in values if mode in names])
