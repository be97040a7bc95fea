"""The option sets of a Dockerfile: the server's arguments in CMD and ENTRYPOINT, and option files in here-documents."""

from __future__ import annotations

import json
import re
from array import array
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.blocks import block_option_set, holds_options
from advisor.carriers.document import MAX_SETS, Carrier, CarrierError, Document, Piece, fill_expressions
from advisor.carriers.images import ServerImage, image_of, image_of_program
from advisor.carriers.server_command import MAX_WORDS, arguments_option_set, server_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.carriers.document import OptionSet


_VARIABLE = r"\$(?:\{(\w+)\}|(\w+))"
_FILLS = r"\$\{|\$\w"
_STRING = r'"(?:[^"\\]|\\.)*"'
_LIST = rf"\[\s*(?:{_STRING}\s*(?:,\s*{_STRING}\s*)*)?\]"
_CHARACTER = r"\\u[0-9a-fA-F]{4}|\\.|[^\\]"


class _BuildStage:
    """A build stage: its base image, entrypoint and command. `own` lists the instructions of this stage."""

    def __init__(
        self, image: ServerImage | None = None, entrypoint: Piece | None = None, command: Piece | None = None
    ) -> None:
        self.image = image
        self.entrypoint = entrypoint
        self.command = command
        self.own: list[str] = []


