"""Flag sets such as optimizer_switch (flag=on, flag=off, flag=default, or default for all), and sql_mode."""

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
    """Return flags as `--verbose --help` prints them, `a=on,b=off`, by name."""
    return dict(part.split("=", 1) for part in text.split(",") if "=" in part)


def parse_flags(text: str, option: Option, before: str | None, target: Target) -> TakenValue:
    """Apply flags to the previous state; setting a flag twice is refused."""
    state, bad = _read_flags(text, option, before, target)
    if bad is not None:
        return TakenValue(
            Outcome.INVALID, None, f"{quote_value(bad)} is no flag with =on, =off or =default, or is there twice."
        )
    return TakenValue(Outcome.ACCEPTED, _print_flags(state))


def flags_before_error(text: str, option: Option, before: str | None) -> str:
    """Return MariaDB's flags behind loose- if one is invalid: those before the invalid one are set."""
    state, _ = _read_flags(text, option, before, None)
    return _print_flags(state)


def _read_flags(
    text: str, option: Option, before: str | None, target: Target | None
) -> tuple[dict[str, str], str | None]:
    """Return the resulting flags and the first invalid part; `target` None applies MariaDB's rules."""
    defaults = _all_flags(option, option.default)
    changed: dict[str, str] = {}
    whole, bad = False, None
    parts = text.split(",") if text else []
    for at, part in enumerate(parts, 1):
        name, equals, setting = part.partition("=")
        # MySQL accepts abbreviations only at the very end of the text.
        short = target is not None and target.is_mysql and at == len(parts)
        flag = _find_flag(name, defaults, whole=not short or bool(equals))
        if flag == ALL and not equals and not whole:
            whole = True
            continue
        place = find_member(setting, SETTINGS, whole=not short)
        if flag in defaults and flag not in changed and place == SEVERAL and short and setting:
            continue  # MySQL accepts an ambiguous abbreviation at the very end, and ignores it
        if flag is None or flag == ALL or flag in changed or place < 0:
            bad = part
            break
        changed[flag] = SETTINGS[place] if SETTINGS[place] != "default" else defaults[flag]
    state = defaults if whole or before is None else _all_flags(option, before)
    return state | changed, bad


def _all_flags(option: Option, printed: str | None) -> dict[str, str]:
    """Return every flag with its setting; `--verbose --help` omits those after the last that is on."""
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
# Values that each server printed for the mode alone; members that a target does not have are dropped.
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
# Modes of MySQL 5.7 that 8.0 removed.
REMOVED_MODES = (
    *("DB2", "MAXDB", "MSSQL", "MYSQL323", "MYSQL40", "NO_AUTO_CREATE_USER", "NO_FIELD_OPTIONS", "NO_KEY_OPTIONS"),
    *("NO_TABLE_OPTIONS", "ORACLE", "POSTGRESQL"),
)


def parse_sql_mode(case: ValueContext) -> TakenValue | None:
    """Parse a list of SQL modes; the value includes the modes that combination modes stand for."""
    if not case.option.values:
        return None
    bits = parse_set_bits(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    if bits is None:
        return _refuse_removed_mode(case)
    values = case.option.values
    return TakenValue(Outcome.ACCEPTED, expand_modes(members_of_bits(bits, values), values, case.target))


def _refuse_removed_mode(case: ValueContext) -> TakenValue | None:
    """Return a refusal if the only unknown modes are those that MySQL 8.0 removed; None otherwise."""
    strange = unknown_words(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    gone = [mode.strip().upper() for mode in strange]
    if not case.target.is_mysql or not set(gone) <= set(REMOVED_MODES):
        return None
    modes = "the modes" if len(gone) > 1 else "the mode"
    return TakenValue(Outcome.INVALID, None, f"MySQL 8.0 removed {modes} {', '.join(gone)}.")


def expand_modes(given: Sequence[str], values: Sequence[str], target: Target) -> str:
    """Expand combination modes; MySQL's ANSI includes ONLY_FULL_GROUP_BY, MariaDB's does not."""
    names = set(given).union(*(MODE_EXPANSIONS.get(mode, ()) for mode in given))
    if "ANSI" in names and target.is_mysql:
        names.add("ONLY_FULL_GROUP_BY")
    return ",".join([mode for mode in values if mode in names])
