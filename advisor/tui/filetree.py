"""The option files of a server as a tree: each include under the file that names it."""

from __future__ import annotations

import os.path
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.files import WORLD_WRITABLE
from advisor.optionfile.dialect import dialect
from advisor.optionfile.lines import Kind, Line
from advisor.optionfile.places import candidates, option_files
from advisor.optionfile.reader import parse
from advisor.optionfile.resolve import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.facts import FileCopy, Files
    from rules.core.context import Known

COMMAND_LINE = "command line"
ENOUGH = 1 << 16  # characters of a file that servers ignore: all that matters of it is what it would include
MOST = 500  # nodes: files that include each other could make a tree without end


class State(StrEnum):
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
    state: State
    copy: FileCopy | None = None


Lines = dict[str, tuple[Line, ...]]


def lines_of(files: Files, known: Known) -> Lines:
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


def nodes(files: Files, lines: Lines) -> tuple[Node, ...]:
    """The files in the order in which the server reads them, then what it reads after all of them."""
    found: list[Node] = []
    for copy in files.files:
        if not copy.included:
            found += _below(_node(copy.path, None, files), (), files, lines)
    reached = {node.path for node in found}
    found += [_node(copy.path, None, files) for copy in files.files if copy.path not in reached]
    found = found[:MOST]
    if files.persisted:
        found.append(Node(files.persisted, 0, State.PERSISTED))
    if files.command_line[1:]:
        found.append(Node(COMMAND_LINE, 0, State.SPOKEN))
    return tuple(found)


def _below(node: Node, within: tuple[str, ...], files: Files, lines: Lines) -> list[Node]:
    """A file and what it includes, a file on the way to itself left out."""
    found = [node]
    within = (*within, node.path)
    if len(within) > DEEPEST:
        return found
    for line in lines.get(node.path, ()):
        if line.kind in (Kind.INCLUDE, Kind.INCLUDEDIR) and not line.templated:
            for place in _places(line, node.path, files):
                if place not in within and len(found) < MOST:
                    found += _below(_node(place, node, files), within, files, lines)
    return found


def _places(line: Line, path: str, files: Files) -> Iterator[str]:
    """The paths that an include line leads to."""
    meant = candidates(line.value or "", path, None)
    if line.kind is Kind.INCLUDE:
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


def _node(path: str, above: Node | None, files: Files) -> Node:
    copy = next((copy for copy in files.files if copy.path == path), None)
    depth = above.depth + 1 if above else 0
    if copy is None or (copy.text is None and not copy.mode and not copy.changed):
        return Node(path, depth, State.ABSENT, copy)
    if copy.text is None:
        return Node(path, depth, State.CLOSED, copy)
    ignored = bool(copy.mode & WORLD_WRITABLE) or (above is not None and above.state is State.IGNORED)
    return Node(path, depth, State.IGNORED if ignored else State.READ, copy)
