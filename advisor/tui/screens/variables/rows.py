"""The variables of an audit as rows: value, default, source and difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.host_defaults import default_on_host
from advisor.compare.values import SideSetting, values_equal
from advisor.core.model import Origin, exact_size
from advisor.preflight.next_values import parse_whole_number
from advisor.redaction import redact_value
from advisor.report.diff import SIZES
from advisor.report.rules import usual_default
from advisor.verdict.settings import NO_DEFAULT, SWITCHES, Settings, is_same_value
from rules.core.statements import RuntimeEffect, set_by_statement, set_global_effect

if TYPE_CHECKING:
    from advisor.catalog import Option
    from advisor.core.model import Location, Setting
    from advisor.tui.view import View

NOT_SET = "not set"
SET_BY = {
    Origin.FILE: "an option file",
    Origin.COMMAND_LINE: "the server's command line",
    Origin.COMPILED: "nothing: not explicitly configured",
    Origin.UNKNOWN: "unknown: the server does not report it",
}
REFERENCES = {
    "mysql": "https://dev.mysql.com/doc/refman/{series}/en/server-system-variable-reference.html",
    "mariadb": "https://mariadb.com/kb/en/full-list-of-mariadb-options-system-and-status-variables/",
}

NARROW, WIDE, WIDEST = (
    (30, 16, 10, 14),
    (34, 20, 12, 30),
    (58, 44, 24, 52),
)  # columns for name, value, default and source
ROOMY = 116  # screen columns from which WIDE fits; the remaining columns are shared out
CHANGE = 8  # columns for how the variable can be changed
CHANGE_COLUMN_FROM = 92  # screen columns from which that column is shown


class VariableRow(NamedTuple):
    """One variable; `default` and `file_value` (from the option files) are None if unknown.

    `option` is the catalog entry, None for a variable that the catalog lacks. `statement` is the statement that set the
    value, and the account that ran it; empty if none did. `on_host` says what an unknown default depends on.
    """

    name: str
    value: str
    default: str | None
    file_value: str | None
    origin: Origin
    location: Location | None
    option: Option | None
    at_run_time: RuntimeEffect | None = None
    statement: str = ""
    on_host: str = ""

    @property
    def changed(self) -> bool:
        """Whether the value differs from the default in meaning, or was set and the default is unknown."""
        if self.default is None:
            return self.is_set
        return not self._means(self.default)

    @property
    def is_set(self) -> bool:
        """Whether it is explicitly configured."""
        return self.origin not in (Origin.COMPILED, Origin.UNKNOWN)

    @property
    def differs_from_file(self) -> bool:
        """Whether the value in the option files differs from the running value in meaning."""
        return self.file_value is not None and not self._means(self.file_value)

    def _means(self, other: str) -> bool:
        """Whether another value of the variable means the same as the running one."""
        if is_same_value(other, self.value):
            return True
        sides = (SideSetting(self.name, text, self.origin, option=self.option) for text in (other, self.value))
        return values_equal(*sides)

    def for_people(self, value: str | None) -> str:
        """A value as people write it: 128M, ON; "by host" for an unknown default, "none" for a missing one."""
        if value is None:
            return "by host" if self.option is not None and self.option.host else ""
        return "none" if value == NO_DEFAULT else value_for_people(self.name, value, self.option)

    @property
    def set_by(self) -> str:
        """Who set the value, and where."""
        if self.statement:
            return self.statement
        if self.origin in SET_BY:
            where = f": {self.source}" if self.location else ""
            return f"{SET_BY[self.origin]}{where}"
        return self.source

    def sort_key(self, column: str) -> tuple[bool, float, str]:
        """The key to sort by a column: numbers by size before texts."""
        text = {"value": self.value, "default": self.default or "", "source": self.source, "change": self.change_mode}
        cell = text.get(column, self.name)
        number = parse_whole_number(cell) if column in ("value", "default") else None
        return number is None, -(number or 0), cell.lower()

    @property
    def source(self) -> str:
        """The source of the value: file and line, or origin."""
        if self.location and self.location.line:
            return f"{self.location.path}:{self.location.line}"
        if self.location:
            return self.location.path
        return NOT_SET if self.origin is Origin.COMPILED else self.origin.value

    @property
    def change_mode(self) -> str:
        """ "dynamic" or "restart"; empty if unknown."""
        if self.option is None or self.option.dynamic is None or self.at_run_time is None:
            return ""
        return "dynamic" if self.at_run_time.works else "restart"


def variable_rows(view: View) -> list[VariableRow]:
    """The variables of the server by name, with secrets masked."""
    context = view.audited.context
    files = Settings.from_file(context.file_verdict)
    rows = []
    for name in sorted(view.audited.facts.server.variables):
        setting = context.settings.get(name)
        if setting is not None:
            option = context.catalog.find_variable(name)
            row = _row(name, setting, option, _file_value(files, name))
            if usual := usual_default(option, context.target):
                row = row._replace(default=usual)
            row = row._replace(statement=set_by_statement(context, name))
            if option is not None:
                on_host = default_on_host(option, context.target) if option.host else ""
                row = row._replace(at_run_time=set_global_effect(option, context.target), on_host=on_host)
            rows.append(row)
    return rows


def value_for_people(name: str, value: str, option: Option | None) -> str:
    """The value of a variable as people write it: 128M, ON, 90 for the server's 90.000000."""
    if option is not None and option.kind == "bool" and value in SWITCHES:
        return SWITCHES[value]
    if option is not None and option.kind == "double" and "." in value:
        return value.rstrip("0").rstrip(".")
    number = parse_whole_number(value) if name.endswith(SIZES) else None
    return exact_size(number) if number is not None and number > 0 else value or "(empty)"


def _row(name: str, setting: Setting, option: Option | None, file_value: str | None) -> VariableRow:
    default = None
    if option is not None and not option.host:
        default = option.running if option.running is not None else option.default
    return VariableRow(
        name,
        redact_value(name, setting.value),
        default,
        None if file_value is None else redact_value(name, file_value),
        setting.origin,
        setting.location,
        option,
    )


def _file_value(files: Settings, name: str) -> str | None:
    setting = files.get(name)
    return setting.value if setting is not None and setting.origin is Origin.FILE else None


def column_widths(screen: int) -> tuple[int, ...]:
    """Columns for name, value, default, source and, if it fits, how the variable can be changed."""
    if screen < CHANGE_COLUMN_FROM:
        return NARROW
    few, many, spare = (NARROW, WIDE, screen - CHANGE_COLUMN_FROM) if screen < ROOMY else (WIDE, WIDEST, screen - ROOMY)
    shares = [most - least for most, least in zip(many, few, strict=True)]
    more = (min(share, share * spare // sum(shares)) for share in shares)
    return (*(least + extra for least, extra in zip(few, more, strict=True)), CHANGE)


def manual_url(view: View) -> str:
    """The URL of the manual's list of variables."""
    target = view.audited.context.target
    return REFERENCES[target.flavour].format(series=target.series)


def value_range(option: Option) -> str:
    """The valid values of the option."""
    if option.values:
        return ", ".join(option.values)
    if option.min is None and option.max is None:
        return option.kind
    low = "" if option.min is None else f"{option.min:,}"
    high = "" if option.max is None else f"{option.max:,}"
    step = f", in steps of {option.block:,}" if option.block > 1 else ""
    return f"{low} to {high}{step}"
