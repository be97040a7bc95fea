"""`mycnf upgrade`: what a move between series or flavours would refuse, change or ignore, and changed defaults."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from advisor.analysis.engine import RANK
from advisor.catalog.load import load
from advisor.catalog.targets import names_patch, parse_target, stand_in_note
from advisor.commands.read_files import configure, read_resolved, replace_stdin
from advisor.core import errors
from advisor.core.errors import MycnfError
from advisor.core.model import Severity
from advisor.report.formats import render
from advisor.report.output import write
from advisor.report.paper import Paper
from advisor.upgrade.move import compare_verdicts
from advisor.verdict import judge_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from advisor.upgrade.change import UpgradeChanges
    from advisor.verdict import FileVerdict


def run(args: argparse.Namespace) -> int:
    """Compare how both servers take the files; returns 1 if a change is as severe as --fail-on."""
    if args.keep_lines and args.format != "text":
        raise MycnfError("--keep-lines prints option-file lines; --format json has them as `keep`. Leave out one")
    configure(args)
    paths, given = replace_stdin(args.files, "<stdin>")
    texts = (args.before, args.after)
    old, new = (_judged(paths, text, args.root, given) for text in texts)
    move = compare_verdicts(old, new, tuple(paths))
    _tell(old, new)
    write(_render(move, args), args.output)
    return errors.FINDINGS if _fails(move, args.fail_on) else errors.OK


def _judged(paths: list[str], named: str, root: str | None, given: Mapping[str, bytes]) -> FileVerdict:
    target = parse_target(named)
    return judge_file(read_resolved(paths, target, root, given), load(target, any_build=not names_patch(named)))


def _tell(old: FileVerdict, new: FileVerdict) -> None:
    """Print what the result cannot contain: missing includes, and versions without a catalog of their own."""
    from advisor.core.console import print_notice

    for problem in new.resolved.problems:
        print_notice(f"{problem.path}:{problem.line or 1}: {problem.message}")
    for sentence in filter(None, (stand_in_note(verdict.catalog.target) for verdict in (old, new))):
        print_notice(sentence)


def _render(move: UpgradeChanges, args: argparse.Namespace) -> str:
    if args.keep_lines:
        from advisor.report.upgrade import keep_lines

        return keep_lines.fragment(move, every=args.all)
    from advisor.report.upgrade import as_json
    from advisor.report.upgrade.document import document

    own = {"json": partial(as_json.report, move)}
    return render("upgrade", args.format, Paper.of_width(args.output), partial(document, move, every=args.all), own)


def _fails(move: UpgradeChanges, fail_on: str) -> bool:
    if fail_on == "never":
        return False
    found = {c.severity for c in move.lines} | {c.severity for c in move.defaults}
    found |= {move.path.severity} if move.path.severity is not Severity.NOTE else set()
    return any(RANK[severity] <= RANK[Severity(fail_on)] for severity in found)
