"""`mycnf diff`: reads two sides and compares them: option file, running server, snapshot, a version's defaults."""

from __future__ import annotations

import argparse
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from advisor.catalog.targets import names_patch, parse_target, require_known, stand_in_note
from advisor.compare.side_names import STDIN, parse_side
from advisor.compare.values import SideKind
from advisor.core import errors
from advisor.core.errors import MycnfError, print_notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from advisor.compare.side_names import NamedSide
    from advisor.compare.values import Comparison, Side
    from advisor.core.model import Target
    from advisor.facts import Facts
    from advisor.verdict import FileVerdict
    from advisor.verdict.declared import DeclaredSet, Instance


STDIN_NAME = "<stdin>"
MAX_LISTED = 5  # lines listed by location; above that, only their number is given


def run(args: argparse.Namespace) -> int:
    """Print the differences, and return 1 if there are any; if a connection is lost, compares what was read."""
    from advisor.compare import compare_sides
    from advisor.report.output import write

    (a, b), lost = read_sides(args)
    comparison = compare_sides(a, b, _name_filter(args, _known_names(a, b)))
    _check_sides(comparison, args)
    write(_render(comparison, args), args.output)
    for words in lost:
        print_notice(words)
    if lost:
        return errors.CONNECTION
    return errors.FINDINGS if comparison.differs(by_nature=args.all) else errors.OK


def _known_names(a: Side, b: Side) -> frozenset[str] | None:
    """Return the settings to compare where a side is a document of a managed service, None for all settings."""
    partial_sides = [side for side in (a, b) if side.is_partial]
    if not partial_sides:
        return None
    for name in dict.fromkeys(side.name for side in partial_sides):
        print_notice(f"{name}: settings that neither side sets are not compared: the service has its own defaults")
    return frozenset().union(*(side.names_set for side in (a, b) if side.kind is SideKind.FILE))


def _name_filter(args: argparse.Namespace, known: frozenset[str] | None) -> Callable[[str], bool]:
    only, ignored = (_patterns(words) for words in (args.only, args.ignore))

    def is_wanted(name: str) -> bool:
        if known is not None and name not in known:
            return False
        fits = not only or any(fnmatchcase(name, pattern) for pattern in only)
        return fits and not any(fnmatchcase(name, pattern) for pattern in ignored)

    return is_wanted


def _patterns(words: Sequence[str] | None) -> list[str]:
    """Return patterns in the spelling of SHOW GLOBAL VARIABLES; several may be joined by commas."""
    parts = [part.strip().lower().replace("-", "_") for word in words or () for part in word.split(",")]
    return [part for part in parts if part]


def _check_sides(comparison: Comparison, args: argparse.Namespace) -> None:
    """Print notices on versions without a catalog; raises MycnfError if --only matches no setting at all."""
    for sentence in dict.fromkeys(map(stand_in_note, (comparison.a.target, comparison.b.target))):
        if sentence:
            print_notice(sentence)
    if args.only and not any((comparison.pairs, comparison.only_a, comparison.only_b, comparison.not_shown)):
        fits = f"--only {','.join(args.only)} matches no setting of either side"
        raise MycnfError(f"{fits}; write names or patterns as in SHOW GLOBAL VARIABLES, such as 'innodb_*'")


def _render(comparison: Comparison, args: argparse.Namespace) -> str:
    from advisor.report import diff
    from advisor.report.diff import document
    from advisor.report.formats import render
    from advisor.report.output import Paper

    own = {"json": partial(diff.as_json, comparison, every=args.all)}
    return render("diff", args.format, Paper.of_width(args.output), partial(document, comparison, every=args.all), own)


def read_sides(args: argparse.Namespace) -> tuple[tuple[Side, Side], list[str]]:
    """Return both sides, and a message for each lost connection.

    All words are checked before a server is queried. Raises MycnfError for a side that cannot be read, ConnectError if
    a connection fails.
    """
    names = parse_side(args.a), parse_side(args.b)
    files = _make_files(names, args)
    from advisor.commands.connection import connection_option

    if all(side.kind is not SideKind.SERVER for side in names) and (given := connection_option(args)):
        raise MycnfError(f"neither side is a running server, so {given} has no effect; omit it, or compare with server")
    facts = _facts(names[0], args), _facts(names[1], args)
    targets = files.targets(facts)
    a = _side(names[0], facts[0], facts[1], targets[0], files)
    b = _side(names[1], facts[1], facts[0], targets[1], files)
    return (a, b), [one.lost for one in facts if one is not None and one.lost]


