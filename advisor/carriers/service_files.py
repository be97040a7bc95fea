"""What the files of a systemd service say together: words with their places, variables filled in, environment files."""

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
from advisor.optionfile.source import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


BLANK = " \t\r\n"
_NAMED = r"\$\$|\$\{([A-Za-z_]\w*)\}"
_WHOLE = r"\$([A-Za-z_]\w*)"
_ANY = r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"
_ESCAPED = r"\\x([0-9a-f]{2})"


class Word(NamedTuple):
    """A word after quotes and escapes, and where it begins; lines and columns count from 1."""

    text: str
    line: int
    column: int


class Assigned(NamedTuple):
    """One `Key=value` of a section, whole and in words; none where a quote is left open, or it is endless."""

    section: str
    key: str
    value: str
    words: tuple[Word, ...]


def assigned_words(text: str) -> Iterator[Assigned]:
    """What a unit or a drop-in sets, in its order."""
    document = Document("", text)
    for one in assignments(document):
        yield Assigned(one.section, one.key, one.value.text.strip(BLANK), tuple(_words(document, one.value)))


def _words(document: Document, value: Piece) -> list[Word]:
    try:
        return [Word(piece.text, *document.place(piece.start)) for piece in unit_words(value)]
    except (OpenQuoteError, TooLongError):
        return []


def split_words(text: str) -> list[str]:
    """The words of a variable's value."""
    return [word.text for one in assigned_words(f"Value={text}") for word in one.words]


def expand_variables(text: str, environment: Mapping[str, str]) -> list[str]:
    """A word with variables filled in: `$NAME` alone becomes as many words as it holds, `${NAME}` stays in one."""
    whole = re.fullmatch(_WHOLE, text)
    if whole:
        return split_words(environment.get(whole[1], ""))
    return [re.sub(_NAMED, lambda m: environment.get(m[1], "") if m[1] else "$", text)]


def variables_named(value: str) -> set[str]:
    """The names of the variables that a command line asks for."""
    return {m[1] or m[2] for m in re.finditer(_ANY, value)}


def expand_specifiers(text: str, unit: str) -> str:
    """The specifiers that name the unit itself, and `%%`; others stay as they are, for nobody here knows them."""
    name = unit.rpartition(".")[0]
    prefix, _, instance = name.partition("@")
    plain = re.sub(_ESCAPED, lambda m: chr(int(m[1], 16)), instance.replace("-", "/"))
    known = {"%": "%", "n": unit, "N": name, "p": prefix, "i": instance, "I": plain}
    return re.sub(r"%(.)", lambda m: known.get(m[1], m[0]), text)


def file_variables(text: str) -> Iterator[tuple[str, str, int]]:
    """Name, value and line of each variable in the text of an `EnvironmentFile=`."""
    document = Document("", text)
    for one in assignments(document):
        name = one.key.removeprefix("export ").strip(BLANK)
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield name, _shell_value(one.value.text.strip(BLANK)), document.place(one.value.start)[0]


def _shell_value(value: str) -> str:
    """A value as these files have it: quoted or bare, with backslashes as in a shell."""
    quote = value[:1] if value[:1] in ("'", '"') else ""
    if quote == "'":
        return value[1:].partition("'")[0]
    end = re.match(r'"((?:\\.|[^"\\])*)"', value) if quote else None
    body = end[1] if end else value
    return re.sub(r"\\(.)", lambda m: m[1] if not quote or m[1] in '"\\`$' else m[0], body)


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
            found[one.key] = _split_words(one.value)
            held += len(found[one.key])
            check_words(document.path, held)
    start = document.add(place, own.text)
    return {name: [_shifted(word, start) for word in words] for name, words in found.items()}


def _split_words(value: Piece) -> list[Piece]:
    """What `$NAME` becomes in a command, after the quotes of the file and those within the value."""
    try:
        check_length(value)
        return unit_words(_unquote(value))
    except OpenQuoteError:
        return []


def _unquote(value: Piece) -> Piece:
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


def _shifted(word: Piece, by: int) -> Piece:
    places = None if word.places is None else [place + by for place in word.places]
    return word._replace(places=places, start=word.start + by, end=word.end + by)


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
            return number, verbatim_piece(text, document.offset(number))
        kept.append(text[:-1] + " " if goes_on else text)
        places.extend(range(document.offset(number), document.offset(number) + len(kept[-1])))
        number += 1
    joined = "".join(kept)
    return number - 1, Piece(joined, joined, places, places[0], places[-1] + 1)


def check_words(path: str, count: int) -> None:
    """Raise CarrierError for more words than the commands of a unit may have, and the variables for them."""
    if count > MAX_WORDS:
        raise CarrierError(f"{path}: commands of more than {MAX_WORDS:,} words; shorten them")
