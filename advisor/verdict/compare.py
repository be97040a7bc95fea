"""Whether two notations of a value are the same value: the file's, help's, and that of SHOW GLOBAL VARIABLES."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.verdict.outcome import LineVerdict

NOTATIONS = {"TRUE": "ON", "FALSE": "OFF", "1": "ON", "0": "OFF", "(NO DEFAULT VALUE)": "", "NULL": ""}


def matches_running(line: LineVerdict, running: str) -> bool:
    """Whether a running value is what the line makes, in another notation maybe."""
    return any(is_same_value(text, running) for text in (line.value, line.running) if text is not None)


def is_same_value(made: str, running: str) -> bool:
    """Whether both say the same; a relative path or a bare name is the same as the path that the server made of it."""
    return normalise_value(made) == normalise_value(running) or _is_path_of(made, running)


def normalise_value(text: str) -> str:
    """One notation for what is one value: words, decimals, the order of a list's members, capitals."""
    text = text.strip().rstrip("/").upper()
    whole = _expand_number(text) if "." in text or "E+" in text else text
    return NOTATIONS.get(whole, ",".join(sorted(whole.split(","))))


def _expand_number(text: str) -> str:
    """Decimals and exponents as digits alone, where they are numbers."""
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def _is_path_of(made: str, running: str) -> bool:
    short = normalise_value(made)
    return bool(short) and running.upper().rstrip("/").endswith("/" + short.removeprefix("./"))
