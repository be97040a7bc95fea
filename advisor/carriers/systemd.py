"""The options in a systemd unit or drop-in: ExecStart, and the variables for it from the unit and its files.

Follows systemd.service(5), systemd.exec(5) and systemd.syntax(7); not tested against a running systemd.
"""

from __future__ import annotations

import os
import re
from array import array
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import Carrier, CarrierError, Document, Piece, verbatim_piece
from advisor.carriers.images import image_of, image_of_program
from advisor.carriers.server_command import MAX_WORDS, arguments_option_set, server_command
from advisor.carriers.words import BLANKS, OpenQuoteError, TooLongError, check_length, memory_size, unit_words
from advisor.core.errors import MycnfError
from advisor.optionfile import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.carriers.document import OptionSet


# Variables that MySQL's and MariaDB's units pass to the server, for drop-ins of a unit that is not here.
PASSED_ON = ("MYSQLD_OPTS", "MYSQLD_OPTS_1", "MARIADBD_OPTS")
MAX_FILES = 20  # our limit: the last files override the others, and no unit has as many
_PREFIXES = "@-:+!|"
_SPECIFIER = r"%[a-zA-Z]"
_WHOLE = r"\$(?:\{(\w+)\}|(\w+))"
_BRACED = r"\$\{\w+\}"
BLANK = " \t\r\n"
_NAMED = r"\$\$|\$\{([A-Za-z_]\w*)\}"
_WHOLE_VARIABLE = r"\$([A-Za-z_]\w*)"
_ANY = r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))"
_ESCAPED = r"\\x([0-9a-f]{2})"


def read_unit(document: Document, root: str | None = None) -> Carrier:
    """Return the servers that the unit starts; raises CarrierError for an unclosed quote or too many words.

    `root` is prepended to the paths of environment files, whose text is appended to the document.
    """
    variables: dict[str, list[Piece]] = {}
    commands: list[tuple[str, list[Piece]]] = []
    files: list[str] = []
    held = 0
    container: dict[str, Piece] = {}  # of a unit of Podman
    podman: list[Piece] = []  # the arguments in it that are for podman itself
    for assignment in assignments(document):
        if assignment.section == "Container":
            container[assignment.key] = assignment.value
            if assignment.key == "PodmanArgs":
                podman += _words(document, assignment.value)
                check_words(document.path, len(podman))
        if assignment.section != "Service":
            continue
        if assignment.key == "Environment":
            environment = dict(_variables(document, assignment.value))
            variables.update(environment)
            held += sum(map(len, environment.values()))
        elif assignment.key in ("ExecStart", "ExecStartPre"):
            words = _words(document, assignment.value)
            commands += [(assignment.key, command) for command in _commands(words)]
            held += len(words)
        elif assignment.key == "EnvironmentFile":
            named = assignment.value.text.strip()
            files = [*files, named] if named else []
        check_words(document.path, held)
    for named in files[-MAX_FILES:]:
        variables.update(environment_of(document, named, root))
        check_words(document.path, sum(map(len, variables.values())))
    sets = [_started_server(document, key, words, variables) for key, words in commands]
    if container:
        sets = [*sets, _container(document, container, podman)]
    elif not commands:
        sets = [arguments_option_set(document, name, words) for name, words in variables.items() if name in PASSED_ON]
    return Carrier(document, tuple(option_set for option_set in sets if option_set is not None))


def _container(document: Document, settings: Mapping[str, Piece], podman: list[Piece]) -> OptionSet | None:
    """Return the arguments that a unit of Podman passes to the server of its image, with the limit of its memory."""
    image = image_of(settings["Image"].text) if "Image" in settings else None
    program = _words(document, settings["Entrypoint"]) if "Entrypoint" in settings else []
    words = [*program, *(_words(document, settings["Exec"]) if "Exec" in settings else [])]
    server = server_command(words, by_image=image is not None and not program)
    if server is None or not server.options:
        return None
    own = settings["Memory"].text if "Memory" in settings else ""
    limit = _podman_memory([word.text for word in podman], own)
    return arguments_option_set(document, "Exec", server.options, *(image or ()))._replace(memory=limit)


def _podman_memory(arguments: list[str], own: str) -> int:
    """Return the memory limit of a container of Podman in bytes, 0 if there is none.

    `own` is the value of `Memory=`. An argument such as --memory=1g, which podman gets later, overrides it.
    """
    limit = own
    for at, word in enumerate(arguments):
        name, equals, value = word.partition("=")
        if name in ("--memory", "-m"):
            limit = value if equals else "".join(arguments[at + 1 : at + 2])
        elif word.startswith("-m") and not word.startswith("--"):
            limit = word[2:]
    return memory_size(limit, decimal=False)


def _words(document: Document, value: Piece) -> list[Piece]:
    check_length(value)
    try:
        words = unit_words(_fill_specifiers(value))
    except OpenQuoteError as error:
        at = value.places[min(error.args[0], len(value.places) - 1)] if value.places else value.start
        line, _ = document.place(at)
        raise CarrierError(f"{document.path}:{line}: a quote is never closed; close it") from error
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
    server = server_command(expanded, by_image=False)
    if server is None or not server.options:
        return None
    return arguments_option_set(document, key, server.options, *(image_of_program(server.program) or ()))


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


class Word(NamedTuple):
    """A word after quotes and escapes, and its position; line and column are 1-based."""

    text: str
    line: int
    column: int


class UnitAssignment(NamedTuple):
    """One `Key=value` of a section, whole and in words; no words if a quote is unclosed or it is too long."""

    section: str
    key: str
    value: str
    words: tuple[Word, ...]


def assigned_words(text: str) -> Iterator[UnitAssignment]:
    """Yield the assignments of a unit or drop-in in order."""
    document = Document("", text)
    for line in assignments(document):
        words = tuple(_placed_words(document, line.value))
        yield UnitAssignment(line.section, line.key, line.value.text.strip(BLANK), words)


def _placed_words(document: Document, value: Piece) -> list[Word]:
    try:
        return [Word(piece.text, *document.place(piece.start)) for piece in unit_words(value)]
    except (OpenQuoteError, TooLongError):
        return []


def split_words(text: str) -> list[str]:
    """Split a variable's value into words."""
    return [word.text for one in assigned_words(f"Value={text}") for word in one.words]


def expand_variables(text: str, environment: Mapping[str, str]) -> list[str]:
    """Expand variables in a word: `$NAME` alone becomes as many words as its value has, `${NAME}` stays one word."""
    whole = re.fullmatch(_WHOLE_VARIABLE, text)
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
    for assignment in assignments(document):
        name = assignment.key.removeprefix("export ").strip(BLANK)
        if re.fullmatch(r"[A-Za-z_]\w*", name):
            yield name, _shell_value(assignment.value.text.strip(BLANK)), document.place(assignment.value.start)[0]


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
    variables: dict[str, list[Piece]] = {}
    held = 0
    for assignment in assignments(own):
        if re.fullmatch(_NAME, assignment.key):
            variables[assignment.key] = _split_words(assignment.value)
            held += len(variables[assignment.key])
            check_words(document.path, held)
    start = document.add(place, own.text)
    return {name: [_shift_piece(word, start) for word in words] for name, words in variables.items()}


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


def _shift_piece(word: Piece, by: int) -> Piece:
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
