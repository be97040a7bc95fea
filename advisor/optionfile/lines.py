"""Types for the content of an option file."""

from enum import StrEnum
from typing import NamedTuple


class LineKind(StrEnum):
    """The kind of a line in an option file."""

    BLANK = "blank"
    COMMENT = "comment"
    GROUP = "group"
    OPTION = "option"
    INCLUDE = "include"
    INCLUDEDIR = "includedir"
    REJECTED = "rejected"
    IGNORED = "ignored"


class Line(NamedTuple):
    """One line as read: `text` with its line ending, and how the server's parser reads it.

    `number` and the columns are 1-based, columns count code points, end columns are exclusive.

    Option: `group` is the group it is in (None before the first), `name` as written without surrounding spaces, `raw`
    the value as written without comment and spaces (None without `=`), `value` after quotes and escapes, as the server
    gets it; `column` to `end_column` span name and value. Group: `name` is the group as servers compare it (leading
    spaces count). Include: `value` is the path. Rejected line, at which servers stop reading, and ignored line, an
    unknown directive: `value` is the reason.

    `templated`: the value, group or path contains a template expression; a templated comment is a template statement.
    `conditional`: the line is inside such statements, which may omit or repeat it.

    Servers read at most 4094 bytes as one line and continue with the rest as the next one, so a longer line of the file
    is several lines here, with the same `number`.
    """

    kind: LineKind
    number: int
    text: str
    group: str | None = None
    name: str | None = None
    raw: str | None = None
    value: str | None = None
    column: int = 1
    end_column: int = 1
    value_column: int = 1
    value_end_column: int = 1
    templated: bool = False
    conditional: bool = False

    @property
    def name_end_column(self) -> int:
        """Return the exclusive end column of an option's name; `end_column` is that of its value."""
        return self.column + len(self.name or "")


class OptionFile(NamedTuple):
    """A parsed file; rendering its lines gives the original bytes."""

    path: str
    lines: tuple[Line, ...]


class Problem(NamedTuple):
    """A problem of a file beyond its options: a missing include, a cycle, a world-writable file.

    `fatal` means that the server stops; `line` is 0 for the file as a whole.
    """

    path: str
    line: int
    name: str
    message: str
    fatal: bool = False


class PlacedLine(NamedTuple):
    """An option line and its file, in the order in which the server reads."""

    path: str
    line: Line


class ResolvedFiles(NamedTuple):
    """A file with all its includes: the files in reading order, their options, and problems."""

    files: tuple[OptionFile, ...]
    options: tuple[PlacedLine, ...]
    problems: tuple[Problem, ...]
