"""The text of a document with the positions of its parts, and the option sets in it: what one server gets together."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.core.model import Origin
from advisor.redaction import MASK, redact_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.catalog import Catalog
    from advisor.core.model import Location, Target
    from advisor.optionfile.lines import Line, Problem
    from advisor.verdict.declared import DeclaredSet


# Names and values of secrets in any notation: MYSQL_ROOT_PASSWORD: x, --report-password=x, "password": "x".
_SPEAKING = (
    r"(?i)(?P<lead>(?<![\w.-])[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credentials?|wsrep[-_]sst[-_]auth)[\"']?"
    r"(?:\s*[:=]\s*|\s+(?=[^\s:=-])))(?P<value>\"[^\"]*\"|'[^']*'|[^\s,}\]\"']+)"
)
MAX_LINES = 50_000  # our limits: a hundred times the size of real documents, and some 30 MB of memory in total
MAX_OPTIONS = 10_000
FILLER = "x"  # placeholder for each character that is substituted later


class CarrierError(MycnfError):
    """A document that cannot be read; the message is one line with the place and the remedy."""


class Document:
    """A text that converts offsets to lines and columns, in code points, and records the positions of secrets.

    Raises CarrierError if the text has too many lines.
    """

    __slots__ = ("_counted", "_lines", "_parts", "_secrets", "_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._counted = 0
        self._starts = line_offsets(path, text)
        self._lines: dict[int, str] = {}
        self._parts = [(1, path)]
        self._secrets: list[tuple[int, int]] = []

    def add(self, path: str, text: str) -> int:
        """Append the text of another file that belongs to this one, and return its offset.

        Raises CarrierError if the text gets too many lines.
        """
        self.text += "" if self.text.endswith("\n") else "\n"
        start = len(self.text)
        self.text += text
        self._starts = line_offsets(self.path, self.text)
        self._lines.clear()
        self._parts.append((self.place(start)[0], path))
        return start

    def file_line(self, number: int) -> tuple[str, int]:
        """Return the file that a line comes from, and the line number in that file."""
        first, path = self._parts[bisect_right(self._parts, number, key=lambda part: part[0]) - 1]
        return path, number - first + 1

    def number(self, path: str, line: int) -> int:
        """Return the line number in the document of a file's line; the reverse of `file_line`."""
        return next((first for first, name in self._parts if name == path), 1) + line - 1

    @property
    def first_lines(self) -> list[int]:
        """Return the first line number of each of its files."""
        return [first for first, _ in self._parts]

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column of an offset, both 1-based."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int = 1) -> int:
        """Return the offset of a line and column of the text."""
        return self._starts[line - 1] + column - 1

    def line(self, number: int) -> str:
        """Return a line without its line ending."""
        return self.whole_line(number).removesuffix("\n").removesuffix("\r")

    def whole_line(self, number: int) -> str:
        """Return a line with its ending; cached, since one line may hold thousands of options."""
        line = self._lines.get(number)
        if line is None:
            end = self._starts[number] if number < len(self._starts) else len(self.text)
            line = self._lines[number] = self.text[self._starts[number - 1] : end]
        return line

    def width(self, number: int) -> int:
        """Return the length of a line without its ending."""
        text = self.whole_line(number)
        return len(text) - (2 if text.endswith("\r\n") else 1 if text.endswith(("\n", "\r")) else 0)

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self._starts)

    def count(self, options: int) -> None:
        """Add to the number of options in all sets; raises CarrierError above the limit."""
        self._counted += options
        if self._counted > MAX_OPTIONS:
            raise CarrierError(
                f"{self.path}: beyond {MAX_OPTIONS:,} options, more than any servers are given; name a smaller file"
            )

    def hide(self, start: int, end: int) -> None:
        """Record that there is a secret between two offsets."""
        self._secrets.append((start, end))

    def masked_line(self, number: int) -> str:
        """Return a line with secrets masked: recorded ones and those recognised by their name."""
        text = self.line(number)
        start = self._starts[number - 1]
        for begin, end in sorted(self._secrets, reverse=True):
            if begin < start + len(text) and end > start:
                text = text[: max(0, begin - start)] + MASK + text[max(0, end - start) :]
        return redact_text(re.sub(_SPEAKING, rf"\g<lead>{MASK}", text)).text


