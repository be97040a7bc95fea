"""Fix texts in memory, as `mycnf lint --fix` fixes files."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.cli.parser import build_parser
from advisor.commands.fix_files import FixReader
from advisor.commands.lint_files import LintPlan, make_plans
from advisor.fixing import FixOutcome, plan_fixes
from advisor.optionfile import resolve
from advisor.verdict import FileVerdict, LineVerdict, judge_file
from advisor.verdict import Outcome as Taken

NAME = "my.cnf"


def looks(
    names: Sequence[str], *targets: str, given: Mapping[str, bytes] | None = None, config: str | None = None
) -> FixReader:
    """Lint's reader of files for these targets, with or without a configuration file."""
    plans = _plans(tuple(names), targets, config) if config else _isolated(tuple(names), targets)
    return FixReader(names, plans, given or {})


def _plans(names: tuple[str, ...], targets: tuple[str, ...], config: str | None = None) -> list[LintPlan]:
    words = [word for target in targets for word in ("--target", target)]
    words += ["--config", config] if config else ["--isolated"]
    return make_plans(names, build_parser(only="lint").parse_args(["lint", *words, *names]))


@functools.lru_cache(maxsize=64)
def _isolated(names: tuple[str, ...], targets: tuple[str, ...]) -> list[LintPlan]:
    return _plans(names, targets)  # from the command line only, which takes a quarter of the time of a small file


def mended(text: bytes, *targets: str, unsafe: bool = False, config: str | None = None) -> FixOutcome:
    """The outcome of fixing one text for these targets."""
    given = {NAME: text}
    return plan_fixes([NAME], looks([NAME], *targets, given=given, config=config), unsafe=unsafe, given=given)


def fixed(text: bytes, *targets: str, unsafe: bool = False, config: str | None = None) -> bytes:
    """The text with its fixes."""
    changes = mended(text, *targets, unsafe=unsafe, config=config).changes
    return changes[0].after if changes else text


def findings(text: bytes, target: str, config: str | None = None) -> list[tuple[str, str]]:
    """Code and applicability (`-` without a fix) of lint's findings in a text, in order."""
    (reading,) = looks([NAME], target, config=config)(NAME, {NAME: text})
    return [(f.code, f.fix.applicability if f.fix else "-") for f in reading.findings]


def judged(text: bytes, target: str) -> FileVerdict:
    """The verdict on a text."""
    catalog = load(parse_target(target))
    flavour, version = catalog.target.flavour, catalog.target.version
    return judge_file(resolve([NAME], flavour=flavour, version=version, loader=lambda _: text), catalog)


def values(verdict: FileVerdict) -> dict[str, tuple[str | None, str | None]]:
    """The value of each variable that a file sets: in help, and running if it differs."""
    return {_variable(line): (line.value, line.running) for line in verdict.effective.values() if _acts(line)}


def _variable(line: LineVerdict) -> str:
    assert line.option is not None
    return line.option.alias_of or line.option.name


def _acts(line: LineVerdict) -> bool:
    """Whether the option has any effect."""
    return line.outcome is not Taken.IGNORED and not (line.option is not None and line.option.ignored)
