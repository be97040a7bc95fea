"""Texts: names, paths, lists, and whatever else the server reads letter by letter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.verdict.outcome import Outcome, Taken

if TYPE_CHECKING:
    from advisor.model import Target


def take_string(text: str | None, target: Target) -> Taken:
    """A text, as it is; without a value MySQL leaves what was there, MariaDB empties it."""
    if text is None:
        return Taken(Outcome.ACCEPTED, None if target.is_mysql else "")
    return Taken(Outcome.ACCEPTED, text)
