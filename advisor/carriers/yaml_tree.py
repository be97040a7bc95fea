"""YAML as a tree of nodes with offsets; aliases share nodes, so that expansion cannot exhaust memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from advisor.carriers.document import CarrierError, Piece, align_piece, verbatim_piece
from advisor.optionfile.lines import looks_templated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.carriers.document import Document


MAX_DEPTH = 100  # levels; above any manifest, and below the limit of recursive parsers
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
MERGE = "<<"
MAX_MERGES = 20  # our limit; real chains have a few
MAX_NODES = 150_000  # our limit; takes about a second, and is far above any manifest of servers
_PROPERTIES = r"(?:[&!]\S*\s+)*"  # an anchor and a tag before the text of a scalar


class Scalar:
    """A text; `style` is the first character of its notation, empty for a plain scalar, and `tag` its tag."""

    __slots__ = ("end", "start", "style", "tag", "value")

    def __init__(self, value: str, style: str, start: int, end: int, tag: str = "") -> None:
        self.value = value
        self.style = style
        self.start = start
        self.end = end
        self.tag = tag

    @property
    def is_known(self) -> bool:
        """Whether the value is the text itself: not an expression, nor behind a tag such as !Ref or !vault."""
        return not self.tag.startswith("!")


class Sequence:
    """A list of nodes; with a `tag` such as !If it is the arguments of a function."""

    __slots__ = ("items", "tag")

    def __init__(self, tag: str = "") -> None:
        self.items: list[Node] = []
        self.tag = tag

    @property
    def is_known(self) -> bool:
        """Whether it is a list itself, not what a function makes of it."""
        return not self.tag.startswith("!")


class Mapping:
    """Pairs of nodes in order; of a duplicate key the last one is used."""

    __slots__ = ("_known", "pairs")

    def __init__(self) -> None:
        self.pairs: list[tuple[Node, Node]] = []
        self._known: dict[str, Node] | None = None

    def get(self, key: str) -> Node | None:
        """Return the value of a key, including merged mappings."""
        if self._known is None:
            self._known = {}
            for mapping in self._sources():
                self._known = {**mapping.own_values(), **self._known}
        return self._known.get(key)

    def own_values(self) -> dict[str, Node]:
        """Return the values of scalar keys, without merged mappings."""
        return {k.value: v for k, v in self.pairs if isinstance(k, Scalar) and k.value != MERGE}

    def _sources(self) -> list[Mapping]:
        """Return this mapping and the merged ones, highest precedence first."""
        sources: list[Mapping] = []
        waiting = [self]
        while waiting and len(sources) < MAX_MERGES:
            mapping = waiting.pop()
            if mapping not in sources:
                sources.append(mapping)
                waiting += reversed(mapping.merged_mappings())
        return sources

    def merged_mappings(self) -> list[Mapping]:
        """Return the mappings of the merge key, highest precedence first."""
        values = [v for k, v in self.pairs if isinstance(k, Scalar) and k.value == MERGE]
        sources = [m for v in values for m in (v.items if isinstance(v, Sequence) else [v])]
        return [m for m in sources if isinstance(m, Mapping)]


Node = Scalar | Sequence | Mapping


def parse_documents(text: str, path: str) -> list[Node]:
    """Parse the documents of a stream; raises CarrierError with the line for invalid YAML or excessive nesting."""
    mark = text.startswith("\ufeff")
    try:
        return list(_build(yaml.parse(text[1:] if mark else text, Loader=_LOADER), text, path, int(mark)))
    except (yaml.YAMLError, UnicodeError) as error:
        raise CarrierError(_error_message(error, text, path)) from error


def walk(root: Node) -> Iterator[tuple[str, Mapping | Sequence | Scalar]]:
    """Yield every node once, with its key."""
    seen: set[int] = set()
    waiting: list[tuple[str, Node]] = [("", root)]
    while waiting:
        key, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield key, node
        if isinstance(node, Mapping):
            waiting += reversed([(k.value if isinstance(k, Scalar) else "", v) for k, v in node.pairs])
        elif isinstance(node, Sequence):
            waiting += [(key, item) for item in reversed(node.items)]


def _build(events: Iterator[Any], text: str, path: str, shift: int) -> Iterator[Node]:
    """Build root nodes from events without recursion."""
    open_nodes: list[tuple[Mapping | Sequence, list[Node]]] = []
    anchors: dict[str, Node] = {}
    for count, event in enumerate(events):
        if count > MAX_NODES:
            raise CarrierError(f"{path}: more than {MAX_NODES:,} nodes, which no manifest has; name a smaller file")
        if isinstance(event, yaml.DocumentStartEvent):
            anchors = {}
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            node, children = open_nodes.pop()
            if isinstance(node, Mapping):
                node.pairs = list(zip(children[::2], children[1::2], strict=True))
        elif isinstance(event, yaml.NodeEvent):
            made = _node(event, anchors, text, shift)
            if open_nodes:
                open_nodes[-1][1].append(made)
            else:
                yield made
            if isinstance(event, yaml.CollectionStartEvent) and not isinstance(made, Scalar):
                open_nodes.append((made, made.items if isinstance(made, Sequence) else []))
                if len(open_nodes) > MAX_DEPTH:
                    mark: Any = event.start_mark
                    line = mark.line + 1
                    raise CarrierError(f"{path}:{line}: nested deeper than {MAX_DEPTH} levels, which no manifest is")


def _node(event: Any, anchors: dict[str, Node], text: str, shift: int) -> Node:
    name, mark = event.anchor, event.start_mark
    if isinstance(event, yaml.AliasEvent):
        if name not in anchors:
            raise yaml.MarkedYAMLError(problem=f"there is no anchor &{name}", problem_mark=mark)
        return anchors[name]
    made: Node
    if isinstance(event, yaml.ScalarEvent):
        end: Any = event.end_mark
        properties = re.compile(_PROPERTIES).match(text, mark.index + shift)
        start = properties.end() if properties and (name or event.tag) else mark.index + shift
        made = Scalar(event.value, event.style or "", start, end.index + shift, event.tag or "")
    else:
        made = Mapping() if isinstance(event, yaml.MappingStartEvent) else Sequence(event.tag or "")
    if name:
        anchors[name] = made
    return made


def _error_message(error: Exception, text: str, path: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be read"
    position = mark.index if mark else getattr(error, "position", getattr(error, "start", 0))
    line = text.count("\n", 0, position) + 1
    indent = text.split("\n", line)[line - 1]
    hint = (
        "remove the tab from the indentation" if "\t" in indent[: len(indent) - len(indent.lstrip())] else "correct it"
    )
    return f"{path}:{line}: invalid YAML: {problem}; {hint}, yamllint shows more"


BLOCKS = ("|", ">")


def piece_of(document: Document, parsed: str, scalar: Scalar) -> Piece:
    """Return the scalar's value; `parsed` is the parsed text, with fillers in place of expressions."""
    start, end = scalar.start, scalar.end
    if scalar.style in BLOCKS:
        start = min(end, parsed.find("\n", start) + 1 or end)
    elif scalar.style:
        start, end = start + 1, end - 1
    filled, written = parsed[start:end], document.text[start:end]
    if scalar.value == filled:
        return verbatim_piece(filled, start, written)._replace(start=scalar.start, end=scalar.end)
    piece = align_piece(scalar.value, filled, written, start)
    if piece is not None:
        return piece._replace(start=scalar.start, end=scalar.end)
    return Piece(*_with_escapes(scalar, document.text[scalar.start : scalar.end]), None, scalar.start, scalar.end)


