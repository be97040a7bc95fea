"""Parameters of managed services: their declarations, the provider's list, formulas and resulting settings."""

from __future__ import annotations

import math
import re

from advisor.core import NamedTuple
from advisor.core.errors import MycnfError
from advisor.core.model import Origin, Setting
from advisor.optionfile import normalise
from advisor.verdict.settings import Settings, as_variable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from advisor.catalog import Catalog, Option
    from advisor.core.model import Confidence, Location, Severity, Target
    from advisor.verdict.outcome import FileVerdict, LineVerdict


# Words of Amazon and Azure for a value that a user set.
BY_USERS = ("user", "user-override")


class DeclaredOption(NamedTuple):
    """A name and a value with their places.

    `value` is None if it is not in the document: an expression, a variable, or the empty text that stands for the
    default of the platform. Then only the name can be judged. `apply_method` is immediate, pending-reboot, unknown, or
    empty if the platform has no such choice. `prefix` precedes the name in the document, as in mysql_max_connections.
    `is_key` means that the document has the name as a key with the value beside it, instead of a key for each of the
    two.
    """

    name: str
    value: str | None
    name_place: Location
    value_place: Location
    apply_method: str = ""
    prefix: str = ""
    is_key: bool = False

    @property
    def written(self) -> str:
        """The name as the document has it."""
        return f"{self.prefix}{self.name}"


class ProviderParameter(NamedTuple):
    """What a provider's own list shows about a parameter.

    `value` is the current value, None if the list has none; `source` says who set it (user, system, engine-default; for
    Azure user-override or system-default), empty if unknown. `allowed` is the provider's notation: `1-100` or
    `ON,OFF`, empty if anything is allowed. `modifiable` is None if the list does not say. `apply_type` is static,
    dynamic or empty. `data_type` is in lower case: integer, boolean, string, list, float, enumeration, set, numeric.
    """

    name: str
    value: str | None = None
    default: str | None = None
    source: str = ""
    allowed: str = ""
    modifiable: bool | None = None
    apply_type: str = ""
    data_type: str = ""

    @property
    def is_set_by_user(self) -> bool | None:
        """Whether a user set the value; None if the list does not show it."""
        return self.source in BY_USERS if self.source else None


class DeclaredSet(NamedTuple):
    """The options that a document declares together for one server.

    `kind` is what the platform calls the whole: DB parameter group, DB cluster parameter group, database flags, server
    parameters. `scope` is instance or cluster for Amazon's groups, else empty. `target` is None if the document does
    not name the server. `ranges` are the provider's own parameters by name if the document lists them, else empty.
    `notation` is the document's language: terraform, json, yaml, or empty for an option file.
    """

    kind: str
    target: Target | None
    options: tuple[DeclaredOption, ...]
    scope: str = ""
    ranges: Mapping[str, ProviderParameter] = {}
    notation: str = ""


NUMERIC = ("integer", "float", "boolean", "long", "double", "numeric")  # data types of the lists that hold numbers
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PATTERN = re.compile(r"[\[\](){}^$*+\\|?]")  # marks of a regular expression, which some lists hold


def is_allowed(value: str, row: ProviderParameter) -> bool:
    """Whether a provider's list allows a value; True if the notation of the list is not understood."""
    allowed = row.allowed.strip()
    parts = [part.strip() for part in allowed.split(",")]
    text = value.strip()
    ranges = [found for part in parts if (found := _RANGE.fullmatch(part))]
    words = {part.lower() for part in parts if not _RANGE.fullmatch(part)}
    if any(map(_PATTERN.search, words)):
        return True
    if text.lower() in words or any(_in_range(text, found) for found in ranges):
        return True
    if words and not ranges:
        return all(part.strip().lower() in words for part in text.split(","))
    return _NUMBER.fullmatch(text) is None and row.data_type not in NUMERIC


def _in_range(text: str, match: re.Match[str]) -> bool:
    return _NUMBER.fullmatch(text) is not None and float(match[1]) <= float(text) <= float(match[2])


def valid_values(option: Option) -> str:
    """Return which values are valid, where the catalog knows it."""
    if option.values:
        return f"valid: {shorten_text(', '.join(option.values))}"
    if option.kind == "bool":
        return "valid: 0 and 1"
    if option.min is not None and option.max is not None:
        return f"valid: {option.min} to {option.max}"
    return ""


