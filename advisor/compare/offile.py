"""Option files as a side, or a target's defaults, which are a file without a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.compare.sized import resized
from advisor.compare.values import Held, Kind, Side
from advisor.core.model import Origin
from advisor.optionfile.lines import Resolved
from advisor.preflight.outlook import MIRRORS, SWITCHES, lines_by_variable
from advisor.verdict import REFUSED, judge_file
from advisor.verdict.settings import Settings, location_of, notation
from advisor.verdict.startup.host import note

if TYPE_CHECKING:
    from advisor.catalog.load import Catalog, Option
    from advisor.verdict import FileVerdict, LineVerdict

SWITCHED = ("bool", "flag")
VERSION = "version"  # what runs tells more than the number


def of_file(verdict: FileVerdict, name: str) -> Side:
    """What a server of the verdict's target, started with the file, has of every option that it knows."""
    settings, lines = Settings.from_file(verdict), lines_by_variable(verdict, verdict.catalog)
    held: dict[str, Held] = {}
    for option in _options(verdict):
        variable = option.variable or option.name
        if variable not in held:
            held[variable] = _held(variable, option, settings, verdict, lines.get(variable))
    mirrored = _mirrored(verdict)
    held.update({mirror: one for mirror, one in mirrored.items() if mirror not in held})
    roots = {one.option.name for one in mirrored.values() if one.option}
    unshown = {n: unshown_of(n, line) for n, line in verdict.effective.items() if _is_no_variable(line)}
    held.update({name: one for name, one in unshown.items() if name not in roots})
    held[VERSION] = Held(VERSION, verdict.catalog.target.number, Origin.COMPILED)
    return Side(Kind.FILE, name, verdict.catalog, resized(held, verdict.catalog))


def of_defaults(catalog: Catalog) -> Side:
    """What an untouched server of the target has, as far as its catalog knows."""
    side = of_file(judge_file(Resolved((), (), ()), catalog), str(catalog.target))
    return side._replace(kind=Kind.DEFAULTS)


def default_of(option: Option) -> str | None:
    """What an untouched server shows of the option, None where nobody can tell; what isn't set is off or empty."""
    value = option.running if option.running is not None else notation(option, option.default)
    if value is None and not option.host:
        return "OFF" if option.kind in SWITCHED else "" if option.kind == "string" else None
    return value


def _options(verdict: FileVerdict) -> list[Option]:
    """The options that servers show as variables, first names first; a plugin's only where the file sets it."""
    known = [option for name in verdict.catalog.options if (option := verdict.catalog.get(name)) and option.variable]
    held = [option for option in known if not option.plugin or option.name in verdict.effective]
    return sorted(held, key=lambda option: (bool(option.alias_of), option.name != option.variable))


def _held(variable: str, option: Option, settings: Settings, verdict: FileVerdict, line: LineVerdict | None) -> Held:
    if line is None or line.outcome in REFUSED:
        value = settings.text(variable)
        return Held(variable, default_of(option) if value is None else value, Origin.COMPILED, None, None, option)
    named = (line.option.variable if line.option else None) or line.canonical or variable
    by_host = note(verdict, line.canonical or variable) or ""
    return set_by(line, variable, settings.text(named), option)._replace(by_host=by_host)


def set_by(line: LineVerdict, variable: str, value: str | None, option: Option | None) -> Held:
    """What a line makes of a variable; nobody can tell that of a template."""
    written = line.placed.line
    told = None if written.templated else value
    return Held(variable, told, Origin.FILE, location_of(line), written.raw, option)


def _mirrored(verdict: FileVerdict) -> dict[str, Held]:
    """Variables that show an option which has none of its own name, such as time_zone."""
    found = {}
    for root, mirrors in MIRRORS.items():
        option = verdict.catalog.get(root)
        if option is not None and option.variable is None:
            line = verdict.effective.get(root)
            default = SWITCHES.get(mirrors[0], default_of(option))
            unset = Held(mirrors[0], default, Origin.COMPILED, None, None, option)
            found[mirrors[0]] = set_by(line, mirrors[0], line.running or line.value, option) if line else unset
    return found


def _is_no_variable(line: LineVerdict) -> bool:
    return line.outcome not in REFUSED and (line.option is None or line.option.variable is None)


def unshown_of(name: str, line: LineVerdict) -> Held:
    """An option that no server shows: without a value it is on."""
    value = line.value if line.value is not None else line.placed.line.value or "ON"
    told = notation(line.option, value) if line.option else value
    return set_by(line, name, told, line.option)._replace(shown=False)
