"""Which edits bring options under a group header that the server reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Edit, Fix
from advisor.optionfile.lines import Kind
from advisor.verdict import REFUSED, take
from rules.subject import UNSAFE, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.optionfile.lines import Line, OptionFile
    from rules.known import Known

GROUP = "mysqld"


def closed(line: Line) -> Fix | None:
    """A group header with its bracket; None where more than that is missing."""
    text = line.text[line.column - 1 : line.end_column - 1]
    if not text.startswith("[") or not text[1:].replace("-", "").replace(".", "").replace("_", "").isalnum():
        return None
    return Fix(UNSAFE, (Edit(line.number, line.end_column, line.number, line.end_column, "]"),))


def headed(outside: Sequence[Line], known: Known) -> Fix | None:
    """A header above the options that stand before any; None where the server would refuse one of them under it."""
    if not all(_is_taken(line, known) for line in outside):
        return None
    first = outside[0].number
    return Fix(UNSAFE, (Edit(first, 1, first, 1, f"[{GROUP}]\n"),))


def moved(file: OptionFile, line: Line, known: Known) -> Fix | None:
    """The line under the file's first [mysqld]; taken out where the server is given the option already."""
    out = Edit(line.number, 1, line.number + 1, 1, "")
    if written(line) in known.file_verdict.effective:
        return Fix(UNSAFE, (out,))
    header = next((x for x in file.lines if x.kind is Kind.GROUP and x.name == GROUP), None)
    if header is None or not header.text.endswith("\n") or not _is_taken(line, known):
        return None
    below = header.number + 1
    return Fix(UNSAFE, (Edit(below, 1, below, 1, line.text.rstrip("\r\n") + "\n"), out))


def _is_taken(line: Line, known: Known) -> bool:
    return take(line.name or "", line.value, known.catalog).outcome not in REFUSED
