"""The variables in the file that a systemd unit names with `EnvironmentFile=`, by systemd.exec(5)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from advisor.carriers.document import Document
from advisor.carriers.unitlines import assignments, check_words
from advisor.carriers.words import BLANKS, OpenQuoteError, check_length, unit_words
from advisor.core.errors import MycnfError
from advisor.optionfile.source import load

if TYPE_CHECKING:
    from advisor.carriers.piece import Piece

_NAME = r"[A-Za-z_]\w*"
_UNSETTLED = "%*?["  # specifiers and patterns: which files these are, only the host knows
_PROTECTED = '"\\`$'  # what a backslash protects between double quotes


def environment_of(document: Document, named: str, root: str | None) -> dict[str, list[Piece]]:
    """The words of each variable, placed in the document, to which the file's text is added.

    None for a file that isn't here: on the server's host it may say anything. Raises CarrierError for endless ones.
    """
    path = named.removeprefix("-")
    if not path.startswith("/") or any(mark in path for mark in _UNSETTLED):
        return {}
    place = path if root is None else os.path.join(root, path.lstrip("/"))
    try:
        own = Document(place, load(place).data.decode("utf-8"))
    except (MycnfError, UnicodeDecodeError):
        return {}
    found: dict[str, list[Piece]] = {}
    held = 0
    for one in assignments(own):
        if re.fullmatch(_NAME, one.key):
            found[one.key] = _words(one.value)
            held += len(found[one.key])
            check_words(document.path, held)
    start = document.add(place, own.text)
    return {name: [_moved(word, start) for word in words] for name, words in found.items()}


def _words(value: Piece) -> list[Piece]:
    """What `$NAME` becomes in a command, after the quotes of the file and those within the value."""
    try:
        check_length(value)
        return unit_words(_unquoted(value))
    except OpenQuoteError:
        return []


def _unquoted(value: Piece) -> Piece:
    """The value as the variable holds it: quoted or bare, with backslashes as in a shell."""
    text = value.text
    at = len(text) - len(text.lstrip(BLANKS))
    end = len(text.rstrip(BLANKS))
    quote = text[at : at + 1] if text[at : at + 1] in ("'", '"') else ""
    at += len(quote)
    kept = []
    while at < end and text[at] != quote:
        protects = text[at] == "\\" and quote != "'" and (not quote or text[at + 1 : at + 2] in _PROTECTED)
        at += 1 if protects and at + 1 < end else 0
        kept.append(at)
        at += 1
    return value.keep(kept)


def _moved(word: Piece, by: int) -> Piece:
    places = None if word.places is None else [place + by for place in word.places]
    return word._replace(places=places, start=word.start + by, end=word.end + by)
