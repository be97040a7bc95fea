"""The text of a document with positions, and its lines with secrets masked."""

from __future__ import annotations

import re
from bisect import bisect_right

from advisor.core.errors import MycnfError
from advisor.redaction.secrets import MASK, redact_text

# Names and values of secrets in any notation: MYSQL_ROOT_PASSWORD: x, --report-password=x, "password": "x".
_SPEAKING = (
    r"(?i)(?P<lead>(?<![\w.-])[\w.-]*(?:password|passwd|passphrase|pwd|secret|token|credentials?|wsrep[-_]sst[-_]auth)[\"']?"
    r"(?:\s*[:=]\s*|\s+(?=[^\s:=-])))(?P<value>\"[^\"]*\"|'[^']*'|[^\s,}\]\"']+)"
)


MAX_LINES = 50_000  # our limits: a hundred times the size of real documents, and some 30 MB of memory in total
MAX_OPTIONS = 10_000


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
        found = self._lines.get(number)
        if found is None:
            end = self._starts[number] if number < len(self._starts) else len(self.text)
            found = self._lines[number] = self.text[self._starts[number - 1] : end]
        return found

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
        raise CarrierError(f"{path}:{line}: a byte that is no UTF-8; save the file as UTF-8") from error