class _DockerfileReader:
    """Reads the instructions in one pass."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.defaults: dict[str, str] = {}
        self.stages: dict[str, _BuildStage] = {}
        self.stage = _BuildStage()
        self.sets: list[OptionSet] = []

    def read(self) -> list[OptionSet]:
        """Return the sets of all stages in order."""
        for instruction in instructions(self.document):
            if instruction.word == "FROM":
                self._close()
                self._open_stage(instruction.rest.source.split())
            elif instruction.word == "ARG":
                name, _, value = instruction.rest.source.strip().partition("=")
                self.defaults[name] = value.strip("\"'")
            elif instruction.word == "ENTRYPOINT":
                self.stage.entrypoint = instruction.rest
                if "CMD" not in self.stage.own:
                    self.stage.command = None  # a new entrypoint resets the base image's command
                self.stage.own.append(instruction.word)
            elif instruction.word == "CMD":
                self.stage.command = instruction.rest
                self.stage.own.append(instruction.word)
            elif instruction.word in ("COPY", "ADD"):
                self._here_documents(instruction)
        self._close()
        return self.sets

    def _open_stage(self, words: Sequence[str]) -> None:
        named = [word for word in words if not word.startswith("--")]
        reference = re.sub(_VARIABLE, lambda m: self.defaults.get(m[1] or m[2]) or m[0], named[0] if named else "")
        below = self.stages.get(reference.lower())
        self.stage = (
            _BuildStage(below.image, below.entrypoint, below.command) if below else _BuildStage(image_of(reference))
        )
        if len(named) > len(("image", "AS")) and named[1].upper() == "AS":
            self.stages[named[2].lower()] = self.stage

    def _here_documents(self, instruction: Instruction) -> None:
        """Add the option files among the copied here-documents."""
        to = (instruction.rest.source.split() or [""])[-1]
        for heredoc in instruction.heredocs:
            name = f"{to}{heredoc.name}" if to.endswith("/") else to
            lines = [(number, self.document.line(number)) for number in range(heredoc.first, heredoc.last + 1)]
            placed = [(number, len(text) - len(text.lstrip("\t")) if heredoc.tabs else 0) for number, text in lines]
            if holds_options(name, "\n".join([self.document.line(number)[tabs:] for number, tabs in placed])):
                found = block_option_set(self.document, name, placed, _FILLS if heredoc.expands else "")
                self.sets.append(self._with_hint(found, self.stage.image))

    def _close(self) -> None:
        """Add what the stage starts, if it has its own CMD or ENTRYPOINT."""
        stage = self.stage
        if not stage.own:
            return
        first, second = _words(stage.entrypoint), _words(stage.command)
        if stage.entrypoint is not None and _json_words(stage.entrypoint) is None:
            second = []  # an entrypoint in shell form gets no arguments
        if len(first) + len(second) > MAX_WORDS:
            raise CarrierError(f"{self.document.path}: a command of more than {MAX_WORDS:,} words; shorten it")
        server = server_command([*first, *second], by_image=stage.image is not None and not first)
        if server is None or not server.options:
            return
        image = stage.image or image_of_program(server.program)
        self.sets.append(self._with_hint(arguments_option_set(self.document, stage.own[-1], server.options), image))

    def _with_hint(self, found: OptionSet, image: ServerImage | None) -> OptionSet:
        return found._replace(hint=image.target, why=image.why) if image else found


def read_dockerfile(document: Document) -> Carrier:
    """Return the servers that the images start and the option files written into them.

    Raises CarrierError if there are too many.
    """
    sets = _DockerfileReader(document).read()
    if len(sets) > MAX_SETS:
        raise CarrierError(f"{document.path}: options of more than {MAX_SETS} servers or files; name a smaller file")
    return Carrier(document, tuple(sets))


def _words(piece: Piece | None) -> list[Piece]:
    """Return the words of a command: of its JSON list, or of a shell with the text as its script."""
    if piece is None or not piece.text.strip():
        return []
    listed = _json_words(piece)
    shell = (Piece(word, word, (), piece.start, piece.start) for word in ("sh", "-c"))
    return [*shell, piece] if listed is None else listed


def _json_words(piece: Piece) -> list[Piece] | None:
    """Return the words of a JSON list; None for shell form."""
    if not re.fullmatch(_LIST, piece.text.strip()):
        return None
    try:
        return [_unescape(piece.cut(m.start() + 1, m.end() - 1)) for m in re.finditer(_STRING, piece.text)]
    except json.JSONDecodeError:
        return None


def _unescape(piece: Piece) -> Piece:
    """Decode a JSON string; each character is placed at the start of its escape. Raises JSONDecodeError."""
    parts = list(re.finditer(_CHARACTER, piece.text))
    decoded = [json.loads(f'"{part[0]}"') if len(part[0]) > 1 else part[0] for part in parts]
    kept = piece.keep([part.start() for part in parts])
    source = [
        there if len(part[0]) == 1 else text for part, text, there in zip(parts, decoded, kept.source, strict=True)
    ]
    return kept._replace(text="".join(decoded), source="".join(source))


_DIRECTIVE = r"#\s*(\w+)\s*=\s*(\S*)\s*$"
_HEREDOC = r"""(?:^|(?<=\s))\d*<<(?P<tabs>-?)(?P<quote>["']?)(?P<name>[\w.-]+)(?P=quote)(?=\s|$)"""
WITH_HEREDOCS = ("RUN", "COPY", "ADD")


class Heredoc(NamedTuple):
    """The lines `first` to `last` of the document; empty if `last` is less.

    `tabs` means that leading tabs are stripped, `expands` that variables are expanded.
    """

    name: str
    first: int
    last: int
    tabs: bool
    expands: bool


class Instruction(NamedTuple):
    """An instruction: its word in upper case such as CMD, the text after it, and its here-documents."""

    word: str
    rest: Piece
    heredocs: tuple[Heredoc, ...]


def instructions(document: Document) -> Iterator[Instruction]:
    """Yield the instructions in order; template expressions are replaced by fillers of the same length."""
    parsed = Document(document.path, fill_expressions(document.text))
    goes_on = rf"{re.escape(_escape(parsed))}[ \t]*$"
    number = 1
    while number <= parsed.lines:
        if _is_nothing(parsed.line(number)):
            number += 1
            continue
        number, whole = _logical_line(document, parsed, number, goes_on)
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
    """Return the line continuation character: a backslash, or that of a directive in the first lines."""
    for number in range(1, parsed.lines + 1):
        directive = re.match(_DIRECTIVE, parsed.line(number))
        if directive is None:
            break
        if directive[1].lower() == "escape" and directive[2] == "`":
            return "`"
    return "\\"


def _logical_line(document: Document, parsed: Document, number: int, goes_on: str) -> tuple[int, Piece]:
    """Return the number of the line after an instruction, and its text without comments and blank lines."""
    text: list[str] = []
    source: list[str] = []
    places = array("L")  # a list takes five times the memory, and a command may be long
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
    """Return a here-document that starts at a line; without an end mark it takes the rest of the document."""
    tabs = bool(opening["tabs"])
    number = first
    while number <= parsed.lines:
        line = parsed.line(number)
        if (line.lstrip("\t") if tabs else line) == opening["name"]:
            break
        number += 1
    return Heredoc(opening["name"], first, number - 1, tabs, not opening["quote"])