class _Files:
    """The files among the sides: how they are read, and for which server."""

    def __init__(
        self, names: tuple[NamedSide, NamedSide], args: argparse.Namespace, given: Mapping[str, bytes]
    ) -> None:
        self.names = names
        self.root: str | None = args.root
        self.given = given
        self._is_file = [side.kind is SideKind.FILE for side in names]
        self._asked = [parse_target(text) for text in args.target or ()]
        self._full_versions = {parse_target(text) for text in args.target or () if names_patch(text)}
        if len(self._asked) > sum(self._is_file):
            words = "--target once" if len(self._asked) == 1 else f"--target {len(self._asked)} times"
            files = ("no file", "one file", "two files")[sum(self._is_file)]
            raise MycnfError(f"{words} for {files}: it sets which server a file is read for")
        self._configured: str | None = args.configured
        self._sets: list[str] = args.set or []
        if len(self._sets) > len(names):
            raise MycnfError("--set: give it once, or twice for two documents")
        self._described = args

    def targets(self, facts: Sequence[Facts | None]) -> list[Target | None]:
        """Return for each side the server that its files are read for, None for other sides."""
        if len(self._asked) > 1:
            return [*self._asked]
        if all(self._is_file):
            if len(self._sets) > 1 and not self._asked:
                return [self._assumed_target(side) for side in self.names]
            return [self._asked[0] if self._asked else self._assumed_target(*self.names)] * 2
        known = [self._of_itself(side, own) for side, own in zip(self.names, facts, strict=True)]
        others = [*self._asked * 2] or known[::-1]
        return [other if is_file else None for is_file, other in zip(self._is_file, others, strict=True)]

    def instance(self, other: Facts | None) -> Instance | None:
        """Return what formulas read: as described on the command line, else the memory of the other side's host."""
        from advisor.commands.managed import instance_of
        from advisor.facts import Host
        from advisor.verdict.declared import Instance

        described = instance_of(self._described)
        if described is None and other is not None and isinstance(other.host, Host) and other.host.usable_memory:
            cpus = other.host.usable_cpus
            return Instance(other.host.usable_memory, None if cpus is None else int(cpus))
        return described

    def verdict(self, side: NamedSide, target: Target, other: Facts | None) -> FileVerdict:
        """Judge the side's files for that server; lines it does not read are listed on stderr.

        `other` has the facts of the other side, if it is a server.
        """
        from advisor.catalog import load
        from advisor.commands.read_files import missing_group_message, on_platform, read_resolved
        from advisor.verdict import REFUSED, judge_file

        require_known(target)
        declared = self.declared_set(side, target)
        if declared is not None:
            from advisor.commands.managed import managed_verdict

            return managed_verdict(declared, target, self.instance(other))
        paths = self._paths(side)
        resolved = read_resolved(paths, target, self.root, self.given, self._set_of(side))
        target = on_platform(target, None, resolved, full_version=target in self._full_versions)
        verdict = judge_file(resolved, load(target))
        if not_read := missing_group_message(verdict.resolved):
            raise MycnfError(not_read)
        for problem in verdict.resolved.problems:
            print_notice(f"{problem.path}:{problem.line or 1}: {problem.message}")
        refused = [line.placed for line in verdict.lines if line.outcome in REFUSED]
        if refused:
            places = ", ".join(f"{at.path}:{at.line.number}" for at in refused[:MAX_LISTED])
            more = f" and {len(refused) - MAX_LISTED} more lines" if len(refused) > MAX_LISTED else ""
            lines = "line" if len(refused) == 1 else "lines"
            print_notice(
                f"skipped the {lines} that {target.label} refuses or ignores: {places}{more}; mycnf lint shows why"
            )
        return verdict

    def _assumed_target(self, *sides: NamedSide) -> Target:
        from advisor.commands.guess_target import assume_target

        if self._configured:
            return parse_target(self._configured)
        paths = [path for side in sides for path in self._paths(side)]
        return assume_target(paths, self.root, self.given, next(filter(None, map(self._set_of, sides)), None))

    def _paths(self, side: NamedSide) -> list[str]:
        return [STDIN_NAME if path == STDIN else path for path in side.paths]

    def declared_set(self, side: NamedSide, target: Target) -> DeclaredSet | None:
        """Return the parameters in a document of a managed service, None for any other side."""
        from advisor.commands.carrier_texts import only_set
        from advisor.commands.read_files import read_carrier

        paths = self._paths(side)
        carrier = read_carrier(paths[0], self.given, self.root) if len(paths) == 1 else None
        one = only_set(carrier, self._set_of(side)) if carrier is not None else None
        return one.declared if one is not None and target.is_managed else None

    def _set_of(self, side: NamedSide) -> str | None:
        """Return the name of the set that is chosen for a side, None if none is."""
        at = next(number for number, one in enumerate(self.names) if one is side)
        if len(self._sets) == 1 and all(self._is_file) and not self._is_document(side):
            return None  # it chooses a set of the other side
        return self._sets[at] if len(self._sets) > 1 else next(iter(self._sets), None)

    def _is_document(self, side: NamedSide) -> bool:
        """Whether the side is a document with options rather than an option file."""
        from advisor.commands.read_files import read_carrier

        return any(read_carrier(path, self.given, self.root) is not None for path in self._paths(side))

    @staticmethod
    def _of_itself(side: NamedSide, facts: Facts | None) -> Target | None:
        from advisor.analysis.context import target_of

        return target_of(facts.server) if facts is not None else side.target


