"""Compares values in different notations: option file, `--verbose --help` and SHOW GLOBAL VARIABLES."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.verdict.outcome import LineVerdict

OF_PROVIDER = ("gcache.size", "gmcast.listen_addr")  # listed by every version of Galera's provider
BOOLEANS = {"YES": "ON", "TRUE": "ON", "1": "ON", "NO": "OFF", "FALSE": "OFF", "0": "OFF"}
UNITS = {"D": 86400, "H": 3600, "M": 60, "S": 1}  # a period of months would be of no use to a cluster
NOTATIONS = {"TRUE": "ON", "FALSE": "OFF", "1": "ON", "0": "OFF", "(NO DEFAULT VALUE)": "", "NULL": ""}


def matches_running(line: LineVerdict, running: str) -> bool:
    """Whether a running value equals the line's value, possibly in another notation."""
    return any(is_same_value(text, running) for text in (line.value, line.running) if text is not None)


def is_same_value(made: str, running: str) -> bool:
    """Whether both values are the same; a relative path or bare name equals the absolute path that ends with it.

    The options of Galera's provider are the same if the running node has each of those that are set: it lists all that
    it knows, with defaults.
    """
    return (
        normalise_value(made) == normalise_value(running)
        or _is_path_of(made, running)
        or (all(name in running for name in OF_PROVIDER) and _are_in_force(made, running))
    )


def normalise_value(text: str) -> str:
    """Return a value in one notation: booleans, decimals, sorted list members, upper case."""
    text = text.strip().rstrip("/").upper()
    whole = _expand_number(text) if "." in text or "E+" in text else text
    return NOTATIONS.get(whole, ",".join(sorted(whole.split(","))))


def _are_in_force(made: str, running: str) -> bool:
    values = _provider_options(running)
    return all(values.get(name) == value for name, value in _provider_options(made).items() if name)


def _provider_options(text: str) -> dict[str, str]:
    """Provider options by name; yes and no are booleans, and periods (PT1M) are in seconds."""
    pairs = (part.partition("=") for part in text.split(";"))
    return {
        name.strip(): _seconds(BOOLEANS.get(value.strip().upper(), value.strip().upper())) for name, _, value in pairs
    }


def _seconds(text: str) -> str:
    """A period such as P1D or PT1M30S in seconds; other text is returned unchanged."""
    if not text.startswith("P"):
        return text
    total, digits = 0.0, ""
    for letter in text.removeprefix("P").replace("T", ""):
        if letter in UNITS and digits:
            total, digits = total + float(digits) * UNITS[letter], ""
        elif letter.isdigit() or (letter == "." and "." not in digits):
            digits += letter
        else:
            return text
    return text if digits else f"{total:g}"


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
