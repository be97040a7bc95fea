"""What the next start would stop at: the rules' own findings on its options, and files that it can't do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.analysis.engine import choose, run
from advisor.core.model import Confidence, Location, Severity
from advisor.preflight.item import Item, Kind
from advisor.verdict.settings import Settings
from rules.core.context import Known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding, Target
    from advisor.facts import Facts
    from advisor.optionfile.lines import Problem
    from advisor.preflight.command import Command
    from advisor.preflight.sources import Start

# The rules that say what a server stops at, under the names that lint gives them.
STOPS = (
    *("unknown-option", "ambiguous-option", "invalid-value", "missing-argument", "unexpected-argument"),
    *("removed-option", "syntax-error", "option-outside-group"),
)
MISSING_FOLDER = "missing-includedir"


def refusals(facts: Facts, command: Command, start: Start) -> Iterator[Item]:
    """Everything at which the server would stop, by place."""
    verdict = start.verdict
    target = verdict.catalog.target
    known = Known(target, verdict.catalog, Settings.from_file(verdict), verdict)
    for finding in run(known, choose([",".join(STOPS)], None)).findings:
        if finding.severity is Severity.ERROR:
            yield _of_finding(finding)
    for problem in verdict.resolved.problems:
        if problem.fatal or problem.name == MISSING_FOLDER:
            yield _of_problem(problem)
    for stray in start.strays:
        yield _item(stray.message, stray.name, stray.location, stray.help)
    yield from _missing_files(facts, command, target)
    if start.reads_persisted and facts.files and facts.files.persisted and _is_corrupt(facts):
        path = facts.files.persisted
        yield _item(
            f"{path}: {facts.files.persisted_problem}.",
            "corrupt-persisted-options",
            Location(path, 1),
            "mend the file, or move it away: the server writes a new one at the next SET PERSIST",
        )


def _is_corrupt(facts: Facts) -> bool:
    return bool(facts.files and facts.files.persisted_options is None and facts.files.persisted_changed)


def _of_finding(finding: Finding) -> Item:
    return Item(
        kind=Kind.REFUSED,
        severity=finding.severity,
        confidence=finding.confidence,
        message=finding.message,
        option=finding.canonical or finding.option,
        location=finding.location,
        help=finding.help,
        code=finding.code,
        name=finding.name,
        value=finding.value,
    )


def _of_problem(problem: Problem) -> Item:
    message = f"{problem.message[:1].upper()}{problem.message[1:]}."
    place = Location(problem.path, problem.line or 1)
    return _item(message, problem.name, place, "create the directory, or take the line out")


def _missing_files(facts: Facts, command: Command, target: Target) -> Iterator[Item]:
    """A file that the command line names must be there."""
    read = {copy.path for copy in facts.files.files if copy.mode} if facts.files else None
    for word in command.leading:
        name, _, path = word.removeprefix("--").partition("=")
        if read is not None and name in ("defaults-file", "defaults-extra-file") and path and path not in read:
            message = f"The command line names {path}, which is not there. {target.label} will not start."
            yield _item(message, "missing-option-file", None, "put the file back, or take the option out")


def _item(message: str, name: str, location: Location | None, help_: str) -> Item:
    return Item(Kind.REFUSED, Severity.ERROR, Confidence.CERTAIN, message, location=location, help=help_, name=name)