def _make_files(names: tuple[NamedSide, NamedSide], args: argparse.Namespace) -> _Files:
    """Return the files to read: with the configuration closest to the first file, and stdin if it is a side."""
    from advisor.commands.read_files import configure, replace_stdin

    paths = [path for side in names if side.kind is SideKind.FILE for path in side.paths]
    if paths.count(STDIN) > 1:
        raise MycnfError("- is stdin and can be read only once: give the other side as a file")
    if args.ram is not None or args.cpus is not None:
        from advisor.commands.managed import instance_of

        instance_of(args)  # mistakes are reported even if no formula needs it
    own = argparse.Namespace(**{**vars(args), "files": paths, "configured": None})
    if paths:
        asked = argparse.Namespace(**{**vars(own), "target": None})
        configure(asked)
        own.root, own.configured = asked.root, asked.target
    return _Files(names, own, replace_stdin(paths, STDIN_NAME)[1])


def _facts(side: NamedSide, args: argparse.Namespace) -> Facts | None:
    """Return the facts of a running server or snapshot; None for other sides."""
    if side.kind is SideKind.SNAPSHOT:
        from advisor.facts.snapshot import load

        return load(side.paths[0])
    if side.kind is not SideKind.SERVER:
        return None
    from advisor.commands.collect import collect_facts
    from advisor.commands.connection import CONNECTION

    words = {name: getattr(args, name) for name in CONNECTION}
    nothing = dict.fromkeys(("ram", "cpus", "disk", "host_tar"))
    return collect_facts(argparse.Namespace(**{**words, **nothing, **side.place, "window": 0.0}))


def _side(side: NamedSide, own: Facts | None, other: Facts | None, target: Target | None, files: _Files) -> Side:
    if own is not None:
        from advisor.compare.sides import side_of_server

        return side_of_server(own, side.kind, side.word)
    if target is None:
        from advisor.catalog import load
        from advisor.compare.sides import side_of_defaults

        assert side.target is not None, side  # noqa: S101 - the other kinds are handled above
        return side_of_defaults(load(side.target))._replace(name=side.word)
    verdict, name = files.verdict(side, target, other), side.word
    from advisor.analysis.context import target_of

    declared = files.declared_set(side, target)
    if declared is not None:
        from advisor.compare.sides import side_of_file, side_of_service

        return side_of_service(side_of_file(verdict, name), declared, files.instance(other))
    if other is not None and target_of(other.server) == target:
        from advisor.compare.sides import side_of_file_on_server

        return side_of_file_on_server(other, verdict, name)
    from advisor.compare.sides import side_of_file

    return side_of_file(verdict, name)
