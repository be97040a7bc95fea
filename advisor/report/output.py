"""Which report goes where: to stdout, on how wide a page, or to a file that is only replaced once it is whole."""

from __future__ import annotations

import os
import sys

from advisor.core import NamedTuple
from advisor.core.errors import MycnfError
from advisor.report import WIDTH

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import IO

AS_USUAL = 0o666  # what the umask leaves of it: nothing secret is in a report
NARROWEST, WIDEST = 40, 120
EPOCH_DIGITS = 11  # the year 5138; no calendar of Python goes beyond 9999
# What reports are written with beyond ASCII, and what stands for it where the terminal has no more.
PLAIN = str.maketrans({
    "\u2013": "-", "…": "...", "·": "-", "\u00d7": "x", "≥": ">=", "≤": "<=", "µ": "u", "±": "+-",
    "─": "-", "│": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "┤": "|", "├": "|", "┬": "+", "┴": "+", "┼": "+",
    "←": "<-", "→": "->", "†": "*",
})  # fmt: skip


def pair(given: Iterable[tuple[str, str]], default: str = "text") -> list[tuple[str, str | None]]:
    """Formats with the files that they go to (None: stdout), from --format and -o in the order they were given.

    `given` holds ("format", NAME) and ("output", FILE). A file belongs to the format before it, or to the one after it
    where that has a file already. Raises MycnfError where a file is left over, or two reports would go to one place.
    """
    pairs: list[tuple[str, str | None]] = []
    waiting: list[str] = []
    for kind, word in given:
        if kind == "format":
            pairs.append((word, waiting.pop(0) if waiting else None))
        elif pairs and pairs[-1][1] is None:
            pairs[-1] = (pairs[-1][0], word)
        else:
            waiting.append(word)
    if not pairs:
        pairs = [(default, waiting.pop(0) if waiting else None)]
    if waiting:
        raise MycnfError(f"-o {waiting[0]} has no --format of its own; give one --format for each -o")
    _refuse_shared([path or "-" for _, path in pairs])
    return pairs


def _refuse_shared(paths: list[str]) -> None:
    places = [path if path == "-" else os.path.realpath(path) for path in paths]
    for path, place in zip(paths, places, strict=True):
        if places.count(place) > 1:
            where = "stdout" if path == "-" else path
            raise MycnfError(f"two reports would go to {where}; give each --format its own file with -o")


# Arguments that name files which a command reads, or writes for another purpose than its report.
NAMED = (
    *("files", "a", "b", "snapshot", "texts", "snapshots", "since", "write_diff", "parameters", "words"),
    *("config", "baseline", "write_baseline", "host_tar", "defaults_file", "defaults_extra_file"),
)


def refuse_named(args: argparse.Namespace) -> None:
    """Raise MycnfError if a report would replace a file that the command line names for something else."""
    outputs = [path for kind, path in getattr(args, "reports", None) or () if kind == "output"]
    outputs += [args.output] if getattr(args, "output", None) else []
    if not outputs:
        return
    given = [getattr(args, name, None) or () for name in NAMED]
    named = {os.path.realpath(word) for words in given for word in ([words] if isinstance(words, str) else words)}
    for path in outputs:
        ordinary = os.path.isfile(path) or not os.path.lexists(path)
        if path != "-" and ordinary and os.path.realpath(path) in named:
            raise MycnfError(f"-o {path} would replace a file that the command line names otherwise; name another file")


def write(text: str, path: str | None) -> None:
    """Print `text`, or write it beside `path` and rename; MycnfError, the old file whole, where that fails.

    A link stays a link, to the new file, which has the old one's mode. What is no ordinary file, such as /dev/stdout or
    a FIFO, is written directly.
    """
    draft = Draft(path)
    try:
        draft.write(text)
        draft.keep()
    except BaseException:
        draft.drop()
        raise


# How documents begin that are UTF-8 whatever encoding stdout has: they declare it, or their format does.
ALWAYS_UTF8 = ("<!doctype html>", "<svg ", "<?xml ", "# HELP ")


def to_stdout(text: str, *, utf8: bool = False) -> None:
    """Print a text in stdout's own encoding, or in UTF-8: the only place that decides what to do without a character.

    Bytes that were no UTF-8 stay as they were. A character that the encoding lacks is written as ASCII that looks like
    it, else as its escape, as for control characters: a `?` would be another value.
    """
    encoding = sys.stdout.encoding or "utf-8"
    if utf8 and "utf" not in encoding.lower():
        _write_encoded(text, "utf-8")
        return
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        _write_encoded(text, encoding)


def _write_encoded(text: str, encoding: str) -> None:
    import codecs

    codecs.register_error("mycnf", _without_character)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(encoding, "mycnf"))


