"""Types for the changes of a move from one server to another."""

from enum import StrEnum
from typing import NamedTuple

from advisor.core.model import Confidence, Location, Severity, Target
from advisor.optionfile.lines import PlacedLine, Problem
from advisor.upgrade.supported_path import UpgradePath
from advisor.verdict import LineVerdict


class LineEffect(StrEnum):
    """What happens to a line of the file, worst first."""

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
    """What a default affects, most consequential first."""

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


# A changed default in these areas is a warning: it affects data, accounts or replicas, not only performance.
WARNING_AREAS = frozenset({Area.DURABILITY, Area.DATA, Area.TRANSACTIONS, Area.ACCESS, Area.REPLICATION})


class LineChange(NamedTuple):
    """One line that the new server takes differently, or that both servers refuse.

    `before` and `after` are the verdicts, None if that server does not read the line. `write` is the line to write
    instead, checked with the new server's verdict; None if there is none.
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
        """Return the location of the line."""
        line = self.placed.line
        return Location(self.placed.path, line.number, line.column, line.number, line.end_column)


class DefaultChange(NamedTuple):
    """An option that the file does not set and whose default differs on the new server.

    `formerly` is its name on the old server if different. `before` and `after` are the values on servers without
    settings. `keep` is the line that restores the old value, confirmed by the new server's verdict on the whole file;
    None if no line does, then `lost` gives the reason.
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


class UpgradeChanges(NamedTuple):
    """The result of moving a server with these files: lines worst first, defaults most consequential first.

    `read` counts the option lines that either server reads. `problems` are problems of the files for the new server's
    parser. `path` is the vendor's support for the move, which no option file shows.
    """

    before: Target
    after: Target
    paths: tuple[str, ...]
    read: int
    lines: tuple[LineChange, ...]
    defaults: tuple[DefaultChange, ...]
    problems: tuple[Problem, ...]
    path: UpgradePath
