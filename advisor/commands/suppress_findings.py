"""Removes the findings of lint that are suppressed by comments, the configuration or a baseline."""

from __future__ import annotations

import os

from advisor.analysis import baseline, sort_by_place
from advisor.commands.lint_files import has_comments, has_ignores
from advisor.core.errors import MycnfError, print_notice
from advisor.redaction import redact_text
from advisor.report import plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.analysis.baseline import Baseline
    from advisor.analysis.suppress import SuppressionResult
    from advisor.commands.lint_files import LintPlan, LintResult


def apply_suppressions(results: Sequence[LintResult]) -> list[LintResult]:
    """Remove the findings that are suppressed by comments in the files or by the configuration."""
    done = apply_comments(results) if has_comments(results) else list(results)
    return apply_per_file_ignores(done) if has_ignores(done) else done


def apply_comments(results: Sequence[LintResult]) -> list[LintResult]:
    """Remove the findings that comments suppress, and add those about the comments themselves."""
    from advisor.analysis.suppress import FileFindings, suppress
    from advisor.report.output import today

    readings = [
        FileFindings(x.resolved, x.checked.target, x.checked.findings, x.ran, _deselected_rules(x.plan))
        for x in results
    ]
    splits = suppress(readings, today())
    return [_with_suppressions(result, split) for result, split in zip(results, splits, strict=True)]


def _with_suppressions(result: LintResult, split: SuppressionResult) -> LintResult:
    findings = tuple(sort_by_place(split.kept))
    wanted = {(f.location.path, f.location.line) for f in findings if f.location} - result.checked.sources.keys()
    lines = (((file.path, line.number), line.text) for file in result.resolved.files for line in file.lines)
    more = {place: redact_text(text).text for place, text in lines if place in wanted}
    sources = result.checked.sources | more
    return result.with_fields(findings=findings, suppressed=split.hidden, reasons=split.reasons, sources=sources)


def _deselected_rules(plan: LintPlan) -> frozenset[str]:
    """Return the rules about suppressions that --select and --ignore exclude."""
    if not plan.args.select and not plan.args.ignore:
        return frozenset()
    from rules import all_rules
    from rules.optionfile import suppressions

    return frozenset(r.code for r in all_rules() if r.family == suppressions.FAMILY) - {r.code for r in plan.rules}


def apply_per_file_ignores(results: Sequence[LintResult]) -> list[LintResult]:
    """Remove the findings that the configuration's `per-file-ignores` excludes."""
    from advisor.commands.apply_config import drop_ignored

    return [
        result.with_fields(findings=drop_ignored(result.checked.findings, result.plan.config, result.checked.path))
        if result.plan.config is not None
        else result
        for result in results
    ]


def apply_baseline(results: Sequence[LintResult]) -> list[LintResult]:
    """Remove the findings in the baseline of their plan; the number of unused entries is printed on stderr."""
    done = list(results)
    for path in dict.fromkeys(result.plan.args.baseline for result in results):
        if path is None:
            continue
        known = current_baseline(path)
        places = [at for at, result in enumerate(results) if result.plan.args.baseline == path]
        readings = [_baseline_reading(results[at]) for at in places]
        for at, split in zip(places, baseline.apply_baseline(known, readings), strict=True):
            done[at] = results[at].with_fields(findings=split.new, baselined=split.known)
        _report_gone(baseline.count_gone(known, readings, frozenset().union(*(results[at].ran for at in places))), path)
    return done


def current_baseline(path: str, *, silent: bool = False) -> Baseline:
    """Read a baseline without the entries whose last day is past; a notice names these unless `silent`.

    Raises MycnfError if the file is not a baseline.
    """
    from advisor.report.output import today

    known, ended = baseline.without_expired(baseline.read_baseline(path), today())
    if ended and not silent:
        codes = ", ".join(sorted({key[1] for key in ended}))
        when = "ended on" if len(ended) == 1 else "ended, the first on"
        entries = plural(len(ended), "entry", "entries")
        print_notice(f"{entries} of {path} {when} {min(ended.values())}: it no longer suppresses {codes}")
    return known


def _baseline_reading(result: LintResult) -> baseline.BaselineReading:
    return baseline.BaselineReading(
        result.checked.path, result.checked.findings, tuple(file.path for file in result.resolved.files)
    )


def _report_gone(count: int, path: str) -> None:
    if count:
        entries = "1 entry of the baseline is" if count == 1 else f"{count} entries of the baseline are"
        print_notice(f"{entries} no longer found; write {path} again with --write-baseline")


def write_baseline(results: Sequence[LintResult], path: str) -> list[LintResult]:
    """Write all findings as a baseline, and remove them; raises MycnfError if the file is not a baseline."""
    from advisor.report.output import write

    refuse_overwrite(path)
    readings = [_baseline_reading(result) for result in results]
    try:
        write(baseline.render_baseline(readings, path), path)
    except MycnfError as error:
        raise MycnfError(str(error).replace("with -o", "with --write-baseline")) from error
    print_notice(f"wrote {plural(sum(baseline.read_baseline(path).counts.values()), 'finding')} to {path}")
    return [result.with_fields(findings=(), baselined=result.checked.findings) for result in results]


def refuse_overwrite(path: str) -> None:
    """Refuse to overwrite an option file named by mistake; an empty file may be overwritten."""
    if path == "-":
        raise MycnfError("--write-baseline needs a file name; stdout is for the report")
    if not os.path.lexists(path) or (os.path.isfile(path) and os.path.getsize(path) == 0):
        return
    try:
        baseline.read_baseline(path)
    except MycnfError as error:
        raise MycnfError(f"{path} exists and is not a baseline; name another file, or remove it") from error
