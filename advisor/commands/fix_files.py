"""`mycnf lint --fix`, `--unsafe-fixes` and `--diff`: applies or shows the fixes of lint's findings."""

from __future__ import annotations

import shlex
import sys

from advisor.catalog import load
from advisor.catalog.targets import SERIES, newest_target, stand_in_note
from advisor.commands.guess_target import UNDECIDED, assume_target, guess_target
from advisor.commands.lint_files import LintResult, lint_file
from advisor.commands.read_files import read_carrier, read_resolved, replace_stdin
from advisor.commands.suppress_findings import apply_suppressions
from advisor.core import errors
from advisor.core.errors import print_notice
from advisor.core.model import Target
from advisor.fixing import TargetReading, fix_files, plan_fixes
from advisor.redaction import escape_text
from advisor.report.output import write
from advisor.verdict import judge_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.carriers.document import Carrier
    from advisor.commands.lint_files import LintPlan
    from advisor.core.model import Finding

# The targets of a path, and other versions that may read it, if the target is only assumed.
Targets = tuple[list[Target], list[Target]]


def write_fixes(
    paths: Sequence[str], plans: Sequence[LintPlan], args: argparse.Namespace
) -> tuple[dict[str, bytes], bool]:
    """Fix the files and report the changes on stderr; for stdin, print the fixed text.

    Returns the texts that replace stdin from now on, by name, and whether every file could be written. After printing
    stdin's text, reports go to stderr. Raises MycnfError if no FILE was named, so that the paths are those of the host.
    """
    refuse_unnamed(paths, args)
    names, given = replace_stdin(paths, args.stdin_filename)
    outcome = fix_files(names, FixReader(names, plans, given), unsafe=args.unsafe_fixes, given=given)
    for change in outcome.changes:
        codes = ", ".join(sorted({finding.code for finding in change.fixed}))
        print_notice(f"{change.path}: fixed {len(change.fixed):,} ({codes})")
    for message in (*outcome.unchanged, *outcome.unwritten):
        print_notice(message)
    given.update((change.path, change.after) for change in outcome.changes if change.path in given)
    for text in given.values():
        _print(text)
        sys.stdout = sys.stderr  # stdout is for the text only
    return given, not outcome.unwritten


def refuse_unnamed(paths: Sequence[str], args: argparse.Namespace) -> None:
    """Raise MycnfError for fixes without a FILE: the host's own files are read by default, but never written.

    A server may read the changed text only at a later restart, and in a repository its own files are intended.
    """
    if not args.files:
        flag = "--unsafe-fixes" if args.unsafe_fixes else "--fix"
        raise errors.MycnfError(
            f"{flag} writes only to files that you name: mycnf lint {flag} {' '.join(map(shlex.quote, paths))}; "
            "with --diff it shows what it would change"
        )


def show_diff(paths: Sequence[str], plans: Sequence[LintPlan], args: argparse.Namespace) -> int:
    """Print the changes as a unified diff, or write it to the file of -o; returns 1 if there are any."""
    from advisor.fixing.diff import unified_diff

    output = _diff_output(args)
    names, given = replace_stdin(paths, args.stdin_filename)
    reader = FixReader(names, plans, given, verbose=True)
    outcome = plan_fixes(names, reader, unsafe=args.unsafe_fixes, given=given)
    read = (target for targets, _ in reader.targets.values() for target in targets)
    for message in (*outcome.unchanged, *outcome.unread, *dict.fromkeys(filter(None, map(stand_in_note, read)))):
        print_notice(message)
    diff = unified_diff(outcome.changes)
    if output is None:
        _print(diff)
    else:
        write(diff.decode("utf-8", "surrogateescape"), output)
    if outcome.unread:
        return errors.USAGE
    return errors.FINDINGS if outcome.changes and not args.exit_zero else errors.OK


