"""The option files as a tree, with findings, verdicts and overriding lines for each line."""

from __future__ import annotations

import os.path
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin, Severity
from advisor.facts.files import WORLD_WRITABLE
from advisor.optionfile import MAX_DEPTH, groups_read, include_candidates, option_files
from advisor.optionfile.lines import Line, LineKind, dialect_of
from advisor.optionfile.reader import parse
from advisor.tui.text import MUTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from advisor.core.model import Finding, Setting
    from advisor.facts import FileCopy, OptionFiles
    from advisor.tui.view import View
    from advisor.verdict import LineVerdict
    from rules.core.context import RuleContext


# Sources of a running value that override every option file.
OUTRANKING = {Origin.PERSISTED: "mysqld-auto.cnf", Origin.COMMAND_LINE: "the command line"}


class LineMark(NamedTuple):
    """Findings and verdict of one line; `overridden_by` names the overriding place, empty if the line is in effect."""

    findings: tuple[Finding, ...] = ()
    verdict: LineVerdict | None = None
    overridden_by: str = ""


class FilesModel(NamedTuple):
    """All files of one audit: the tree, the parsed lines, and the marks by path and line number.

    `groups` are the groups that the server reads, in lower case.
    """

    nodes: tuple[FileNode, ...]
    lines: Lines
    marks: dict[str, dict[int, LineMark]]
    groups: frozenset[str]

    def mark(self, path: str, number: int) -> LineMark:
        """The mark of a line."""
        return self.marks.get(path, {}).get(number, LineMark())

    def findings(self, path: str) -> list[Finding]:
        """The findings of one file, the most severe first."""
        return worst_first(f for mark in self.marks.get(path, {}).values() for f in mark.findings)

    def finding_lines(self) -> list[tuple[str, int]]:
        """The lines with findings in the order of the tree, each once."""
        paths = dict.fromkeys(node.path for node in self.nodes)
        return [(p, number) for p in paths for number, mark in sorted(self.marks.get(p, {}).items()) if mark.findings]


EMPTY = FilesModel((), {}, {}, frozenset())


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings: errors, warnings, notes."""
    order = list(Severity)
    return sorted(findings, key=lambda finding: order.index(finding.severity))


def build_model(view: View) -> FilesModel:
    """Build the model of an audit's files; empty if they were not read."""
    files, context = view.audited.facts.files, view.audited.context
    if files is None:
        return EMPTY
    lines = parse_files(files, context)
    marks = _verdict_marks(context)
    for finding in view.open_findings:
        for path, number in _finding_lines(finding, files, context):
            mark = marks.setdefault(path, {}).get(number, LineMark())
            marks[path][number] = mark._replace(findings=(*mark.findings, finding))
    return FilesModel(build_tree(files, lines), lines, marks, groups_read(context.target, suffix=files.group_suffix))


def _verdict_marks(context: RuleContext) -> dict[str, dict[int, LineMark]]:
    marks: dict[str, dict[int, LineMark]] = {}
    verdict = context.file_verdict
    overridden = {id(line): name for name, lines in verdict.overridden.items() for line in lines}
    for line in verdict.lines:
        winner = verdict.effective.get(overridden.get(id(line), ""))
        by = (
            f"{winner.placed.path}:{winner.placed.line.number}" if winner is not None else _higher_source(context, line)
        )
        at = line.placed
        marks.setdefault(at.path, {})[at.line.number] = LineMark((), line, by)
    return marks


def _higher_source(context: RuleContext, line: LineVerdict) -> str:
    """The source that overrides all files for the option of a line; persisted values do so from the next start."""
    setting = running_setting(context, line)
    kept = context.files.persisted_options if context.has("files") else None
    if setting is not None and any(option.name == setting.name for option in kept or ()):
        return OUTRANKING[Origin.PERSISTED]
    return OUTRANKING.get(setting.origin, "") if setting is not None else ""


def running_setting(context: RuleContext, line: LineVerdict) -> Setting | None:
    """The setting in effect for the option of a line; None if unknown."""
    if line.option is None:
        return None
    return context.settings.get(line.option.variable or line.option.name)


def _finding_lines(finding: Finding, files: OptionFiles, context: RuleContext) -> list[tuple[str, int]]:
    """The lines of a finding: in a file, in mysqld-auto.cnf, or on the command line."""
    if finding.location is not None:
        return [(finding.location.path, max(1, finding.location.line))]
    option = context.catalog.get(finding.canonical) if finding.canonical else None
    names = {name for name in (finding.canonical, option and option.variable) if name}
    persisted = [o.name for o in files.persisted_options or ()]
    spoken = [argument.partition("=")[0].lstrip("-").replace("-", "_") for argument in files.command_line[1:]]
    setting = context.settings.get((option and option.variable) or finding.canonical or "")
    origin = setting.origin if setting is not None else None
    if origin is Origin.PERSISTED:
        return [(files.persisted, number) for number, name in enumerate(persisted, 1) if name in names]
    if origin is Origin.COMMAND_LINE:
        return [(COMMAND_LINE, number) for number, name in enumerate(spoken, 1) if name in names]
    return []


