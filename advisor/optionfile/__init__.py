"""Reads option files losslessly, each once, and follows their includes in the order in which a server reads them."""

from __future__ import annotations

import os
import stat

from advisor.core import NamedTuple
from advisor.core.errors import MycnfError
from advisor.optionfile.lines import (
    Line,
    LineKind,
    OptionFile,
    PlacedLine,
    Problem,
    ResolvedFiles,
    dialect_of,
    groups_read,
)
from advisor.optionfile.reader import parse, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from advisor.optionfile.lines import Dialect


__all__ = [
    "MAX_BYTES", "MAX_DEPTH", "OptionFileError", "groups_read", "include_candidates", "load", "normalise",
    "option_files", "parse", "read", "render", "resolve",
]  # fmt: skip
MAX_BYTES = 1 << 20
NUL_BYTE = "servers lose what follows a NUL byte, MySQL since 8.0.27 also the next line or all others; remove it"
_HEAD = 8192
_MAX_CONTROLS = 8  # control characters allowed in a damaged text file
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\b\x1b")
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class OptionFileError(MycnfError):
    """A file that cannot be read as an option file; the message is one line with the remedy."""


class Source(NamedTuple):
    """The bytes of a file, and its mode from stat."""

    data: bytes
    mode: int

    @property
    def world_writable(self) -> bool:
        """Whether the file is world-writable; servers ignore such files."""
        return bool(self.mode & stat.S_IWOTH)


def load(path: str) -> Source:
    """Read a regular file of at most 1 MiB; raises OptionFileError for anything else."""
    try:
        # Opening a FIFO blocks until the other end is opened, and opening a device may have side effects.
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise _reject_file_type(path, mode)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise _reject_file_type(path, mode)
            data = file.read(MAX_BYTES + 1) or b""  # None for files on which a read would block, such as the kernel log
    except (OSError, ValueError) as error:
        raise _explain_error(path, error) from error
    check(data, path)
    return Source(data, mode)


def check(data: bytes, path: str) -> None:
    """Raise OptionFileError for bytes that are not an option file: too many, UTF-16, or binary."""
    if len(data) > MAX_BYTES:
        raise OptionFileError(f"{path}: larger than {MAX_BYTES >> 20}M; name the option file itself")
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise OptionFileError(f"{path}: UTF-16, which no server reads; save it as UTF-8 without a byte order mark")
    if b"\0" not in head:
        return
    controls = sum(1 for byte in head if byte < ord(" ") and byte not in _TEXT_CONTROLS)
    if controls > max(_MAX_CONTROLS, len(head) // 50):
        raise OptionFileError(f"{path}: a binary file, not an option file; name a text file such as my.cnf")


def _reject_file_type(path: str, mode: int) -> OptionFileError:
    kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), "no regular file")
    return OptionFileError(f"{path}: {kind}, not an option file; name a file, or - for stdin")


def _explain_error(path: str, error: OSError | ValueError) -> OptionFileError:
    reason = error.strerror if isinstance(error, OSError) else "a path cannot contain a NUL byte"
    return OptionFileError(f"{path or repr(path)}: can't be read ({reason}); check the path and its permissions")


# Our limits for all files together: judging an option takes three kilobytes, and servers have a thousand of them.
MAX_FILE_LINES = 30_000
MAX_OPTIONS = 10_000


