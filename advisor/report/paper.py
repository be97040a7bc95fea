"""The paper that a report is printed on: how wide, in colour or not, and which characters it has."""

from __future__ import annotations

import os
import sys

from advisor.core.value_types import NamedTuple
from advisor.report.words import WIDTH

NARROWEST, WIDEST = 40, 120
# What reports are written with beyond ASCII, and what stands for it where the terminal has no more.
PLAIN = str.maketrans({
    "\u2013": "-", "…": "...", "·": "-", "\u00d7": "x", "≥": ">=", "≤": "<=", "µ": "u", "±": "+-",
    "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "┤": "|", "├": "|", "┬": "+", "┴": "+", "┼": "+",
    "←": "<-", "→": "->", "†": "*",
})  # fmt: skip


class Paper(NamedTuple):
    """`width` in columns; `plain` where nothing beyond ASCII can be shown."""

    width: int = WIDTH
    colour: bool = False
    plain: bool = False

    @classmethod
    def to(cls, path: str | None) -> Paper:
        """The page for a file, or for stdout: as wide as its terminal and in what it can show."""
        from advisor.report.output import colour_wanted

        if path is not None:
            return cls()
        return cls(_columns(), colour_wanted(path), "utf" not in (sys.stdout.encoding or "").lower())

    @classmethod
    def of_width(cls, path: str | None) -> Paper:
        """The page for a file, or for stdout: of the usual width everywhere, coloured on a terminal that wants it."""
        from advisor.report.output import colour_wanted

        return cls(colour=colour_wanted(path))

    def fitted(self, text: str) -> str:
        """The text in the page's characters; a question mark stands for what has no other."""
        return text.translate(PLAIN).encode("ascii", "replace").decode() if self.plain else text


def _columns() -> int:
    try:
        return max(NARROWEST, min(WIDEST, os.get_terminal_size(sys.stdout.fileno()).columns))
    except (OSError, ValueError):
        return WIDTH
