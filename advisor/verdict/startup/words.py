"""Values that help prints as they were written, and a running server in its own spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.flags import flags_of
from advisor.verdict.real import take_real

if TYPE_CHECKING:
    from advisor.verdict.startup import Start

SPELT = ("InnoDB", "MyISAM", "MEMORY", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "Aria")
OTHER_NAMES = {"heap": "MEMORY", "innobase": "InnoDB", "merge": "MRG_MYISAM"}
CONSISTENCY = {"0": "OFF", "false": "OFF", "1": "ON", "true": "ON", "2": "WARN"}
MOST_ERROR = 13999
DDL_EXIST_ERRORS = "1007,1008,1050,1051,1054,1060,1061,1068,1091,1146"


def storage_engine(start: Start, name: str) -> str | None:
    """The engine's name as the engine spells it."""
    written = start.values[name].lower()
    return OTHER_NAMES.get(written) or next((engine for engine in SPELT if engine.lower() == written), None)


def gtid_consistency(start: Start, name: str) -> str:
    """OFF, ON or WARN, however it was said."""
    written = start.values[name].lower()
    return CONSISTENCY.get(written, written.upper())


def skipped_errors(start: Start, name: str) -> str | None:
    """The numbers of errors that a replica passes over, in order; a word stands for some of them."""
    text = start.values[name].strip(" ")
    if text.lower() in ("all", "off", ""):
        return text.upper() or None
    if text.lower() == "ddl_exist_errors":
        return DDL_EXIST_ERRORS
    digits = "".join(c if c.isdigit() and c.isascii() else " " for c in text)
    numbers = sorted({int(word) for word in digits.split() if int(word) <= MOST_ERROR})
    return ",".join(map(str, numbers)) or "OFF"


def flags(start: Start, name: str) -> str | None:
    """All flags: help leaves out those behind the last that is on."""
    option = start.catalog.get(name)
    if option is None or not option.values:
        return None
    state = flags_of(start.values[name])
    return ",".join([f"{flag}={state.get(flag, 'off')}" for flag in option.values if flag.lower() != "default"])


def decimal(start: Start, name: str) -> str | None:
    """Six decimals, where help rounds to fewer digits."""
    option, written = start.catalog.get(name), start.lines[name].placed.line.value
    printed = float(start.values[name])
    number = printed
    if option and written and take_real(written, option, start.catalog.target).value == start.values[name]:
        number = min(float(written), float(option.max)) if option.max else float(written)
        number = number if option.min is None else max(number, float(option.min))
    return f"{number:.6f}" if round(number, 6) != printed else None
