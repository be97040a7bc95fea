"""`mycnf upgrade`: what a move between series or flavours would refuse, change or ignore, and changed defaults."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from advisor.analysis import RANK
from advisor.catalog import load
from advisor.catalog.targets import names_patch, parse_target, stand_in_note
from advisor.commands.read_files import configure, on_platform, read_carrier, read_resolved, replace_stdin
from advisor.core import errors
from advisor.core.errors import MycnfError
from advisor.core.model import Confidence, Severity
from advisor.report.formats import render
from advisor.report.output import Paper, write
from advisor.upgrade.change import LineChange, LineEffect
from advisor.upgrade.move import compare_verdicts
from advisor.verdict import judge_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from advisor.core.model import Target
    from advisor.optionfile.lines import PlacedLine, ResolvedFiles
    from advisor.upgrade.change import UpgradeChanges
    from advisor.verdict import FileVerdict, LineVerdict
    from advisor.verdict.declared import DeclaredSet


def run(args: argparse.Namespace) -> int:
    """Compare how both servers take the files; returns 1 if a change is as severe as --fail-on."""
    if args.keep_lines and args.format != "text":
        raise MycnfError("--keep-lines prints option-file lines; --format json has them as `keep`. Omit one of them")
    configure(args)
    paths, given = replace_stdin(args.files, "<stdin>")
    texts = (args.before, args.after)
    targets = [parse_target(text) for text in texts]
    if args.set and len(args.set) > 1:
        raise MycnfError("--set can be given once: upgrade reports about one set")
    name = args.set[0] if args.set else None
    if any(target.is_managed for target in targets):
        resolved = read_resolved(paths, targets[0], args.root, given, name)
        old, new = _judged_as_servers(resolved, targets)
        declared = _declared_set(paths, given, args.root, name)
        move = _for_service(compare_verdicts(old, new, tuple(paths)), targets, declared, own_lines=args.keep_lines)
    else:
        old, new = (_judge_paths(paths, text, args, given, name) for text in texts)
        move = compare_verdicts(old, new, tuple(paths))
    _report(old, new)
    write(_render(move, args), args.output)
    return errors.FINDINGS if _fails(move, args.fail_on) else errors.OK


def _judge_paths(
    paths: list[str], named: str, args: argparse.Namespace, given: Mapping[str, bytes], name: str | None
) -> FileVerdict:
    full = names_patch(named)
    target = parse_target(named)
    resolved = read_resolved(paths, target, args.root, given, name)
    target = on_platform(target, args.platform, resolved, full_version=full)
    return judge_file(resolved, load(target, any_build=not full))


def _judged_as_servers(resolved: ResolvedFiles, targets: list[Target]) -> tuple[FileVerdict, FileVerdict]:
    """Judge the parameters of a managed service as two servers of its versions take them.

    Both get what the old family knows: formulas and names that no server knows are left to lint.
    """
    from advisor.core.errors import print_notice

    old, new = targets
    print_notice(
        f"{old} and {new} are compared as {old.base.label} and {new.base.label}; mycnf lint checks the service"
    )
    return judge_file(resolved, load(old.base)), judge_file(resolved, load(new.base))


def _declared_set(
    paths: list[str], given: Mapping[str, bytes], root: str | None, name: str | None
) -> DeclaredSet | None:
    """Return the parameters in a single document; None for option files."""
    carrier = read_carrier(paths[0], given, root) if len(paths) == 1 else None
    if carrier is None:
        return None
    from advisor.commands.carrier_texts import only_set

    return only_set(carrier, name).declared


def _for_service(
    move: UpgradeChanges, targets: list[Target], declared: DeclaredSet | None, *, own_lines: bool
) -> UpgradeChanges:
    """Return the changes in the terms of the service, as likely ones: it has builds, defaults and checks of its own.

    Changed defaults that the service chooses or does not let its users change are left out. `own_lines`
    writes each line as name and value, else as the document does.
    """
    from advisor.catalog.managed import platform_parameters
    from advisor.verdict.declared import OTHER_DEFAULTS_OF_SERVICES

    old, new = targets
    platform = platform_parameters(new)
    own = [c for c in move.defaults if platform.can_change(c.option) and c.option not in OTHER_DEFAULTS_OF_SERVICES]
    lines = [*move.lines, *_dropped_parameters(move, targets, declared)]
    made = move._replace(
        before=old,
        after=new,
        lines=tuple(sorted(map(_as_likely, lines), key=lambda one: RANK[one.severity])),
        defaults=tuple(one._replace(confidence=Confidence.LIKELY) for one in own),
    )
    return _in_document_terms(made, None if own_lines else declared)


def _as_likely(change: LineChange) -> LineChange:
    severity = Severity.WARNING if change.severity is Severity.ERROR else change.severity
    return change._replace(severity=severity, confidence=Confidence.LIKELY)


def _dropped_parameters(move: UpgradeChanges, targets: list[Target], declared: DeclaredSet | None) -> list[LineChange]:
    """Return the parameters that only the old family has, and that have no option of the server."""
    if declared is None or not all(target.is_managed for target in targets):
        return []
    from advisor.verdict.managed import UNKNOWN, judge_managed

    before, after = (
        [problem for problem in judge_managed(declared, load(target)).problems if problem.rule == UNKNOWN]
        for target in targets
    )
    known = {(c.placed.line.number, c.placed.line.column) for c in move.lines}
    known |= {(problem.line.placed.line.number, problem.line.placed.line.column) for problem in before}
    return [
        LineChange(
            LineEffect.REMOVED,
            problem.severity,
            problem.confidence,
            _named_place(problem.line),
            None,
            problem.line,
            problem.message,
        )
        for problem in after
        if (problem.line.placed.line.number, problem.line.placed.line.column) not in known
    ]


def _named_place(line: LineVerdict) -> PlacedLine:
    """Return the place of a parameter that no option stands for, with its name as the text of the line."""
    placed = line.placed
    return placed._replace(line=placed.line._replace(text=placed.line.name or ""))


def _in_document_terms(move: UpgradeChanges, declared: DeclaredSet | None) -> UpgradeChanges:
    from advisor.commands.carrier_texts import line_of
    from rules.core.statements import service_value

    catalog = load(move.after)

    def line(text: str) -> str:
        name, equals, value = text.partition(" = ")
        if not equals:
            return text
        own = service_value(move.after, catalog.get(name), value)
        return line_of(name, own, declared) if declared else f"{name} = {own}"

    return move._replace(
        lines=tuple(one._replace(write=one.write and line(one.write)) for one in move.lines),
        defaults=tuple(one._replace(keep=one.keep and line(one.keep)) for one in move.defaults),
    )


def _report(old: FileVerdict, new: FileVerdict) -> None:
    """Print what the result cannot contain: missing includes, and versions without a catalog of their own."""
    from advisor.core.errors import print_notice

    for problem in new.resolved.problems:
        print_notice(f"{problem.path}:{problem.line or 1}: {problem.message}")
    for sentence in filter(None, (stand_in_note(verdict.catalog.target) for verdict in (old, new))):
        print_notice(sentence)


def _render(move: UpgradeChanges, args: argparse.Namespace) -> str:
    if args.keep_lines:
        from advisor.report import upgrade

        return upgrade.fragment(move, every=args.all)
    from advisor.report import upgrade
    from advisor.report.upgrade import document

    own = {"json": partial(upgrade.as_json, move)}
    return render("upgrade", args.format, Paper.of_width(args.output), partial(document, move, every=args.all), own)


def _fails(move: UpgradeChanges, fail_on: str) -> bool:
    if fail_on == "never":
        return False
    severities = {c.severity for c in move.lines} | {c.severity for c in move.defaults}
    severities |= {move.path.severity} if move.path.severity is not Severity.NOTE else set()
    return any(RANK[severity] <= RANK[Severity(fail_on)] for severity in severities)
