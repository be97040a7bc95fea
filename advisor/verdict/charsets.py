"""Character sets and collations that each server knows, and the character set of a collation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import quote_value
from advisor.verdict.outcome import Outcome, TakenValue

if TYPE_CHECKING:
    from advisor.core.model import Target
    from advisor.verdict.outcome import ValueContext

# Tested on all six servers as character_set_server.
COMMON = frozenset(
    [
        "armscii8",
        "ascii",
        "big5",
        "binary",
        "cp1250",
        "cp1251",
        "cp1256",
        "cp1257",
        "cp850",
        "cp852",
        "cp866",
        "cp932",
        "dec8",
        "eucjpms",
        "euckr",
        "gb2312",
        "gbk",
        "geostd8",
        "greek",
        "hebrew",
        "hp8",
        "keybcs2",
        "koi8r",
        "koi8u",
        "latin1",
        "latin2",
        "latin5",
        "latin7",
        "macce",
        "macroman",
        "sjis",
        "swe7",
        "tis620",
        "ucs2",
        "ujis",
        "utf16",
        "utf16le",
        "utf32",
        "utf8mb3",
        "utf8mb4",
    ]
)


ENDINGS = ("_ci", "_cs", "_ks", "_bin")


def known_charsets(target: Target) -> frozenset[str]:
    """Return the known character set names; utf8 is an alias of utf8mb3, which MySQL 9.7 no longer accepts."""
    names = COMMON
    if target.is_mysql:
        names |= {"gb18030"}
    return names if target.since("mysql", 9, 7) else names | {"utf8"}


def parse_charset(case: ValueContext) -> TakenValue | None:
    """Parse a character set name, case-insensitively; the value is printed as written."""
    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    # Before 9.7 the server uses the first known name of a list.
    several = case.option.name == "character_set_server" and not case.target.since("mysql", 9)
    for name in text.split(",") if several else [text]:
        if name.lower() in known_charsets(case.target):
            return TakenValue(Outcome.ACCEPTED, name)
    hint = ": write utf8mb4, or utf8mb3 for the old one" if text.lower() == "utf8" else ""
    return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} is no character set of this server{hint}.")


def parse_collation(case: ValueContext) -> TakenValue | None:
    """Parse a collation name, checking its character set and family only; the value is printed as written."""
    if case.text is None and case.target.is_mysql:
        return None
    text = case.text or ""
    whole = text.lower() == "binary" or (text.isidentifier() and text.lower().endswith(ENDINGS))
    if whole and charset_of(text) in known_charsets(case.target) and not _is_newer_family(text, case.target):
        return TakenValue(Outcome.ACCEPTED, text)
    hint = ": write utf8mb4_ or utf8mb3_ for utf8_" if text.lower().startswith("utf8_") else ""
    return TakenValue(Outcome.INVALID, text, f"{quote_value(text)} is no collation of this server{hint}.")


def charset_of(collation: str) -> str:
    """The character set that a collation belongs to."""
    return collation.lower().partition("_")[0]


def _is_newer_family(collation: str, target: Target) -> bool:
    """Whether the target lacks the collation's family: it came in a later version or in the other flavour."""
    name = collation.lower()
    if "_uca1400_" in name:
        return not target.since("mariadb", 10, 10)
    if "_0900_" in name:
        return not (target.since("mysql", 8) or target.since("mariadb", 11, 4, 5))
    return False


def full_charset_name(charset: str) -> str:
    """Return the full name of a character set."""
    return "utf8mb3" if charset.lower() == "utf8" else charset.lower()
