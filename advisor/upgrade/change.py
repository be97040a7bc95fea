"""A move from one server to another: its path, if the vendor supports it, and the types of the changes."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Confidence, Location, Severity, Target

if TYPE_CHECKING:
    from advisor.optionfile.lines import PlacedLine, Problem
    from advisor.verdict import LineVerdict

# MySQL's bugfix and long-term series, oldest first: an upgrade may not skip any of them.
LONG_TERM = ((5, 5), (5, 6), (5, 7), (8, 0), (8, 4), (9, 7))
# In-place downgrades within MySQL 8.0 need at least this release on both sides.
DOWNGRADED_IN_PLACE = (8, 0, 35)
# Releases numbered by calendar whose manuals say from which series they can be reached.
CALENDAR = ((26, 7), (26, 10))
UPGRADES, DOWNGRADES, OLD_DOWNGRADES = ("PATH-MYSQL-01",), ("PATH-MYSQL-02",), ("PATH-MYSQL-03",)
MARIADB, MARIADB_DOWN, TO_MYSQL = ("PATH-MARIADB-01",), ("PATH-MARIADB-02",), ("PATH-MYSQL-01", "PATH-MYSQL-02")
TO_CALENDAR = ("PATH-MYSQL-04",)


class Support(StrEnum):
    """The vendor's support for a move: in place, only by dump and load, or not at all."""

    NONE = "same-version"
    IN_PLACE = "in-place"
    STEPS = "steps"
    DUMP = "dump-and-load"
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class UpgradePath(NamedTuple):
    """The vendor's support for a move: `words` for users, `steps` the series between, `evidence` the manual pages."""

    support: Support
    words: str
    steps: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """Return NOTE for a supported in-place move in one step, else WARNING."""
        return Severity.NOTE if self.support in (Support.NONE, Support.IN_PLACE) else Severity.WARNING


def path_between(before: Target, after: Target) -> UpgradePath:
    """Return the supported path from one server to another."""
    before, after = (one._replace(build="") if one.build == "enterprise" else one for one in (before, after))
    if before == after:
        return UpgradePath(Support.NONE, "")
    if before.flavour != after.flavour:
        return _to_mariadb(before, after) if after.is_mariadb else _to_mysql(after)
    if before.is_mariadb:
        return _mariadb_path(before, after)
    if before.build != after.build:
        return _across_builds(before, after)
    return _path_by_version(before, after)


def _path_by_version(before: Target, after: Target) -> UpgradePath:
    return _upgrade_path(before, after) if before.version < after.version else _downgrade_path(before, after)


def _across_builds(before: Target, after: Target) -> UpgradePath:
    """MySQL's manual knows versions of MySQL alone; what another build does with the data is in its own manual."""
    both = f"from {before.label} to {after.label}"
    if before.version == after.version:
        words = f"MySQL's manual says nothing of a move {both}: see the manuals of both, and try it on a copy."
        return UpgradePath(Support.UNKNOWN, words, (), UPGRADES)
    path = _path_by_version(before, after)
    return path._replace(words=f"{path.words} For the change of build, see the manuals of both.")


def _upgrade_path(before: Target, after: Target) -> UpgradePath:
    """Innovation releases lie between long-term series; each can be upgraded to the next long-term series."""
    newest = LONG_TERM[-1]
    between = [s for s in LONG_TERM if before.version[:2] < s < after.version[:2]]
    way = " → ".join([before.series, *(_dotted_version(s) for s in between), after.series])
    steps = tuple(_dotted_version(s) for s in between)
    if after.version[:2] > newest:
        return _calendar_path(before, after, steps, way)
    if between and before.version[:2] >= LONG_TERM[0]:
        words = f"MySQL supports no upgrade that skips {_any_of(steps)}: go {way}, and check each step."
        return UpgradePath(Support.STEPS, words, steps, UPGRADES)
    return UpgradePath(Support.IN_PLACE, f"MySQL supports the upgrade {_step(before, after)} in place.", (), UPGRADES)