def shorten_text(text: str, most: int = 120) -> str:
    """Return the text, cut off after `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


FUNCTIONS: dict[str, Callable[[list[float]], float]] = {"GREATEST": max, "LEAST": min, "SUM": sum}
# The last three are in the default groups of RDS, but not in its manual.
VARIABLES = (
    "AllocatedStorage", "DBInstanceClassHugePagesDefault", "DBInstanceClassMemory", "DBInstanceVCPU", "EndPointPort",
    "TrueIfReplica", "TrueIfClusterReplica", "ServerId",
)  # fmt: skip
MAX_LENGTH = 1000  # characters; RDS's own formulas have some hundred
MAX_DEPTH = 20
_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Za-z_]\w*)|([{}()*/,+-]))")


class FormulaError(MycnfError):
    """A text that is no valid formula; the message says where and why."""


class Instance(NamedTuple):
    """What formulas read: memory and storage in bytes, processors, the port; None if unknown.

    `memory` is an upper limit of DBInstanceClassMemory: the service subtracts what its own processes need.
    """

    memory: int | None = None
    processors: int | None = None
    storage: int | None = None
    port: int | None = 3306
    replica: bool | None = None

    def value(self, name: str) -> float | None:
        """Return the value of a formula variable; None if it is unknown."""
        replica = None if self.replica is None else int(self.replica)
        return {
            "AllocatedStorage": self.storage,
            "DBInstanceClassMemory": self.memory,
            "DBInstanceVCPU": self.processors,
            "EndPointPort": self.port,
            "TrueIfReplica": replica,
            "TrueIfClusterReplica": replica,
        }.get(name)


def is_formula(value: str) -> bool:
    """Whether a value is meant as a formula: it begins with a brace or with the name of a function."""
    return re.match(rf"\s*(?:\{{|(?:{'|'.join(FUNCTIONS)}|IF)\s*\()", value, re.IGNORECASE) is not None


def evaluate_formula(text: str, instance: Instance) -> int | None:
    """Return the whole number that a formula results in; None if it needs a variable that is unknown.

    Raises FormulaError for a text that is no formula.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the formula has more than {MAX_LENGTH} characters")
    try:
        reader = _Reader(text, instance)
        value = reader.item(0)
    except OverflowError as error:
        raise FormulaError("a number in it is too large") from error
    if reader.token is not None:
        raise FormulaError(f"{reader.token!r} is unexpected at the end")
    return None if value is None else math.trunc(value)


class _Reader:
    """Reads a formula from left to right; `token` is the next token, None at the end."""

    def __init__(self, text: str, instance: Instance) -> None:
        self._tokens = _tokens(text)
        self._instance = instance
        self.token: str | None = next(self._tokens, None)

    def item(self, depth: int) -> float | None:
        """Read a whole number, a formula in braces or a function of these."""
        if depth > MAX_DEPTH:
            raise FormulaError("the functions are nested too deeply")
        if self.token == "{":  # noqa: S105 - a brace, no secret
            self._next()
            value = self._product(depth)
            self._expect("}")
            return value
        if self.token is not None and self.token.upper() in FUNCTIONS:
            return self._function(self._next().upper(), depth)
        return self._number()

    def _function(self, name: str, depth: int) -> float | None:
        self._expect("(")
        values = [self.item(depth + 1)]
        while self.token == ",":  # noqa: S105 - a comma
            self._next()
            values.append(self.item(depth + 1))
        self._expect(")")
        known = [value for value in values if value is not None]
        return FUNCTIONS[name](known) if len(known) == len(values) else None

    def _product(self, depth: int, *, whole: bool = True) -> float | None:
        """Read factors; a quotient is truncated to a whole number, except within log."""
        value = self._factor(depth)
        while self.token in ("*", "/"):
            operator = self._next()
            value = _apply(operator, value, self._factor(depth), whole=whole)
        return value

    def _factor(self, depth: int) -> float | None:
        word = self.token or ""
        if word.lower() == "log" and depth <= MAX_DEPTH:
            self._next()
            self._expect("(")
            value = self._product(depth + 1, whole=False)
            self._expect(")")
            if value is None:
                return None
            if value <= 0:
                raise FormulaError("the logarithm of 0 has no value")
            return round(math.log2(value))
        if word in VARIABLES:
            return self._instance.value(self._next())
        if word[:1].isalpha():
            from advisor.core.errors import nearest_word

            nearest = nearest_word(word, VARIABLES)
            hint = f"; the nearest is {nearest}" if nearest else ""
            raise FormulaError(f"{word!r} is not a formula variable{hint}")
        return self._number()

    def _number(self) -> float:
        if self.token is None or not self.token[0].isdigit():
            raise FormulaError(f"a number or a formula in braces is expected at {self.token or 'the end'!r}")
        text = self._next()
        return float(text) if "." in text else int(text)

    def _expect(self, mark: str) -> None:
        if self.token != mark:
            raise FormulaError(f"{mark!r} is missing before {self.token or 'the end'!r}")
        self._next()

    def _next(self) -> str:
        token = self.token or ""
        self.token = next(self._tokens, None)
        return token


