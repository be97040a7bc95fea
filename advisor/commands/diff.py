"""`mycnf diff`: compares any two of: option file, running server, snapshot, a version's defaults."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from advisor.catalog.targets import stand_in_note
from advisor.commands.diff_sides import read_sides
from advisor.compare.values import SideKind
from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from advisor.compare.values import Comparison, Side


def run(args: argparse.Namespace) -> int:
    """Print the differences, and return 1 if there are any; if a connection is lost, compares what was read."""
    from advisor.compare.compare import compare_sides
    from advisor.report.output import write

    (a, b), lost = read_sides(args)
    found = compare_sides(a, b, _name_filter(args, _known_names(a, b)))
    _check_sides(found, args)
    write(_render(found, args), args.output)
    for words in lost:
        print_notice(words)
    if lost:
        return errors.CONNECTION
    return errors.FINDINGS if found.differs(by_nature=args.all) else errors.OK


def _known_names(a: Side, b: Side) -> frozenset[str] | None:
    """Return the settings to compare where a side is a document of a managed service, None for all settings."""
    partial_sides = [side for side in (a, b) if side.is_partial]
    if not partial_sides:
        return None
    for name in dict.fromkeys(side.name for side in partial_sides):
        print_notice(f"{name}: settings that neither side sets are not compared: the service has defaults of its own")
    return frozenset().union(*(side.names_set for side in (a, b) if side.kind is SideKind.FILE))


def _name_filter(args: argparse.Namespace, known: frozenset[str] | None) -> Callable[[str], bool]:
    only, ignored = (_patterns(words) for words in (args.only, args.ignore))

    def wanted(name: str) -> bool:
        if known is not None and name not in known:
            return False
        fits = not only or any(fnmatchcase(name, pattern) for pattern in only)
        return fits and not any(fnmatchcase(name, pattern) for pattern in ignored)

    return wanted


def _patterns(words: Sequence[str] | None) -> list[str]:
    """Return patterns in the spelling of SHOW GLOBAL VARIABLES; several may be joined by commas."""
    parts = [part.strip().lower().replace("-", "_") for word in words or () for part in word.split(",")]
    return [part for part in parts if part]


def _check_sides(found: Comparison, args: argparse.Namespace) -> None:
    """Print notices on versions without a catalog; raises MycnfError if --only matches no setting at all."""
    for sentence in dict.fromkeys(map(stand_in_note, (found.a.target, found.b.target))):
        if sentence:
            print_notice(sentence)
    if args.only and not any((found.pairs, found.only_a, found.only_b, found.not_shown)):
        fits = f"--only {','.join(args.only)} matches no setting of either side"
        raise MycnfError(f"{fits}; write names or patterns as in SHOW GLOBAL VARIABLES, such as 'innodb_*'")


def _render(found: Comparison, args: argparse.Namespace) -> str:
    from advisor.report import diff
    from advisor.report.diff import document
    from advisor.report.formats import render
    from advisor.report.paper import Paper

    own = {"json": partial(diff.as_json, found, every=args.all)}
    return render("diff", args.format, Paper.of_width(args.output), partial(document, found, every=args.all), own)
