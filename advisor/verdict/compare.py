"""Compares values in different notations: option file, `--verbose --help` and SHOW GLOBAL VARIABLES."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.verdict.outcome import LineVerdict

NOTATIONS = {"TRUE": "ON", "FALSE": "OFF", "1": "ON", "0": "OFF", "(NO DEFAULT VALUE)": "", "NULL": ""}


def matches_running(line: LineVerdict, running: str) -> bool:
    """Whether a running value equals the line's value, possibly in another notation."""
    return any(is_same_value(text, running) for text in (line.value, line.running) if text is not None)


def is_same_value(made: str, running: str) -> bool:
    """Whether both values are the same; a relative path or bare name equals the absolute path that ends with it."""
    return normalise_value(made) == normalise_value(running) or _is_path_of(made, running)


def normalise_value(text: str) -> str:
    """Return a value in one notation: booleans, decimals, sorted list members, upper case."""
    text = text.strip().rstrip("/").upper()
    whole = _expand_number(text) if "." in text or "E+" in text else text
    return NOTATIONS.get(whole, ",".join(sorted(whole.split(","))))


def _expand_number(text: str) -> str:
    """Return a decimal or exponent number as plain digits; other text is returned unchanged."""
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def _is_path_of(made: str, running: str) -> bool:
    short = normalise_value(made)
    return bool(short) and running.upper().rstrip("/").endswith("/" + short.removeprefix("./"))