def _diff_output(args: argparse.Namespace) -> str | None:
    """Return the file for the diff, None for stdout; raises MycnfError for options of a report, which is not made."""
    reports = args.reports or ()
    given = [f"--{kind}" for kind, _ in reports if kind != "output"]
    given += [f"--{name.replace('_', '-')}" for name in ("statistics", "write_baseline") if getattr(args, name)]
    if given:
        raise errors.MycnfError(f"--diff prints a diff and no report; omit {given[0]} or --diff")
    if len(reports) > 1:
        raise errors.MycnfError("--diff prints one diff; use -o only once")
    return next((path for _, path in reports if path != "-"), None)


def _print(text: bytes) -> None:
    """Write the bytes unchanged, or escaped on a terminal."""
    if sys.stdout.isatty():
        from advisor.report.output import to_stdout

        lines = text.decode("utf-8", "surrogateescape").splitlines()
        to_stdout("".join(f"{escape_text(line)}\n" for line in lines))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


class FixReader:
    """Checks one named file as lint does, for each of its targets, which are chosen on first use."""

    def __init__(
        self, names: Sequence[str], plans: Sequence[LintPlan], given: Mapping[str, bytes], *, verbose: bool = False
    ) -> None:
        self.plans = dict(zip(names, plans, strict=True))
        self.given = given
        self.verbose = verbose
        self.targets: dict[str, Targets] = {}

    def __call__(self, path: str, texts: Mapping[str, bytes]) -> list[TargetReading]:
        """Return the readings of a file, with `texts` replacing files; raises MycnfError if it cannot be read."""
        plan = self.plans[path]
        carrier = read_carrier(path, texts, plan.args.root)
        if carrier is not None:
            return list(_carrier_readings(carrier, plan))
        if path not in self.targets:
            self.targets[path] = self._choose_targets(path, plan)
        targets, witnesses = self.targets[path]
        results = apply_suppressions([lint_file(path, target, plan, texts) for target in targets])
        readings = [
            TargetReading(_new_findings(one), judge_file(one.resolved, load(target)))
            for one, target in zip(results, targets, strict=True)
        ]
        for target in witnesses:
            verdict = judge_file(read_resolved([path], target, plan.args.root, texts), load(target))
            readings.append(TargetReading((), verdict, witness=True))
        return readings

    def _choose_targets(self, path: str, plan: LintPlan) -> Targets:
        """Return the named targets, or the assumed one with all series of the possible flavours as witnesses."""
        if plan.targets:
            return plan.targets, []
        own = {path: self.given[path]} if path in self.given else {}
        target, why = guess_target(read_resolved([path], newest_target("mysql"), plan.args.root, own))
        if self.verbose:
            assume_target([path], plan.args.root, own)
        flavours = list(SERIES) if why == UNDECIDED else [target.flavour]
        series = [Target(flavour, version) for flavour in flavours for version in SERIES[flavour].values()]
        return [target], [other for other in series if other != target]


def _carrier_readings(carrier: Carrier, plan: LintPlan) -> Iterator[TargetReading]:
    """Yield the readings of a document with option sets: each set belongs to its own server."""
    from advisor.commands.carrier_texts import resolved_of, resolved_text
    from advisor.commands.carriers import check_carrier

    text = resolved_text(carrier)
    for option_set in carrier.sets:
        alone = carrier._replace(sets=(option_set,))
        hinted = option_set.hint or guess_target(resolved_of(carrier, option_set, newest_target("mysql")))[0]
        for target in plan.targets or [hinted]:
            checked = check_carrier(alone, [target], plan.rules, plan.host, plan.house)
            results = apply_suppressions([LintResult(each, text, plan) for each in checked])
            findings = tuple(finding for each in results for finding in _new_findings(each))
            yield TargetReading(findings, judge_file(resolved_of(carrier, option_set, target), load(target)))


def _new_findings(results: LintResult) -> tuple[Finding, ...]:
    """Return the findings that are not in the plan's baseline."""
    path, checked = results.plan.args.baseline, results.checked
    if not path:
        return checked.findings
    from advisor.analysis import baseline
    from advisor.commands.suppress_findings import current_baseline

    files = tuple(file.path for file in results.resolved.files)
    (split,) = baseline.apply_baseline(
        current_baseline(path, silent=True), [baseline.BaselineReading(checked.path, checked.findings, files)]
    )
    return tuple(split.new)
