"""Texts with a grammar of their own: formats of dates and times, addresses to redirect to, lists of algorithms."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.redaction.secrets import quoted
from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.verdict.outcome import Case

# Which part of a moment each letter stands for; %p is the half of the day that 12 hours need.
PARTS = dict.fromkeys("yY", "year") | dict.fromkeys("cm", "month") | dict.fromkeys("de", "day")
PARTS |= dict.fromkeys("hIlkH", "hour") | dict.fromkeys("sS", "second") | {"i": "minute", "f": "fraction", "p": "half"}
TWELVE = "hIl"
DATE = {"year", "month", "day"}
TIME = {"hour", "minute", "second"}
NEEDED = {"date_format": DATE, "time_format": TIME, "datetime_format": DATE | TIME}
URL = re.compile(r"(?:mysql|mariadb)://(?:[^:]+|[^:]*:\d{1,5})")
HIGHEST_PORT = 65535
ALGORITHMS = frozenset({"zlib", "zstd", "uncompressed"})


def take_format(case: Case) -> Taken | None:
    """A format that nobody uses and that old servers check all the same."""
    if (case.text is None and case.target.is_mysql) or not case.option.shown:
        return None
    text = case.text or ""
    if _is_format(text, NEEDED[case.option.name]):
        return None
    return Taken(Outcome.INVALID, text, f"{quoted(text)} is no format such as {quoted(case.option.default)}.")


def _is_format(text: str, needed: set[str]) -> bool:
    """Every part once and one sign between two of them; 12 hours want %p, and it wants them."""
    if not re.fullmatch(r"%[a-zA-Z](?:[^\w%\x80-\uffff]?%[a-zA-Z])*", text):
        return False
    letters = re.findall(r"%(.)", text)
    if any(letter not in PARTS for letter in letters):
        return False
    parts = [PARTS[letter] for letter in letters]
    extra = set(parts) - needed
    twelve = any(letter in TWELVE for letter in letters)
    allowed = {"fraction", "half"} | (set() if needed == DATE else DATE)
    joined = re.search(r"%[a-zA-Z]%", text) is not None
    return (
        len(set(parts)) == len(parts)
        and needed <= set(parts)
        and extra <= (set() if needed == DATE else allowed)
        and twelve == ("half" in parts)
        and not joined
    )


def take_url(case: Case) -> Taken | None:
    """Where MariaDB sends clients on to: nothing, or a host with a port."""
    text = case.text or ""
    port = text.rpartition(":")[2]
    if not text or (URL.fullmatch(text) and not (port.isdecimal() and int(port) > HIGHEST_PORT)):
        return None
    return Taken(
        Outcome.INVALID, text, f"{quoted(text)} is no address such as mysql://host:3306 or mariadb://host:3306."
    )


def take_algorithms(case: Case) -> Taken | None:
    """Algorithms that connections may use; a list with any other word in it is dropped for the default."""
    text = case.text
    if text is None or all(word.lower() in ALGORITHMS for word in text.split(",")):
        return None
    why = f"The server takes its default, {case.option.default}: {quoted(text)} is no list of zlib, zstd, uncompressed."
    return Taken(Outcome.ADJUSTED, case.option.default, why)
