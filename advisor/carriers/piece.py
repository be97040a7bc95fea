"""A stretch of text taken out of a document, which remembers where each of its characters stands there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


FILLER = "x"  # stands for each character of what is filled in later


class Piece(NamedTuple):
    """`text` is what programs get, with a filler for what nobody knows yet; `source` what is written instead.

    Both have the same length. `places` are the offsets of the characters in the document, None where the notation
    (escapes, folding) doesn't tell; `start` and `end` are the offsets around the whole, quotes included.
    """

    text: str
    source: str
    places: Sequence[int] | None
    start: int
    end: int

    @property
    def templated(self) -> bool:
        """Whether something in it is filled in later."""
        return self.text != self.source

    def cut(self, begin: int, end: int | None = None) -> Piece:
        """A part of it."""
        text, source = self.text[begin:end], self.source[begin:end]
        if self.places is None:
            return Piece(text, source, None, self.start, self.end)
        places = self.places[begin:end]
        if not places:
            at = self.places[begin - 1] + 1 if 0 < begin <= len(self.places) else self.start
            return Piece(text, source, (), at, at)
        return Piece(text, source, places, places[0], places[-1] + 1)

    def keep(self, kept: Sequence[int]) -> Piece:
        """The characters at these indices alone; the ends stay."""
        text = "".join([self.text[i] for i in kept])
        source = "".join([self.source[i] for i in kept])
        places = None if self.places is None else [self.places[i] for i in kept]
        return Piece(text, source, places, self.start, self.end)

    def fill(self, pattern: str) -> Piece:
        """With a filler in the place of whatever matches."""
        return self._replace(text=re.sub(pattern, lambda m: FILLER * len(m[0]), self.text))


def verbatim_piece(text: str, start: int, source: str | None = None) -> Piece:
    """Text that stands in the document as it is, from an offset on."""
    return Piece(text, source or text, range(start, start + len(text)), start, start + len(text))


def align_piece(value: str, filled: str, written: str, start: int) -> Piece | None:
    """A value found again in its notation, word by word; None where the notation changes more than blanks.

    `filled` is the notation as it was parsed, `written` the same stretch as it stands in the document.
    """
    words = list(re.finditer(r"\S+", value))
    there = list(re.finditer(r"\S+", filled))
    if [w[0] for w in words] != [w[0] for w in there]:
        return None
    places: list[int] = []
    for word, found in zip(words, there, strict=True):
        blank = places[-1] + 1 if places else found.start()
        places += [blank] * (word.start() - len(places))
        places += range(found.start(), found.end())
    places += [places[-1] + 1 if places else 0] * (len(value) - len(places))
    source = "".join([c if c.isspace() else written[p] for c, p in zip(value, places, strict=True)])
    return Piece(value, source, [start + p for p in places], start, start + len(written))


_CLOSED_BY = {"{{": "}}", "{%": "%}", "{#": "#}", "<%": "%>"}
_OPENING = r"\{\{|\{%|\{#|<%"
_BLANKS = r"[^\S\n]*"


def fill_expressions(text: str) -> str:
    """The text with fillers for expressions; a line that holds nothing else becomes blank."""
    if not re.search(_OPENING, text):
        return text
    alone = re.sub(rf"(?m)^{_BLANKS}\0[\0\s]*?$", lambda m: re.sub(r"[^\n]", " ", m[0]), _mark_expressions(text))
    return alone.replace("\0", FILLER)


def _mark_expressions(text: str) -> str:
    """With a NUL for each character of an expression; an opening that nothing closes is text."""
    parts: list[str] = []
    done = 0
    never: set[str] = set()
    for opening in re.finditer(_OPENING, text):
        begin, kind = opening.start(), opening[0]
        if begin < done or kind in never:
            continue
        end = text.find(_CLOSED_BY[kind], begin + 2)
        if end < 0:
            never.add(kind)
            continue
        parts += (text[done:begin], re.sub(r"[^\n]", "\0", text[begin : end + 2]))
        done = end + 2
    return "".join((*parts, text[done:]))
