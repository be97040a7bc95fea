"""Values that help prints as they were written, and a running server in its own spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.sets import split_flags
from advisor.verdict.settled import is_switched_on

if TYPE_CHECKING:
    from advisor.verdict.outcome import LineVerdict
    from advisor.verdict.settled import StartupSettings

ENGINE_SPELLINGS = ("InnoDB", "MyISAM", "MEMORY", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "Aria")
OTHER_NAMES = {"heap": "MEMORY", "innobase": "InnoDB", "merge": "MRG_MYISAM"}
CONSISTENCY = {"0": "OFF", "off": "OFF", "false": "OFF", "1": "ON", "on": "ON", "true": "ON"}
CONSISTENCY |= {"2": "WARN", "warn": "WARN"}
MAX_ERROR = 13999
MAX_DIGITS = 20  # zeros in front of it included
DDL_EXIST_ERRORS = "1007,1008,1050,1051,1054,1060,1061,1068,1091,1146"


def storage_engine(start: StartupSettings, name: str) -> str | None:
    """The engine's name as the engine spells it."""
    written = start.values[name].lower()
    return OTHER_NAMES.get(written) or next((engine for engine in ENGINE_SPELLINGS if engine.lower() == written), None)


def gtid_consistency(start: StartupSettings, name: str) -> str:
    """OFF, ON or WARN, however it is said: no value is ON, which help does not print; other words leave the default."""
    default = option.default or "" if (option := start.catalog.get(name)) else ""
    words = [start.values.get(name, default).lower(), default.lower()]
    if name in start.lines and is_switched_on(start.lines[name]):
        return "ON"
    return next((CONSISTENCY[word] for word in words if word in CONSISTENCY), "OFF")


def skipped_errors(start: StartupSettings, name: str) -> str | None:
    """The numbers of errors that a replica passes over, in order; a word stands for some of them."""
    text = start.values[name].strip(" ")
    if text.lower() in ("all", "off", ""):
        return text.upper() or None
    if text.lower() == "ddl_exist_errors":
        return DDL_EXIST_ERRORS
    digits = "".join(c if c.isdigit() and c.isascii() else " " for c in text)
    numbers = sorted({int(word) for word in digits.split() if len(word) <= MAX_DIGITS and int(word) <= MAX_ERROR})
    return ",".join(map(str, numbers)) or "OFF"


def flags(start: StartupSettings, name: str) -> str | None:
    """All flags: help leaves out those behind the last that is on."""
    option = start.catalog.get(name)
    state = split_flags(start.values[name])
    known = [flag for flag in option.values if flag.lower() != "default"] if option else []
    return ",".join([f"{flag}={state.get(flag, 'off')}" for flag in known]) or None


def decimal(start: StartupSettings, name: str) -> str | None:
    """Six decimals of the number that was written, where help rounds it to fewer digits."""
    printed = start.values[name]
    lines = (start.lines[name], *start.lines.values())  # another name of the variable may have decided
    number = next(
        (within for line in lines if (within := _limit_to_range(line)) is not None and line.value == printed), None
    )
    return None if number is None or round(number, 6) == float(printed) else f"{number:.6f}"


def _limit_to_range(line: LineVerdict) -> float | None:
    """The number of a line, brought into the range of its option."""
    option, number = line.option, _number(line.placed.line.value)
    if option is None or option.kind != "double" or number is None:
        return None
    number = min(number, float(option.max)) if option.max else number
    return number if option.min is None else max(number, float(option.min))


def _number(written: str | None) -> float | None:
    try:
        return float(written or "")
    except ValueError:
        return None
