"""Finds what the next restart changes: compares the inputs of the next start with the running values."""

from __future__ import annotations

from advisor.analysis import run_rules, select_rules
from advisor.analysis.context import build_context
from advisor.catalog.targets import require_known
from advisor.core.model import Confidence, Location, Severity, SkippedCheck
from advisor.preflight.autosized import apply_coupled_values, size_defaults
from advisor.preflight.changes import change_location, find_changes, find_lost_filters
from advisor.preflight.item import Preflight, RestartEffect, RestartItem
from advisor.preflight.limits import apply_file_limits
from advisor.preflight.next_values import apply_late_persisted, next_values
from advisor.preflight.sources import INSTALLED, judge_start
from advisor.preflight.start_command import next_command
from advisor.verdict.names import plugins_loaded_by
from advisor.verdict.settings import Settings, is_same_value
from advisor.verdict.startup.stops import DEFAULTS, ENCRYPTED, KEYS, OFF
from advisor.verdict.word_lists import LOADABLE
from rules.core.context import REMOVE_LINE, RuleContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from advisor.core.model import Finding, Target
    from advisor.facts import Facts
    from advisor.optionfile.lines import Problem
    from advisor.preflight.next_values import NextValue
    from advisor.preflight.sources import NextStartOptions
    from advisor.preflight.start_command import StartCommand


WEIGHT = list(RestartEffect)


def check_restart(facts: Facts) -> Preflight:
    """Return what a restart would refuse, lose or change, worst first; unknown parts are skipped with the reason.

    Raises MycnfError for a server that is older than the catalogs.
    """
    now = build_context(facts)
    require_known(now.target)
    command = next_command(facts)
    start = judge_start(facts, command, now.catalog)
    views = next_values(now, start)
    if facts.files is not None:
        apply_file_limits(views, now, command)
        apply_coupled_values(views, now)
        size_defaults(views, now)
    apply_late_persisted(views, now, start)
    fixed = [*_refused_by_data(facts, now, views)]
    stops = [*refusals(facts, command, start), *fixed, *_missing_engines(now, start)]
    if command.is_known and _are_all_read(facts):
        stops += _late_keys(now, start)
    never = {item.option for item in fixed}  # no start gets as far as to change these
    changes = [item for item in find_changes(facts, now, views, start) if item.option not in never]
    changes += find_lost_filters(facts, now, start)
    items = sorted([*stops, *changes], key=_weight)
    return Preflight(now.target, facts, tuple(items), tuple(_skipped_parts(facts, command, now)), command)


def _weight(item: RestartItem) -> tuple[int, bool, str, int, str]:
    place = item.location
    by_place = (place.path, place.line) if place and item.kind is RestartEffect.REFUSED else ("", 0)
    return (WEIGHT.index(item.kind), bool(item.cause), *by_place, item.variable or "")


def _skipped_parts(facts: Facts, command: StartCommand, now: RuleContext) -> Iterator[SkippedCheck]:
    """Yield the parts of the next start that could not be read, so that no finding is not mistaken for no problem."""
    files = facts.files
    if files is None:
        yield SkippedCheck("files", facts.reason_missing("files"))
    else:
        for copy in files.files:
            if copy.text is None and copy.mode:
                yield SkippedCheck("files", f"{copy.path} can't be read: run as root or as the server's account")
        corrupt = files.persisted_options is None and files.persisted_changed  # reported as an item of its own
        if files.persisted and not corrupt and (files.persisted_options is None or files.persisted_problem):
            why = files.persisted_problem or "the snapshot is too old to contain it; collect it again"
            yield SkippedCheck("persisted", f"{files.persisted}: {why}")
    if command.note:
        yield SkippedCheck("service", command.note)
    if not now.server.origins:
        yield SkippedCheck("origins", facts.reason_missing("server.origins"))


# The rules for lines at which a server stops, by their names in lint.
STOPS = (
    *("unknown-option", "ambiguous-option", "invalid-value", "missing-argument", "unexpected-argument"),
    *("removed-option", "syntax-error", "option-outside-group", "refused-start"),
)
MISSING_FOLDER = "missing-includedir"
# Fixed when the data directory is initialized; names of tables since MySQL 8.0, whose dictionary holds the value.
NAME_CASE = "lower_case_table_names"
FIXED_BY_DATA = ("innodb_page_size", NAME_CASE)


def refusals(facts: Facts, command: StartCommand, start: NextStartOptions) -> Iterator[RestartItem]:
    """Yield everything at which the server would stop, by location."""
    verdict = start.verdict
    target = verdict.catalog.target
    known = RuleContext(target, verdict.catalog, Settings.from_file(verdict), verdict)
    for finding in run_rules(known, select_rules([",".join(STOPS)], None)).findings:
        if finding.severity is Severity.ERROR:
            yield _of_finding(finding, start.persisted_at)
    for problem in verdict.resolved.problems:
        if problem.fatal or problem.name == MISSING_FOLDER:
            yield _of_problem(problem)
    for stray in start.strays:
        item = _item(stray.message, stray.name, stray.location, stray.help)
        lost = item._replace(kind=RestartEffect.LOST, severity=Severity.WARNING, option=stray.option)
        yield item if stray.fatal else lost
    yield from _missing_files(facts, command, target)
    if start.reads_persisted and facts.files and facts.files.persisted and _is_corrupt(facts):
        path = facts.files.persisted
        yield _item(
            f"{path}: {facts.files.persisted_problem}.",
            "corrupt-persisted-options",
            Location(path, 1),
            "repair the file, or move it away: the server writes a new one at the next SET PERSIST",
        )


