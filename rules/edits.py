"""Edits of an option file that mend a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.model import Edit, Fix

if TYPE_CHECKING:
    from advisor.optionfile.lines import Line

SAFE = "safe"
UNSAFE = "unsafe"


def rename(line: Line, name: str, applicability: str) -> Fix:
    """Write another name for the option; its value stays."""
    return Fix(applicability, (Edit(line.number, line.column, line.number, line.end_column, name),))


def revalue(line: Line, value: str, applicability: str) -> Fix | None:
    """Write another value; None where the line has no value to replace."""
    if line.raw is None:
        return None
    edit = Edit(line.number, line.value_column, line.number, line.value_end_column, value)
    return Fix(applicability, (edit,))


def remove(line: Line, applicability: str) -> Fix:
    """Take the whole line out."""
    return Fix(applicability, (Edit(line.number, 1, line.number + 1, 1, ""),))
