"""What an option file is made of, as values."""

from enum import StrEnum
from typing import NamedTuple


class LineKind(StrEnum):
    """What one line of an option file is."""

    BLANK = "blank"
    COMMENT = "comment"
    GROUP = "group"
    OPTION = "option"
    INCLUDE = "include"
    INCLUDEDIR = "includedir"
    REJECTED = "rejected"
    IGNORED = "ignored"


class Line(NamedTuple):
    """One line as read: `text` with its line ending, and what the server's reader makes of it.

    `number` and the columns are 1-based, columns count code points, end columns are exclusive.
    For an option: `group` is the group that it stands in (None before any), `name` as written without
    surrounding space, `raw` the value as written without comment and space (None where there is no `=`),
    `value` after quotes and escapes, as the server gets it; `column` to `end_column` span name and value.
    For a group: `name` is the group as servers compare it (a space before it counts). For an include:
    `value` is the path. For a rejected line, at which servers stop reading, and an ignored one, a
    directive that they don't know: `value` is why.
    `templated`: the value, group or path is an expression that a template engine has yet to fill in; a
    comment that is templated is a statement of that engine. `conditional`: the line stands within such
    statements, which may leave it out or repeat it.

    Servers read at most 4094 bytes as one line and go on with the rest as if it were the next one, so a
    longer line of the file is several lines here, with one `number`.
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
        """Where an option's name ends, exclusive; `end_column` is where its value does."""
        return self.column + len(self.name or "")


class OptionFile(NamedTuple):
    """One file, read: writing its lines again gives the bytes that were read."""

    path: str
    lines: tuple[Line, ...]


class Problem(NamedTuple):
    """Something about a file that its options don't tell: a missing include, a cycle, a world-writable file.

    `fatal` says that the server would stop at it; `line` is 0 for the file as a whole.
    """

    path: str
    line: int
    name: str
    message: str
    fatal: bool = False


class PlacedLine(NamedTuple):
    """An option line together with the file it stands in, in the order in which the server reads."""

    path: str
    line: Line


class ResolvedFiles(NamedTuple):
    """A file with all that it includes: the files in reading order, their options, and what was wrong."""

    files: tuple[OptionFile, ...]
    options: tuple[PlacedLine, ...]
    problems: tuple[Problem, ...]