def _refused_by_data(facts: Facts, now: RuleContext, views: Mapping[str, NextValue]) -> Iterator[RestartItem]:
    """Yield values other than those with which the data directory was initialized."""
    all_read = _are_all_read(facts)
    for name in FIXED_BY_DATA:
        running, view = now.server.variables.get(name), views.get(name)
        if running is None or view is None or view.value is None or is_same_value(view.value, running):
            continue
        if (name == NAME_CASE and not now.target.since("mysql", 8)) or (view.line is None and not all_read):
            continue
        yield RestartItem(
            kind=RestartEffect.REFUSED,
            severity=Severity.ERROR,
            confidence=Confidence.CERTAIN if view.line is None or view.line.certain else Confidence.LIKELY,
            message=f"The data directory was initialized with {name} = {running}. {now.target.label} will not start "
            f"with {view.value}{'' if view.line else ', the default'}.",
            option=name,
            location=change_location(view),
            help=f"keep {name} = {running}; another value needs a new data directory and a dump",
            name="fixed-by-data-directory",
            value=view.line.placed.line.value if view.line else None,
        )


def _missing_engines(now: RuleContext, start: NextStartOptions) -> Iterator[RestartItem]:
    """Yield default engines that the running server lacks and for which the next start loads no plugin."""
    present = frozenset(name.lower() for name in now.server.engines)
    loaded = plugins_loaded_by(line.placed for line in start.verdict.lines)
    for name in DEFAULTS if present else ():
        line = start.verdict.effective.get(name)
        engine = (line.value or "").strip().lower() if line else ""
        if line is None or engine not in LOADABLE or any(engine in known for known in (*present, *loaded)):
            continue
        place, label = line.placed.line, now.target.label
        yield RestartItem(
            kind=RestartEffect.REFUSED,
            severity=Severity.ERROR,
            confidence=Confidence.LIKELY,
            message=f"The running server has no engine {engine.upper()}, and the next start loads no plugin with it. "
            f"{label} will not start with this line.",
            option=name,
            location=Location(line.placed.path, place.number, place.column, place.number, place.end_column),
            help=f"load the engine's plugin with plugin_load_add, or write {name} = InnoDB",
            name="missing-engine",
            value=place.value,
        )


def _are_all_read(facts: Facts) -> bool:
    """Whether every option file that there is could be read."""
    files = facts.files.files if facts.files is not None else ()
    return bool(files) and not any(copy.text is None and copy.mode for copy in files)


def _late_keys(now: RuleContext, start: NextStartOptions) -> Iterator[RestartItem]:
    """Yield encryption by InnoDB, which starts before the plugins of mysql.plugin, if only those bring its keys."""
    lines = [line.placed for line in start.verdict.lines]
    early = plugins_loaded_by(placed for placed in lines if placed.path != INSTALLED)
    late = plugins_loaded_by(lines) - early
    is_late = any(KEYS in name for name in late) and not any(KEYS in name for name in early)
    if not now.target.is_mariadb or not is_late:
        return
    for name in ENCRYPTED:
        line = start.verdict.effective.get(name)
        if line is None or not name.startswith("innodb_") or line.value in (None, *OFF):
            continue
        place = line.placed.line
        yield RestartItem(
            kind=RestartEffect.REFUSED,
            severity=Severity.ERROR,
            confidence=Confidence.LIKELY,
            message="The key management plugin was installed by a statement, and InnoDB starts before such plugins. "
            f"{now.target.label} will not start with this line.",
            option=name,
            location=Location(line.placed.path, place.number, place.column, place.number, place.end_column),
            help="load the plugin with plugin_load_add as well",
            name="keys-after-innodb",
            value=place.value,
        )


def _is_corrupt(facts: Facts) -> bool:
    return bool(facts.files and facts.files.persisted_options is None and facts.files.persisted_changed)


def _of_finding(finding: Finding, persisted_at: str) -> RestartItem:
    option = finding.canonical or finding.option
    persisted = finding.location is not None and finding.location.path == persisted_at
    return RestartItem(
        kind=RestartEffect.REFUSED,
        severity=finding.severity,
        confidence=finding.confidence,
        message=finding.message,
        option=option,
        location=finding.location,
        help=finding.help.replace(REMOVE_LINE, f"run RESET PERSIST {option}") if persisted else finding.help,
        code=finding.code,
        name=finding.name,
        value=finding.value,
    )


def _of_problem(problem: Problem) -> RestartItem:
    message = f"{problem.message[:1].upper()}{problem.message[1:]}."
    place = Location(problem.path, problem.line or 1)
    return _item(message, problem.name, place, "create the directory, or remove the line")


def _missing_files(facts: Facts, command: StartCommand, target: Target) -> Iterator[RestartItem]:
    """Yield option files on the command line that do not exist."""
    read = {copy.path for copy in facts.files.files if copy.mode} if facts.files else None
    for word in command.leading:
        name, _, path = word.removeprefix("--").partition("=")
        if read is not None and name in ("defaults-file", "defaults-extra-file") and path and path not in read:
            message = f"The command line names {path}, which does not exist. {target.label} will not start."
            yield _item(message, "missing-option-file", None, "restore the file, or remove the option")


def _item(message: str, name: str, location: Location | None, help_: str) -> RestartItem:
    return RestartItem(
        RestartEffect.REFUSED, Severity.ERROR, Confidence.CERTAIN, message, location=location, help=help_, name=name
    )
