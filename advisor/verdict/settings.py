"""Settings that rules read or a server starts with, and the comparison of values in different notations."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Location, Origin, Setting
from advisor.verdict.number import leading_digits, parse_digits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Target
    from advisor.verdict.outcome import FileVerdict, LineVerdict, SettledValues, Values

    Source = tuple[Origin, Location | None]
    Lines = Mapping[str, LineVerdict]


BOOLEANS = {"TRUE": "ON", "FALSE": "OFF"}  # as --verbose --help prints them, and as SHOW GLOBAL VARIABLES does
SWITCHES = {"1": "ON", "0": "OFF", **BOOLEANS}
EXPLICIT_ORIGINS = frozenset({Origin.FILE, Origin.PERSISTED, Origin.COMMAND_LINE, Origin.RUNTIME})
NO_DEFAULT = "(No default value)"  # how --verbose --help prints an option without a value
MAX_DIGITS = 30  # shorter numbers are parsed by int() directly
BITS = 64  # width of the largest number on a server
# The compiled default; a low limit of open files reduces it.
DEFAULT_CONNECTIONS = 151
THREADS = "innodb_thread_concurrency"
SSL_FILES = ("ssl_ca", "ssl_capath", "ssl_cert", "ssl_cipher", "ssl_key", "ssl_crl", "ssl_crlpath")
TLS_SWITCHES = frozenset({"ssl", *SSL_FILES})  # each switches TLS on when its line is read
DEDICATED = "innodb_dedicated_server"
# Sized by the machine's memory and processors if no line sets them; the flush method is set before MySQL 8.4.
SIZED_BY_SERVER = (
    *("innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_log_file_size", "innodb_log_files_in_group"),
    "innodb_flush_method",
)
DAYS, SECONDS = "expire_logs_days", "binlog_expire_logs_seconds"
DAY = 86400
LONGEST_SOCKET = 107  # bytes of a path


class Settings:
    """Variables by name; unknown values, such as those autosized on an unknown host, are absent.

    `unknown` are variables whose defaults do not count: a template or innodb_dedicated_server sets them.
    For a running server see `ServerSettings`.
    """

    __slots__ = ("_catalog", "_values_given", "unknown")

    def __init__(self, given: Mapping[str, Setting], catalog: Catalog | None, unknown: Iterable[str] = ()) -> None:
        self._values_given = dict(given)
        self._catalog = catalog
        self.unknown = frozenset(unknown)

    @classmethod
    def from_file(cls, verdict: FileVerdict) -> Settings:
        """Create settings from a file's values over the defaults of its target."""
        given, unknown = {}, []
        for name, line in verdict.effective.items():
            variable = (line.option.variable if line.option else None) or name
            value = _variable_value(line)
            if line.placed.line.templated:
                unknown.append(variable)
            elif value is not None:
                given[variable] = Setting(variable, value, Origin.FILE, location_of(line), line.placed.line.raw)
        if DEDICATED in given and given[DEDICATED].value == "ON":
            unknown += SIZED_BY_SERVER
        if "ansi" in verdict.effective:
            given = _ansi_variables(verdict) | given
        return cls(given, verdict.catalog, unknown)

    def without_defaults(self) -> Settings:
        """Return only the values that are given, for a server on which others set more than is known."""
        return Settings(self._values_given, None, self.unknown)

    def get(self, var: str) -> Setting | None:
        """Return the variable with its value as SHOW GLOBAL VARIABLES prints it; None if absent or unknown."""
        return self._values_given.get(var) or (None if var in self.unknown else self._default(var))

    def text(self, var: str) -> str | None:
        """Return the value as text."""
        setting = self.get(var)
        return None if setting is None else setting.value

    def number(self, var: str) -> int | None:
        """Return the value as a whole number (bytes or a count); None if it is not one."""
        text = self.text(var)
        if text is None:
            return None
        if len(text) < MAX_DIGITS and text.isascii() and text.isdigit():
            return int(text)  # the usual case; rules call this hundreds of times per run
        number, rest = leading_digits(text)
        # Not every peer is a real server: it may send any digits, and rules divide by this number.
        return None if rest.strip("0") not in ("", ".") or not text or abs(number) >> BITS else number

    def real(self, var: str) -> float | None:
        """Return the value as a float; None if it is not a number or too large."""
        try:
            number = float(self.text(var) or "")
        except ValueError:
            return None
        return number if abs(number) < 1 << BITS else None

    def on(self, var: str) -> bool | None:
        """Whether a boolean is on; None if it is absent or not a boolean."""
        return {"ON": True, "OFF": False, "1": True, "0": False}.get((self.text(var) or "").upper())

    def is_set(self, var: str) -> bool:
        """Whether the variable is set explicitly: in a file, persisted, on the command line or at run time."""
        setting = self._values_given.get(var)
        return setting is not None and setting.origin in EXPLICIT_ORIGINS

    def names(self) -> list[str]:
        """Return the known variables: those that the file sets."""
        return sorted(self._values_given)

    def _default(self, var: str) -> Setting | None:
        option = self._catalog.find_variable(var) if self._catalog is not None else None
        if option is None:
            return None
        value = option.running if option.running is not None else as_variable(option, option.default)
        return None if value is None else Setting(var, value, Origin.COMPILED)


