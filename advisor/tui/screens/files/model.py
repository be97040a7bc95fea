"""The option files with what there is to say of each line: findings, verdicts, and what outranks it."""

from __future__ import annotations

import os.path
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin, Severity
from advisor.facts.files import WORLD_WRITABLE
from advisor.optionfile import groups_read
from advisor.optionfile.groups import dialect
from advisor.optionfile.lines import Line, LineKind
from advisor.optionfile.reader import parse
from advisor.optionfile.resolve import DEEPEST, candidates, option_files
from advisor.tui.text import MUTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.core.model import Finding, Setting
    from advisor.facts import FileCopy, OptionFiles
    from advisor.tui.view import View
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext


# Where a running value comes from that outranks every option file, in words.
OUTRANKING = {Origin.PERSISTED: "mysqld-auto.cnf", Origin.COMMAND_LINE: "the command line"}


class Mark(NamedTuple):
    """What is to be said of one line; `by` is what outranks it, in words, empty where it counts."""

    findings: tuple[Finding, ...] = ()
    verdict: LineVerdict | None = None
    by: str = ""


class Book(NamedTuple):
    """All files of one audit: the tree, the lines as servers read them, the marks by path and number.

    `groups` are those that the server reads, in lower case.
    """

    nodes: tuple[Node, ...]
    lines: Lines
    marks: dict[str, dict[int, Mark]]
    groups: frozenset[str]

    def mark(self, path: str, number: int) -> Mark:
        """What is to be said of a line."""
        return self.marks.get(path, {}).get(number, Mark())

    def findings(self, path: str) -> list[Finding]:
        """The findings of one file, worst first."""
        return worst_first(f for mark in self.marks.get(path, {}).values() for f in mark.findings)

    def stops(self) -> list[tuple[str, int]]:
        """The lines with findings, in the order of the tree, each once."""
        paths = dict.fromkeys(node.path for node in self.nodes)
        return [(p, number) for p in paths for number, mark in sorted(self.marks.get(p, {}).items()) if mark.findings]


EMPTY = Book((), {}, {}, frozenset())


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Errors before warnings before notes."""
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def book(view: View) -> Book:
    """The files of an audit; empty where they weren't read."""
    files, known = view.audited.facts.files, view.audited.known
    if files is None:
        return EMPTY
    lines = lines_of(files, known)
    marks = _verdicts(known)
    for finding in view.open_findings:
        for path, number in _whereabouts(finding, files, known):
            mark = marks.setdefault(path, {}).get(number, Mark())
            marks[path][number] = mark._replace(findings=(*mark.findings, finding))
    return Book(nodes(files, lines), lines, marks, groups_read(known.target, suffix=files.group_suffix))


def _verdicts(known: RuleContext) -> dict[str, dict[int, Mark]]:
    found: dict[str, dict[int, Mark]] = {}
    verdict = known.file_verdict
    overridden = {id(line): name for name, lines in verdict.overridden.items() for line in lines}
    for line in verdict.lines:
        winner = verdict.effective.get(overridden.get(id(line), ""))
        by = f"{winner.placed.path}:{winner.placed.line.number}" if winner is not None else _outranked(known, line)
        at = line.placed
        found.setdefault(at.path, {})[at.line.number] = Mark((), line, by)
    return found


def _outranked(known: RuleContext, line: LineVerdict) -> str:
    """What outranks all files for the option of a line; what is persisted does from the next start on at the latest."""
    setting = setting_of(known, line)
    kept = known.files.persisted_options if known.has("files") else None
    if setting is not None and any(option.name == setting.name for option in kept or ()):
        return OUTRANKING[Origin.PERSISTED]
    return OUTRANKING.get(setting.origin, "") if setting is not None else ""


def setting_of(known: RuleContext, line: LineVerdict) -> Setting | None:
    """What the server runs with for the option of a line; None where nobody can tell."""
    if line.option is None:
        return None
    return known.settings.get(line.option.variable or line.option.name)


def _whereabouts(finding: Finding, files: OptionFiles, known: RuleContext) -> list[tuple[str, int]]:
    """The lines that a finding is about: one of a file, or what was persisted or spoken of its option."""
    if finding.location is not None:
        return [(finding.location.path, max(1, finding.location.line))]
    option = known.catalog.get(finding.canonical) if finding.canonical else None
    names = {name for name in (finding.canonical, option and option.variable) if name}
    persisted = [o.name for o in files.persisted_options or ()]
    spoken = [argument.partition("=")[0].lstrip("-").replace("-", "_") for argument in files.command_line[1:]]
    setting = known.settings.get((option and option.variable) or finding.canonical or "")
    origin = setting.origin if setting is not None else None
    if origin is Origin.PERSISTED:
        return [(files.persisted, number) for number, name in enumerate(persisted, 1) if name in names]
    if origin is Origin.COMMAND_LINE:
        return [(COMMAND_LINE, number) for number, name in enumerate(spoken, 1) if name in names]
    return []


