"""Builds the rule context from collected facts: settings with their origins, option files judged for the version."""

from __future__ import annotations

from advisor.catalog import load
from advisor.catalog.targets import running_target
from advisor.core.model import BUILDS, AbsentPart, Location, Origin
from advisor.optionfile import resolve
from advisor.optionfile.lines import ResolvedFiles
from advisor.verdict import judge_file
from advisor.verdict.settings import ServerSettings, Settings
from rules.core.context import NO_HOUSE, NO_SAMPLES, NO_SCHEMA, RuleContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.catalog import Catalog
    from advisor.core.model import Setting, Target
    from advisor.facts import Facts, Server
    from advisor.preflight.sources import NextStart
    from advisor.verdict import FileVerdict, LineVerdict
    from advisor.verdict.settings import Source
    from rules.core.context import FindSource, ValueSource
    from rules.measured.answers import LocalAnswer
    from rules.policy.house_rule import HouseRule

# The servers' names of origins: variables_info in MySQL, SYSTEM_VARIABLES in MariaDB.
ORIGINS = {
    "GLOBAL": Origin.FILE,
    "SERVER": Origin.FILE,
    "EXPLICIT": Origin.FILE,
    "EXTRA": Origin.FILE,
    "USER": Origin.FILE,
    "LOGIN": Origin.FILE,
    "CONFIG": Origin.FILE,
    "PERSISTED": Origin.PERSISTED,
    "COMMAND_LINE": Origin.COMMAND_LINE,
    "COMMAND-LINE": Origin.COMMAND_LINE,
    "DYNAMIC": Origin.RUNTIME,
    "SQL": Origin.RUNTIME,
    "COMPILED": Origin.COMPILED,
    "COMPILE-TIME": Origin.COMPILED,
    "AUTO": Origin.COMPILED,
    "DIFFERS": Origin.FILE,  # in pasted texts, which have no origins: differs from the default, so it is set
}
# Reported origins that may be wrong: MySQL reports DYNAMIC once any session has set its own value, and all servers
# report COMPILED for log_bin and default_storage_engine even if a file sets them (ASK-18).
CHECKED_AGAINST_FILES = frozenset({Origin.RUNTIME, Origin.COMPILED})
# Builds that a server names in version_comment, or as its vendor.
VENDORS = ("percona", "greatsql", "alisql", "polardb", "stonedb", "shannonbase", "tidb", "oceanbase")
UNKNOWN_SOURCE = (Origin.UNKNOWN, None)


def target_of(server: Server) -> Target:
    """Return the server's version as a target with its build and platform, even if it is older than all known ones."""
    target = running_target(f"{server.flavour}-{server.version}")
    system = server.variables.get("version_compile_os", "").lower()
    platform = "windows" if system.startswith("win") else "macos" if system.startswith(("macos", "osx")) else ""
    return target._replace(build=_build_of(server), platform=platform)


def _build_of(server: Server) -> str:
    """Return the key of `BUILDS` for a server's platform or vendor; empty for its flavour's own."""
    if server.managed in BUILDS:
        return server.managed
    comment = server.version_comment.lower()
    if "xtradb cluster" in comment:
        return "pxc"
    if "enterprise" in comment and server.flavour == "mysql" and not server.managed:
        return "enterprise"
    return next((build for build in VENDORS if build in comment or build == server.vendor.lower()), "")


def build_context(facts: Facts, house: tuple[HouseRule, ...] | None = None) -> RuleContext:
    """Build what the rules may read from these facts, and from house rules if there are any."""
    target = target_of(facts.server)
    catalog = load(target)
    verdict = _judge_option_files(facts, target, catalog)
    return RuleContext(
        target,
        catalog,
        ServerSettings(facts.server.variables, _source_reader(facts, verdict, catalog)),
        verdict,
        server=facts.server,
        host=facts.host or AbsentPart(facts.reason_missing("host")),
        workload=facts.workload or AbsentPart(facts.reason_missing("workload")),
        files=facts.files or AbsentPart(facts.reason_missing("files")),
        house=NO_HOUSE if house is None else house,
        probes=_local_answers(facts, target),
        sampled=facts.sampled or NO_SAMPLES,
        schema=facts.schema_risks or NO_SCHEMA,
        unavailable=facts.unavailable,
        taken_at=facts.taken_at,
        spaces=facts.spaces,
        service=facts.service,
        find_source=_next_start_reader(facts, catalog),
    )


