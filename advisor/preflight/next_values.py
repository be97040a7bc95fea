"""The value of each variable after the restart, and the line that sets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin
from advisor.verdict.settings import EXPLICIT_ORIGINS, Settings, as_variable

if TYPE_CHECKING:
    from advisor.catalog import Catalog, Option
    from advisor.preflight.sources import NextStartOptions
    from advisor.verdict import FileVerdict, LineVerdict
    from rules.core.context import RuleContext

# Variables without an option that show another option's setting.
MIRRORS = {
    "default_storage_engine": ("storage_engine",),
    "long_query_time": ("log_slow_query_time",),
    "transaction_isolation": ("tx_isolation",),
    "transaction_read_only": ("tx_read_only",),
    "default_time_zone": ("time_zone",),
}
# Servers report COMPILED for these even if a file sets them (ASK-18; all options with a harmless value were tested).
MISREPORTED_ORIGINS = frozenset(
    (
        *("character_set_filesystem", "character_set_server", "default_storage_engine", "enable_cascade_triggers"),
        *("enable_secondary_engine_statistics", "lc_messages", "lc_time_names", "log_bin", "storage_engine"),
        *("time_zone", "transaction_isolation", "tx_isolation"),
    )
)
# Session variables of a server without settings; no option sets them.
SESSION_DEFAULTS = {
    "check_constraint_checks": "ON",
    "foreign_key_checks": "ON",
    "sql_auto_is_null": "OFF",
    "sql_big_selects": "ON",
    "sql_buffer_result": "OFF",
    "sql_log_off": "OFF",
    "sql_notes": "ON",
    "sql_quote_show_create": "ON",
    "sql_select_limit": "18446744073709551615",
    "sql_warnings": "OFF",
    "system_versioning_asof": "DEFAULT",
    "time_zone": "SYSTEM",
    "unique_checks": "ON",
}


DIGITS = 20  # digits of the largest 64-bit number


# Defaults that depend on the host; filled in later.
HOST_DEFAULTS = frozenset(
    {"max_connections", "table_open_cache", "general_log_file", "relay_log", "slow_query_log_file"}
)


class NextValue(NamedTuple):
    """A variable's value after the restart, None if unknown.

    `line` is what sets it, None for a default; `cause` are the variables it is derived from; `limited` means that the
    limit on open files lowers the line's value.
    """

    value: str | None
    source: Origin
    line: LineVerdict | None = None
    cause: tuple[str, ...] = ()
    limited: bool = False


def parse_whole_number(text: str | None) -> int | None:
    """Parse an unsigned number as servers store it; None if invalid."""
    return int(text) if text and len(text) <= DIGITS and text.isascii() and text.isdigit() else None


def next_values(now: RuleContext, start: NextStartOptions) -> dict[str, NextValue]:
    """Return the next value of every variable of the running server, before derived variables are computed."""
    lines, settings = lines_by_variable(start.early, now.catalog), Settings.from_file(start.early)
    others = _other_names(now.catalog)
    values = {}
    for name, running in now.server.variables.items():
        line = lines.get(name)
        if line is not None:
            values[name] = NextValue(_text(name, line, settings), start.origin(line), line)
        elif now.has("files") or reported_origin(name, now) is Origin.RUNTIME:
            values[name] = NextValue(_default(name, now, others.get(name, ())), Origin.COMPILED)
        else:
            values[name] = NextValue(running, reported_origin(name, now))
    return values


def apply_late_persisted(views: dict[str, NextValue], now: RuleContext, start: NextStartOptions) -> None:
    """Apply the persisted values that are set after startup."""
    lines, settings = lines_by_variable(start.verdict, now.catalog), Settings.from_file(start.verdict)
    for name, value in start.uncatalogued.items():
        if name in views:
            views[name] = NextValue(value, Origin.PERSISTED)
    for name, line in lines.items():
        if name in views and start.origin(line) is Origin.PERSISTED:
            views[name] = NextValue(_text(name, line, settings), Origin.PERSISTED, line)


def _text(name: str, line: LineVerdict, settings: Settings) -> str | None:
    variable = line.option.variable if line.option else None
    return settings.text(variable or line.canonical or name)


def reported_origin(name: str, now: RuleContext) -> Origin:
    """Return where the server says that a value comes from; unknown for a variable that it does not have."""
    setting = now.settings.get(name)
    return setting.origin if setting is not None else Origin.UNKNOWN


def lines_by_variable(verdict: FileVerdict, catalog: Catalog) -> dict[str, LineVerdict]:
    """Return the effective line of each variable; two names of one setting share the later line."""
    lines: dict[str, LineVerdict] = {}
    others = _other_names(catalog)
    for canonical, line in verdict.effective.items():
        for name in (canonical, *others.get(canonical, ())):
            option = catalog.get(name)
            lines[(option.variable if option else None) or name] = line
    return lines


def origin_of(name: str, now: RuleContext) -> Origin:
    """Return the origin of the running value, also if set under another name."""
    own = reported_origin(name, now)
    if own in EXPLICIT_ORIGINS:
        return own
    named = (reported_origin(other, now) for other in _other_names(now.catalog).get(name, ()))
    return next((origin for origin in named if origin in EXPLICIT_ORIGINS), own)


def _other_names(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Map each name of a setting with several names to the others."""
    groups = _groups_of_names(catalog)
    return {name: tuple(n for n in group if n != name) for group in groups for name in group}


def main_names(catalog: Catalog) -> dict[str, str]:
    """Map each name of a setting with several names to its main name."""
    return {name: group[0] for group in _groups_of_names(catalog) for name in group}


def _groups_of_names(catalog: Catalog) -> list[list[str]]:
    """Return the names of each setting with several names, the main name first."""
    groups = {name: [name, *mirrors] for name, mirrors in MIRRORS.items()}
    for name, raw in catalog.options.items():
        if raw.get("alias_of"):
            groups.setdefault(raw["alias_of"], [raw["alias_of"]]).append(name)
    return list(groups.values())


def option_of(name: str, catalog: Catalog) -> Option | None:
    """Return the option that sets a variable, possibly under another name."""
    roots = (root for root, mirrors in MIRRORS.items() if name in mirrors)
    return catalog.find_variable(name) or next((o for root in roots if (o := catalog.get(root))), None)


def _default(name: str, now: RuleContext, others: tuple[str, ...]) -> str | None:
    """Return the default: that of this server if it reports the variable as a default, else that of the catalog."""
    running = now.server.variables[name]
    known = bool(now.server.origins) and name not in MISREPORTED_ORIGINS
    if known and not any(reported_origin(n, now) in EXPLICIT_ORIGINS for n in (name, *others)):
        return running
    if name in SESSION_DEFAULTS:
        return SESSION_DEFAULTS[name]
    option = option_of(name, now.catalog)
    if option is None:
        return running
    text = option.running if option.running is not None else as_variable(option, option.default)
    return running if text is None and not known and name not in HOST_DEFAULTS else text
