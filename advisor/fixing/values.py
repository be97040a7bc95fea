"""What goes into fixing and what comes out of it, as values."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from advisor.core.model import Finding, Fix, Target
from advisor.verdict import FileVerdict


class TargetReading(NamedTuple):
    """A file with its includes as one target takes it: what the rules found, and the verdict on every line.

    A `witness` has no findings to fix: it is a version that may read the file too, where nobody named the target.
    """

    findings: tuple[Finding, ...]
    verdict: FileVerdict
    witness: bool = False

    @property
    def target(self) -> Target:
        """The server version that reads."""
        return self.verdict.catalog.target


# Reads one named file with its includes; the texts stand in for files, by the paths that the readings call them.
ReadTargets = Callable[[str, Mapping[str, bytes]], Sequence[TargetReading]]


class Candidate(NamedTuple):
    """A fix that may be made: its file, the findings that it mends, and the readings (by place) that ask for it."""

    path: str
    fix: Fix
    findings: tuple[Finding, ...]
    readings: frozenset[int]


class FileChange(NamedTuple):
    """A file before and after its fixes, and the findings that they mended, in the order of the fixes."""

    path: str
    before: bytes
    after: bytes
    fixed: tuple[Finding, ...]


class FixOutcome(NamedTuple):
    """What came of fixing.

    `changes` are the files that changed, or would; `left` one line for each fix or file that was left alone, with the
    reason; `unread` and `unwritten` one line for each file that could not be read, or written.
    """

    changes: tuple[FileChange, ...]
    left: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
