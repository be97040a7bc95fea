"""The instructions of a Dockerfile with their places: continuations, comments between them, here-documents."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import Document
from advisor.carriers.filling import filled
from advisor.carriers.piece import Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

_DIRECTIVE = r"#\s*(\w+)\s*=\s*(\S*)\s*$"
_HEREDOC = r"""(?:^|(?<=\s))\d*<<(?P<tabs>-?)(?P<quote>["']?)(?P<name>[\w.-]+)(?P=quote)(?=\s|$)"""
WITH_HEREDOCS = ("RUN", "COPY", "ADD")


class Heredoc(NamedTuple):
    """The lines `first` to `last` of the document, none where that is less.

    `tabs` says that tabs before a line don't count, `expands` that variables in it are filled in.
    """

    name: str
    first: int
    last: int
    tabs: bool
    expands: bool


class Instruction(NamedTuple):
    """A word such as CMD in capitals, what stands behind it, and the here-documents that this names."""

    word: str
    rest: Piece
    heredocs: tuple[Heredoc, ...]


def instructions(document: Document) -> Iterator[Instruction]:
    """The instructions in their order; what a template will fill in is filled with something as long."""
    parsed = Document(document.path, filled(document.text))
    goes_on = rf"{re.escape(_escape(parsed))}[ \t]*$"
    number = 1
    while number <= parsed.lines:
        if _is_nothing(parsed.line(number)):
            number += 1
            continue
        number, whole = _logical(document, parsed, number, goes_on)
        word = re.match(r"\s*([A-Za-z]+)(?:\s+|$)", whole.text)
        if word is None:
            continue
        rest = whole.cut(word.end())
        heredocs = []
        if word[1].upper() in WITH_HEREDOCS:
            for opening in re.finditer(_HEREDOC, rest.text):
                heredoc = _heredoc(parsed, number, opening)
                heredocs.append(heredoc)
                number = heredoc.last + 2
        yield Instruction(word[1].upper(), rest, tuple(heredocs))


def _is_nothing(line: str) -> bool:
    return line.strip()[:1] in ("", "#")


def _escape(parsed: Document) -> str:
    """The character that goes on with a line: a backslash, or what a directive in the first lines says."""
    for number in range(1, parsed.lines + 1):
        directive = re.match(_DIRECTIVE, parsed.line(number))
        if directive is None:
            break
        if directive[1].lower() == "escape" and directive[2] == "`":
            return "`"
    return "\\"


def _logical(document: Document, parsed: Document, number: int, goes_on: str) -> tuple[int, Piece]:
    """The number of the line behind an instruction, and its text; comments and blank lines in it don't count."""
    text: list[str] = []
    source: list[str] = []
    places = array("L")  # a list takes five times as much, and a command may be long
    while number <= parsed.lines:
        line = parsed.line(number)
        number += 1
        if text and _is_nothing(line):
            continue
        more = re.search(goes_on, line)
        kept = line[: more.start()] if more else line
        text.append(kept)
        start = parsed.offset(number - 1)
        source.append(document.text[start : start + len(kept)])
        places.extend(range(start, start + len(kept)))
        if more is None:
            break
    ends = (places[0], places[-1] + 1) if places else (0, 0)
    return number, Piece("".join(text), "".join(source), places, *ends)


def _heredoc(parsed: Document, first: int, opening: re.Match[str]) -> Heredoc:
    """A here-document that begins at a line; one that nothing ends takes the rest."""
    tabs = bool(opening["tabs"])
    number = first
    while number <= parsed.lines:
        line = parsed.line(number)
        if (line.lstrip("\t") if tabs else line) == opening["name"]:
            break
        number += 1
    return Heredoc(opening["name"], first, number - 1, tabs, not opening["quote"])