class ParsedFiles:
    """Loads and parses files by path, and keeps them in the order of first use."""

    __slots__ = ("dialect", "files", "lines", "lister", "loader", "on_host", "options", "problems")

    def __init__(
        self,
        dialect: Dialect,
        loader: Callable[[str], bytes] | None,
        lister: Callable[[str], Iterable[str]] | None,
        *,
        on_host: bool,
    ) -> None:
        self.dialect = dialect
        self.loader = loader
        self.lister = lister or os.listdir
        self.on_host = on_host
        self.files: dict[str, OptionFile] = {}
        self.lines = self.options = 0
        self.problems: dict[Problem, None] = {}

    def add_problem(self, path: str, line: int, name: str, message: str) -> None:
        """Record a problem of a file once."""
        self.problems[Problem(path, line, name, message)] = None

    def get(self, path: str) -> OptionFile:
        """Return the file; raises OptionFileError if it cannot be read or is not an option file."""
        known = self.files.get(path)
        if known is None:
            known = self.files[path] = self._parse(path)
        return known

    def exists(self, path: str) -> bool:
        """Whether the file exists, readable or not."""
        if path in self.files:
            return True
        if self.loader is None:
            return os.path.lexists(path)
        try:
            self.get(path)
        except OptionFileError as error:
            return not isinstance(error.__cause__, FileNotFoundError)
        return True

    def _parse(self, path: str) -> OptionFile:
        data = self._load(path)
        if b"\0" in data:
            line = data[: data.index(b"\0")].count(b"\n") + 1
            self.add_problem(path, line, "nul-byte", NUL_BYTE)
        lines = self.lines + data.count(b"\n")
        if lines > MAX_FILE_LINES:
            raise OptionFileError(f"{path}: beyond {MAX_FILE_LINES:,} lines, more than any server's option files have")
        file = parse(data, path, self.dialect)
        options = self.options + sum(1 for line in file.lines if line.kind is LineKind.OPTION)
        if options > MAX_OPTIONS:
            raise OptionFileError(f"{path}: beyond {MAX_OPTIONS:,} options, more than any server has")
        self.lines, self.options = lines, options
        return file

    def _load(self, path: str) -> bytes:
        if self.loader is None:
            source = load(path)
            if source.world_writable:
                self.add_problem(path, 0, "world-writable", f"{path} is world-writable, so servers ignore it")
                return b"" if self.on_host else source.data
            return source.data
        try:
            data = self.loader(path)
        except OSError as error:
            raise OptionFileError(f"{path}: can't be read ({error.strerror or 'it is not here'})") from error
        check(data, path)
        return data


MAX_DEPTH = 10  # every server ignores the include lines of a file at this depth
# Our limits: two files that include each other three times, or large files in a directory, take a server minutes.
MAX_READS = 2000
MAX_LINES = 200_000


def resolve(
    paths: Sequence[str],
    *,
    flavour: str = "mysql",
    version: tuple[int, ...] | None = None,
    root: str | None = None,
    loader: Callable[[str], bytes] | None = None,
    lister: Callable[[str], Iterable[str]] | None = None,
    on_host: bool = False,
) -> ResolvedFiles:
    """Read files one after another, with all their includes, as if they were one.

    Flavour and version (None: the newest) select the server's parsing rules. `root` is prepended to absolute include
    paths. `loader` returns the bytes of a path and `lister` the names in a directory, in place of the file system; both
    may raise OSError. `on_host` means that the files are those of the server's host: a world-writable one counts as
    empty, as servers ignore it; otherwise it is read and reported as a problem. Each option line occurs once, at the
    position of its last reading, however often its file is included. Raises OptionFileError if one of `paths` cannot be
    read.
    """
    parsed = ParsedFiles(dialect_of(flavour, version), loader, lister, on_host=on_host)
    walk = _Walk(parsed, root)
    for path in paths:
        walk.follow(parsed.get(path))
    return ResolvedFiles(tuple(parsed.files.values()), walk.options_in_order(), tuple(parsed.problems))


