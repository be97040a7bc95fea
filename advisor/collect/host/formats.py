"""Parsers for small text formats in /proc and /sys: numbers, sizes, processor lists, `key: value` tables.

Every function accepts any text: invalid values become None or are left out, because the texts may come from other
machines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.collect.host.root import Root

MAX_CPU = 1 << 16
"""Processor numbers from here on are invalid; the kernel's maximum is 8,192."""
_NUMBER = re.compile(r"\s*(-?[0-9]{1,20})\s*")
_SIZE = re.compile(r"\s*([0-9]{1,15})\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_number(text: str | None) -> int | None:
    """A text that is a single decimal number, else None."""
    found = _NUMBER.fullmatch(text) if text is not None else None
    return int(found[1]) if found else None


def parse_size(text: str | None) -> int | None:
    """A size in bytes from "32K", "4096", "64 kB"; in powers of 1024, as in the kernel."""
    found = _SIZE.fullmatch(text) if text is not None else None
    return int(found[1]) << _UNITS[found[2].upper()] if found else None


def printable_line(text: str | None) -> str | None:
    """The first line, stripped, with unprintable characters replaced by blanks; None if nothing is left."""
    if text is None:
        return None
    line = text.strip().partition("\n")[0]
    return "".join(c if c.isprintable() else " " for c in line).strip() or None


def bracketed_choice(text: str | None) -> str | None:
    """The selected choice of "always [madvise] never"; None if there is none."""
    found = re.search(r"\[([^\]\s]+)\]", text or "")
    return printable_line(found[1]) if found else None


def cpu_list(text: str | None) -> tuple[int, ...]:
    """The numbers of "0-3,8,10-14:2"."""
    numbers: set[int] = set()
    for part in (text or "").strip().split(","):
        found = re.fullmatch(r"\s*([0-9]{1,6})(?:-([0-9]{1,6})(?::([0-9]{1,6}))?)?\s*", part)
        if found:
            first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
            numbers.update(range(first, min(last, MAX_CPU) + 1, max(step, 1)))
    return tuple(sorted(n for n in numbers if n < MAX_CPU))


def cpu_mask(text: str | None) -> frozenset[int]:
    """The numbers whose bits are set in "00000000,0000ff00"."""
    digits = (text or "").strip().replace(",", "")
    if not re.fullmatch(r"[0-9a-fA-F]{1,16384}", digits):
        return frozenset()
    bits = int(digits, 16)
    return frozenset(n for n in range(bits.bit_length()) if bits >> n & 1)


def key_values(text: str | None, separator: str = ":") -> dict[str, str]:
    """Lines of "key: value" by key; the first of equal keys wins."""
    rows: dict[str, str] = {}
    for line in (text or "").split("\n"):
        key, found, value = line.partition(separator)
        if found:
            rows.setdefault(key.strip(), value.strip())
    return rows


def read_number(root: Root, path: str) -> int | None:
    """The number in a file."""
    return parse_number(root.read(path, 64))


def read_line(root: Root, path: str) -> str | None:
    """The first line of a file, made printable."""
    return printable_line(root.read(path, 4096))
