"""What a mistyped word probably means, out of the few that would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one, in any case; None where none is like it."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(word.strip().lower().replace("_", "-"), by_lower, 1)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`; did you mean X?` for the end of a message, or `otherwise` behind a semicolon where nothing is like it."""
    meant = nearest_word(word, known)
    if meant is not None:
        return f"; did you mean {meant}?"
    return f"; {otherwise}" if otherwise else ""
