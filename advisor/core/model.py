"""The small value types that every part of mycnf shares; standard library only, cheap to import."""

# No `from __future__ import annotations` where the lint path makes a NamedTuple: typing compiles each annotation that
# comes to it as text, which makes the class three times as dear to import.

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a finding matters, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Confidence(StrEnum):
    """How sure a finding is: certain (the server or the source says so), measured, likely, or an opinion."""

    CERTAIN = "certain"
    MEASURED = "measured"
    LIKELY = "likely"
    OPINION = "opinion"


class Origin(StrEnum):
    """Where a running value came from."""

    FILE = "file"
    PERSISTED = "persisted"
    COMMAND_LINE = "command line"
    RUNTIME = "set at run time"
    COMPILED = "compiled"
    UNKNOWN = "unknown"


class Target(NamedTuple):
    """A server version: the flavour, and the version as numbers (8.0.36 is (8, 0, 36))."""

    flavour: str
    version: tuple[int, ...]

    @property
    def series(self) -> str:
        """The release series, such as 8.0 or 10.11."""
        return ".".join(str(n) for n in self.version[:2])

    @property
    def number(self) -> str:
        """The whole version, such as 8.0.36."""
        return ".".join(str(n) for n in self.version)

    @property
    def label(self) -> str:
        """The name for people, such as MySQL 8.0.36."""
        return f"{'MariaDB' if self.is_mariadb else 'MySQL'} {self.number}"

    @property
    def is_mariadb(self) -> bool:
        """Whether this is MariaDB; the number alone never tells."""
        return self.flavour == "mariadb"

    @property
    def is_mysql(self) -> bool:
        """Whether this is MySQL or a server built from it."""
        return self.flavour == "mysql"

    def since(self, flavour: str, *version: int) -> bool:
        """Whether this is the flavour named, at that version or a later one."""
        return self.flavour == flavour and self.version >= version

    def __str__(self) -> str:
        return f"{self.flavour}-{self.number}"


class Location(NamedTuple):
    """A place in a file; lines and columns are 1-based code points, the end column is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0


class Setting(NamedTuple):
    """The value of one variable, as the server would print it, with its source.

    `raw` is the value as written where a file holds it; `inferred` says that the origin was concluded, not told.
    """

    name: str
    value: str
    origin: Origin
    location: Location | None = None
    raw: str | None = None
    inferred: bool = False


class Edit(NamedTuple):
    """A replacement of one stretch of a file by other text (columns as in Location)."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(NamedTuple):
    """Edits that mend a finding: `safe` keeps the server's behaviour, `unsafe` may not."""

    applicability: str
    edits: tuple[Edit, ...]


class Action(NamedTuple):
    """What to do about a finding on a server: the statement for now, what keeps the value, and what to expect of both.

    `option_line` keeps it in an option file, `argument` on the command line of a server that gets the value there;
    where the value is persisted the statement keeps it by itself. `place` is where line or argument belong, `replaces`
    what stands there now and goes, empty where nothing does.
    """

    option_line: str | None = None
    statement: str | None = None
    risk: str = ""
    restart: bool = False
    undo: str | None = None
    watch: str | None = None
    argument: str | None = None
    place: Location | None = None
    replaces: str = ""


class LocalResult(NamedTuple):
    """What an experiment on the server's own host says of a finding.

    `verdict` of the value that the finding is about: worse, better, same (no difference worth a setting), mixed,
    unknown, or told where a measurement stands beside the finding without judging it. `words` are one sentence.
    """

    probe: str
    began_at: str
    verdict: str
    words: str


class Finding(NamedTuple):
    """One thing a rule has to say about one option, file or server.

    `option` is the name as written, lower case with underscores; `canonical` the name `--verbose --help` prints.
    `local` is what was measured on the server's own host.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    help: str = ""
    option: str | None = None
    canonical: str | None = None
    value: str | None = None
    group: str | None = None
    location: Location | None = None
    evidence: tuple[str, ...] = ()
    fix: Fix | None = None
    actions: tuple[Action, ...] = ()
    local: LocalResult | None = None


class Skipped(NamedTuple):
    """A rule, or a part of the facts, that could not be looked at, and what it would need."""

    code: str
    reason: str


class AbsentPart(NamedTuple):
    """Stands in for a part of the facts that is not there, with the reason."""

    reason: str
