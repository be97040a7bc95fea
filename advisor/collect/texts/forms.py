"""What the forms of tables have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.collect.texts.ahead import Ahead

VALUE = r"(?:variable_)?value"
"""The heading of the second column, in any case; the first one is always variable_name."""
WORD = r"[A-Za-z_][\w.-]*"
NAME = r"[A-Za-z_](?:[\w.: -]*\w)?"  # MySQL 9.7 has counters with blanks in their names
MOST_LINES = 1000  # of one value; what goes on for longer is no row


def is_last(ahead: Ahead, by: int = 0) -> bool:
    """Whether the line ends the text without a line end, so that more of it may have been cut off."""
    return ahead.peek(by + 1) is None
