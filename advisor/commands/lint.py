"""`mycnf lint`: check option files, offline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

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
from rules.known import NO_HOST, NOT_ASKED, Known

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from advisor.facts import Host
    from advisor.model import Absent, Finding, Target
    from advisor.optionfile.lines import Resolved
    from rules.registry import Rule

USUAL = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")


def run(args: argparse.Namespace) -> int:
    """Check each file by itself for each target; unreadable ones are told on stderr and make the exit code 2."""
    pairs = pair(args.reports or ())
    host = _host(args)
    rules = choose(args.select, args.ignore, files_only=host is NO_HOST)
    if args.select:
        _tell_skipped(rules, host)
    targets = [parse_target(t) for t in args.target or ()]
    checked: list[Checked] = []
    broken: list[tuple[str, str]] = []
    for path in args.files or _usual_files():
        try:
            checked.extend(_check(path, targets, rules, host, args))
        except exits.MycnfError as error:
            _narrate(str(error))
            broken.append((path, str(error)))
    write_reports(pairs, checked, _page(args, broken))
    found = [f for c in checked for f in c.findings]
    if broken:
        return exits.USAGE
    return exits.FINDINGS if fails(found, args.fail_on) and not args.exit_zero else exits.OK


def _usual_files() -> list[str]:
    found = [p for p in map(os.path.expanduser, USUAL) if os.path.exists(p)]
    if not found:
        raise exits.MycnfError(
            f"no FILE was named and this host has none of {', '.join(USUAL)}; name one, or - for stdin"
        )
    _narrate(f"checking {', '.join(found)}")
    return found


def _check(
    path: str, targets: list[Target], rules: list[Rule], host: Host | Absent, args: argparse.Namespace
) -> Iterator[Checked]:
    (name,), given = take_stdin([path], args.stdin_filename)
    carrier = read_carrier(name, given)
    if carrier is not None:
        from advisor.commands.carried import check_carrier

        yield from check_carrier(carrier, targets, rules, host)
        return
    for target in targets or [_assumed(name, args.root, given)]:
        yield check_file(name, target, rules, host, root=args.root, given=given)


def _assumed(path: str, root: str | None, given: dict[str, bytes]) -> Target:
    from advisor.commands.assume import assume_target

    return assume_target([path], root, given)


def _host(args: argparse.Namespace) -> Host | Absent:
    if args.ram is args.cpus is args.disk is args.host_tar is None:
        return NO_HOST
    from advisor.commands.machine import declared_host

    return declared_host(args)


def _tell_skipped(rules: list[Rule], host: Host | Absent) -> None:
    # Who asks for a rule by name must not take its silence for "nothing found".
    beyond_files = [r for r in rules if r.needs]
    on_server = [r.code for r in beyond_files if set(r.needs) != {"host"}]
    on_host = [r.code for r in beyond_files if r.code not in on_server] if host is NO_HOST else []
    for codes, lack in ((on_server, NOT_ASKED), (on_host, NO_HOST)):
        if codes:
            _narrate(f"skipped {', '.join(codes)}, which {'needs' if len(codes) == 1 else 'need'} {lack.reason}")


def _narrate(message: str) -> None:
    from advisor.narration import narrate

    narrate(message)


def check_file(
    path: str,
    target: Target,
    rules: list[Rule],
    host: Host | Absent,
    *,
    root: str | None = None,
    given: Mapping[str, bytes],
) -> Checked:
    """Judge a file with its includes for the target and ask the rules; OptionFileError where it can't be read."""
    resolved = read_resolved([path], target, root, given)
    catalog = load(target)
    verdict = judge_file(resolved, catalog)
    known = Known(target, catalog, Settings.from_file(verdict), verdict, host=host)
    findings = tuple(by_place(run_rules(known, rules).findings))
    return Checked(path, target, findings, _sources(resolved, findings))


def _sources(resolved: Resolved, findings: tuple[Finding, ...]) -> dict[tuple[str, int], str]:
    wanted = {(f.location.path, f.location.line) for f in findings if f.location}
    lines = (((f.path, line.number), line.text) for f in resolved.files for line in f.lines)
    return {place: redact.redact_text(text).text for place, text in lines if place in wanted}


def _page(args: argparse.Namespace, broken: list[tuple[str, str]]) -> Page:
    from advisor.report.output import colour_wanted, run_time, working_directory

    return Page(colour_wanted(None), args.statistics, working_directory(), tuple(broken), args.fail_on, run_time())
