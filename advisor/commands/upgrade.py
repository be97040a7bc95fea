"""`mycnf upgrade`: what a move between series or flavours would refuse, change or ignore, and which defaults move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import exits
from advisor.catalog.load import load
from advisor.catalog.targets import parse_target
from advisor.commands.reading import configure, read_resolved, take_stdin
from advisor.engine import RANK
from advisor.exits import MycnfError
from advisor.model import Severity
from advisor.report.output import colour_wanted, write
from advisor.upgrade import compare
from advisor.verdict import judge_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from advisor.model import Target
    from advisor.upgrade.change import Move
    from advisor.verdict import FileVerdict


def run(args: argparse.Namespace) -> int:
    """Compare what both servers make of the files, read as one; exit 1 where something is as bad as --fail-on says."""
    if args.keep_lines and args.format == "json":
        raise MycnfError("--keep-lines prints option-file lines, which --format json holds as `keep`: leave out one")
    before, after = parse_target(args.before), parse_target(args.after)
    configure(args)
    paths, given = take_stdin(args.files, "<stdin>")
    old, new = (_judged(paths, target, args.root, given) for target in (before, after))
    move = compare(old, new, tuple(paths))
    _tell(new)
    write(_render(move, args), args.output)
    return exits.FINDINGS if _fails(move, args.fail_on) else exits.OK


def _judged(paths: list[str], target: Target, root: str | None, given: Mapping[str, bytes]) -> FileVerdict:
    return judge_file(read_resolved(paths, target, root, given), load(target))


def _tell(new: FileVerdict) -> None:
    """What the answer can't hold, since an include isn't here or the version has no catalog of its own."""
    from advisor.narration import narrate

    for problem in new.resolved.problems:
        narrate(f"{problem.path}:{problem.line or 1}: {problem.message}")
    if new.catalog.read_as.version[:2] != new.catalog.target.version[:2]:
        narrate(f"{new.catalog.target.label} has no catalog yet: it is read as {new.catalog.read_as.label}")


def _render(move: Move, args: argparse.Namespace) -> str:
    if args.format == "json":
        from advisor.report import upgradejson

        return upgradejson.report(move)
    if args.keep_lines:
        from advisor.report import upgradekeep

        return upgradekeep.fragment(move, every=args.all)
    from advisor.report import upgradetext

    return upgradetext.report(move, every=args.all, colour=colour_wanted(args.output))


def _fails(move: Move, fail_on: str) -> bool:
    if fail_on == "never":
        return False
    found = {c.severity for c in move.lines} | {c.severity for c in move.defaults}
    return any(RANK[severity] <= RANK[Severity(fail_on)] for severity in found)
