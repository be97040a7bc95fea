"""Compares the values of a setting on two sides."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from advisor.upgrade.equal import SAME, is_equivalent, is_flags
from advisor.verdict.settings import NOTATIONS, normalise_value
from advisor.verdict.words import charset_of
from advisor.verdict.words import full_charset_name as charset

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.compare.values import SideSetting

# Settings whose values are case-insensitive and unordered: names of objects that the servers know.
CASELESS_NAMES = (
    "character_set",
    "collation",
    "default_collation",
    "disabled_storage_engines",
    "lc_",
    "tls_version",
    "log_output",
)
ENGINES = "_engine"
TEXT = "string"
NUMBERS = frozenset({"int", "uint", "double"})
DIGITS = 40  # more than any number that a server prints


def values_equal(a: SideSetting, b: SideSetting) -> bool:
    """Whether both known values are equal, ignoring notation, order and case where they do not matter."""
    mine, other = a.converted_value or a.value or "", b.converted_value or b.value or ""
    if mine == other:
        return True
    if a.converted_value or b.converted_value:
        return _numbers_equal(mine, other)
    if a.option is None or b.option is None:
        return _numbers_equal(mine, other) or _texts_equal(b.name, mine, other)
    return _equal_by_kind(b.name, mine, other, (a.option, b.option))


def _equal_by_kind(name: str, mine: str, other: str, options: tuple[Option, Option]) -> bool:
    """Compare two values of options that are in the catalogs, by kind."""
    kinds = {option.kind for option in options}
    if is_flags(mine, options[0]) and is_flags(other, options[1]):
        return is_equivalent(mine, other, *options)
    if kinds == {TEXT}:
        return _texts_equal(name, mine, other) or (name in SAME and is_equivalent(mine, other, *options))
    if kinds <= NUMBERS and _number(mine) is not None and _number(other) is not None:
        return _numbers_equal(mine, other)
    return _numbers_equal(mine, other) or is_equivalent(mine, other, *options)


def _numbers_equal(mine: str, other: str) -> bool:
    one, two = _number(mine), _number(other)
    return one is not None and one == two


def _number(text: str) -> Decimal | None:
    if len(text) > DIGITS or not text[-1:].isdigit():
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _texts_equal(name: str, mine: str, other: str) -> bool:
    if name.startswith(CASELESS_NAMES) or name.endswith(ENGINES):
        return normalise_value(_utf8mb3(mine)) == normalise_value(_utf8mb3(other))
    if mine.upper() in NOTATIONS or other.upper() in NOTATIONS:
        return normalise_value(mine) == normalise_value(other)
    return _strip_slash(mine) == _strip_slash(other)


def _strip_slash(text: str) -> str:
    return text.rstrip("/") or text


def _utf8mb3(text: str) -> str:
    """Replace utf8 by utf8mb3, in collation names too."""
    first = charset_of(text)
    return charset(first) + text[len(first) :]


def is_completed_path(written: SideSetting, running: SideSetting) -> bool:
    """Whether the file's name or path is the end of the path that the server reports."""
    short = _strip_slash((written.value or "").removeprefix("./"))
    return bool(short) and _strip_slash(running.value or "").endswith(f"/{short}")
