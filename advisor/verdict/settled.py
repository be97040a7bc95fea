"""Values of an option file after all lines are read, for `effects`, `startup` and comparisons."""

from typing import TYPE_CHECKING, NamedTuple

from advisor.verdict.number import parse_digits
from advisor.verdict.special import NO_DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog
    from advisor.verdict.outcome import LineVerdict, SettledValues, Values

    Lines = Mapping[str, LineVerdict]

# The compiled default; a low limit of open files reduces it.
DEFAULT_CONNECTIONS = 151
DAYS, SECONDS = "expire_logs_days", "binlog_expire_logs_seconds"
DAY = 86400
ON_OFF = {"TRUE": "ON", "FALSE": "OFF"}


class StartupSettings(NamedTuple):
    """The settings that a server starts with.

    `values` are as `--verbose --help` prints them, `lines` are the lines that set them.
    """

    values: "Values"
    lines: "dict[str, LineVerdict]"
    catalog: "Catalog"

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
        set_to = self.number("table_open_cache") or self.number("table_cache")
        return set_to or (4000 if self.catalog.target.since("mysql", 8) else 2000)


def is_binary_log_on(values: "Values", lines: "Lines") -> bool:
    """Whether the binary log is on if a line sets it: 0 is also a base name, unless a prefix put it there."""
    return values["log_bin"] != NO_DEFAULT and (values["log_bin"] != "0" or not has_prefix(lines["log_bin"]))


def has_prefix(line: "LineVerdict", *prefixes: str) -> bool:
    """Whether a prefix before the option's name determines its value."""
    name = (line.placed.line.name or "").lower().replace("-", "_")
    return name.split("loose_")[-1].startswith(prefixes or ("skip_", "disable_", "enable_"))


def is_switched_on(line: "LineVerdict") -> bool:
    """Whether the line switches its option on by its presence: without a value, or by a prefix."""
    value = line.placed.line.value
    if has_prefix(line, "skip_", "disable_"):
        return value == "0"
    return value != "0" if has_prefix(line) else value is None


def is_increment(line: "LineVerdict") -> bool:
    """Whether the line has no value, and so increments log_warnings."""
    return line.placed.line.value is None and not has_prefix(line)


def move_value(settled: "SettledValues", name: str, value: str, why: str) -> None:
    """Change an option's value and record the reason; options that no line sets or with that value are left alone."""
    if settled.values.get(name, value) != value:
        was, now = (ON_OFF.get(text, text) for text in (settled.values[name], value))
        settled.why[name] = f"The server takes {now} instead of {was}: {why}."
        settled.values[name] = value