def beside(stops: list[tuple[str, int]], paths: list[str], here: tuple[str, int], step: int) -> tuple[str, int] | None:
    """The line after `here` (step 1), before it (-1), or the first from it on (0); round the end, None without any."""
    order = {path: place for place, path in reversed(list(enumerate(paths)))}
    ordered = sorted(stops, key=lambda stop: (order[stop[0]], stop[1]))
    at = (order[here[0]], here[1])
    if step < 0:
        before = [stop for stop in ordered if (order[stop[0]], stop[1]) < at]
        return (before or ordered)[-1] if ordered else None
    later = [stop for stop in ordered if (order[stop[0]], stop[1]) > at or (not step and stop == here)]
    return (later or ordered)[0] if ordered else None


def text_of(node: Node, files: OptionFiles) -> list[str]:
    """The lines that are shown of a node, as they came; nothing where there is no text."""
    if node.state is NodeState.PERSISTED:
        return [f"{option.name} = {option.value}" for option in files.persisted_options or ()]
    if node.state is NodeState.SPOKEN:
        return list(files.command_line[1:])
    text = node.copy.text if node.copy else None
    return [] if text is None else [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def look_of(line: Line | None, node: Node, mark: Mark, groups: frozenset[str]) -> str:
    """The style of a line."""
    if node.state is NodeState.IGNORED:
        return MUTED
    if mark.by:
        return f"{MUTED} strike"
    if line is None:
        return ""
    unread = line.group is not None and line.group.lower() not in groups
    if line.kind is LineKind.OPTION:
        return MUTED if unread else ""
    return LOOKS.get(line.kind, "")


LOOKS = {
    LineKind.COMMENT: MUTED,
    LineKind.GROUP: "bold $text-accent",
    LineKind.INCLUDE: "$text-accent",
    LineKind.INCLUDEDIR: "$text-accent",
    LineKind.REJECTED: "$text-error",
    LineKind.IGNORED: "$text-warning",
}


COMMAND_LINE = "command line"
ENOUGH = 1 << 16  # characters of a file that servers ignore: all that matters of it is what it would include
MOST = 500  # nodes: files that include each other could make a tree without end


class NodeState(StrEnum):
    """What a node of the tree is to the server."""

    READ = "read"
    IGNORED = "ignored"
    CLOSED = "not readable"
    ABSENT = "not there"
    PERSISTED = "persisted"
    SPOKEN = "command line"


class Node(NamedTuple):
    """One file at one place of the tree; `copy` is None for what is no option file, or isn't there."""

    path: str
    depth: int
    state: NodeState
    copy: FileCopy | None = None


Lines = dict[str, tuple[Line, ...]]


def lines_of(files: OptionFiles, known: RuleContext) -> Lines:
    """The lines of each file whose text is there, also of those that servers ignore, by path."""
    target = known.target
    read = {file.path: file.lines for file in known.file_verdict.resolved.files}
    found = {}
    for copy in files.files:
        if copy.text is None:
            continue
        lines = read.get(copy.path)
        if not lines:
            data = copy.text[:ENOUGH].encode("utf-8", "surrogateescape")
            lines = parse(data, copy.path, dialect(target.flavour, target.version)).lines
        found[copy.path] = lines
    return found


def nodes(files: OptionFiles, lines: Lines) -> tuple[Node, ...]:
    """The files in the order in which the server reads them, then what it reads after all of them."""
    found: list[Node] = []
    for copy in files.files:
        if not copy.included:
            found += _below(_node(copy.path, None, files), (), files, lines)
    reached = {node.path for node in found}
    found += [_node(copy.path, None, files) for copy in files.files if copy.path not in reached]
    found = found[:MOST]
    if files.persisted:
        found.append(Node(files.persisted, 0, NodeState.PERSISTED))
    if files.command_line[1:]:
        found.append(Node(COMMAND_LINE, 0, NodeState.SPOKEN))
    return tuple(found)


def _below(node: Node, within: tuple[str, ...], files: OptionFiles, lines: Lines) -> list[Node]:
    """A file and what it includes, a file on the way to itself left out."""
    found = [node]
    within = (*within, node.path)
    if len(within) > DEEPEST:
        return found
    for line in lines.get(node.path, ()):
        if line.kind in (LineKind.INCLUDE, LineKind.INCLUDEDIR) and not line.templated:
            for place in _places(line, node.path, files):
                if place not in within and len(found) < MOST:
                    found += _below(_node(place, node, files), within, files, lines)
    return found


def _places(line: Line, path: str, files: OptionFiles) -> Iterator[str]:
    """The paths that an include line leads to."""
    meant = candidates(line.value or "", path, None)
    if line.kind is LineKind.INCLUDE:
        read = {copy.path for copy in files.files}
        yield next((place for place in meant if place in read), meant[0])
        return
    for folder in meant:
        try:
            names = option_files(files.names(folder))
        except FileNotFoundError:
            continue
        yield from (os.path.join(folder, name) for name in names)
        return


def _node(path: str, above: Node | None, files: OptionFiles) -> Node:
    copy = next((copy for copy in files.files if copy.path == path), None)
    depth = above.depth + 1 if above else 0
    if copy is None or (copy.text is None and not copy.mode and not copy.changed):
        return Node(path, depth, NodeState.ABSENT, copy)
    if copy.text is None:
        return Node(path, depth, NodeState.CLOSED, copy)
    ignored = bool(copy.mode & WORLD_WRITABLE) or (above is not None and above.state is NodeState.IGNORED)
    return Node(path, depth, NodeState.IGNORED if ignored else NodeState.READ, copy)
