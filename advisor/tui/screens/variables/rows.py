"""Every variable of an audit as a row: value, default, where it came from, and how it differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin
from advisor.redaction.secrets import redact_value
from advisor.verdict.compare import same
from advisor.verdict.settings import Settings
from rules.core.statements import RuntimeEffect, set_global_effect

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.core.model import Location, Setting
    from advisor.tui.view import View

REFERENCES = {
    "mysql": "https://dev.mysql.com/doc/refman/{series}/en/server-system-variable-reference.html",
    "mariadb": "https://mariadb.com/kb/en/full-list-of-mariadb-options-system-and-status-variables/",
}

LEAST, WIDE, MOST = (30, 16, 10, 14), (34, 20, 12, 30), (58, 44, 24, 52)  # columns for name, value, default and source
ROOMY = 116  # columns of the screen for the second of them; what there is between and beyond is shared out
CHANGE = 8  # columns for when it may be changed
FITS = 92  # columns of the screen of which that has some too: a letter of it would say nothing


class VariableRow(NamedTuple):
    """One variable; `default` and `written` (what the option files say) are None where nobody can tell.

    `option` is what the catalog knows, None for a variable that it doesn't.
    """

    name: str
    value: str
    default: str | None
    written: str | None
    origin: Origin
    location: Location | None
    option: Option | None
    at_run_time: RuntimeEffect | None = None

    @property
    def changed(self) -> bool:
        """Whether it is not what an untouched server has."""
        return self.default is not None and not same(self.default, self.value)

    @property
    def differs_from_file(self) -> bool:
        """Whether the option files say something else than what runs."""
        return self.written is not None and not same(self.written, self.value)

    @property
    def source(self) -> str:
        """Where the value came from, in words."""
        if self.location and self.location.line:
            return f"{self.location.path}:{self.location.line}"
        return self.location.path if self.location else self.origin.value

    @property
    def when(self) -> str:
        """Whether it can be changed while the server runs."""
        if self.option is None or self.option.dynamic is None or self.at_run_time is None:
            return ""
        return "dynamic" if self.at_run_time.works else "restart"


def rows(view: View) -> list[VariableRow]:
    """The variables of the server, by name; secrets are masked."""
    known = view.audited.known
    files = Settings.from_file(known.file_verdict)
    found = []
    for name in sorted(view.audited.facts.server.variables):
        setting = known.settings.get(name)
        if setting is not None:
            option = known.catalog.find_variable(name)
            row = _row(name, setting, option, _written(files, name))
            found.append(
                row._replace(at_run_time=set_global_effect(option, known.target)) if option is not None else row
            )
    return found


def _row(name: str, setting: Setting, option: Option | None, written: str | None) -> VariableRow:
    default = None
    if option is not None and not option.host:
        default = option.running if option.running is not None else option.default
    return VariableRow(
        name,
        redact_value(name, setting.value),
        default,
        None if written is None else redact_value(name, written),
        setting.origin,
        setting.location,
        option,
    )


def _written(files: Settings, name: str) -> str | None:
    setting = files.get(name)
    return setting.value if setting is not None and setting.origin is Origin.FILE else None


def widths(screen: int) -> tuple[int, ...]:
    """Columns for name, value, default, source and, where there is room for it, when it may be changed."""
    if screen < FITS:
        return LEAST
    few, many, spare = (LEAST, WIDE, screen - FITS) if screen < ROOMY else (WIDE, MOST, screen - ROOMY)
    shares = [most - least for most, least in zip(many, few, strict=True)]
    more = (min(share, share * spare // sum(shares)) for share in shares)
    return (*(least + extra for least, extra in zip(few, more, strict=True)), CHANGE)


def reference(view: View) -> str:
    """The address of the maker's list of all variables, which leads on to each."""
    target = view.audited.known.target
    return REFERENCES[target.flavour].format(series=target.series)


def bounds(option: Option) -> str:
    """What values it takes."""
    if option.values:
        return ", ".join(option.values)
    if option.min is None and option.max is None:
        return option.kind
    low = "" if option.min is None else f"{option.min:,}"
    high = "" if option.max is None else f"{option.max:,}"
    step = f", in steps of {option.block:,}" if option.block > 1 else ""
    return f"{low} to {high}{step}"
