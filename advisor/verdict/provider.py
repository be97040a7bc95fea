"""The values that a provider's own list allows for a parameter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.verdict.declared import ProviderParameter

NUMERIC = ("integer", "float", "boolean", "long", "double", "numeric")  # data types of the lists that hold numbers
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PATTERN = re.compile(r"[\[\](){}^$*+\\|?]")  # marks of a regular expression, which some lists hold


def is_allowed(value: str, row: ProviderParameter) -> bool:
    """Whether a provider's list allows a value; True if the notation of the list is not understood."""
    allowed = row.allowed.strip()
    parts = [part.strip() for part in allowed.split(",")]
    text = value.strip()
    ranges = [found for part in parts if (found := _RANGE.fullmatch(part))]
    words = {part.lower() for part in parts if not _RANGE.fullmatch(part)}
    if any(map(_PATTERN.search, words)):
        return True
    if text.lower() in words or any(_in_range(text, found) for found in ranges):
        return True
    if words and not ranges:
        return all(part.strip().lower() in words for part in text.split(","))
    return _NUMBER.fullmatch(text) is None and row.data_type not in NUMERIC


def _in_range(text: str, found: re.Match[str]) -> bool:
    return _NUMBER.fullmatch(text) is not None and float(found[1]) <= float(text) <= float(found[2])


def valid_values(option: Option) -> str:
    """Return which values are valid, where the catalog knows it."""
    if option.values:
        return f"valid: {shortened(', '.join(option.values))}"
    if option.kind == "bool":
        return "valid: 0 and 1"
    if option.min is not None and option.max is not None:
        return f"valid: {option.min} to {option.max}"
    return ""


def shortened(text: str, most: int = 120) -> str:
    """Return the text, cut off after `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"
