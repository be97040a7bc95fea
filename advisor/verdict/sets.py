"""Flag sets such as optimizer_switch: flag=on, flag=off, flag=default, or default for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.outcome import Outcome, TakenValue
from advisor.verdict.words import SEVERAL, find_member, members_of_bits, parse_set_bits, unknown_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.catalog.load import Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext


ALL = "default"
SETTINGS = ("off", "on", "default")


def split_flags(text: str) -> dict[str, str]:
    """Flags as help prints them, `a=on,b=off`, by name."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def parse_flags(text: str, option: Option, before: str | None, target: Target) -> TakenValue:
    """Flags set over what was there before; setting one twice is refused."""
    state, bad = _read_flags(text, option, before, target)
    if bad is not None:
        return TakenValue(
            Outcome.INVALID, None, f"{quote_value(bad)} is no flag with =on, =off or =default, or is there twice."
        )
    return TakenValue(Outcome.ACCEPTED, _print_flags(state))


def flags_before_error(text: str, option: Option, before: str | None) -> str:
    """What MariaDB makes of flags of which one is bad, where it goes on: those before the bad one are set."""
    state, _ = _read_flags(text, option, before, None)
    return _print_flags(state)


def _read_flags(
    text: str, option: Option, before: str | None, target: Target | None
) -> tuple[dict[str, str], str | None]:
    """The flags that a text sets over those before, and the first bad part of it; no target stands for MariaDB's."""
    defaults = _all_flags(option, option.default)
    changed: dict[str, str] = {}
    whole, bad = False, None
    parts = text.split(",") if text else []
    for at, part in enumerate(parts, 1):
        name, equals, setting = part.partition("=")
        # MySQL takes a beginning for the whole word at the very end of the text, and only there.
        short = target is not None and target.is_mysql and at == len(parts)
        flag = _find_flag(name, defaults, whole=not short or bool(equals))
        if flag == ALL and not equals and not whole:
            whole = True
            continue
        place = find_member(setting, SETTINGS, whole=not short)
        if flag in defaults and flag not in changed and place == SEVERAL and short and setting:
            continue  # MySQL takes the beginning of several words at the very end, and does nothing with it
        if flag is None or flag == ALL or flag in changed or place < 0:
            bad = part
            break
        changed[flag] = SETTINGS[place] if SETTINGS[place] != "default" else defaults[flag]
    state = defaults if whole or before is None else _all_flags(option, before)
    return state | changed, bad


def _all_flags(option: Option, printed: str | None) -> dict[str, str]:
    """Every flag with its setting; help leaves out those behind the last that is on."""
    known = split_flags(printed or "")
    names = [name for name in option.values if name.lower() != ALL] or list(split_flags(option.default or ""))
    return {name: known.get(name, "off") for name in names}


def _print_flags(state: dict[str, str]) -> str:
    last = max((place for place, setting in enumerate(state.values(), 1) if setting == "on"), default=0)
    return ",".join([f"{name}={setting}" for name, setting in list(state.items())[:last]])


def _find_flag(name: str, flags: dict[str, str], *, whole: bool) -> str | None:
    names = (*flags, ALL)
    place = find_member(name, names, whole=whole)
    return names[place] if place >= 0 else None


_ANSI = ("REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE")
_OTHERS = ("PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS", "NO_FIELD_OPTIONS")
# What each server printed for the mode alone; members that a target doesn't have are passed over.
MODE_EXPANSIONS = {
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
REMOVED_MODES = (
    *("DB2", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40", "NO_AUTO_CREATE_USER", "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS"),
    *("NO_TABLE_OPTIONS", "ORACLE", "POSTGRESQL"),
)


def parse_sql_mode(case: ValueContext) -> TakenValue | None:
    """A list of modes, printed with all that they bring."""
    if not case.option.values:
        return None
    bits = parse_set_bits(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    if bits is None:
        return _refuse_removed_mode(case)
    values = case.option.values
    return TakenValue(Outcome.ACCEPTED, expand_modes(members_of_bits(bits, values), values, case.target))


def _refuse_removed_mode(case: ValueContext) -> TakenValue | None:
    """Modes of MySQL 5.7 alone stand in the way; None where others do."""
    strange = unknown_words(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    gone = [mode.strip().upper() for mode in strange]
    if not case.target.is_mysql or not set(gone) <= set(REMOVED_MODES):
        return None
    modes = "the modes" if len(gone) > 1 else "the mode"
    return TakenValue(Outcome.INVALID, None, f"MySQL 8.0 removed {modes} {', '.join(gone)}.")


def expand_modes(given: Sequence[str], values: Sequence[str], target: Target) -> str:
    """The modes with all that they bring; MySQL's ANSI brings ONLY_FULL_GROUP_BY too, MariaDB's does not."""
    names = set(given).union(*(MODE_EXPANSIONS.get(mode, ()) for mode in given))
    if "ANSI" in names and target.is_mysql:
        names.add("ONLY_FULL_GROUP_BY")
    return ",".join([mode for mode in values if mode in names])
