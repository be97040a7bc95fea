"""Input and output types of fixing."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from advisor.core.model import Finding, Fix, Target
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

    `changes` are the files that changed or would change; `left` has one line with the reason for each fix or file left
    unchanged; `unread` and `unwritten` have one line for each file that could not be read or written.
    """

    changes: tuple[FileChange, ...]
    left: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    unwritten: tuple[str, ...] = ()
