"""The files of a run: the current text of each, under any path, and the types of fixing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from advisor.optionfile import OptionFileError, load, render
from advisor.optionfile.lines import LineKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Edit, Finding, Fix, Target
    from advisor.optionfile.lines import OptionFile
    from advisor.verdict import FileVerdict


class TargetReading(NamedTuple):
    """A file with its includes as one target reads it: the findings and the verdict on every line.

    A `witness` has no findings to fix: it is another version that may read the file, if no target was named.
    """

    findings: tuple[Finding, ...]
    verdict: FileVerdict
    witness: bool = False

    @property
    def target(self) -> Target:
        """Return the server version of the reading."""
        return self.verdict.catalog.target


# Reads one named file with its includes; the mapping replaces files, by the paths used in the readings.
ReadTargets = Callable[[str, Mapping[str, bytes]], Sequence[TargetReading]]


class Candidate(NamedTuple):
    """A possible fix: its file, the findings it fixes, and the indices of the readings that ask for it."""

    path: str
    fix: Fix
    findings: tuple[Finding, ...]
    readings: frozenset[int]


class FileChange(NamedTuple):
    """A file before and after its fixes, and the fixed findings in the order of the fixes."""

    path: str
    before: bytes
    after: bytes
    fixed: tuple[Finding, ...]


class FixOutcome(NamedTuple):
    """The result of fixing.

    `changes` are the files that changed or would change; `unchanged` has a line with the reason for each other fix or
    file; `unread` and `unwritten` have one line for each file that could not be read or written.
    """

    changes: tuple[FileChange, ...]
    unchanged: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()


Identity = tuple[str, int, int]


class Texts:
    """Maps paths to files, and files to their original and current text; immutable.

    Two links to one file are the same file here: an edit by one name is visible by the other.
    """

    __slots__ = ("first", "given", "names", "now")

    def __init__(
        self,
        given: Mapping[str, bytes],
        names: Mapping[str, Identity] | None = None,
        first: Mapping[Identity, bytes] | None = None,
        now: Mapping[Identity, bytes] | None = None,
    ) -> None:
        self.given = given
        self.names = dict(names or {})
        self.first = dict(first or {})
        self.now = dict(now or {})

    def text(self, path: str) -> bytes:
        """Return the current text of a known file."""
        return self.now[self.names[path]]

    def names_among(self, path: str, paths: Iterable[str]) -> int:
        """Return how many of the paths lead to the file at `path`."""
        return sum(self.names[other] == self.names[path] for other in paths)

    def overlay(self) -> dict[str, bytes]:
        """Return the texts that replace files, by path."""
        return {path: self.now[who] for path, who in self.names.items()}

    def with_file(self, path: str) -> Texts:
        """Return texts that include the file at a path; raises OptionFileError if it cannot be read."""
        if path in self.names:
            return self
        text = self.given[path] if path in self.given else load(path).data
        return self._knowing({path: text})

    def read(self, files: Iterable[OptionFile]) -> Texts:
        """Return texts that include the files of a reading."""
        return self._knowing({file.path: render(file) for file in files if file.path not in self.names})

    def with_text(self, path: str, text: bytes) -> Texts:
        """Return texts with a new text for a known file."""
        return Texts(self.given, self.names, self.first, {**self.now, self.names[path]: text})

    def _knowing(self, texts: Mapping[str, bytes]) -> Texts:
        if not texts:
            return self
        names = {path: self._identity(path) for path in texts}
        found = {names[path]: text for path, text in texts.items() if names[path] not in self.now}
        return Texts(self.given, {**self.names, **names}, {**self.first, **found}, {**self.now, **found})

    def _identity(self, path: str) -> Identity:
        """Return an identity shared by all names of a file; a text without a file is identified by its name."""
        if path in self.given:
            return path, 0, 0
        try:
            status = os.stat(path)
        except OSError as error:
            raise OptionFileError(f"{path}: it no longer exists ({error.strerror}); run mycnf again") from error
        return "", status.st_dev, status.st_ino


def read_targets(path: str, look: ReadTargets, texts: Texts) -> tuple[Sequence[TargetReading], Texts]:
    """Read a file for every target, using the current texts instead of the files on disk, includes too."""
    readings = look(path, texts.overlay())
    files = [file for reading in readings for file in reading.verdict.resolved.files]
    known = texts.read(files)
    if any(file.path not in texts.names and known.text(file.path) != render(file) for file in files):
        return read_targets(path, look, known)
    return readings, known


def why_not_editable(path: str, named: str, texts: Texts, reading: TargetReading) -> str | None:
    """Return why a file in a reading may not be edited; None if it may.

    The named file may be edited, wherever its links lead. An included file may if its real path is in the directory of
    the named file or below: include lines and links to other places give no permission to write there.
    """
    if (
        path not in texts.given
        and path != named
        and not (named not in texts.given and _is_beside_or_below(path, named))
    ):
        return f"it is outside the directory of {named}: name it explicitly to fix it"
    file = next(file for file in reading.verdict.resolved.files if file.path == path)
    if any(line.templated and line.kind is LineKind.COMMENT for line in file.lines):
        return "it is a template, whose statements decide which of its lines apply"
    return None


def templated_lines(path: str, reading: TargetReading) -> frozenset[int]:
    """Return the lines of a file that contain template expressions."""
    file = next(file for file in reading.verdict.resolved.files if file.path == path)
    return frozenset(line.number for line in file.lines if line.templated)


def lines_of(edit: Edit) -> range:
    """Return the lines that an edit touches; an edit that ends before a line's first column leaves that line alone."""
    whole = edit.end_column == 1 and edit.end_line > edit.line
    return range(edit.line, edit.end_line + (not whole))


def _is_beside_or_below(path: str, named: str) -> bool:
    real = os.path.realpath(path)
    homes = {os.path.dirname(os.path.realpath(named)), os.path.realpath(os.path.dirname(named) or ".")}
    return any(os.path.commonpath((home, real)) == home for home in homes)
