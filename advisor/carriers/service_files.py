"""Parses the files of a systemd service: words with positions, variables expanded, environment files."""

from __future__ import annotations

import os
import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import CarrierError, Document
from advisor.carriers.piece import Piece, verbatim_piece
from advisor.carriers.programs import MAX_WORDS
from advisor.carriers.words import BLANKS, OpenQuoteError, TooLongError, check_length, unit_words
from advisor.core.errors import MycnfError
from advisor.optionfile.resolve import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


BLANK = " \t\r\n"
_NAMED = r"\$\$|\$\{([A-Za-z_]\w*)\}"
_WHOLE = r"\$([A-Za-z_]\w*)"
_ANY = r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"
_ESCAPED = r"\\x([0-9a-f]{2})"


class Word(NamedTuple):
    """A word after quotes and escapes, and its position; line and column are 1-based."""

    text: str
    line: int
    column: int


class Assigned(NamedTuple):
    """One `Key=value` of a section, whole and in words; no words if a quote is unclosed or it is too long."""

    section: str
    key: str
    value: str
    words: tuple[Word, ...]


def assigned_words(text: str) -> Iterator[Assigned]:
    """Yield the assignments of a unit or drop-in in order."""
    document = Document("", text)
    for one in assignments(document):
        yield Assigned(one.section, one.key, one.value.text.strip(BLANK), tuple(_words(document, one.value)))


def _words(document: Document, value: Piece) -> list[Word]:
    try:
        return [Word(piece.text, *document.place(piece.start)) for piece in unit_words(value)]
    except (OpenQuoteError, TooLongError):
        return []


def split_words(text: str) -> list[str]:
    """Split a variable's value into words."""
    return [word.text for one in assigned_words(f"Value={text}") for word in one.words]


def expand_variables(text: str, environment: Mapping[str, str]) -> list[str]:
    """Expand variables in a word: `$NAME` alone becomes as many words as its value has, `${NAME}` stays one word."""
    whole = re.fullmatch(_WHOLE, text)
    if whole:
        return split_words(environment.get(whole[1], ""))
    return [re.sub(_NAMED, lambda m: environment.get(m[1], "") if m[1] else "$", text)]


def variables_named(value: str) -> set[str]:
    """Return the names of the variables in a command line."""
    return {m[1] or m[2] for m in re.finditer(_ANY, value)}


def expand_specifiers(text: str, unit: str) -> str:
    """Expand `%%` and the specifiers that name the unit; others depend on the host and stay unchanged."""
    name = unit.rpartition(".")[0]
    prefix, _, instance = name.partition("@")
    plain = re.sub(_ESCAPED, lambda m: chr(int(m[1], 16)), instance.replace("-", "/"))
    known = {"%": "%", "n": unit, "N": name, "p": prefix, "i": instance, "I": plain}
    return re.sub(r"%(.)", lambda m: known.get(m[1], m[0]), text)


def file_variables(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name, value and line of each variable in the text of an `EnvironmentFile=`."""
    document = Document("", text)
    for one in assignments(document):
        name = one.key.removeprefix("export ").strip(BLANK)
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield name, _shell_value(one.value.text.strip(BLANK)), document.place(one.value.start)[0]


def _shell_value(value: str) -> str:
    """Return a value of an environment file: quoted or bare, with backslashes as in a shell."""
    quote = value[:1] if value[:1] in ("'", '"') else ""
    if quote == "'":
        return value[1:].partition("'")[0]
    end = re.match(r'"((?:\\.|[^"\\])*)"', value) if quote else None
    body = end[1] if end else value
    return re.sub(r"\\(.)", lambda m: m[1] if not quote or m[1] in '"\\`$' else m[0], body)


_NAME = r"[A-Za-z_]\w*"
_UNSETTLED = "%*?["  # specifiers and patterns: the matching files depend on the host
_PROTECTED = '"\\`$'  # characters that a backslash escapes in double quotes


def environment_of(document: Document, named: str, root: str | None) -> dict[str, list[Piece]]:
    """Return the words of each variable of a file, whose text is added to the document.

    Empty if the file cannot be read here: its content on the server's host is unknown. Raises CarrierError if the
    values have too many words.
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
            found[one.key] = _split_words(one.value)
            held += len(found[one.key])
            check_words(document.path, held)
    start = document.add(place, own.text)
    return {name: [_shifted(word, start) for word in words] for name, words in found.items()}


def _split_words(value: Piece) -> list[Piece]:
    """Split what `$NAME` expands to in a command, after unquoting the file's and the value's quotes."""
    try:
        check_length(value)
        return unit_words(_unquote(value))
    except OpenQuoteError:
        return []


def _unquote(value: Piece) -> Piece:
    """Return the value of the variable: quoted or bare, with backslashes as in a shell."""
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


def _shifted(word: Piece, by: int) -> Piece:
    places = None if word.places is None else [place + by for place in word.places]
    return word._replace(places=places, start=word.start + by, end=word.end + by)


class Assignment(NamedTuple):
    """One `Key=value` of a section, its value with continuation lines joined."""

    section: str
    key: str
    value: Piece


def assignments(document: Document) -> Iterator[Assignment]:
    """Yield the settings of a unit; a trailing backslash continues on the next line that is not a comment."""
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
    """Return the number of a setting's last line, and its text with a blank for each continuation."""
    kept: list[str] = []
    places = array("L")  # a list takes five times the memory, and a line may be long
    goes_on = True
    while goes_on and number <= document.lines:
        text = document.line(number)
        if kept and text.strip()[:1] in ("#", ";"):
            number += 1
            continue
        goes_on = text.endswith("\\")
        if not kept and not goes_on:
            return number, verbatim_piece(text, document.offset(number))
        kept.append(text[:-1] + " " if goes_on else text)
        places.extend(range(document.offset(number), document.offset(number) + len(kept[-1])))
        number += 1
    joined = "".join(kept)
    return number - 1, Piece(joined, joined, places, places[0], places[-1] + 1)


def check_words(path: str, count: int) -> None:
    """Raise CarrierError if a unit's commands and variables have too many words."""
    if count > MAX_WORDS:
        raise CarrierError(f"{path}: commands of more than {MAX_WORDS:,} words; shorten them")