class _Walk:
    """State of the walk through the files: the open files and the options so far."""

    __slots__ = ("lines", "open_files", "options", "parsed", "reads", "root")

    def __init__(self, parsed: ParsedFiles, root: str | None) -> None:
        self.parsed = parsed
        self.root = root
        self.options: list[PlacedLine] = []
        self.reads = 0
        self.lines = 0
        self.open_files: list[str] = []

    def options_in_order(self) -> tuple[PlacedLine, ...]:
        """Return the options, each at the position where it was last read."""
        if self.reads == len(self.parsed.files):
            return tuple(self.options)
        last = {(p.path, p.line.number, p.line.column): at for at, p in enumerate(self.options)}
        return tuple(self.options[at] for at in sorted(last.values()))

    def follow(self, file: OptionFile) -> None:
        """Read a file; an error in an included file ends that file, and the including one continues."""
        self.reads += 1
        self.lines += len(file.lines)
        self.open_files.append(file.path)
        included = len(self.open_files) > 1
        for line in file.lines:
            kind = line.kind
            if included and (kind is LineKind.REJECTED or (kind is LineKind.OPTION and line.group is None)):
                message = (
                    f"servers stop reading this file at line {line.number}, and continue with the file that includes it"
                )
                self.parsed.add_problem(file.path, line.number, "cut-short", message)
                break
            if kind is LineKind.OPTION:
                self.options.append(PlacedLine(file.path, line))
            elif kind is LineKind.IGNORED:
                self.parsed.add_problem(file.path, line.number, "unknown-directive", line.value or "")
            elif kind is LineKind.INCLUDE or kind is LineKind.INCLUDEDIR:
                self._include(file.path, line)
        self.open_files.pop()

    def _include(self, path: str, line: Line) -> None:
        if line.templated:
            return
        note = self.parsed.add_problem
        if len(self.open_files) > MAX_DEPTH:
            note(path, line.number, "include-too-deep", f"servers skip it, because it is {MAX_DEPTH} levels deep")
            return
        written = line.value or ""
        if _is_truncated(line):
            message = f"without a newline after it, servers before MySQL 9.7 read {written}; add a newline"
            note(path, line.number, "cut-include", message)
        if " #" in written:
            message = "servers before MySQL 9.7 read the comment as part of the path; move it to a separate line"
            note(path, line.number, "comment-in-include", message)
        if is_relative(written):
            message = f"{written} is relative to the directory in which the server is started; write an absolute path"
            note(path, line.number, "relative-include", message)
        if line.kind is LineKind.INCLUDEDIR:
            self._directory(path, line)
        else:
            self._one_file(path, line)

    def _directory(self, path: str, line: Line) -> None:
        why = ""
        for directory in include_candidates(line.value or "", path, self.root):
            try:
                names = option_files(self.parsed.lister(directory))
            except OSError as error:
                why = why or f"{directory}: {error.strerror or 'it is not here'}"
                continue
            for name in names:
                self._read_included(path, line, os.path.join(directory, name))
            return
        message = f"{why}; a server that can't read the directory either refuses to start"
        self.parsed.add_problem(path, line.number, "missing-includedir", message)

    def _one_file(self, path: str, line: Line) -> None:
        places = include_candidates(line.value or "", path, self.root)
        if len(os.fsencode(places[0])) > LONGEST_PATH:
            message = f"servers ignore a path of more than {LONGEST_PATH} bytes"
            self.parsed.add_problem(path, line.number, "missing-include", message)
            return
        included_path = next((place for place in places if self.parsed.exists(place)), None)
        if included_path is None:
            message = f"{places[0]}: no such file here; servers start without it"
            self.parsed.add_problem(path, line.number, "missing-include", message)
        else:
            self._read_included(path, line, included_path)

    def _read_included(self, path: str, line: Line, place: str) -> None:
        if self.reads >= MAX_READS or self.lines >= MAX_LINES:
            message = f"{self.reads} includes with {self.lines} lines were read; the others were skipped"
            self.parsed.add_problem(path, 0, "too-many-includes", message)
            return
        if place in self.open_files:
            message = (
                f"an include cycle: {place} is already being read; servers repeat it to a depth of {MAX_DEPTH} levels"
            )
            self.parsed.add_problem(path, line.number, "include-cycle", message)
        try:
            file = self.parsed.get(place)
        except OptionFileError as error:
            self.parsed.add_problem(path, line.number, "unreadable-include", str(error))
        else:
            self.follow(file)


def _is_truncated(line: Line) -> bool:
    """Whether old servers cut off a relevant part of an include path; the slash after a directory is not."""
    harmless = line.kind is LineKind.INCLUDEDIR and bool(line.value) and line.raw == f"{line.value}/"
    return line.value != line.raw and not harmless


EXTENSION = ".cnf"
LONGEST_PATH = 508  # bytes; servers silently ignore a longer path


def is_relative(written: str) -> bool:
    """Whether a server resolves the path from its working directory."""
    return not written.startswith(("/", "~"))


def include_candidates(written: str, including: str, root: str | None) -> list[str]:
    """Return the paths that an include line may mean, most likely first.

    A relative path is resolved from the working directory, as by a server started here, then from the directory of the
    including file: for files in a repository, the server's working directory is unknown.
    """
    if is_relative(written):
        return [written, os.path.join(os.path.dirname(including), written)]
    path = os.path.expanduser(written)
    return [path if root is None else os.path.join(root, path.lstrip("/"))]


def option_files(names: Iterable[str]) -> list[str]:
    """Return the names that `!includedir` reads, in the servers' order: by bytes."""
    return sorted((name for name in names if name.endswith(EXTENSION)), key=os.fsencode)


def read(path: str, *, flavour: str = "mysql") -> OptionFile:  # noqa: ARG001 - both flavours read lines alike
    """Read one file without its includes; raises OptionFileError if it is not an option file."""
    return parse(load(path).data, path)


def normalise(name: str) -> str:
    """Return an option's name in lower case with underscores, for reports only: servers may be case-sensitive."""
    return name.lower().replace("-", "_")
