"""The small value types shared by all packages, and how sizes, durations and shares are written."""

from __future__ import annotations

from advisor.core import NamedTuple, StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Severity(StrEnum):
    """The severity of a finding, worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Confidence(StrEnum):
    """The confidence of a finding: certain (from the server or its source), measured, likely, or an opinion."""

    CERTAIN = "certain"
    MEASURED = "measured"
    LIKELY = "likely"
    OPINION = "opinion"


class Origin(StrEnum):
    """Where a value came from."""

    FILE = "file"
    PERSISTED = "persisted"
    COMMAND_LINE = "command line"
    RUNTIME = "set at run time"
    COMPILED = "compiled"
    UNKNOWN = "unknown"


# The builds and services that differ from their flavour's own server, by name, with the name that people know.
BUILDS = {
    "percona": "Percona Server",
    "pxc": "Percona XtraDB Cluster",
    "enterprise": "MySQL Enterprise",
    "rds": "Amazon RDS",
    "aurora": "Amazon Aurora",
    "cloudsql": "Cloud SQL",
    "azure": "Azure Database",
    # Servers with MySQL's protocol and options of their own, of which none was examined.
    "greatsql": "GreatSQL",
    "alisql": "AliSQL",
    "polardb": "PolarDB",
    "stonedb": "StoneDB",
    "shannonbase": "ShannonBase",
    "tidb": "TiDB",
    "oceanbase": "OceanBase",
}
_MANAGED = ("rds", "aurora", "cloudsql", "azure")


class Target(NamedTuple):
    """A server version: the flavour, and the version as numbers (8.0.36 is (8, 0, 36)).

    `build` is a key of `BUILDS` if the server is not its flavour's own, else empty. `platform` is windows or macos,
    empty for Linux.
    """

    flavour: str
    version: tuple[int, ...]
    build: str = ""
    platform: str = ""

    @property
    def base(self) -> Target:
        """The same version of the flavour's own server on Linux."""
        return Target(self.flavour, self.version)

    @property
    def is_managed(self) -> bool:
        """Whether a cloud provider runs the server, so that options are set in its parameter groups or flags."""
        return self.build in _MANAGED

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
        """The display name, such as MySQL 8.0.36, Percona Server 8.0.36 or Amazon RDS for MySQL 8.0."""
        server = "MariaDB" if self.is_mariadb else "MySQL"
        if self.is_managed:
            server = f"{BUILDS[self.build]} for {server}"
        elif self.build:
            server = BUILDS[self.build]
        on = {"windows": " on Windows", "macos": " on macOS"}.get(self.platform, "")
        return f"{server} {self.number}{on}"

    @property
    def is_mariadb(self) -> bool:
        """Whether this is MariaDB; the version number does not show it."""
        return self.flavour == "mariadb"

    @property
    def is_mysql(self) -> bool:
        """Whether this is MySQL or a server built from it."""
        return self.flavour == "mysql"

    def since(self, flavour: str, *version: int) -> bool:
        """Whether this is the given flavour, at that version or later."""
        return self.flavour == flavour and self.version >= version

    def __str__(self) -> str:
        """The name that --target takes; the platform is an option of its own."""
        if self.is_managed:
            return f"{self.build}-{self.flavour}-{self.number}"
        name = {"percona": "percona", "pxc": "pxc", "enterprise": "mysql-enterprise"}.get(self.build, self.flavour)
        return f"{name}-{self.number}"


class Location(NamedTuple):
    """A place in a file; lines and columns are 1-based and count code points, the end column is exclusive."""

    path: str
    line: int
    column: int = 1
    end_line: int = 0
    end_column: int = 0


class Setting(NamedTuple):
    """The value of one variable, as the server prints it, with its origin.

    `raw` is the value as written if a file sets it; `inferred` means that the origin was not reported by the server.
    """

    name: str
    value: str
    origin: Origin
    location: Location | None = None
    raw: str | None = None
    inferred: bool = False


class Edit(NamedTuple):
    """A replacement of part of a file by other text (columns as in Location)."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


class Fix(NamedTuple):
    """Edits that fix a finding: `safe` ones keep the server's behaviour, `unsafe` ones may change it."""

    applicability: str
    edits: tuple[Edit, ...]


