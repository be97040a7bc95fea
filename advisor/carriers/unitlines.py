"""The settings of a systemd unit, line by line, by systemd.syntax(7)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import CarrierError
from advisor.carriers.piece import Piece, straight
from advisor.carriers.programs import MOST_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.document import Document


class Assignment(NamedTuple):
    """One `Key=value` of a section, its value without continuations."""

    section: str
    key: str
    value: Piece


def assignments(document: Document) -> Iterator[Assignment]:
    """The settings of a unit; a backslash at the end of a line goes on with the next one that is no comment."""
    section = ""
    number = 1
    while number <= document.lines:
        text = document.line(number).strip()
        if text.startswith("[") and text.endswith("]"):
            section = text[1:-1]
        elif text[:1] not in ("#", ";", ""):
            number, value = _logical(document, number)
            key, equals, _ = value.text.partition("=")
            if equals:
                yield Assignment(section, key.strip(), value.cut(len(key) + 1))
        number += 1


def _logical(document: Document, number: int) -> tuple[int, Piece]:
    """The number of the last line of a setting, and its text with a blank for each line end."""
    kept: list[str] = []
    places = array("L")  # a list takes five times as much, and a line may be long
    goes_on = True
    while goes_on and number <= document.lines:
        text = document.line(number)
        if kept and text.strip()[:1] in ("#", ";"):
            number += 1
            continue
        goes_on = text.endswith("\\")
        if not kept and not goes_on:
            return number, straight(text, document.offset(number))
        kept.append(text[:-1] + " " if goes_on else text)
        places.extend(range(document.offset(number), document.offset(number) + len(kept[-1])))
        number += 1
    joined = "".join(kept)
    return number - 1, Piece(joined, joined, places, places[0], places[-1] + 1)


def check_words(path: str, count: int) -> None:
    """Raise CarrierError for more words than the commands of a unit may have, and the variables for them."""
    if count > MOST_WORDS:
        raise CarrierError(f"{path}: commands of more than {MOST_WORDS:,} words; shorten them")
