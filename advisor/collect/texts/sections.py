"""Reports of Percona's tools: headings of number signs, and lines `name | value` below them."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEADING = re.compile(r"# (.+?) #{2,}")
_ROUNDED = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)([kMGTP]?)")
_STEPS = {"": 0, "k": 10, "M": 20, "G": 30, "T": 40, "P": 50}


class Section(NamedTuple):
    """What stands under one heading: names with their values, the first of each, and all lines as they are."""

    named: dict[str, str]
    lines: tuple[str, ...]


NOTHING = Section({}, ())


def sections(text: str) -> dict[str, Section]:
    """The parts of a report by their headings; of two with the same the first."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line.rstrip())
        if heading:
            lines = found.setdefault(heading[1], []) if heading[1] not in found else []
        else:
            lines.append(line)
    return {title: Section(_named(under), tuple(under)) for title, under in found.items()}


def _named(lines: list[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for line in lines:
        name, bar, value = line.partition(" | ")
        if bar:
            named.setdefault(name.strip(), value.strip())
    return named


def rounded(text: str) -> int | None:
    """Bytes of a size as these tools shorten it (23.5G, 256k); None for anything else."""
    match = _ROUNDED.fullmatch(text)
    return round(float(match[1]) * (1 << _STEPS[match[2]])) if match else None