def _ansi_variables(verdict: FileVerdict) -> dict[str, Setting]:
    """Return the variables that the option ansi sets."""
    line, settings = verdict.effective["ansi"], {}
    for name, value in ansi_values(verdict.catalog).items():
        option = verdict.catalog.get(name)
        variable = (option.variable if option else None) or name
        settings[variable] = Setting(variable, value, Origin.FILE, location_of(line), line.placed.line.raw)
    return settings


def location_of(line: LineVerdict) -> Location:
    """Return the location of the line's option."""
    at = line.placed.line
    return Location(line.placed.path, at.number, at.column, at.number, at.end_column)


def _variable_value(line: LineVerdict) -> str | None:
    if line.running is not None:
        return line.running
    return line.value if line.option is None else as_variable(line.option, line.value)


def as_variable(option: Option, value: str | None) -> str | None:
    """Convert a value of `--verbose --help` to the notation of SHOW GLOBAL VARIABLES."""
    if value is None or value == NO_DEFAULT:
        return None if value is None else ""
    if option.kind == "bool" or option.name == "enforce_gtid_consistency":  # whose third word is WARN
        return BOOLEANS.get(value, value)
    return f"{float(value):.6f}" if option.kind == "double" else value


class ServerSettings(Settings):
    """The values that a server reports; `source_of` returns the source of a variable's value, if known."""

    __slots__ = ("_source_of", "_values")

    def __init__(self, variables: Mapping[str, str], source_of: Callable[[str], Source]) -> None:
        super().__init__({}, None)  # a running server reports every value, so no catalog of defaults is needed
        names = "".join(variables)
        self._values = variables if names == names.lower() else {name.lower(): v for name, v in variables.items()}
        self._source_of = source_of

    def get(self, var: str) -> Setting | None:
        """Return the variable with its value as the server reports it; None if there is no such variable."""
        made = self._values_given.get(var)
        if made is None and (value := self._values.get(var)) is not None:
            made = self._values_given[var] = Setting(var, value, *self._source_of(var))
        return made

    def text(self, var: str) -> str | None:
        """Return the value as text."""
        return self._values.get(var)

    def number(self, var: str) -> int | None:
        """Return the value as a whole number (bytes or a count); None if it is not one."""
        text = self._values.get(var, "")
        return int(text) if len(text) < MAX_DIGITS and text.isascii() and text.isdigit() else super().number(var)

    def is_set(self, var: str) -> bool:
        """Whether the variable is set explicitly: in a file, persisted, on the command line or at run time."""
        made = self._values_given.get(var)
        if made is not None:
            return made.origin in EXPLICIT_ORIGINS
        return (
            var in self._values and self._source_of(var)[0] in EXPLICIT_ORIGINS
        )  # no Setting is built: most variables are not read further

    def names(self) -> list[str]:
        """Return the names of all variables of the server."""
        return sorted(self._values)


OF_PROVIDER = ("gcache.size", "gmcast.listen_addr")  # listed by every version of Galera's provider
PROVIDER_BOOLEANS = {"YES": "ON", "TRUE": "ON", "1": "ON", "NO": "OFF", "FALSE": "OFF", "0": "OFF"}
UNITS = {"D": 86400, "H": 3600, "M": 60, "S": 1}  # a period of months would be of no use to a cluster
NOTATIONS = {"TRUE": "ON", "FALSE": "OFF", "1": "ON", "0": "OFF", "(NO DEFAULT VALUE)": "", "NULL": ""}


def matches_running(line: LineVerdict, running: str) -> bool:
    """Whether a running value equals the line's value, possibly in another notation."""
    return any(is_same_value(text, running) for text in (line.value, line.running) if text is not None)


def is_same_value(made: str, running: str) -> bool:
    """Whether both values are the same; a relative path or bare name equals the absolute path that ends with it.

    The options of Galera's provider are the same if the running node has each of those that are set: it lists all that
    it knows, with defaults.
    """
    return (
        normalise_value(made) == normalise_value(running)
        or _is_path_of(made, running)
        or (all(name in running for name in OF_PROVIDER) and _are_in_force(made, running))
        or ("=" in running and _whole_collations(made) == _whole_collations(running))
    )


def normalise_value(text: str) -> str:
    """Return a value in one notation: booleans, decimals, sorted list members, upper case."""
    text = text.strip().rstrip("/").upper()
    whole = _expand_number(text) if "." in text or "E+" in text else text
    return NOTATIONS.get(whole, ",".join(sorted(whole.split(","))))