def find_line(
    stops: list[tuple[str, int]], paths: list[str], here: tuple[str, int], step: int
) -> tuple[str, int] | None:
    """The next line after `here` (step 1), before it (-1), or at or after it (0); wraps around, None without lines."""
    order = {path: place for place, path in reversed(list(enumerate(paths)))}
    ordered = sorted(stops, key=lambda stop: (order[stop[0]], stop[1]))
    at = (order[here[0]], here[1])
    if step < 0:
        before = [stop for stop in ordered if (order[stop[0]], stop[1]) < at]
        return (before or ordered)[-1] if ordered else None
    later = [stop for stop in ordered if (order[stop[0]], stop[1]) > at or (not step and stop == here)]
    return (later or ordered)[0] if ordered else None


def node_lines(node: FileNode, files: OptionFiles) -> list[str]:
    """The lines of a file as text; empty without text."""
    if node.state is NodeState.PERSISTED:
        return [f"{option.name} = {option.value}" for option in files.persisted_options or ()]
    if node.state is NodeState.COMMAND_LINE:
        return list(files.command_line[1:])
    text = node.copy.text if node.copy else None
    return [] if text is None else [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def line_style(line: Line | None, node: FileNode, mark: LineMark, groups: frozenset[str]) -> str:
    """The style of a line."""
    if node.state is NodeState.IGNORED:
        return MUTED
    if mark.overridden_by:
        return f"{MUTED} strike"
    if line is None:
        return ""
    unread = line.group is not None and line.group.lower() not in groups
    if line.kind is LineKind.OPTION:
        return MUTED if unread else ""
    return LINE_STYLES.get(line.kind, "")


LINE_STYLES = {
    LineKind.COMMENT: MUTED,
    LineKind.GROUP: "bold $text-accent",
    LineKind.INCLUDE: "$text-accent",
    LineKind.INCLUDEDIR: "$text-accent",
    LineKind.REJECTED: "$text-error",
    LineKind.IGNORED: "$text-warning",
}


COMMAND_LINE = "command line"
IGNORED_FILE_LIMIT = 1 << 16  # characters parsed of an ignored file: only its include lines matter
MOST = 500  # nodes: files that include each other would give an endless tree


class NodeState(StrEnum):
    """How the server treats a file of the tree."""

    READ = "read"
    IGNORED = "ignored"
    CLOSED = "not readable"
    ABSENT = "not there"
    PERSISTED = "persisted"
    COMMAND_LINE = "command line"


class FileNode(NamedTuple):
    """One file at one place of the tree; `copy` is None if it is not an option file or does not exist."""

    path: str
    depth: int
    state: NodeState
    copy: FileCopy | None = None


Lines = dict[str, tuple[Line, ...]]


def parse_files(files: OptionFiles, context: RuleContext) -> Lines:
    """The lines by path of each file with text, ignored files included."""
    target = context.target
    read = {file.path: file.lines for file in context.file_verdict.resolved.files}
    lines_by_path = {}
    for copy in files.files:
        if copy.text is None:
            continue
        lines = read.get(copy.path)
        if not lines:
            data = copy.text[:IGNORED_FILE_LIMIT].encode("utf-8", "surrogateescape")
            lines = parse(data, copy.path, dialect_of(target.flavour, target.version)).lines
        lines_by_path[copy.path] = lines
    return lines_by_path


def build_tree(files: OptionFiles, lines: Lines) -> tuple[FileNode, ...]:
    """The files in the order in which the server reads them, then persisted variables and command line."""
    nodes: list[FileNode] = []
    for copy in files.files:
        if not copy.included:
            nodes += _with_includes(_file_node(copy.path, None, files), (), files, lines)
    reached = {node.path for node in nodes}
    nodes += [_file_node(copy.path, None, files) for copy in files.files if copy.path not in reached]
    nodes = nodes[:MOST]
    if files.persisted:
        nodes.append(FileNode(files.persisted, 0, NodeState.PERSISTED))
    if files.command_line[1:]:
        nodes.append(FileNode(COMMAND_LINE, 0, NodeState.COMMAND_LINE))
    return tuple(nodes)


def _with_includes(node: FileNode, within: tuple[str, ...], files: OptionFiles, lines: Lines) -> list[FileNode]:
    """A file and the files it includes, except those that include themselves."""
    nodes = [node]
    within = (*within, node.path)
    if len(within) > MAX_DEPTH:
        return nodes
    for line in lines.get(node.path, ()):
        if line.kind in (LineKind.INCLUDE, LineKind.INCLUDEDIR) and not line.templated:
            for place in _included_paths(line, node.path, files):
                if place not in within and len(nodes) < MOST:
                    nodes += _with_includes(_file_node(place, node, files), within, files, lines)
    return nodes


def _included_paths(line: Line, path: str, files: OptionFiles) -> Iterator[str]:
    """The paths that an include line names."""
    meant = include_candidates(line.value or "", path, None)
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


def _file_node(path: str, above: FileNode | None, files: OptionFiles) -> FileNode:
    copy = next((copy for copy in files.files if copy.path == path), None)
    depth = above.depth + 1 if above else 0
    if copy is None or (copy.text is None and not copy.mode and not copy.changed):
        return FileNode(path, depth, NodeState.ABSENT, copy)
    if copy.text is None:
        return FileNode(path, depth, NodeState.CLOSED, copy)
    ignored = bool(copy.mode & WORLD_WRITABLE) or (above is not None and above.state is NodeState.IGNORED)
    return FileNode(path, depth, NodeState.IGNORED if ignored else NodeState.READ, copy)
