"""Builds sides: from option files, from a target's defaults (an empty file), and from servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.analysis.context import build_context
from advisor.compare.values import Side, SideKind, SideSetting, values_equal
from advisor.core.model import Origin
from advisor.facts import OptionFiles
from advisor.optionfile.lines import ResolvedFiles
from advisor.preflight.autosized import (
    NOT_ZERO,
    SCHEMA,
    Inputs,
    apply_coupled_values,
    evaluate,
    formulas,
    is_source_known,
    size_defaults,
)
from advisor.preflight.limits import apply_file_limits
from advisor.preflight.next_values import (
    MIRRORS,
    SESSION_DEFAULTS,
    lines_by_variable,
    next_values,
    option_of,
    origin_of,
)
from advisor.preflight.sources import INSTALLED, NextStartOptions, installed_plugins
from advisor.preflight.start_command import next_command
from advisor.verdict import REFUSED, judge_file
from advisor.verdict.declared import (
    DEFAULTS,
    OTHER_DEFAULTS_OF_SERVICES,
    FormulaError,
    Instance,
    evaluate_formula,
    is_formula,
)
from advisor.verdict.settings import (
    DAY,
    DAYS,
    DEFAULT_CONNECTIONS,
    SECONDS,
    Settings,
    StartupSettings,
    as_variable,
    is_same_value,
    location_of,
)
from advisor.verdict.startup import find_running_values
from advisor.verdict.startup.host import host_note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.catalog import Catalog, Option
    from advisor.facts import Facts
    from advisor.preflight.autosized import Formula
    from advisor.preflight.next_values import NextValue
    from advisor.verdict import FileVerdict, LineVerdict
    from advisor.verdict.declared import DeclaredSet
    from rules.core.context import RuleContext


# Settings that a server limits by another setting, even if no line sets them.
BOUNDS = {
    "binlog_cache_size": "max_binlog_cache_size",
    "binlog_stmt_cache_size": "max_binlog_stmt_cache_size",
    "innodb_io_capacity": "innodb_io_capacity_max",
    "innodb_max_dirty_pages_pct_lwm": "innodb_max_dirty_pages_pct",
}


def apply_formulas(held: Mapping[str, SideSetting], catalog: Catalog) -> dict[str, SideSetting]:
    """Derive defaults from the settings that are set; a default that its formula does not explain is unchanged."""
    settings = apply_bounds(held, catalog)
    _sync_binlog_expiry(settings, catalog)
    if catalog.target.is_mariadb:
        _enable_query_cache(settings)
    for name, formula in formulas(catalog.target).items():
        mine = settings.get(name)
        if mine is not None and not mine.is_set:
            value = _formula_value(mine, settings, formula, catalog)
            settings[name] = mine if value is None else mine._replace(value=value)
    if catalog.target.is_mysql:
        _zero_instruments(settings)
    return settings


def apply_bounds(held: Mapping[str, SideSetting], catalog: Catalog) -> dict[str, SideSetting]:
    """Lower defaults to the bounds that are set."""
    settings = dict(held)
    for name, bound in BOUNDS.items():
        mine, most = held.get(name), held.get(bound)
        if mine is not None and most is not None and most.is_set and not mine.is_set and mine.value and most.value:
            after = find_running_values({name: mine.value, bound: most.value}, {}, catalog)
            settings[name] = mine._replace(value=after.get(name, mine.value))
    return settings


def _sync_binlog_expiry(held: dict[str, SideSetting], catalog: Catalog) -> None:
    """MariaDB's binary log expiry in days and in seconds is one setting under two names.

    On MySQL 8.0 days replace the default in seconds, of which the server then shows 0.
    """
    days, seconds = held.get(DAYS), held.get(SECONDS)
    if days is None or seconds is None or days.is_set == seconds.is_set:
        return
    if days.is_set and days.value:
        held[SECONDS] = seconds._replace(value=str(round(float(days.value) * DAY)))
    elif seconds.is_set and seconds.value and catalog.target.is_mariadb:
        held[DAYS] = days._replace(value=f"{int(seconds.value) / DAY:.6f}")


def _enable_query_cache(held: dict[str, SideSetting]) -> None:
    """A size other than 0 switches MariaDB's query cache on."""
    kind, size = held.get("query_cache_type"), held.get("query_cache_size")
    if kind is not None and size is not None and size.is_set and not kind.is_set and size.value not in (None, "0"):
        held["query_cache_type"] = kind._replace(value="ON")