def _without_character(error: UnicodeError) -> tuple[str | bytes, int]:
    """What to write for the first character that cannot be encoded, and where to go on: a handler of codecs."""
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101 - the handler is for encoding alone
    character = error.object[error.start]
    if "\udc80" <= character <= "\udcff":  # a byte, as surrogateescape decodes it
        return bytes([ord(character) - 0xDC00]), error.start + 1
    return PLAIN.get(ord(character)) or character.encode("ascii", "backslashreplace").decode(), error.start + 1


class Draft:
    """A report that is written bit by bit beside the file whose place it takes once it is whole, or to stdout.

    What fails is a MycnfError, and leaves the old file as it was. `file` takes bytes; None for stdout.
    """

    def __init__(self, path: str | None) -> None:
        self.file: IO[bytes] | None = None
        self._ordinary = self._made = False
        self._utf8: bool | None = None  # known from the beginning of the text
        if path is None or path == "-":
            return
        from advisor.core.signals import raise_on_signals
        from advisor.state.private_file import follow_link

        self.path = path
        try:
            self._place = follow_link(path)
        except OSError as error:
            raise self.drop_draft(error) from error
        self._ordinary = os.path.isfile(self._place) or not os.path.lexists(path)
        self._beside = path
        raise_on_signals()
        try:
            self.file = self._open_target()
        except OSError as error:
            raise self.drop_draft(error) from error

    def _open_target(self) -> IO[bytes]:
        """What is no ordinary file as it is, else a new file with the mode of the old one, if there is one."""
        if not self._ordinary:
            return open(self._beside, "wb")
        from advisor.state.private_file import open_beside

        # No other account's file of that name, nor one behind a link: folders of reports may be everybody's.
        self._beside, handle = open_beside(f"{self._place}.mycnf-", "", AS_USUAL)
        self._made = True
        if os.path.exists(self._place):
            os.fchmod(handle, os.stat(self._place).st_mode & 0o777)
        return open(handle, "wb")

    def write(self, text: str) -> None:
        """Write on."""
        if self.file is None:
            if self._utf8 is None and text:
                self._utf8 = text.startswith(ALWAYS_UTF8)
            to_stdout(text, utf8=bool(self._utf8))
            return
        try:
            self.file.write(text.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise self.drop_draft(error) from error

    def keep(self) -> None:
        """Put it in the old one's place."""
        try:
            if self.file:
                self.file.flush()
                if self._ordinary:
                    os.fsync(self.file.fileno())
                    os.replace(self._beside, self._place)  # before closing it releases its lock
                    self._made = False
                self.file.close()
        except OSError as error:
            raise self.drop_draft(error) from error

    def drop(self) -> None:
        """Leave nothing of it, and the old file as it was."""
        try:
            if self.file:
                self.file.close()
        except OSError:
            self.file = None  # a disk that is full is so once more when what is left is flushed
        if self._made and os.path.exists(self._beside):
            os.unlink(self._beside)

    def drop_draft(self, error: OSError) -> MycnfError:
        """The error to report, after the draft is gone."""
        self.drop()
        return MycnfError(f"can't write {self.path}: {error.strerror}; name another file with -o")


def colour_wanted(path: str | None) -> bool:
    """Whether the report goes to a terminal that wants colour (NO_COLOR and a dumb terminal don't)."""
    if path is not None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


class Paper(NamedTuple):
    """`width` in columns; `plain` where nothing beyond ASCII can be shown."""

    width: int = WIDTH
    colour: bool = False
    plain: bool = False

    @classmethod
    def to(cls, path: str | None) -> Paper:
        """The page for a file, or for stdout: as wide as its terminal and in what it can show."""
        if path is not None:
            return cls()
        return cls(_columns(), colour_wanted(path), "utf" not in (sys.stdout.encoding or "").lower())

    @classmethod
    def of_width(cls, path: str | None) -> Paper:
        """The page for a file, or for stdout: of the usual width everywhere, coloured on a terminal that wants it."""
        return cls(colour=colour_wanted(path))

    def fit_text(self, text: str) -> str:
        """The text with ASCII for the characters of reports where the page is plain; those of values stay."""
        return text.translate(PLAIN) if self.plain else text


def _columns() -> int:
    try:
        return max(NARROWEST, min(WIDEST, os.get_terminal_size(sys.stdout.fileno()).columns))
    except (OSError, ValueError):
        return WIDTH


def working_directory() -> str:
    """Where the run began; "" where that directory is gone."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def run_time() -> str:
    """Now in UTC, such as 2026-11-21T07:00:00; SOURCE_DATE_EPOCH, where it is set, makes reports repeat to the byte."""
    import time

    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    known = given.isdecimal() and len(given) <= EPOCH_DIGITS
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(given) if known else None))


def today() -> str:
    """The day of `run_time`, such as 2026-11-21: suppressions end by it."""
    return run_time()[:10]
