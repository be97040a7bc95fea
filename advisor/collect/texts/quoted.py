"""Texts that a mail quotes or a ticket indents: every line of a table stands behind the same marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The marks before a line that begins a table, whatever its form.
_BEGINS = re.compile(
    r"((?:> ?)+|[ \t]+)(?=\+-{3,}|\| *variable_name *\||\"?variable_name\"?[\t,; ]|\*{5,} 1\. row)", re.IGNORECASE
)


def unquoted(lines: Iterable[str]) -> Iterator[str]:
    """The lines without the marks that stand before a table, from there to the first line without them."""
    marks = ""
    for line in lines:
        if found := _BEGINS.match(line):
            marks = found[1]
        elif not line.startswith(marks.rstrip()):
            marks = ""
        yield line.removeprefix(marks) if line.startswith(marks) else line.removeprefix(marks.rstrip())
