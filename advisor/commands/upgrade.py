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

    from advisor.core.model import Target
    from advisor.upgrade.change import UpgradeChanges
    from advisor.verdict import FileVerdict


def run(args: argparse.Namespace) -> int:
    """Compare how both servers take the files; returns 1 if a change is as severe as --fail-on."""
    if args.keep_lines and args.format != "text":
        raise MycnfError("--keep-lines prints option-file lines; --format json has them as `keep`. Leave out one")
    configure(args)
    paths, given = replace_stdin(args.files, "<stdin>")
    texts = (args.before, args.after)
    targets = [parse_target(text) for text in texts]
    if any(target.is_managed for target in targets):
        old, new = _judged_as_servers(paths, targets, args.root, given)
        move = _without_service_defaults(compare_verdicts(old, new, tuple(paths)), targets[1])
    else:
        old, new = (_judged(paths, text, args.root, given) for text in texts)
        move = compare_verdicts(old, new, tuple(paths))
    _tell(old, new)
    write(_render(move, args), args.output)
    return errors.FINDINGS if _fails(move, args.fail_on) else errors.OK


def _judged(paths: list[str], named: str, root: str | None, given: Mapping[str, bytes]) -> FileVerdict:
    target = parse_target(named)
    return judge_file(read_resolved(paths, target, root, given), load(target, any_build=not names_patch(named)))


def _judged_as_servers(
    paths: list[str], targets: list[Target], root: str | None, given: Mapping[str, bytes]
) -> tuple[FileVerdict, FileVerdict]:
    """Judge the parameters of a managed service as two servers of its versions take them.

    Both get what the old family knows: formulas and names that no server knows are left to lint.
    """
    from advisor.core.console import print_notice

    old, new = targets
    resolved = read_resolved(paths, old, root, given)
    print_notice(
        f"{old} and {new} are compared as {old.base.label} and {new.base.label}; mycnf lint checks the service"
    )
    return judge_file(resolved, load(old.base)), judge_file(resolved, load(new.base))


def _without_service_defaults(move: UpgradeChanges, target: Target) -> UpgradeChanges:
    """Leave out changed defaults that the service chooses by itself or does not let its users change."""
    from advisor.catalog.managed import platform_parameters
    from advisor.verdict.service_settings import CHOSEN_BY_SERVICES

    platform = platform_parameters(target)
    own = [c for c in move.defaults if platform.can_change(c.option) and c.option not in CHOSEN_BY_SERVICES]
    return move._replace(defaults=tuple(own))


def _tell(old: FileVerdict, new: FileVerdict) -> None:
    """Print what the result cannot contain: missing includes, and versions without a catalog of their own."""
    from advisor.core.console import print_notice

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
    found = {c.severity for c in move.lines} | {c.severity for c in move.defaults}
    found |= {move.path.severity} if move.path.severity is not Severity.NOTE else set()
    return any(RANK[severity] <= RANK[Severity(fail_on)] for severity in found)
