"""Which files a run may write to, and which lines of them are anybody's to edit."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.optionfile.lines import Kind

if TYPE_CHECKING:
    from advisor.core.model import Edit
    from advisor.fixing.reading import Reading
    from advisor.fixing.texts import Texts


def forbidden(path: str, named: str, texts: Texts, reading: Reading) -> str | None:
    """Why a file that a reading came by may not be edited, None where it may.

    The named file may, wherever its links lead. A file that it includes may where it really lies beside the named one
    or below: an include line, or a link, that leads elsewhere is no leave to write there.
    """
    if path not in texts.given and path != named and not (named not in texts.given and _lies_beside(path, named)):
        return f"it lies outside the folder of {named}: name it to have it fixed"
    file = next(file for file in reading.verdict.resolved.files if file.path == path)
    if any(line.templated and line.kind is Kind.COMMENT for line in file.lines):
        return "it is a template, whose statements decide which of its lines count"
    return None


def templated_lines(path: str, reading: Reading) -> frozenset[int]:
    """The lines of a file whose text a template makes later."""
    file = next(file for file in reading.verdict.resolved.files if file.path == path)
    return frozenset(line.number for line in file.lines if line.templated)


def lines_of(edit: Edit) -> range:
    """The lines that an edit touches; one that ends before a line's first column leaves that line alone."""
    whole = edit.end_column == 1 and edit.end_line > edit.line
    return range(edit.line, edit.end_line + (not whole))


def _lies_beside(path: str, named: str) -> bool:
    real = os.path.realpath(path)
    homes = {os.path.dirname(os.path.realpath(named)), os.path.realpath(os.path.dirname(named) or ".")}
    return any(os.path.commonpath((home, real)) == home for home in homes)