def _next_start_reader(facts: Facts, catalog: Catalog) -> FindSource:
    """Return a function that finds the source of a variable at the next start; computed on first use."""
    start: NextStart | None = None

    def decide(variable: str, names: tuple[str, ...]) -> ValueSource | None:
        nonlocal start
        if start is None:
            from advisor.preflight.sources import NextStart

            start = NextStart(facts, catalog)
        return start.decider(variable, names)

    return decide


def _local_answers(facts: Facts, target: Target) -> tuple[LocalAnswer, ...]:
    if not facts.probes:
        return ()
    from advisor.analysis.local_results import answers_for

    return answers_for(facts, target)


def _judge_option_files(facts: Facts, target: Target, catalog: Catalog) -> FileVerdict:
    files = facts.files
    if files is None:
        return judge_file(ResolvedFiles((), (), ()), catalog)
    version = target.version
    read = resolve(files.main_files, flavour=target.flavour, version=version, loader=files.read, lister=files.names)
    return judge_file(read, catalog)


def _source_reader(facts: Facts, verdict: FileVerdict, catalog: Catalog) -> Callable[[str], Source]:
    """Return a function that finds the origin of a variable's value; origins are computed on request only."""
    lines = _lines_by_variable(verdict)
    if not facts.server.origins:
        return _infer_file_sources(facts, lines, catalog)
    origins, variables, written = facts.server.origins, facts.server.variables, Settings.from_file(verdict)
    in_files = frozenset(written.names())

    def source_of(name: str) -> Source:
        reported = origins.get(name)
        if reported is None:
            return UNKNOWN_SOURCE
        origin = ORIGINS.get(reported.source.upper(), Origin.UNKNOWN)
        # A variable that no file sets is COMPILED anyway, and needs no look-up.
        if origin in CHECKED_AGAINST_FILES and (origin is Origin.RUNTIME or name in in_files):
            origin = _source_by_value(origin, written.get(name), variables.get(name))
        if origin is Origin.RUNTIME and _is_session_default(name, variables.get(name)):
            origin = Origin.COMPILED
        return origin, _location_in(lines.get(name), reported.path) if origin is Origin.FILE else None

    return source_of


def _source_by_value(origin: Origin, written: Setting | None, running_target: str | None) -> Origin:
    """Return FILE or COMPILED if the file's value or the default is the running one; else the reported origin."""
    same = written is not None and running_target is not None and written.value.upper() == running_target.upper()
    return written.origin if written is not None and same else origin


def _is_session_default(name: str, value: str | None) -> bool:
    """Whether this is the default of a variable that no option sets, so that the catalogs do not list it."""
    from advisor.preflight.next_values import SESSION_DEFAULTS

    default = SESSION_DEFAULTS.get(name)
    return default is not None and value is not None and value.upper() == default.upper()


def _lines_by_variable(verdict: FileVerdict) -> dict[str, list[LineVerdict]]:
    lines: dict[str, list[LineVerdict]] = {}
    for line in verdict.lines:
        if line.option is not None:
            lines.setdefault(line.option.variable or line.option.name, []).append(line)
    return lines


def _location_in(lines: list[LineVerdict] | None, path: str) -> Location | None:
    for line in reversed(lines or []):
        if not path or line.placed.path == path:
            at = line.placed.line
            return Location(line.placed.path, at.number, at.column, at.number, at.end_column)
    return Location(path, 0) if path else None


def _infer_file_sources(facts: Facts, lines: dict[str, list[LineVerdict]], catalog: Catalog) -> Callable[[str], Source]:
    """For servers that do not report origins (MySQL 5.7): a variable set in a file is assumed to come from there."""
    spoken = {
        a.split("=", 1)[0].lstrip("-").replace("-", "_") for a in (facts.files.command_line if facts.files else ())
    }

    def source_of(name: str) -> Source:
        if name not in facts.server.variables:
            return UNKNOWN_SOURCE
        option = catalog.find_variable(name)
        if name in spoken or (option and option.name in spoken):
            return Origin.COMMAND_LINE, None
        if name in lines:
            return Origin.FILE, _location_in(lines[name], "")
        return (Origin.COMPILED if option else Origin.UNKNOWN), None

    return source_of
