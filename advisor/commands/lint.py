"""`mycnf lint`: check option files, offline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from advisor import exits, redact
from advisor.catalog.load import load
from advisor.catalog.targets import parse_target
from advisor.commands.reading import read_carrier, read_resolved, take_stdin
from advisor.engine import by_place, choose, fails
from advisor.engine import run as run_rules
from advisor.report import Checked, Page
from advisor.report.formats import pair, write_reports
from advisor.verdict import judge_file
from advisor.verdict.settings import Settings
from rules.known import NO_HOST, NO_HOUSE, NOT_ASKED, Known

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from advisor.carriers.sets import Carrier
    from advisor.config.read import Configuration
    from advisor.facts import Host
    from advisor.model import Absent, Finding, Target
    from advisor.optionfile.lines import Resolved
    from rules.houserule import HouseRule

USUAL = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")
FAIL_ON = "warning"
SUPPRESSION = "mycnf:"  # how a comment begins that asks to leave a finding out


class Plan:
    """How files are checked that share a configuration: its rules, targets and host, the command line put over it."""

    __slots__ = ("args", "config", "host", "rules", "targets")

    def __init__(self, args: argparse.Namespace, config: Configuration | None = None) -> None:
        self.args = args
        self.config = config
        self.host = _host(args)
        house = config is not None and config.house is not None
        self.rules = choose(args.select, args.ignore, files_only=self.host is NO_HOST, house=house)
        self.targets = [parse_target(t) for t in args.target or ()]

    @property
    def house(self) -> tuple[HouseRule, ...] | Absent:
        """The house rules of the configuration."""
        return NO_HOUSE if self.config is None or self.config.house is None else self.config.house


class Looked:
    """One file, checked for one target: what to report, the lines that were read, and the rules that looked."""

    __slots__ = ("checked", "plan", "ran", "resolved")

    def __init__(self, checked: Checked, resolved: Resolved, plan: Plan, skipped: Iterable[str] = ()) -> None:
        self.checked = checked
        self.resolved = resolved
        self.plan = plan
        self.ran = frozenset(r.code for r in plan.rules if r.concerns(checked.target)) - set(skipped)

    def showing(self, **fields: Any) -> Looked:
        """The same with other findings, or whatever of `Checked` is named."""
        again = Looked(self.checked._replace(**fields), self.resolved, self.plan)
        again.ran = self.ran
        return again


def run(args: argparse.Namespace) -> int:
    """Check each file by itself for each target; unreadable ones are told on stderr and make the exit code 2."""
    paths = args.files or _usual_files()
    plans = plans_of(paths, args)
    reports = args.reports or ()
    pairs = pair(reports, "text" if any(kind == "format" for kind, _ in reports) else _format(plans))
    if args.select:
        _tell_skipped(plans[0])
    texts: dict[str, bytes] = {}
    written = True
    if args.fix or args.unsafe_fixes or args.diff:
        from advisor.commands import fixes

        if args.diff:
            return fixes.show_diff(paths, plans, args)
        texts, written = fixes.fix(paths, plans, args)
    looked: list[Looked] = []
    broken: list[tuple[str, str]] = []
    for path, plan in zip(paths, plans, strict=True):
        try:
            looked.extend(look(path, plan, texts))
        except exits.MycnfError as error:
            _narrate(str(error))
            broken.append((path, str(error)))
    looked = leave_out(looked)
    if args.write_baseline or any(plan.args.baseline for plan in plans):
        looked = _past_baseline(looked, args.write_baseline, broken)
    write_reports(pairs, [one.checked for one in looked], _page(plans[0].args, broken))
    if broken or not written:
        return exits.USAGE
    failing = any(fails(one.checked.findings, one.plan.args.fail_on or FAIL_ON) for one in looked)
    return exits.FINDINGS if failing and not args.exit_zero else exits.OK


def plans_of(paths: Sequence[str], args: argparse.Namespace) -> list[Plan]:
    """The plan for each path: files that find the same configuration share one; MycnfError for a bad one."""
    from advisor.config import nearest

    if args.isolated or args.config:
        return [_plan(args.config, args)] * len(paths)
    folders = [_folder(args.stdin_filename if path == "-" else path) for path in paths]
    found = {folder: nearest(folder) for folder in dict.fromkeys(folders)}
    plans = {config: _plan(config, args) for config in dict.fromkeys(found.values())}
    return [plans[found[folder]] for folder in folders]


def _folder(path: str) -> str:
    try:
        return os.path.dirname(os.path.abspath(path))
    except OSError:  # the folder that we run in was removed, and stdin can be checked all the same
        return os.sep


def _plan(config: str | None, args: argparse.Namespace) -> Plan:
    if config is None and not (args.isolated and args.baseline):
        return Plan(args)
    from advisor.commands.configured import refuse_contradictions, settled, tell_silent_house
    from advisor.config.read import read

    refuse_contradictions(args)
    if config is None:
        return Plan(args)
    read_ = read(config)
    plan = Plan(settled(args, read_), read_)
    tell_silent_house(args, read_, plan.rules)
    return plan


def _format(plans: list[Plan]) -> str:
    """The format that the configurations ask for; MycnfError where they ask for several."""
    asked = {plan.config.format or "text": plan.config.path for plan in plans if plan.config is not None}
    if len(asked) > 1:
        raise exits.MycnfError(f"{' and '.join(asked.values())} ask for different formats; choose one with --format")
    return next(iter(asked), "text")


def leave_out(looked: list[Looked]) -> list[Looked]:
    """The findings without those that comments in the files, or the configuration, ask to leave out."""
    if any(SUPPRESSION in line.text for one in looked for file in one.resolved.files for line in file.lines):
        from advisor.commands.leaving_out import suppressed

        looked = suppressed(looked)
    if any(one.plan.config is not None and one.plan.config.per_file for one in looked):
        from advisor.commands.leaving_out import ignored_by_file

        looked = ignored_by_file(looked)
    return looked


def _past_baseline(looked: list[Looked], path: str | None, broken: list[tuple[str, str]]) -> list[Looked]:
    from advisor.commands.leaving_out import baselined, write_baseline

    if path is None:
        return baselined(looked)
    if broken:
        _narrate(f"{path} is not written, for not every file could be read")
        return looked
    return write_baseline(looked, path)


def _usual_files() -> list[str]:
    found = [p for p in map(os.path.expanduser, USUAL) if os.path.exists(p)]
    if not found:
        raise exits.MycnfError(
            f"no FILE was named and this host has none of {', '.join(USUAL)}; name one, or - for stdin"
        )
    _narrate(f"checking {', '.join(found)}")
    return found


def look(path: str, plan: Plan, texts: dict[str, bytes] | None = None) -> list[Looked]:
    """Check one FILE of the command line for each of the plan's targets; MycnfError where it can't be read.

    `texts` holds the text that stands for stdin, by its name, where that was read already.
    """
    if path == "-" and texts:
        name, given = plan.args.stdin_filename, texts
    else:
        (name,), given = take_stdin([path], plan.args.stdin_filename)
    carrier = read_carrier(name, given)
    if carrier is not None:
        return _look_into(carrier, plan)
    root = plan.args.root
    return [look_at(name, target, plan, given) for target in plan.targets or [_assumed(name, root, given)]]


def _look_into(carrier: Carrier, plan: Plan) -> list[Looked]:
    from advisor.commands.carried import check_carrier, whole_text
    from advisor.optionfile.lines import Resolved

    resolved = Resolved((whole_text(carrier),), (), ())
    done = check_carrier(carrier, plan.targets, plan.rules, plan.host, plan.house)
    return [Looked(checked, resolved, plan) for checked in done]


def _assumed(path: str, root: str | None, given: dict[str, bytes]) -> Target:
    from advisor.commands.assume import assume_target

    return assume_target([path], root, given)


def _host(args: argparse.Namespace) -> Host | Absent:
    if args.ram is args.cpus is args.disk is args.host_tar is None:
        return NO_HOST
    from advisor.commands.machine import declared_host

    return declared_host(args)


def _tell_skipped(plan: Plan) -> None:
    # Who asks for a rule by name must not take its silence for "nothing found".
    needing = [(r.code, set(r.needs)) for r in plan.rules]
    on_server = [code for code, needs in needing if needs & {"server", "workload", "files"}]
    on_host = [code for code, needs in needing if needs == {"host"}] if plan.host is NO_HOST else []
    on_house = [code for code, needs in needing if needs == {"house"}] if plan.house is NO_HOUSE else []
    for codes, lack in ((on_server, NOT_ASKED), (on_host, NO_HOST), (on_house, NO_HOUSE)):
        if codes:
            _narrate(f"skipped {', '.join(codes)}, which {'needs' if len(codes) == 1 else 'need'} {lack.reason}")


def _narrate(message: str) -> None:
    from advisor.narration import narrate

    narrate(message)


def look_at(path: str, target: Target, plan: Plan, given: Mapping[str, bytes]) -> Looked:
    """Judge a file with its includes for the target and ask the rules; OptionFileError where it can't be read."""
    resolved = read_resolved([path], target, plan.args.root, given)
    catalog = load(target)
    verdict = judge_file(resolved, catalog)
    known = Known(target, catalog, Settings.from_file(verdict), verdict, host=plan.host, house=plan.house)
    done = run_rules(known, plan.rules)
    findings = tuple(by_place(done.findings))
    checked = Checked(path, target, findings, _sources(resolved, findings))
    return Looked(checked, resolved, plan, [s.code for s in done.skipped])


def _sources(resolved: Resolved, findings: tuple[Finding, ...]) -> dict[tuple[str, int], str]:
    wanted = {(f.location.path, f.location.line) for f in findings if f.location}
    lines = (((f.path, line.number), line.text) for f in resolved.files for line in f.lines)
    return {place: redact.redact_text(text).text for place, text in lines if place in wanted}


def _page(args: argparse.Namespace, broken: list[tuple[str, str]]) -> Page:
    from advisor.report.output import colour_wanted, run_time, working_directory

    fail_on = args.fail_on or FAIL_ON
    return Page(colour_wanted(None), args.statistics, working_directory(), tuple(broken), fail_on, run_time())
