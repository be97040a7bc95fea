"""`mycnf lint`: checks option files, offline."""

from __future__ import annotations

import os

from advisor.analysis import fails
from advisor.catalog.targets import stand_in_note
from advisor.commands.lint_files import has_comments, has_ignores, lint_path, make_plans
from advisor.core import errors
from advisor.report import Page
from advisor.report.formats import render_lint
from advisor.report.output import pair, write
from rules.core.context import NO_HOST, NO_HOUSE, NOT_ASKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from advisor.commands.lint_files import LintPlan, LintResult
    from advisor.report import CheckedFile

DEFAULT_FILES = ("/etc/my.cnf", "/etc/mysql/my.cnf", "~/.my.cnf")
FAIL_ON = "warning"
# Formats in which lint prints nothing if no file could be read: stderr has the reason.
SILENT = frozenset({"text", "concise"})


def run(args: argparse.Namespace) -> int:
    """Check each file on its own for each target; unreadable ones are reported on stderr and return 2."""
    writing = (args.fix or args.unsafe_fixes) and not args.diff
    paths = _each_once(args.files) or _default_files(quietly=writing)
    plans = make_plans(paths, args)
    reports = args.reports or ()
    pairs = pair(reports, "text" if any(kind == "format" for kind, _ in reports) else _format(plans))
    if args.select:
        _report_skipped(plans[0])
    texts: dict[str, bytes] = {}
    written = True
    if args.fix or args.unsafe_fixes or args.diff:
        from advisor.commands import fix_files

        if args.diff:
            return fix_files.show_diff(paths, plans, args)
        texts, written = fix_files.write_fixes(paths, plans, args)
    results: list[LintResult] = []
    broken: list[tuple[str, str]] = []
    for path, plan in zip(paths, plans, strict=True):
        try:
            results.extend(lint_path(path, plan, texts))
        except errors.MycnfError as error:
            _narrate(str(error))
            broken.append((path, str(error)))
    if args.parameters and results and not any(result.checked.target.is_managed for result in results):
        _narrate(
            f"--parameters {args.parameters} has no effect: no FILE belongs to a managed service; name the service "
            "with --target"
        )
    for target in dict.fromkeys(result.checked.target for result in results):
        if sentence := stand_in_note(target):
            _narrate(sentence)
    results = _without_suppressed(results)
    if args.write_baseline or any(plan.args.baseline for plan in plans):
        results = _apply_baseline(results, args.write_baseline, broken)
    checked = [result.checked._replace(fail_on=result.plan.args.fail_on or FAIL_ON) for result in results]
    write_reports(pairs, checked, _page(plans[0].args, broken))
    if broken or not written:
        return errors.USAGE
    failing = any(fails(result.checked.findings, result.plan.args.fail_on or FAIL_ON) for result in results)
    return errors.FINDINGS if failing and not args.exit_zero else errors.OK


def _without_suppressed(results: list[LintResult]) -> list[LintResult]:
    """Return the results without the findings that comments or the configuration suppress."""
    if not has_comments(results) and not has_ignores(results):
        return results
    from advisor.commands.suppress_findings import apply_suppressions

    return apply_suppressions(results)


def _format(plans: list[LintPlan]) -> str:
    """Return the format set in the configurations; raises MycnfError if they differ."""
    asked = {plan.config.format or "text": plan.config.path for plan in plans if plan.config is not None}
    if len(asked) > 1:
        raise errors.MycnfError(f"{' and '.join(asked.values())} set different formats; choose one with --format")
    return next(iter(asked), "text")


def _apply_baseline(results: list[LintResult], path: str | None, broken: list[tuple[str, str]]) -> list[LintResult]:
    from advisor.commands.suppress_findings import apply_baseline, write_baseline

    if path is None:
        return apply_baseline(results)
    if broken:
        _narrate(f"{path} is not written: some files could not be read")
        return results
    return write_baseline(results, path)


def _each_once(files: list[str]) -> list[str]:
    """Return the files without repetitions, which would be counted twice in reports and baselines."""
    named: dict[str, str] = {}
    for path in files:  # .. behind a link leads elsewhere than the path says
        named.setdefault(path if ".." in path.split("/") else os.path.normpath(path), path)
    return list(named.values())


def _default_files(*, quietly: bool) -> list[str]:
    paths = [p for p in map(os.path.expanduser, DEFAULT_FILES) if os.path.exists(p)]
    if not paths:
        raise errors.MycnfError(
            f"no FILE given, and this host has none of {', '.join(DEFAULT_FILES)}; name one, or - for stdin"
        )
    if not quietly:
        _narrate(f"checking {', '.join(paths)}")
    return paths


def _report_skipped(plan: LintPlan) -> None:
    # A user who selects a rule by name must not take a skipped rule for a passed check.
    needing = [(r.code, set(r.needs)) for r in plan.rules]
    on_server = [code for code, needs in needing if needs & {"server", "workload", "files"}]
    on_host = [code for code, needs in needing if needs == {"host"}] if plan.host is NO_HOST else []
    on_house = [code for code, needs in needing if needs == {"house"}] if plan.house is NO_HOUSE else []
    for codes, lack in ((on_server, NOT_ASKED), (on_host, NO_HOST), (on_house, NO_HOUSE)):
        if codes:
            needs = "needs" if len(codes) == 1 else "need"
            _narrate(f"skipped {', '.join(codes)}, which {needs} {lack.reason.removeprefix('needs ')}")


def _narrate(message: str) -> None:
    from advisor.core.errors import print_notice

    print_notice(message)


def _page(args: argparse.Namespace, broken: list[tuple[str, str]]) -> Page:
    from advisor.report.output import colour_wanted, run_time, working_directory

    fail_on = args.fail_on or FAIL_ON
    return Page(colour_wanted(None), args.statistics, working_directory(), tuple(broken), fail_on, run_time())


def write_reports(pairs: Sequence[tuple[str, str | None]], checked: Sequence[CheckedFile], page: Page) -> None:
    """Render every report, then write each to its file or to stdout; raises MycnfError if a file cannot be written.

    Colour is used on stdout only.
    """
    made = [
        (render_lint(name, checked, _page_for(path, page)), path)
        for name, path in pairs
        if checked or name not in SILENT
    ]
    for text, path in made:
        write(text, path)


def _page_for(path: str | None, page: Page) -> Page:
    return page if path in (None, "-") else page._replace(colour=False)