def _apply(operator: str, value: float | None, other: float | None, *, whole: bool) -> float | None:
    if operator == "/" and other == 0:
        raise FormulaError("it divides by 0")
    if value is None or other is None:
        return None
    if operator == "*":
        return value * other
    if whole and isinstance(value, int) and isinstance(other, int):
        return value // other
    return value / other


def _tokens(text: str) -> Iterator[str]:
    """Yield numbers, names and marks; raises FormulaError for any other character."""
    at, text = 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FormulaError(f"{text[at]!r} cannot be part of a formula")
        yield match[1] or match[2] or match[3]
        at = match.end()


# Default parameter groups show that services have other defaults for these variables than their servers.
OTHER_DEFAULTS_OF_SERVICES = frozenset(
    (
        *("binlog_format", "innodb_buffer_pool_instances", "innodb_buffer_pool_size", "innodb_flush_method"),
        *("innodb_io_capacity", "innodb_io_capacity_max", "innodb_log_buffer_size", "innodb_log_file_size"),
        *("innodb_log_files_in_group", "innodb_purge_threads", "innodb_redo_log_capacity", "key_buffer_size"),
        *("local_infile", "log_output", "max_connections", "performance_schema", "query_cache_size"),
        *("query_cache_type", "read_buffer_size", "read_rnd_buffer_size", "relay_log_recovery", "sql_mode"),
        *("table_definition_cache", "table_open_cache", "thread_cache_size", "thread_stack"),
    )
)
# Defaults of Amazon's parameter groups. The formula of Aurora gives what its manual lists for each instance class.
_REPLICATION = {
    "master_info_repository": "TABLE",
    "relay_log_info_repository": "TABLE",
    "relay_log_recovery": "1",
    "sync_binlog": "1",
}
DEFAULTS = {
    "rds": {
        **_REPLICATION,
        "innodb_buffer_pool_size": "{DBInstanceClassMemory*3/4}",
        "innodb_flush_method": "O_DIRECT",
        "max_connections": "{DBInstanceClassMemory/12582880}",
    },
    "aurora": {
        **_REPLICATION,
        "innodb_buffer_pool_size": "{DBInstanceClassMemory*3/4}",
        "max_connections": (
            "GREATEST({log(DBInstanceClassMemory/805306368)*45},{log(DBInstanceClassMemory/8187281408)*1000})"
        ),
    },
}


class ServiceSettings(Settings):
    """Parameters over the service's defaults; without a known one, over the server's if services keep to it."""

    __slots__ = ("_defaults",)

    def __init__(
        self, given: Mapping[str, Setting], catalog: Catalog, defaults: Mapping[str, str], unknown: Iterable[str]
    ) -> None:
        super().__init__(given, catalog, unknown)
        self._defaults = defaults

    def _default(self, var: str) -> Setting | None:
        if var in self._defaults:
            return Setting(var, self._defaults[var], Origin.COMPILED)
        return None if var in OTHER_DEFAULTS_OF_SERVICES else super()._default(var)


def service_settings(
    verdict: FileVerdict, target: Target, listed: Mapping[str, ProviderParameter], instance: Instance | None
) -> ServiceSettings:
    """Return the settings of a set of parameters of the target; `listed` is the provider's list, by name."""
    given = Settings.from_file(verdict)
    held = {name: setting for name in given.names() if (setting := given.get(name)) is not None}
    values = dict(DEFAULTS.get(target.build, {}))
    for row in listed.values():
        if row.value and not row.is_set_by_user:
            values[normalise(row.name)] = row.value
    defaults = {}
    for name, text in values.items():
        value = _result(text, instance)
        option = verdict.catalog.find_variable(name) or verdict.catalog.get(name)
        if value is not None and option is not None:
            switched = {"1": "ON", "0": "OFF"}.get(value, value) if option.kind == "bool" else value
            defaults[option.variable or option.name] = as_variable(option, switched) or ""
    return ServiceSettings(held, verdict.catalog, defaults, given.unknown)


def _result(text: str, instance: Instance | None) -> str | None:
    """Return the value of a formula, None if it is unknown; any other text is the value itself."""
    if not is_formula(text):
        return None if "{" in text else text
    try:
        number = None if instance is None else evaluate_formula(text, instance)
    except FormulaError:
        return None
    return None if number is None else str(number)


class ParameterProblem(NamedTuple):
    """A problem of one parameter: the name of the rule that reports it, what is wrong, and what to write instead."""

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    help: str
    line: LineVerdict


NOUNS = {"cloudsql": "database flag", "azure": "server parameter"}  # the others call it a parameter


def noun(target: Target) -> str:
    """Return what the service calls a parameter."""
    return NOUNS.get(target.build, "parameter")
