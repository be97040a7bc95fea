"""What the files of a systemd service say together: words with their places, variables filled in, environment files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import Document
from advisor.carriers.unitlines import assignments
from advisor.carriers.words import OpenQuoteError, TooLongError, unit_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.carriers.piece import Piece

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


def assigned(text: str) -> Iterator[Assigned]:
    """What a unit or a drop-in sets, in its order."""
    document = Document("", text)
    for one in assignments(document):
        yield Assigned(one.section, one.key, one.value.text.strip(BLANK), tuple(_words(document, one.value)))


def _words(document: Document, value: Piece) -> list[Word]:
    try:
        return [Word(piece.text, *document.place(piece.start)) for piece in unit_words(value)]
    except (OpenQuoteError, TooLongError):
        return []


def split(text: str) -> list[str]:
    """The words of a variable's value."""
    return [word.text for one in assigned(f"Value={text}") for word in one.words]


def expanded(text: str, environment: Mapping[str, str]) -> list[str]:
    """A word with variables filled in: `$NAME` alone becomes as many words as it holds, `${NAME}` stays in one."""
    whole = re.fullmatch(_WHOLE, text)
    if whole:
        return split(environment.get(whole[1], ""))
    return [re.sub(_NAMED, lambda m: environment.get(m[1], "") if m[1] else "$", text)]


def variables_named(value: str) -> set[str]:
    """The names of the variables that a command line asks for."""
    return {m[1] or m[2] for m in re.finditer(_ANY, value)}


def specified(text: str, unit: str) -> str:
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