class Action(NamedTuple):
    """What to do about a finding on a server: a statement to run now, a way to keep the value, and the effects.

    `option_line` keeps it in an option file, `argument` on the command line of a server that gets the value there; for
    a persisted value the statement itself keeps it. `place` is where the line or argument belongs, `replaces` the
    present text there that is replaced, empty if none.
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

    def with_texts(self, change: Callable[[str], str]) -> Action:
        """The action with each of its texts changed, as where secrets are masked."""

        def maybe(text: str | None) -> str | None:
            return None if text is None else change(text)

        return self._replace(
            option_line=maybe(self.option_line),
            statement=maybe(self.statement),
            risk=change(self.risk),
            undo=maybe(self.undo),
            watch=maybe(self.watch),
            argument=maybe(self.argument),
            place=self.place and self.place._replace(path=change(self.place.path)),
            replaces=change(self.replaces),
        )


class LocalResult(NamedTuple):
    """The result of a probe on the server's own host that concerns a finding.

    `verdict` rates the value in the finding: worse, better, same (no relevant difference), mixed, unknown, or told for
    a measurement that does not rate it. `words` is one sentence.
    """

    probe: str
    began_at: str
    verdict: str
    words: str


class Finding(NamedTuple):
    """One result of a rule about an option, file or server.

    `option` is the name as written, in lower case with underscores; `canonical` the name `--verbose --help` prints.
    `local` is a result measured on the server's own host. `set_by` says which statement set the running value and who
    ran it, if no option file did.
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
    set_by: str = ""


class SkippedCheck(NamedTuple):
    """A rule or part of the facts that was skipped, and what it needs."""

    code: str
    reason: str


class AbsentPart(NamedTuple):
    """Replaces a part of the facts that is missing, with the reason."""

    reason: str


UNITS = ((1 << 60, "E"), (1 << 50, "P"), (1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"))
SIZES_FROM = 1 << 16  # from here on a number of bytes is hard to read
MAX_DIGITS = 19  # a longer number is a maximum (2^64 - 1) or no size
MAX_PERCENT = 1000  # percent; above it the exact number is meaningless


def exact_size(count: int) -> str:
    """Return the shortest exact notation of a size in an option file: 131072 is 128K, 131073 stays 131073."""
    for step, letter in UNITS:
        if count and count % step == 0:
            return f"{count // step}{letter}"
    return str(count)


def size_in_units(value: str) -> str:
    """Return a large number of bytes as option files have it: 16777216 is 16M; empty for all other values."""
    if not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS and int(value) >= SIZES_FROM):
        return ""
    size = exact_size(int(value))
    return "" if size == value else size


def format_size(count: float) -> str:
    """Format a size for display, with about three digits: 27.5M, 188G, 512."""
    for step, letter in UNITS:
        if abs(count) >= step:
            number = count / step
            return (f"{number:.1f}" if number < 100 else f"{number:.0f}").removesuffix(".0") + letter  # noqa: PLR2004
    return f"{count:.0f}"


def beside_limit(taken: int, size: int, where: str) -> str:
    """The memory taken and the limit, as the end of a sentence; where both are written alike, their difference."""
    shown, apart = format_size(taken), format_size(abs(taken - size))
    if shown != format_size(size):
        return f"{shown}, and may use only {where}."
    return f"{shown}, {f'{apart} more than' if taken > size else f'all but {apart} of'} the {where} that it may use."


def format_duration(seconds: float) -> str:
    """Format a duration for display, from a minute on rounded down: 41 d, 3 h, 1 min 42 s, 8 s, 400 ms.

    Below ten of the larger unit the smaller one is shown too, since 102 s are not 1 min.
    """
    for step, unit, finer, finer_unit in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= step:
            count, left = int(seconds // step), int(seconds % step // finer)
            return f"{count} {unit}" + (f" {left} {finer_unit}" if left and count < 10 else "")  # noqa: PLR2004
    return f"{seconds * 1000:.0f} ms" if 0.0005 < seconds < 0.95 else f"{seconds:.0f} s"  # noqa: PLR2004


def format_wait(seconds: float) -> str:
    """Format how long to wait, never less than it is: in whole numbers of the largest unit that fits."""
    step = next((step for step in (86400, 3600, 60) if seconds > step), 1)
    return format_duration(-(-seconds // step) * step)


def exact_duration(seconds: int) -> str:
    """Format a configured duration without rounding it, in the largest unit that suits: 2 d, 36 h, 90 min, 119 s."""
    for step, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= step and seconds % step == 0:
            return f"{seconds // step:,} {unit}"
    return f"{seconds:,} s"


def format_percent(share: float) -> str:
    """Format a share as percent with two significant digits: 0.35 %, 3.4 %, 12 %."""
    value = 100 * share
    if value > MAX_PERCENT:
        return f"more than {MAX_PERCENT} %"
    digits = 0 if value >= 10 else 1 if value >= 1 else 2  # noqa: PLR2004 - where a digit stops counting
    return f"{value:.{digits}f} %"


def format_latency(microseconds: float) -> str:
    """Format a latency for display: 90 µs, 1.1 ms."""
    return f"{microseconds:.0f} µs" if microseconds < 1000 else f"{microseconds / 1000:.1f} ms"  # noqa: PLR2004
