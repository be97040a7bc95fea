"""Parse the user's `--option` values of a probe by kind; options that were not given have the probe's defaults."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.core.model import UNITS, exact_size
from probes.experiment import ProbeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from probes.experiment import Choice, ProbeRequest

    Read = TypeVar("Read")

SIZE_FACTORS = {letter: step for step, letter in UNITS} | {"": 1}
UNIT_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}


class ChosenOptions:
    """The options of one run; a name that the probe does not offer is a programming error."""

    def __init__(self, offered: tuple[Choice, ...], request: ProbeRequest) -> None:
        """Raises ProbeError for an option that the probe does not offer."""
        self._values = {choice.name: choice.default for choice in offered}
        for name in request.choices:
            if name not in self._values:
                known = ", ".join(self._values) or "nothing"
                raise ProbeError(f"this probe has no option {name!r}; its options: {known}")
        self._values.update(request.choices)

    def word(self, name: str, *among: str) -> str:
        """A word, one of `among` if given."""
        return self._parse(name, self._values[name].strip(), lambda text: _require_one_of(text, among))

    def words(self, name: str, *among: str) -> list[str]:
        """A comma-separated list of words."""
        return self._parse_list(name, lambda text: _require_one_of(text, among))

    def size(self, name: str, least: int = 1) -> int:
        """Bytes; accepts sizes such as 128K and 1.5G, and plain digits."""
        return self._parse(name, self._values[name], lambda text: _parse_size(text, least))

    def sizes(self, name: str, least: int = 1) -> list[int]:
        """A comma-separated list of sizes."""
        return self._parse_list(name, lambda text: _parse_size(text, least))

    def number(self, name: str, least: int = 0) -> int:
        """An integer."""
        return self._parse(name, self._values[name], lambda text: _require_minimum(int(text), least))

    def numbers(self, name: str, least: int = 0) -> list[int]:
        """A comma-separated list of integers."""
        return self._parse_list(name, lambda text: _require_minimum(int(text), least))

    def _parse_list(self, name: str, read: Callable[[str], Read]) -> list[Read]:
        parts = [part.strip() for part in self._values[name].split(",") if part.strip()]
        if not parts:
            raise ProbeError(f"{name} is empty: give at least one value")
        return list(dict.fromkeys(self._parse(name, part, read) for part in parts))

    def _parse(self, name: str, text: str, read: Callable[[str], Read]) -> Read:
        try:
            return read(text)
        except ValueError as error:
            why = f" ({error})" if "literal" not in str(error) else ": use an integer"
            raise ProbeError(f"invalid value {name}={text}{why}") from None


def parse_duration(text: str) -> float | None:
    """Seconds of a duration such as 60s, 10m, 3h or 90; None if it is invalid."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h)?", text.strip())
    return float(match[1]) * UNIT_SECONDS[match[2] or ""] or None if match else None


def _parse_size(text: str, least: int) -> int:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGTPE]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise ValueError("use a number with K, M or G, such as 128M")
    return _require_minimum(int(float(match[1]) * SIZE_FACTORS[match[2].upper()]), least, exact_size)


def _require_minimum(number: int, least: int, written: Callable[[int], str] = str) -> int:
    if number < least:
        raise ValueError(f"minimum {written(least)}")
    return number


def _require_one_of(text: str, among: tuple[str, ...]) -> str:
    if among and text not in among:
        raise ValueError(f"use one of {', '.join(among)}")
    return text
