"""Splits text into words as shells, compose and systemd do, each word with its positions; reads sizes of memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.carriers.document import Piece

BLANKS = " \t\r\n"
MAX_LENGTH = 131_072  # characters; the longest argument that Linux accepts
OPERATORS = ";&|()<>\n"
_IN_DOUBLE = '"\\$`'  # characters that a backslash escapes in double quotes
_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, '"': 34, "'": 39, "s": 32}
_BASES = {"x": (16, 2), "u": (16, 4), "U": (16, 8)}


class OpenQuoteError(ValueError):
    """An unclosed quote; the argument is its index in the text."""


class TooLongError(ValueError):
    """A command longer than any real one, which would take seconds to split."""


class Escape(NamedTuple):
    """An escape sequence: its length, the index of the character it keeps if any, and the character it stands for."""

    length: int
    kept: int | None
    meaning: str | None = None


def memory_size(text: str, *, decimal: bool) -> int:
    """Return the bytes of 512m, 1gb (compose, podman) or 1Gi, 1.5G (Kubernetes, decimal without i).

    0 for any other text.
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,6})?)(?:([kmgt])(i?)b?|b)?", text.strip().lower())
    if match is None or (decimal and text.strip().endswith("m")):  # a thousandth in Kubernetes
        return 0
    base = 1000 if decimal and not match[3] else 1024
    return int(float(match[1]) * base ** ("kmgt".index(match[2]) + 1 if match[2] else 0))


def shell_words(piece: Piece, operators: str = "") -> list[Piece]:
    """Split words as Python's shlex and a POSIX shell do; each of `operators` is a separate word.

    Raises OpenQuoteError.
    """
    return _split(piece, operators, _shell_escape)


def unit_words(piece: Piece) -> list[Piece]:
    """Split words as systemd does: quotes anywhere in a word, C-style escapes inside and outside of them.

    Unknown escapes stay unchanged. Raises OpenQuoteError.
    """
    return _split(piece, "", _unit_escape)


def check_length(piece: Piece) -> None:
    """Raise TooLongError for a command that exceeds the length limit of an argument."""
    if len(piece.text) > MAX_LENGTH:
        raise TooLongError(f"a command of more than {MAX_LENGTH:,} characters, which no server starts with; shorten it")


def _split(piece: Piece, operators: str, escape: Callable[[str, int, str], Escape]) -> list[Piece]:
    check_length(piece)
    text, parting = piece.text, BLANKS + operators
    words: list[Piece] = []
    kept: dict[int, str | None] = {}
    begin, quote, opened, at = -1, "", 0, 0
    while at < len(text):
        char = text[at]
        if not quote and char in parting:
            words += [_word(piece, kept, begin, at)] if begin >= 0 else []
            words += [piece.cut(at, at + 1)] if char in operators else []
            kept, begin, at = {}, -1, at + 1
            continue
        escaped = escape(text, at, quote) if char == "\\" else Escape(1, at)
        if begin < 0 and escaped.kept is not None:
            begin = at
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote, opened = char, at
        elif escaped.kept is not None:
            kept[escaped.kept] = escaped.meaning
        at += escaped.length
    if quote:
        raise OpenQuoteError(opened)
    return [*words, _word(piece, kept, begin, at)] if begin >= 0 else words


def _shell_escape(text: str, at: int, quote: str) -> Escape:
    following = text[at + 1 : at + 2]
    if quote == "'" or not following or (quote and following not in _IN_DOUBLE + "\n"):
        return Escape(1, at)
    return Escape(2, None if following == "\n" else at + 1)


def _unit_escape(text: str, at: int, quote: str) -> Escape:  # noqa: ARG001 - systemd reads escapes in both quotes
    kind = text[at + 1 : at + 2]
    if kind in _ESCAPES:
        return Escape(2, at, chr(_ESCAPES[kind]))
    base, digits = _BASES.get(kind, (8, 3))
    start = at + 2 if kind in _BASES else at + 1
    number = text[start : start + digits]
    try:
        code = int(number, base) if len(number) == digits and number.isalnum() else 0
        return Escape(start + digits - at, at, chr(code)) if code else Escape(1, at)
    except (ValueError, OverflowError):
        return Escape(1, at)


def _word(piece: Piece, kept: dict[int, str | None], begin: int, end: int) -> Piece:
    """Build a word; its ends are outside quotes within the word, but inside quotes around the whole word."""
    word = piece.keep(list(kept))
    characters = [s or piece.text[i] for i, s in kept.items()]
    shown = [s or piece.source[i] for i, s in kept.items()]
    word = word._replace(text="".join(characters), source="".join(shown))
    if piece.places is None:
        return word
    outer = piece.cut(begin, end)
    if word.places and begin not in kept:
        return word._replace(start=word.places[0], end=word.places[-1] + 1)
    return word._replace(start=outer.start, end=outer.end)