def line_offsets(path: str, text: str) -> list[int]:
    """Return the offset of each line; raises CarrierError above the limit."""
    if text.count("\n") > MAX_LINES:
        raise CarrierError(f"{path}: beyond {MAX_LINES:,} lines, more than any such document has; name a smaller file")
    return [0, *(m.end() for m in re.finditer("\n", text))]


def document_of(data: bytes, path: str) -> Document:
    """Decode a document; raises CarrierError if it is not UTF-8 or too long."""
    try:
        return Document(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise CarrierError(f"{path}:{line}: a byte that is not UTF-8; save the file as UTF-8") from error


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
    for word, filled_word in zip(words, there, strict=True):
        blank = places[-1] + 1 if places else filled_word.start()
        places += [blank] * (word.start() - len(places))
        places += range(filled_word.start(), filled_word.end())
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


MAX_SETS = 500  # our limit per document, since each set is judged separately


class NonOption(NamedTuple):
    """Something that is not an option line: what the server does with it, the remedy, and the location.

    `name` is the name of the rule that reports it; `fatal` means that the server does not start.
    """

    name: str
    message: str
    help: str
    location: Location
    fatal: bool
    option: str | None = None


class EmbeddedText(NamedTuple):
    """A text whose lines have no positions in the document: `reading` uses the text's line numbers, `called` names it.

    All of it is located at `place`.
    """

    reading: SetReading
    place: Location
    called: str


class SetReading(NamedTuple):
    """The content of a set for one target.

    `lines` are in the document's order, `order` are the options in the order in which the server reads them. `editable`
    are the positions (line, column) of options that are in the document verbatim, `whole` the document lines that hold
    exactly one option, so that they can be deleted. `within` is set if the notation hides the positions of all lines.
    """

    lines: tuple[Line, ...]
    order: tuple[Line, ...]
    problems: tuple[Problem, ...] = ()
    strays: tuple[NonOption, ...] = ()
    editable: frozenset[tuple[int, int]] = frozenset()
    whole: frozenset[int] = frozenset()
    within: EmbeddedText | None = None


class OptionSet(NamedTuple):
    """Options that belong together; `label` names them in reports.

    `hint` is the server that the document names and `why` how it was found; None if it names none. `groupless` names
    the source if its options have no groups, else it is empty. `origin` says how the server gets the values. `declared`
    has the entries of a set that a platform or operator passes on. `partial` means that an operator, a template or a
    module adds options that the document does not show. `memory` is the limit that the document sets for the server's
    memory in bytes, 0 if it sets none.
    """

    label: str
    read: Callable[[Catalog], SetReading]
    hint: Target | None = None
    why: str = ""
    groupless: str = ""
    origin: Origin = Origin.FILE
    declared: DeclaredSet | None = None
    partial: bool = False
    memory: int = 0


class Carrier(NamedTuple):
    """A document and its sets, in the document's order; `empty` says why it has none, if that is known."""

    document: Document
    sets: tuple[OptionSet, ...]
    empty: str = ""


def distinguish_labels(sets: Sequence[OptionSet]) -> tuple[OptionSet, ...]:
    """Return the sets with a number behind each label that an earlier one has: `my.cnf`, `my.cnf#2`."""
    seen: dict[str, int] = {}
    labelled = []
    for option_set in sets:
        seen[option_set.label] = count = seen.get(option_set.label, 0) + 1
        labelled.append(option_set if count == 1 else option_set._replace(label=f"{option_set.label}#{count}"))
    return tuple(labelled)