def _with_escapes(scalar: Scalar, written: str) -> tuple[str, str]:
    """Return value and source of a scalar with escapes."""
    if not looks_templated(written):
        return scalar.value, scalar.value
    try:
        alone = next(e.value for e in yaml.parse(written, Loader=yaml.SafeLoader) if isinstance(e, yaml.ScalarEvent))
    except (yaml.YAMLError, StopIteration):
        return scalar.value, scalar.value
    same = alone if len(alone) == len(scalar.value) else scalar.value
    return scalar.value, same


def block_lines(document: Document, scalar: Scalar) -> list[tuple[int, int]] | None:
    """Return the line number and stripped indentation of each line of a literal block.

    None if the lines of the value are not those of the document.
    """
    if scalar.style != "|":
        return None
    wanted = scalar.value.removesuffix("\n").split("\n")
    first = document.place(scalar.start)[0] + 1
    if first + len(wanted) - 1 > document.lines:
        return None
    widths = {len(document.line(first + i)) - len(text) for i, text in enumerate(wanted) if text}
    if len(widths) > 1 or min(widths, default=0) < 0:
        return None
    return indented_lines(document, first, len(wanted), min(widths, default=0))


def indented_lines(document: Document, first: int, count: int, indent: int) -> list[tuple[int, int]]:
    """Return the line numbers, each with its indentation up to `indent`: template lines may have less."""
    lines = ((number, document.line(number)) for number in range(first, first + count))
    return [(number, min(indent, len(text) - len(text.lstrip(" ")))) for number, text in lines]


def is_key_of_block(line: str) -> re.Match[str] | None:
    """Match a line that opens a literal block, for documents that are not valid YAML before template rendering."""
    return re.match(r"^(?P<indent>\s*)(?:- )?[\"']?(?P<key>[\w.\-/]+)[\"']?\s*:\s*\|[+-]?\d?[+-]?\s*(?:#.*)?$", line)