def _zero_instruments(held: dict[str, SideSetting]) -> None:
    """MySQL shows 0 for all sizes of a Performance Schema that is off."""
    schema = held.get(SCHEMA)
    if schema is None or schema.value != "OFF":
        return
    for name, size in held.items():
        if name.startswith(f"{SCHEMA}_") and name not in NOT_ZERO and (size.value or "").lstrip("-").isdecimal():
            held[name] = size._replace(value="0")


def _formula_value(
    mine: SideSetting, held: Mapping[str, SideSetting], formula: Formula, catalog: Catalog
) -> str | None:
    def text(name: str) -> str | None:
        value = held[name].value if name in held else None
        return _default_value(name, catalog) if value is None else value

    before = evaluate(formula, Inputs(lambda name: _default_value(name, catalog), lambda _: False, catalog))
    if before is None or before != _default_value(mine.name, catalog):
        return None
    return evaluate(formula, Inputs(text, lambda name: name in held and held[name].is_set, catalog))


def _default_value(name: str, catalog: Catalog) -> str | None:
    """Return the value on a server without settings, whose host allows enough open files."""
    option = catalog.find_variable(name)
    if option is None:
        return None
    compiled = {"max_connections": DEFAULT_CONNECTIONS, "table_open_cache": StartupSettings({}, {}, catalog).tables}
    if option.default is None and name in compiled:
        return str(compiled[name])
    return option.running if option.running is not None else as_variable(option, option.default)


SWITCHED = ("bool", "flag")
SERVICE_DEFAULT = "a default of the service, which mycnf does not know"
INVALID_VALUE = "a value that is not valid for the service: mycnf lint shows the reason"
UNKNOWN_FORMULA = "a formula: --instance-class or --ram evaluates it"
VERSION = "version"  # a running server reports more than the version number


def side_of_file(verdict: FileVerdict, name: str) -> Side:
    """Return the value of every known option after a start with the file, for the verdict's target."""
    settings, lines = Settings.from_file(verdict), lines_by_variable(verdict, verdict.catalog)
    held: dict[str, SideSetting] = {}
    for option in _options(verdict):
        variable = option.variable or option.name
        if variable not in held:
            held[variable] = _setting_of(variable, option, settings, verdict, lines.get(variable))
    mirrored = _mirror_settings(verdict)
    held.update({mirror: one for mirror, one in mirrored.items() if mirror not in held})
    roots = {one.option.name for one in mirrored.values() if one.option}
    unshown = {n: unshown_setting(n, line) for n, line in verdict.effective.items() if _is_no_variable(line)}
    held.update({name: one for name, one in unshown.items() if name not in roots})
    held[VERSION] = SideSetting(VERSION, verdict.catalog.target.number, Origin.COMPILED)
    return Side(SideKind.FILE, name, verdict.catalog, apply_formulas(held, verdict.catalog))


def side_of_service(side: Side, declared: DeclaredSet, instance: Instance | None) -> Side:
    """Return the side of a managed service's document: with the service's own defaults, and bounds of formulas."""
    own = {**dict.fromkeys(OTHER_DEFAULTS_OF_SERVICES), **DEFAULTS.get(side.target.build, {})}
    settings = dict(side.settings)
    for name, held in side.settings.items():
        if held.is_set:
            settings[name] = _with_bounds(held, held.raw or "", instance)
        elif name in own:
            text = own[name]
            unset = held._replace(value=text, unknown="" if text else SERVICE_DEFAULT)
            settings[name] = _with_bounds(unset, text or "", instance)
    return side._replace(settings=settings, document=declared.kind)