def _whole_collations(text: str) -> dict[str, str]:
    """The collation of each character set in a list such as utf8mb4=uca1400_ai_ci, which the server shows in full."""
    pairs = (part.partition("=") for part in normalise_value(text).replace(" ", "").split(","))
    return {own: name if name.startswith(f"{own}_") else f"{own}_{name}" for own, _, name in pairs}


def _are_in_force(made: str, running: str) -> bool:
    values = _provider_options(running)
    return all(values.get(name) == value for name, value in _provider_options(made).items() if name)


def _provider_options(text: str) -> dict[str, str]:
    """Provider options by name; yes and no are booleans, and periods (PT1M) are in seconds."""
    pairs = (part.partition("=") for part in text.split(";"))
    values = {name.strip(): value.strip().upper() for name, _, value in pairs}
    return {name: _seconds(PROVIDER_BOOLEANS.get(value, value)) for name, value in values.items()}


def _seconds(text: str) -> str:
    """A period such as P1D or PT1M30S in seconds; other text is returned unchanged."""
    if not text.startswith("P"):
        return text
    total, digits = 0.0, ""
    for letter in text.removeprefix("P").replace("T", ""):
        if letter in UNITS and digits:
            total, digits = total + float(digits) * UNITS[letter], ""
        elif letter.isdigit() or (letter == "." and "." not in digits):
            digits += letter
        else:
            return text
    return text if digits else f"{total:g}"


def _expand_number(text: str) -> str:
    """Return a decimal or exponent number as plain digits; other text is returned unchanged."""
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else str(number)


def _is_path_of(made: str, running: str) -> bool:
    short = normalise_value(made)
    return bool(short) and running.upper().rstrip("/").endswith("/" + short.removeprefix("./"))


class StartupSettings(NamedTuple):
    """The settings that a server starts with.

    `values` are as `--verbose --help` prints them, `lines` are the lines that set them.
    """

    values: Values
    lines: dict[str, LineVerdict]
    catalog: Catalog

    def text(self, name: str) -> str | None:
        """Return the value of an option, its default if no line sets it; None if unknown."""
        option = self.catalog.get(name)
        return self.values.get(name, option.default if option else None)

    def number(self, name: str) -> int | None:
        """Return the value as a non-negative whole number."""
        return parse_digits(self.text(name))

    @property
    def tables(self) -> int:
        """Return the number of open tables, by either option name; the compiled default if no line sets it."""
        return self.number("table_open_cache") or self.number("table_cache") or default_tables(self.catalog.target)


def default_tables(target: Target) -> int:
    """Return the compiled default of table_open_cache."""
    return 4000 if target.since("mysql", 8) else 2000


def is_binary_log_on(values: Values, lines: Lines) -> bool:
    """Whether the binary log is on if a line sets it: 0 is also a base name, unless a prefix put it there."""
    return values["log_bin"] != NO_DEFAULT and (values["log_bin"] != "0" or not has_prefix(lines["log_bin"]))


def has_prefix(line: LineVerdict, *prefixes: str) -> bool:
    """Whether a prefix before the option's name determines its value."""
    name = (line.placed.line.name or "").lower().replace("-", "_")
    return name.split("loose_")[-1].startswith(prefixes or ("skip_", "disable_", "enable_"))


def is_switched_on(line: LineVerdict) -> bool:
    """Whether the line switches its option on by its presence: without a value, or by a prefix."""
    value = line.placed.line.value
    if has_prefix(line, "skip_", "disable_"):
        return value == "0"
    return value != "0" if has_prefix(line) else value is None


def is_increment(line: LineVerdict) -> bool:
    """Whether the line has no value, and so increments log_warnings."""
    return line.placed.line.value is None and not has_prefix(line)


def move_value(settled: SettledValues, name: str, value: str, why: str) -> None:
    """Change an option's value and record the reason; options that no line sets or with that value are unchanged."""
    if settled.values.get(name, value) != value:
        was, now = (BOOLEANS.get(text, text) for text in (settled.values[name], value))
        settled.why[name] = f"The server takes {now} instead of {was}: {why}."
        settled.values[name] = value


def ansi_values(catalog: Catalog) -> Values:
    """Return the values that the option ansi sets, by option."""
    from advisor.verdict.words import expand_modes

    option = catalog.get("sql_mode")
    modes = expand_modes(["ANSI"], option.values if option else (), catalog.target)
    return {"sql_mode": modes, "transaction_isolation": "SERIALIZABLE"}


def is_too_long(socket: str | None, target: Target) -> bool:
    """Whether no server on Linux can listen on the path; on Windows, it is the name of a pipe."""
    return len((socket or "").encode("utf-8", "replace")) > LONGEST_SOCKET and not target.platform
