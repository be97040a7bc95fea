"""What a move from one server to another changes, as values."""

from enum import StrEnum
from typing import NamedTuple

from advisor.core.model import Confidence, Location, Severity, Target
from advisor.optionfile.lines import PlacedLine, Problem
from advisor.upgrade.supported_path import UpgradePath
from advisor.verdict import LineVerdict


class LineEffect(StrEnum):
    """What becomes of a line of the file, worst first."""

    SYNTAX = "syntax-error"
    REMOVED = "removed"
    RENAMED = "renamed"
    REFUSED = "refused"
    STILL_REFUSED = "still-refused"
    NOT_READ = "not-read"
    VALUE = "other-value"
    ADJUSTED = "adjusted"
    IGNORED = "ignored"
    NEWLY_READ = "newly-read"
    NOT_EXAMINED = "not-examined"
    NOW_ACCEPTED = "now-accepted"
    DEPRECATED = "deprecated"


class Area(StrEnum):
    """What a default decides, most consequential first."""

    DURABILITY = "durability"
    DATA = "data"
    TRANSACTIONS = "transactions"
    ACCESS = "access"
    REPLICATION = "replication"
    MEMORY = "memory"
    IO = "I/O"
    LIMITS = "limits"
    OPTIMIZER = "optimizer"
    REST = "rest"


# Of these a change is a warning: data, accounts or replicas fare differently, and not only faster or slower.
WARNING_AREAS = frozenset({Area.DURABILITY, Area.DATA, Area.TRANSACTIONS, Area.ACCESS, Area.REPLICATION})


class LineChange(NamedTuple):
    """One line that the new server takes otherwise than the old one, or refuses as the old one did.

    `before` and `after` are the verdicts, None where that server doesn't read the line. `write` is the line to put in
    its place, which the new server was seen to accept, None where there is none.
    """

    kind: LineEffect
    severity: Severity
    confidence: Confidence
    placed: PlacedLine
    before: LineVerdict | None
    after: LineVerdict | None
    message: str
    write: str | None = None

    @property
    def location(self) -> Location:
        """Where the line stands."""
        line = self.placed.line
        return Location(self.placed.path, line.number, line.column, line.number, line.end_column)


class DefaultChange(NamedTuple):
    """An option that the file doesn't set, and whose default is another one on the new server.

    `formerly` is the old server's name of it where that differs. `before` and `after` are the values that an untouched
    server runs with. `keep` is the line that brings the old value back, which the new server's verdict on the whole
    file bears out; None where no line does, and `lost` says why.
    """

    option: str
    formerly: str | None
    area: Area
    severity: Severity
    confidence: Confidence
    before: str
    after: str
    message: str
    keep: str | None
    lost: str


class Move(NamedTuple):
    """What moving a file's server means: lines worst first, defaults most consequential first.

    `read` counts the option lines that either server reads. `problems` are those of the files to the new one's reader.
    `path` is how the vendor sees the move: no option file tells that.
    """

    before: Target
    after: Target
    paths: tuple[str, ...]
    read: int
    lines: tuple[LineChange, ...]
    defaults: tuple[DefaultChange, ...]
    problems: tuple[Problem, ...]
    path: UpgradePath
