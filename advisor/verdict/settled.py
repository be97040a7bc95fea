"""What the lines of an option file set once all are read, as `effects`, `startup` and comparisons need it."""

from typing import TYPE_CHECKING, NamedTuple

from advisor.verdict.number import parse_digits
from advisor.verdict.special import NO_DEFAULT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog.load import Catalog
    from advisor.verdict.outcome import LineVerdict, SettledValues, Values

    Lines = Mapping[str, LineVerdict]

# The compiled default; a host with few open files leaves less.
DEFAULT_CONNECTIONS = 151
DAYS, SECONDS = "expire_logs_days", "binlog_expire_logs_seconds"
DAY = 86400
ON_OFF = {"TRUE": "ON", "FALSE": "OFF"}


class StartupSettings(NamedTuple):
    """The settings that a server starts with: `values` as help prints them, `lines` those that set them."""

    values: "Values"
    lines: "dict[str, LineVerdict]"
    catalog: "Catalog"

    def text(self, name: str) -> str | None:
        """The value of an option, its default where no line sets it; None where it is unknown."""
        option = self.catalog.get(name)
        return self.values.get(name, option.default if option else None)

    def number(self, name: str) -> int | None:
        """The same as a whole number that isn't negative."""
        return parse_digits(self.text(name))

    @property
    def tables(self) -> int:
        """How many tables may be open, under either name; as compiled where no line says it."""
        set_to = self.number("table_open_cache") or self.number("table_cache")
        return set_to or (4000 if self.catalog.target.since("mysql", 8) else 2000)


def is_binary_log_on(values: "Values", lines: "Lines") -> bool:
    """Whether the binary log is on where a line sets it: 0 is a base name too, unless a prefix put it there."""
    return values["log_bin"] != NO_DEFAULT and (values["log_bin"] != "0" or not has_prefix(lines["log_bin"]))


def has_prefix(line: "LineVerdict", *prefixes: str) -> bool:
    """Whether a prefix before the option's name says its value."""
    name = (line.placed.line.name or "").lower().replace("-", "_")
    return name.split("loose_")[-1].startswith(prefixes or ("skip_", "disable_", "enable_"))


def is_switched_on(line: "LineVerdict") -> bool:
    """Whether the line switches its option on by being there: without a value, or by a prefix."""
    value = line.placed.line.value
    if has_prefix(line, "skip_", "disable_"):
        return value == "0"
    return value != "0" if has_prefix(line) else value is None


def is_increment(line: "LineVerdict") -> bool:
    """Whether the line gives no value, and so makes log_warnings one more than it was."""
    return line.placed.line.value is None and not has_prefix(line)


def move_value(settled: "SettledValues", name: str, value: str, why: str) -> None:
    """Give an option another value than its line did, with the reason; one that no line sets, or that has it, stays."""
    if settled.values.get(name, value) != value:
        was, now = (ON_OFF.get(text, text) for text in (settled.values[name], value))
        settled.why[name] = f"The server takes {now} instead of {was}: {why}."
        settled.values[name] = value
