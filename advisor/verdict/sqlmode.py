"""sql_mode: a set some of whose members bring others with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.enumeration import members, set_bits, strangers
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Target
    from advisor.verdict.outcome import Case

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


def take_sql_mode(case: Case) -> Taken | None:
    """A list of modes, printed with all that they bring."""
    if not case.option.values:
        return None
    bits = set_bits(case.text or "", case.option.values, equals_ends=case.target.is_mysql)
    if bits is None:
        return _gone(case)
    values = case.option.values
    return Taken(Outcome.ACCEPTED, with_brought(members(bits, values), values, case.target))


def _gone(case: Case) -> Taken | None:
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
