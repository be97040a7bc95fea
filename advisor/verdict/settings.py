"""Settings that rules read: variables by name, with values as the server prints them and their origins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.core.model import Location, Origin, Setting
from advisor.verdict.number import leading_digits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog, Option
    from advisor.verdict.outcome import FileVerdict, LineVerdict


BOOLEANS = {"TRUE": "ON", "FALSE": "OFF"}
EXPLICIT_ORIGINS = frozenset({Origin.FILE, Origin.PERSISTED, Origin.COMMAND_LINE, Origin.RUNTIME})
NO_DEFAULT = "(No default value)"
MAX_DIGITS = 30  # shorter numbers are parsed by int() directly
BITS = 64  # width of the largest number on a server


class Settings:
    """Variables by name; unknown values, such as those autosized on an unknown host, are absent.

    For a running server see `ServerSettings`.
    """

    __slots__ = ("_catalog", "_values_given")

    def __init__(self, given: Mapping[str, Setting], catalog: Catalog | None) -> None:
        self._values_given = dict(given)
        self._catalog = catalog

    @classmethod
    def from_file(cls, verdict: FileVerdict) -> Settings:
        """Create settings from a file's values over the defaults of its target."""
        given = {}
        for name, line in verdict.effective.items():
            variable = (line.option.variable if line.option else None) or name
            value = _variable_value(line)
            if value is not None:
                given[variable] = Setting(variable, value, Origin.FILE, location_of(line), line.placed.line.raw)
        if "ansi" in verdict.effective:
            given = _ansi_variables(verdict) | given
        return cls(given, verdict.catalog)

    def get(self, var: str) -> Setting | None:
        """Return the variable with its value as SHOW GLOBAL VARIABLES prints it; None if absent or unknown."""
        return self._values_given.get(var) or self._default(var)

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
        option = self._catalog.find_variable(var) if self._catalog else None
        if option is None:
            return None
        value = option.running if option.running is not None else as_variable(option, option.default)
        return None if value is None else Setting(var, value, Origin.COMPILED)


def _ansi_variables(verdict: FileVerdict) -> dict[str, Setting]:
    """Return the variables that the option ansi sets."""
    from advisor.verdict.linked import ansi_values

    line, found = verdict.effective["ansi"], {}
    for name, value in ansi_values(verdict.catalog).items():
        option = verdict.catalog.get(name)
        variable = (option.variable if option else None) or name
        found[variable] = Setting(variable, value, Origin.FILE, location_of(line), line.placed.line.raw)
    return found


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
    if option.kind == "bool":
        return BOOLEANS.get(value, value)
    return f"{float(value):.6f}" if option.kind == "double" else value


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Source = tuple[Origin, Location | None]


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
