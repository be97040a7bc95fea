"""The options in a systemd unit or drop-in: ExecStart, and the variables for it that the unit sets.

Follows systemd.service(5), systemd.exec(5) and systemd.syntax(7); not tested against a running systemd.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from advisor.carriers.arguments import arguments_option_set
from advisor.carriers.document import CarrierError
from advisor.carriers.programs import MAX_WORDS, server_command
from advisor.carriers.service_files import assignments, check_words, environment_of
from advisor.carriers.sets import Carrier
from advisor.carriers.words import OpenQuoteError, check_length, unit_words
from advisor.catalog.targets import newest_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.document import Document
    from advisor.carriers.piece import Piece
    from advisor.carriers.sets import OptionSet

# Variables that MySQL's and MariaDB's units pass to the server, for drop-ins of a unit that is not here.
PASSED_ON = ("MYSQLD_OPTS", "MYSQLD_OPTS_1", "MARIADBD_OPTS")
MAX_FILES = 20  # our limit: the last files override the others, and no unit has as many
_PREFIXES = "@-:+!|"
_SPECIFIER = r"%[a-zA-Z]"
_WHOLE = r"\$(?:\{(\w+)\}|(\w+))"
_BRACED = r"\$\{\w+\}"


def read_unit(document: Document, root: str | None = None) -> Carrier:
    """Return the servers that the unit starts; raises CarrierError for an unclosed quote or too many words.

    `root` is prepended to the paths of environment files, whose text is appended to the document.
    """
    variables: dict[str, list[Piece]] = {}
    commands: list[tuple[str, list[Piece]]] = []
    files: list[str] = []
    held = 0
    for one in assignments(document):
        if one.section != "Service":
            continue
        if one.key == "Environment":
            found = dict(_variables(document, one.value))
            variables.update(found)
            held += sum(map(len, found.values()))
        elif one.key in ("ExecStart", "ExecStartPre"):
            words = _words(document, one.value)
            commands += [(one.key, command) for command in _commands(words)]
            held += len(words)
        elif one.key == "EnvironmentFile":
            named = one.value.text.strip()
            files = [*files, named] if named else []
        check_words(document.path, held)
    for named in files[-MAX_FILES:]:
        variables.update(environment_of(document, named, root))
        check_words(document.path, sum(map(len, variables.values())))
    sets = [_started_server(document, key, words, variables) for key, words in commands]
    if not commands:
        sets = [arguments_option_set(document, name, words) for name, words in variables.items() if name in PASSED_ON]
    return Carrier(document, tuple(one for one in sets if one is not None))


def _words(document: Document, value: Piece) -> list[Piece]:
    check_length(value)
    try:
        words = unit_words(_fill_specifiers(value))
    except OpenQuoteError as error:
        at = value.places[min(error.args[0], len(value.places) - 1)] if value.places else value.start
        line, _ = document.place(at)
        raise CarrierError(f"{document.path}:{line}: a quote that nothing closes; close it") from error
    check_words(document.path, len(words))
    return words


def _fill_specifiers(value: Piece) -> Piece:
    """Replace specifiers such as %i by fillers; `%%` is a percent sign."""
    dropped = {m.start() + 1 for m in re.finditer("%%", value.text)}
    marked = value.text.replace("%%", "\0\0")
    filled = value._replace(text=value._replace(text=marked).fill(_SPECIFIER).text.replace("\0", "%"))
    return filled.keep([i for i in range(len(value.text)) if i not in dropped])


def _commands(words: list[Piece]) -> Iterator[list[Piece]]:
    """Split the commands of one ExecStart, which are separated by a single semicolon."""
    command: list[Piece] = []
    for word in words:
        if word.source == ";":
            yield command
            command = []
        else:
            command.append(word)
    yield command


def _started_server(
    document: Document, key: str, words: list[Piece], variables: dict[str, list[Piece]]
) -> OptionSet | None:
    if not words:
        return None
    prefix = len(words[0].text) - len(words[0].text.lstrip(_PREFIXES))
    renamed = "@" in words[0].text[:prefix]
    words = [words[0].cut(prefix), *words[2 if renamed else 1 :]]
    # A variable may hold thousands of words, and be used thousands of times.
    expanded = list(islice((w for word in words for w in _expand_variable(word, variables)), MAX_WORDS + 1))
    check_words(document.path, len(expanded))
    found = server_command(expanded, by_image=False)
    if found is None or not found.options:
        return None
    if found.program.startswith("mariadb"):
        return arguments_option_set(
            document, key, found.options, newest_target("mariadb"), f"its program is {found.program}"
        )
    return arguments_option_set(document, key, found.options)


def _expand_variable(word: Piece, variables: dict[str, list[Piece]]) -> list[Piece]:
    """Return a variable's own words if the unit sets it, else a filler; `$$` is a dollar sign."""
    whole = re.fullmatch(_WHOLE, word.text)
    if whole:
        known = variables.get(whole[1] or whole[2])
        return known if known is not None and whole[2] else [word.fill(".")]
    filled = word.fill(_BRACED)
    dropped = {m.start() + 1 for m in re.finditer(r"\$\$", filled.text)}
    return [filled.keep([i for i in range(len(filled.text)) if i not in dropped]) if dropped else filled]


def _variables(document: Document, value: Piece) -> Iterator[tuple[str, list[Piece]]]:
    for word in _words(document, value):
        name, equals, _ = word.text.partition("=")
        if equals:
            yield name, _words(document, word.cut(len(name) + 1))
