"""Suggests the known word that a mistyped word probably means."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Return the known word closest to this one; None if none is close. Ignores case and the difference of - and _."""
    from difflib import get_close_matches

    by_key = {_key(name): name for name in known}
    found = get_close_matches(_key(word.strip()), by_key, 1)
    return by_key[found[0]] if found else None


def _key(word: str) -> str:
    return word.lower().replace("_", "-")


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return `; did you mean X?` to append to a message; if no word is close, `; ` and `otherwise`."""
    meant = nearest_word(word, known)
    if meant is not None:
        return f"; did you mean {meant}?"
    return f"; {otherwise}" if otherwise else ""
