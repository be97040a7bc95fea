"""`mycnf lint`: check option files, offline."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from advisor.analysis.engine import fails
from advisor.catalog.targets import stand_in
from advisor.commands.lint_files import leave_out, look, plans_of
from advisor.core import errors
from advisor.report import Page
from advisor.report.output import pair, write_reports
from rules.core.context import NO_HOST, NO_HOUSE, NOT_ASKED

if TYPE_CHECKING:
    import argparse

    from advisor.commands.lint_files import LintPlan, LintResult

USUAL = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")
FAIL_ON = "warning"


def run(args: argparse.Namespace) -> int:
    """Check each file by itself for each target; unreadable ones are told on stderr and make the exit code 2."""
    writing = (args.fix or args.unsafe_fixes) and not args.diff
    paths = args.files or _usual_files(quietly=writing)
    plans = plans_of(paths, args)
    reports = args.reports or ()
    pairs = pair(reports, "text" if any(kind == "format" for kind, _ in reports) else _format(plans))
    if args.select:
        _tell_skipped(plans[0])
    texts: dict[str, bytes] = {}
    written = True
    if args.fix or args.unsafe_fixes or args.diff:
        from advisor.commands import fix_files

        if args.diff:
            return fix_files.show_diff(paths, plans, args)
        texts, written = fix_files.fix(paths, plans, args)
    looked: list[LintResult] = []
    broken: list[tuple[str, str]] = []
    for path, plan in zip(paths, plans, strict=True):
        try:
            looked.extend(look(path, plan, texts))
        except errors.MycnfError as error:
            _narrate(str(error))
            broken.append((path, str(error)))
    for target in dict.fromkeys(one.checked.target for one in looked):
        if sentence := stand_in(target):
            _narrate(sentence)
    looked = leave_out(looked)
    if args.write_baseline or any(plan.args.baseline for plan in plans):
        looked = _past_baseline(looked, args.write_baseline, broken)
    write_reports(pairs, [one.checked for one in looked], _page(plans[0].args, broken))
    if broken or not written:
        return errors.USAGE
    failing = any(fails(one.checked.findings, one.plan.args.fail_on or FAIL_ON) for one in looked)
    return errors.FINDINGS if failing and not args.exit_zero else errors.OK


def _format(plans: list[LintPlan]) -> str:
    """The format that the configurations ask for; MycnfError where they ask for several."""
    asked = {plan.config.format or "text": plan.config.path for plan in plans if plan.config is not None}
    if len(asked) > 1:
        raise errors.MycnfError(f"{' and '.join(asked.values())} ask for different formats; choose one with --format")
    return next(iter(asked), "text")


def _past_baseline(looked: list[LintResult], path: str | None, broken: list[tuple[str, str]]) -> list[LintResult]:
    from advisor.commands.suppress_findings import baselined, write_baseline

    if path is None:
        return baselined(looked)
    if broken:
        _narrate(f"{path} is not written, for not every file could be read")
        return looked
    return write_baseline(looked, path)


def _usual_files(*, quietly: bool) -> list[str]:
    found = [p for p in map(os.path.expanduser, USUAL) if os.path.exists(p)]
    if not found:
        raise errors.MycnfError(
            f"no FILE was named and this host has none of {', '.join(USUAL)}; name one, or - for stdin"
        )
    if not quietly:
        _narrate(f"checking {', '.join(found)}")
    return found


def _tell_skipped(plan: LintPlan) -> None:
    # Who asks for a rule by name must not take its silence for "nothing found".
    needing = [(r.code, set(r.needs)) for r in plan.rules]
    on_server = [code for code, needs in needing if needs & {"server", "workload", "files"}]
    on_host = [code for code, needs in needing if needs == {"host"}] if plan.host is NO_HOST else []
    on_house = [code for code, needs in needing if needs == {"house"}] if plan.house is NO_HOUSE else []
    for codes, lack in ((on_server, NOT_ASKED), (on_host, NO_HOST), (on_house, NO_HOUSE)):
        if codes:
            _narrate(f"skipped {', '.join(codes)}, which {'needs' if len(codes) == 1 else 'need'} {lack.reason}")


def _narrate(message: str) -> None:
    from advisor.core.console import narrate

    narrate(message)


def _page(args: argparse.Namespace, broken: list[tuple[str, str]]) -> Page:
    from advisor.report.output import colour_wanted, run_time, working_directory

    fail_on = args.fail_on or FAIL_ON
    return Page(colour_wanted(None), args.statistics, working_directory(), tuple(broken), fail_on, run_time())
