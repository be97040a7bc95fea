"""A part of a document's text that keeps the position of each character."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


FILLER = "x"  # placeholder for each character that is substituted later


class Piece(NamedTuple):
    """`text` is what programs get, with a filler for unknown characters; `source` is the text as written.

    Both have the same length. `places` are the offsets of the characters in the document, None if the notation
    (escapes, folding) hides them; `start` and `end` enclose the whole, including quotes.
    """

    text: str
    source: str
    places: Sequence[int] | None
    start: int
    end: int

    @property
    def templated(self) -> bool:
        """Whether part of it is substituted later."""
        return self.text != self.source

    def cut(self, begin: int, end: int | None = None) -> Piece:
        """Return a slice."""
        text, source = self.text[begin:end], self.source[begin:end]
        if self.places is None:
            return Piece(text, source, None, self.start, self.end)
        places = self.places[begin:end]
        if not places:
            at = self.places[begin - 1] + 1 if 0 < begin <= len(self.places) else self.start
            return Piece(text, source, (), at, at)
        return Piece(text, source, places, places[0], places[-1] + 1)

    def keep(self, kept: Sequence[int]) -> Piece:
        """Return only the characters at these indices; `start` and `end` stay."""
        text = "".join([self.text[i] for i in kept])
        source = "".join([self.source[i] for i in kept])
        places = None if self.places is None else [self.places[i] for i in kept]
        return Piece(text, source, places, self.start, self.end)

    def fill(self, pattern: str) -> Piece:
        """Replace all matches of a pattern by fillers."""
        return self._replace(text=re.sub(pattern, lambda m: FILLER * len(m[0]), self.text))


def verbatim_piece(text: str, start: int, source: str | None = None) -> Piece:
    """Return a piece for text that is in the document verbatim, at an offset."""
    return Piece(text, source or text, range(start, start + len(text)), start, start + len(text))


def align_piece(value: str, filled: str, written: str, start: int) -> Piece | None:
    """Locate a value in its notation word by word; None if the notation changes more than white space.

    `filled` is the notation as parsed, `written` the same part as it is in the document.
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
    """Replace template expressions by fillers; a line of expressions only becomes blank."""
    if not re.search(_OPENING, text):
        return text
    alone = re.sub(rf"(?m)^{_BLANKS}\0[\0\s]*?$", lambda m: re.sub(r"[^\n]", " ", m[0]), _mark_expressions(text))
    return alone.replace("\0", FILLER)


def _mark_expressions(text: str) -> str:
    """Replace each character of a template expression by NUL; an unclosed opening mark is ordinary text."""
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
