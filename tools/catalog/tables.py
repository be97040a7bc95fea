"""Read and write the raw facts: tab-separated tables with a header row, one option or variable per row."""

from __future__ import annotations

import os

FACTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts")

Row = dict[str, str]
Version = tuple[int, ...]


def read(*parts: str) -> list[Row]:
    """The rows of a table under facts/ as dictionaries; empty if there is no such table."""
    path = os.path.join(FACTS, *parts)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", newline="") as f:
        header, *rows = [line.split("\t") for line in f.read().split("\n") if line]
    for row in rows:
        assert len(row) == len(header), (path, row)
    return [dict(zip(header, row, strict=True)) for row in rows]


def write(rows: list[Row], header: list[str], *parts: str) -> None:
    """Write a table under facts/; tabs and line ends in a cell are an error, because the format has no escapes."""
    path = os.path.join(FACTS, *parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    lines = [header, *([row.get(column, "") for column in header] for row in rows)]
    assert not any(c in cell for line in lines for cell in line for c in "\t\n\r"), path
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.writelines("\t".join(line) + "\n" for line in lines)


def canonical(name: str) -> str:
    """An option's or variable's name in the notation of the catalog: lower case, underscores."""
    return name.strip().lower().replace("-", "_")


def version(text: str) -> Version:
    """The numbers of a version such as 8.0.36."""
    return tuple(int(n) for n in text.split("."))


def dotted_version(numbers: Version) -> str:
    """A version in the usual notation."""
    return ".".join(str(n) for n in numbers)