def _with_bounds(held: SideSetting, text: str, instance: Instance | None) -> SideSetting:
    """Return the setting with the bounds of its formula; other settings as they are.

    The service keeps less than half of the memory for itself, so the formula's result for half of it is a lower bound.
    """
    if not is_formula(text):
        refused = held.is_set and held.value is None and bool(text)
        return held._replace(unknown=INVALID_VALUE) if refused else held
    whole = instance or Instance()
    half = whole._replace(memory=whole.memory and whole.memory // 2)
    try:
        most, least = (evaluate_formula(text, one) for one in (whole, half))
    except FormulaError:
        most = least = None
    if most is None or least is None or least > most:
        return held._replace(value=None, raw=text, unknown=UNKNOWN_FORMULA)
    return held._replace(value=str(most), raw=text, lower=None if least == most else str(least))


def side_of_defaults(catalog: Catalog) -> Side:
    """Return the settings of a server without settings, as far as the catalog knows."""
    side = side_of_file(judge_file(ResolvedFiles((), (), ()), catalog), str(catalog.target))
    return side._replace(kind=SideKind.DEFAULTS)


def default_of(option: Option) -> str | None:
    """Return what a server without settings shows for the option, None if unknown; unset means off or empty."""
    value = option.running if option.running is not None else as_variable(option, option.default)
    if value is None and not option.host:
        return "OFF" if option.kind in SWITCHED else "" if option.kind == "string" else None
    return value


def _options(verdict: FileVerdict) -> list[Option]:
    """Return the options with variables, primary names first; plugin options only if the file sets them."""
    known = [option for name in verdict.catalog.options if (option := verdict.catalog.get(name)) and option.variable]
    held = [option for option in known if not option.plugin or option.name in verdict.effective]
    return sorted(held, key=lambda option: (bool(option.alias_of), option.name != option.variable))


def _setting_of(
    variable: str, option: Option, settings: Settings, verdict: FileVerdict, line: LineVerdict | None
) -> SideSetting:
    if line is None or line.outcome in REFUSED:
        value = settings.text(variable)
        return SideSetting(
            variable, default_of(option) if value is None else value, Origin.COMPILED, None, None, option
        )
    named = (line.option.variable if line.option else None) or line.canonical or variable
    by_host = host_note(verdict, line.canonical or variable) or ""
    return setting_from_line(line, variable, settings.text(named), option)._replace(by_host=by_host)


def setting_from_line(line: LineVerdict, variable: str, value: str | None, option: Option | None) -> SideSetting:
    """Return the setting of a line; the value of a template is unknown."""
    written = line.placed.line
    known_value = None if written.templated else value
    return SideSetting(variable, known_value, Origin.FILE, location_of(line), written.raw, option)


def _mirror_settings(verdict: FileVerdict) -> dict[str, SideSetting]:
    """Return variables that show an option without a variable of its own name, such as time_zone."""
    settings = {}
    for root, mirrors in MIRRORS.items():
        option = verdict.catalog.get(root)
        if option is not None and option.variable is None:
            line = verdict.effective.get(root)
            default = SESSION_DEFAULTS.get(mirrors[0], default_of(option))
            unset = SideSetting(mirrors[0], default, Origin.COMPILED, None, None, option)
            settings[mirrors[0]] = (
                setting_from_line(line, mirrors[0], line.running or line.value, option) if line else unset
            )
    return settings


def _is_no_variable(line: LineVerdict) -> bool:
    return line.outcome not in REFUSED and (line.option is None or line.option.variable is None)


def unshown_setting(name: str, line: LineVerdict) -> SideSetting:
    """Return an option that no server shows as a variable; without a value it is on."""
    value = line.value if line.value is not None else line.placed.line.value or "ON"
    known_value = as_variable(line.option, value) if line.option else value
    return setting_from_line(line, name, known_value, line.option)._replace(shown=False)


def side_of_server(facts: Facts, kind: SideKind, name: str) -> Side:
    """Return the side of these facts; `name` is as given by the user."""
    known = build_context(facts)
    lines = lines_by_variable(known.file_verdict, known.catalog)
    held = {variable: _setting_of_server(variable, known, lines.get(variable)) for variable in facts.server.variables}
    return Side(kind, name, known.catalog, held, facts.server.variables.get("hostname", ""), facts.taken_at)


def _setting_of_server(variable: str, known: RuleContext, line: LineVerdict | None) -> SideSetting:
    """Return a variable of a running server.

    If the server reports a file as its origin, the line now in effect is assumed to be the one that set it.
    """
    setting = known.settings.get(variable)
    origin = origin_of(variable, known)
    if origin is Origin.RUNTIME:
        origin = _set_while_running(variable, known)
    elif origin is Origin.COMPILED and variable == "log_bin" and _is_log_left_out(known):
        origin = Origin.COMMAND_LINE
    if not is_source_known(variable, line, known):
        origin = Origin.UNKNOWN
    place = setting.location if setting and origin is Origin.FILE else None
    raw = None
    if origin is Origin.FILE and line is not None:
        place, raw = place or location_of(line), line.placed.line.raw
    return SideSetting(
        variable, known.server.variables[variable], origin, place, raw, option_of(variable, known.catalog)
    )


def _is_log_left_out(known: RuleContext) -> bool:
    """Whether the command line switches the binary log off, of which MySQL 8.0 and later report no source."""
    words = known.files.command_line if known.has("files") else ()
    return any(word.replace("_", "-").partition("=")[0] in ("--skip-log-bin", "--disable-log-bin") for word in words)


def _set_while_running(variable: str, known: RuleContext) -> Origin:
    """Refine the origin of a value set at run time: PERSISTED if SET PERSIST saved it too.

    UNKNOWN for session variables with the default, or that an option sets: servers report them as set at run time once
    any session has set its own.
    """
    if variable in SESSION_DEFAULTS and _may_be_of_a_session(variable, known):
        return Origin.UNKNOWN
    persisted = known.files.persisted_options if known.has("files") else None
    written = {option.name: option.value for option in persisted or ()}
    find_running_values = SideSetting(variable, known.server.variables[variable], Origin.RUNTIME)
    kept = variable in written and values_equal(
        find_running_values._replace(value=written[variable]), find_running_values
    )
    return Origin.PERSISTED if kept else Origin.RUNTIME


def _may_be_of_a_session(variable: str, known: RuleContext) -> bool:
    """Whether a session variable was perhaps not set for the server: SET GLOBAL alone gives one another value."""
    same = is_same_value(SESSION_DEFAULTS[variable], known.server.variables[variable])
    return same or option_of(variable, known.catalog) is not None


def side_of_file_on_server(facts: Facts, verdict: FileVerdict, name: str) -> Side:
    """Return a file's side for a comparison with that server; `verdict` is for the server's own version."""
    now = build_context(facts if facts.files is not None else replace(facts, files=OptionFiles()))
    verdict = _with_plugins(facts, verdict)
    views = _next_values(now, facts, verdict)
    plain = side_of_file(verdict, name)
    held = {variable: _setting_after_start(variable, view, now, plain) for variable, view in views.items()}
    unshown = {n: one for n, one in plain.settings.items() if one.is_set and n not in held and not _is_installed(one)}
    return plain._replace(settings={**apply_bounds(held, now.catalog), **unshown})


def _with_plugins(facts: Facts, verdict: FileVerdict) -> FileVerdict:
    """Return the verdict with the server's installed plugins loaded, whose options the file may set."""
    plugins = tuple(installed_plugins(facts))
    resolved = verdict.resolved._replace(options=(*plugins, *verdict.resolved.options))
    return judge_file(resolved, verdict.catalog) if plugins else verdict


def _next_values(now: RuleContext, facts: Facts, verdict: FileVerdict) -> dict[str, NextValue]:
    start = NextStartOptions(verdict, verdict, (), frozenset(), "", {}, reads_persisted=False)
    command = next_command(facts)
    views = next_values(now, start)
    apply_file_limits(views, now, command)
    apply_coupled_values(views, now)
    size_defaults(views, now)
    return views


def _setting_after_start(variable: str, view: NextValue, now: RuleContext, plain: Side) -> SideSetting:
    option = option_of(variable, now.catalog)
    if view.line is None:
        return SideSetting(variable, view.value, Origin.COMPILED, None, None, option)
    by_host = plain.settings[variable].by_host if variable in plain.settings else ""
    return setting_from_line(view.line, variable, view.value, option)._replace(by_host=by_host)


def _is_installed(held: SideSetting) -> bool:
    return held.location is not None and held.location.path == INSTALLED