def _calendar_path(before: Target, after: Target, steps: tuple[str, ...], way: str) -> UpgradePath:
    """To releases numbered by calendar only 9.7 leads, by the manual of 26.10; of later ones nothing is known."""
    known = f"see the manual of {after.label}"
    if steps:
        words = f"MySQL supports no upgrade that skips {_any_of(steps)}: go {way}, and check each step."
        return UpgradePath(Support.STEPS, words, steps, TO_CALENDAR)
    if before.version[:2] == LONG_TERM[-1] and after.version[:2] in CALENDAR:
        return UpgradePath(Support.IN_PLACE, f"MySQL supports the upgrade {way} in place.", (), TO_CALENDAR)
    if before.series == after.series:
        return UpgradePath(
            Support.IN_PLACE, f"MySQL supports the upgrade within {after.series} in place.", (), UPGRADES
        )
    return UpgradePath(Support.UNKNOWN, f"mycnf does not know whether {way} is one step; {known}.", (), TO_CALENDAR)


def _any_of(steps: tuple[str, ...]) -> str:
    """`8.0`, `8.0 or 8.4`, `8.0, 8.4 or 9.7`."""
    *first, last = steps
    return f"{', '.join(first)} or {last}" if first else last


def _step(before: Target, after: Target) -> str:
    same = before.series == after.series
    return f"within {before.series}" if same else f"{before.series} → {after.series}"


def _downgrade_path(before: Target, after: Target) -> UpgradePath:
    old, new = before.version[:2], after.version[:2]
    if old == new and old in LONG_TERM:
        if old != (8, 0) or after.version >= DOWNGRADED_IN_PLACE:
            words = f"MySQL supports the downgrade within {before.series} in place."
            return UpgradePath(Support.IN_PLACE, words, (), DOWNGRADES)
        words = (
            "MySQL 8.0 can be downgraded to 8.0.35 at the lowest: restore a backup that was made before the upgrade."
        )
        return UpgradePath(Support.UNSUPPORTED, words, (), OLD_DOWNGRADES)
    lower = max((s for s in LONG_TERM if s < old), default=None)
    if new >= (8, 0) and lower is not None and new >= lower:
        numbers = (before.number, after.number) if old == new else (before.series, after.series)
        words = (
            f"MySQL supports no in-place downgrade {numbers[0]} → {numbers[1]}: dump and load, or replicate, and "
            "only for a rollback, while the data uses no new features."
        )
        return UpgradePath(Support.DUMP, words, (), DOWNGRADES)
    words = f"MySQL supports no downgrade {before.series} → {after.series}: restore a backup that was made before."
    return UpgradePath(Support.UNSUPPORTED, words, (), OLD_DOWNGRADES if old == (8, 0) else DOWNGRADES)


def _mariadb_path(before: Target, after: Target) -> UpgradePath:
    if before < after:
        words = f"MariaDB supports the upgrade {_step(before, after)} in place, even across other series."
        if before.series == after.series:
            words = f"MariaDB supports the upgrade within {before.series} in place."
        return UpgradePath(Support.IN_PLACE, words, (), MARIADB)
    if before.series == after.series:
        return UpgradePath(
            Support.UNKNOWN,
            "See MariaDB's manual for whether an older patch release can read the data.",
            (),
            MARIADB_DOWN,
        )
    words = (
        f"MariaDB supports no downgrade {before.series} → {after.series} and tests no in-place downgrade: dump and "
        "load, or restore a backup that was made before."
    )
    return UpgradePath(Support.UNSUPPORTED, words, (), MARIADB_DOWN)


def _to_mariadb(before: Target, after: Target) -> UpgradePath:
    if before.version < (8, 0) and after.version >= (10, 4):
        words = (
            "According to MariaDB's manual, an upgrade from MySQL before 8.0 is usually done in place: try it on a "
            "copy."
        )
        return UpgradePath(Support.IN_PLACE, words, (), MARIADB)
    way = f"from {before.label} to {after.label}"
    words = f"MariaDB's manual describes no in-place upgrade {way}: dump and load, or replicate."
    return UpgradePath(Support.DUMP, words, (), MARIADB)


def _to_mysql(after: Target) -> UpgradePath:
    words = f"MySQL's manual describes no upgrade from MariaDB: dump the data and load it into {after.label}."
    return UpgradePath(Support.DUMP, words, (), TO_MYSQL)


def _dotted_version(series: tuple[int, ...]) -> str:
    return ".".join(map(str, series))


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

    `lines_read` counts the option lines that either server reads. `problems` are those of the files for the new
    server's parser. `path` is the vendor's support for the move, which no option file shows.
    """

    before: Target
    after: Target
    paths: tuple[str, ...]
    lines_read: int
    lines: tuple[LineChange, ...]
    defaults: tuple[DefaultChange, ...]
    problems: tuple[Problem, ...]
    path: UpgradePath
