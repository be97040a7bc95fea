"""Lines of an option file, the groups that a program reads, the quotes and escapes in a value, and edits."""

from __future__ import annotations

from advisor.core import NamedTuple, StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Edit, Target


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


def groups_read(target: Target, program: str = "server", suffix: str = "") -> frozenset[str]:
    """Return the groups, in lower case, that a server of this version or (`client`) its clients read.

    Servers compare groups case-insensitively, so compare `group.lower()`. With a suffix (`--defaults-group-suffix`) the
    server reads each group with the suffix too. Source: "The following groups are read" in each server's `--verbose
    --help`; [mysql_cluster] and [mariadb-11] are listed by 9.7.4 and 11.8.9, not by 8.0.15 and 11.4.5.
    """
    names = _server_groups(target) if program == "server" else _client_groups(target)
    return frozenset(names) | frozenset(name + suffix.lower() for name in names)


def _server_groups(target: Target) -> set[str]:
    groups = {"mysqld", "server", f"mysqld-{target.series}"}
    if target.is_mariadb:
        groups |= {"mariadb", "mariadbd", f"mariadb-{target.series}", f"mariadbd-{target.series}"}
        groups |= {"client-server", "galera"}
        if target.since("mariadb", 11, 8):
            groups |= {f"mariadb-{target.version[0]}", f"mariadbd-{target.version[0]}"}
    elif target.since("mysql", 9, 7):
        groups.add("mysql_cluster")
    return groups


def _client_groups(target: Target) -> set[str]:
    return {"client", "client-server", "client-mariadb"} if target.is_mariadb else {"client"}


class Dialect(NamedTuple):
    """How one server splits a file into lines and includes.

    `whole_lines`: it reads lines of any length; otherwise it continues after 4094 bytes as on a new line.
    `lenient_includes`: it strips a comment after an include path, and reads the whole path if the file ends after it;
    otherwise the comment is part of the path, and the last byte is dropped as if it were the newline.
    """

    whole_lines: bool
    lenient_includes: bool


def dialect_of(flavour: str, version: tuple[int, ...] | None = None) -> Dialect:
    """Return the dialect of a version, or of the flavour's newest.

    The source of 8.0.27 has whole lines, that of 8.0.15 does not; includes between 8.0.27 and 9.7.4 were not tested.
    """
    if flavour == "mariadb":
        return Dialect(whole_lines=False, lenient_includes=False)
    whole_lines = version is None or version >= (8, 0, 27)
    return Dialect(whole_lines, lenient_includes=version is None or version >= (9, 7))


NEWEST_DIALECT = dialect_of("mysql")


_TEMPLATED = ("{{", "{%", "{#", "<%", "${")
# File name endings of templates, appended to the name of the rendered file.
TEMPLATE_ENDINGS = (
    *(".j2", ".jinja", ".jinja2", ".erb", ".epp", ".tpl", ".tmpl", ".gotmpl", ".template", ".tftpl", ".mustache"),
    *(".mako", ".ctmpl", ".hbs", ".in"),
)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}


def is_template(path: str) -> bool:
    """Whether the file name marks a template."""
    return path.lower().endswith(TEMPLATE_ENDINGS)


def looks_templated(text: str) -> bool:
    """Whether the text contains the start of a template expression."""
    return any(opening in text for opening in _TEMPLATED)


def comment_start(line: str) -> int:
    """Return the index at which the comment of an option line starts, or its length: the first # outside quotes.

    Quotes count anywhere in the line, in the name too; a backslash escapes one inside quotes only.
    """
    at = line.find("#")
    if at < 0:
        return len(line)
    before = line[:at]
    if "'" not in before and '"' not in before:
        return at
    return _scan(line)


def _scan(line: str) -> int:
    quote = ""
    escaped = False
    for at, char in enumerate(line):
        if char in "'\"" and not escaped:
            if not quote:
                quote = char
            elif quote == char:
                quote = ""
        if char == "#" and not quote:
            return at
        escaped = bool(quote) and char == "\\" and not escaped
    return len(line)


def unquote(raw: str) -> str:
    """Return the value as the server gets it: one pair of surrounding quotes is dropped, then escapes are replaced.

    Unknown escapes and a trailing backslash keep the backslash.
    """
    if len(raw) > 1 and raw[0] in "'\"" and raw[0] == raw[-1]:
        raw = raw[1:-1]
    return _replace_escapes(raw) if "\\" in raw else raw


def _replace_escapes(raw: str) -> str:
    parts: list[str] = []
    done = 0
    while 0 <= (at := raw.find("\\", done)) < len(raw) - 1:
        parts += (raw[done:at], _ESCAPED.get(raw[at + 1], raw[at : at + 2]))
        done = at + 2
    return "".join((*parts, raw[done:]))


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply all edits; their positions refer to the original text.

    Newlines in the new text become the file's line ending. Raises ValueError if two edits overlap or one lies outside
    the file.
    """
    text = data.decode("utf-8", "surrogateescape")
    starts = _line_starts(text)
    ending = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    changed: list[str] = []
    done = 0
    for begin, end, edit in sorted(_spans(starts, edits), key=lambda span: span[:2]):
        if begin < done:
            raise ValueError(f"two edits overlap at line {edit.line}")
        changed += (text[done:begin], edit.text.replace("\n", ending))
        done = end
    return "".join((*changed, text[done:])).encode("utf-8", "surrogateescape")


def _line_starts(text: str) -> list[int]:
    """Return the offset of each line, and the end of the text as the last one."""
    starts = [0]
    for line in text.split("\n")[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _spans(starts: list[int], edits: Iterable[Edit]) -> list[tuple[int, int, Edit]]:
    return [(_offset_of(starts, e.line, e.column), _offset_of(starts, e.end_line, e.end_column), e) for e in edits]


def _offset_of(starts: list[int], line: int, column: int) -> int:
    if not 1 <= line <= len(starts) or column < 1:
        raise ValueError(f"no line {line} column {column} in the file")
    at = starts[line - 1] + column - 1
    if at > starts[-1] or (line < len(starts) and at > starts[line]):
        raise ValueError(f"line {line} has no column {column}")
    return at
