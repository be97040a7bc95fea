"""Values that `--verbose --help` prints as written, and a running server in its own spelling."""

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
MAX_DIGITS = 20  # including leading zeros
DDL_EXIST_ERRORS = "1007,1008,1050,1051,1054,1060,1061,1068,1091,1146"


def storage_engine(start: StartupSettings, name: str) -> str | None:
    """Return the engine's name in its own spelling."""
    written = start.values[name].lower()
    return OTHER_NAMES.get(written) or next((engine for engine in ENGINE_SPELLINGS if engine.lower() == written), None)


def gtid_consistency(start: StartupSettings, name: str) -> str:
    """Return OFF, ON or WARN for any spelling.

    No value means ON, which `--verbose --help` does not print; unknown words leave the default.
    """
    default = option.default or "" if (option := start.catalog.get(name)) else ""
    words = [start.values.get(name, default).lower(), default.lower()]
    if name in start.lines and is_switched_on(start.lines[name]):
        return "ON"
    return next((CONSISTENCY[word] for word in words if word in CONSISTENCY), "OFF")


def skipped_errors(start: StartupSettings, name: str) -> str | None:
    """Return the error numbers that a replica skips, sorted; a word stands for a list of them."""
    text = start.values[name].strip(" ")
    if text.lower() in ("all", "off", ""):
        return text.upper() or None
    if text.lower() == "ddl_exist_errors":
        return DDL_EXIST_ERRORS
    digits = "".join(c if c.isdigit() and c.isascii() else " " for c in text)
    numbers = sorted({int(word) for word in digits.split() if len(word) <= MAX_DIGITS and int(word) <= MAX_ERROR})
    return ",".join(map(str, numbers)) or "OFF"


def flags(start: StartupSettings, name: str) -> str | None:
    """Return all flags: `--verbose --help` omits those after the last that is on."""
    option = start.catalog.get(name)
    state = split_flags(start.values[name])
    known = [flag for flag in option.values if flag.lower() != "default"] if option else []
    return ",".join([f"{flag}={state.get(flag, 'off')}" for flag in known]) or None


def decimal(start: StartupSettings, name: str) -> str | None:
    """Return the written number with six decimals, if `--verbose --help` rounds it to fewer digits."""
    printed = start.values[name]
    lines = (start.lines[name], *start.lines.values())  # another name of the variable may be in effect
    number = next(
        (within for line in lines if (within := _limit_to_range(line)) is not None and line.value == printed), None
    )
    return None if number is None or round(number, 6) == float(printed) else f"{number:.6f}"


def _limit_to_range(line: LineVerdict) -> float | None:
    """Return the number of a line, limited to the range of its option."""
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
