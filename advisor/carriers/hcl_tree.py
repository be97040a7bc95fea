"""HCL, the language of Terraform and OpenTofu, as the same tree of nodes as YAML; tree-sitter parses it.

A block becomes a mapping below its type and its labels, as in Terraform's JSON syntax; several blocks of one type are
several pairs with the same key. A reference to a local of the same file is replaced by its value, which keeps its
place, and a block with for_each by one block for each item that the file shows. What only Terraform can evaluate is a
scalar that is not known; so is a variable, even if it has a default.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Language, Parser
from tree_sitter_hcl import language

from advisor.carriers.document import CarrierError
from advisor.carriers.yaml_tree import MAX_DEPTH, MAX_NODES, Mapping, Node, Scalar, Sequence

if TYPE_CHECKING:
    from tree_sitter import Node as SyntaxNode

    from advisor.carriers.document import Document

# A block without any of these words declares no options.
DECLARING = (b"parameter", b"database_flags", b"mysql", b"mariadb")
MAX_BRACKETS = 1_000  # our limit, brackets in texts included
MAX_SECONDS = 3.0  # of a processor; 800 KB of sound HCL take 0.4 s, 192 KiB of strings in a row more than 100 s
CHUNK = 1 << 16  # bytes that the parser reads at once
EXPRESSION = "!expression"
# What only a reference needs: without these words, nothing is replaced.
REFERRING = (b"local.", b"each", b"merge(")
# Functions that return the lists that they are given, joined.
JOINING = frozenset((b"concat", b"flatten", b"tolist", b"toset"))
# Functions whose result has the values that they are given, as a text.
ENCODING = frozenset((b"jsonencode", b"yamlencode"))
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPED = r'\\([nrt"\\])|\$(?=\$\{)|%(?=%\{)'
# Such as local.name, each.value or parameter.value["name"], also within lookup, try and a template.
_REFERENCE = (
    r"(?:\"\$\{\s*)?(?:(?:lookup|try|tostring|tonumber)\(\s*)?(?P<root>\w+)\.(?P<part>\w+)"
    r"(?:\.(?P<attribute>\w+)|\[\s*\"(?P<index>\w+)\"\s*\]|\s*,\s*\"(?P<key>\w+)\")?"
    r"\s*(?:,[^,()]*)?\)?(?:\s*\}\")?"
)
FOR_EACH, CONTENT, DYNAMIC = "for_each", "content", "dynamic"
MAX_NESTED = MAX_DEPTH + 20  # our limit, in which references lead to references
_UNKNOWN = Scalar("", "", 0, 0, EXPRESSION)
_LITERALS = ("numeric_lit", "bool_lit", "null_lit")


def parse_hcl(document: Document) -> Mapping:
    """Return the body of a file; blocks with syntax errors are left out if they declare no options.

    Raises CarrierError if another block has a syntax error, if the file is nested too deeply, or if its parser takes
    longer than `MAX_SECONDS`.
    """
    _check_depth(document)
    data = document.text.encode("utf-8", "surrogatepass")
    root = _syntax_tree(document, data)
    builder = _Builder(document, data)
    bodies = [child for child in root.named_children if child.type == "body"]
    body = builder.body(bodies[0], 0) if bodies else Mapping()
    broken = [child for node in (root, *bodies) for child in node.children if child.has_error and child not in bodies]
    for block in broken:
        if any(word in data[block.start_byte : block.end_byte] for word in DECLARING):
            line, _ = document.place(builder.offset(_first_error(block).start_byte))
            raise CarrierError(f"{document.path}:{line}: invalid HCL; {_checker(document)} shows more")
    return resolve_references(document, body) if any(word in data for word in REFERRING) else body


def _checker(document: Document) -> str:
    """Return the command that shows more of the errors in a file."""
    return "nomad job validate" if ".nomad" in document.path else "terraform validate"


def _check_depth(document: Document) -> None:
    """Raise CarrierError for brackets that are nested too deeply, even in quotes: the parser takes seconds."""
    depth = 0
    for bracket in re.finditer(r"[\[{(]|[\]})]", document.text):
        depth = depth + 1 if bracket[0] in "[{(" else max(depth - 1, 0)
        if depth > MAX_BRACKETS:
            line, _ = document.place(bracket.start())
            raise CarrierError(f"{document.path}:{line}: nested deeper than {MAX_BRACKETS} levels; name a smaller file")


def _syntax_tree(document: Document, data: bytes) -> SyntaxNode:
    """Return the root of the syntax tree, whose nodes have places in `data` but no text."""
    end = time.thread_time() + MAX_SECONDS
    try:
        tree = Parser(Language(language())).parse(
            lambda start, _: data[start : start + CHUNK], progress_callback=lambda *_: time.thread_time() > end
        )
    except ValueError as error:  # raised if the callback returns true
        raise CarrierError(
            f"{document.path}:1: HCL with too many syntax errors to parse; {_checker(document)} shows them"
        ) from error
    return tree.root_node


def _first_error(root: SyntaxNode) -> SyntaxNode:
    """Return the first error that is not only a missing token, by a walk down the first branch with errors."""
    node = root
    for _ in range(MAX_DEPTH):
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None or node.is_error:
            break
        node = inner
    return node


class _Builder:
    """Builds nodes from the syntax tree of one document."""

    def __init__(self, document: Document, data: bytes) -> None:
        self.document = document
        self.data = data
        self.count = 0
        wide = [] if document.text.isascii() else list(accumulate(_width(c) for c in document.text))
        self._ends = wide

    def offset(self, at: int) -> int:
        """Convert an offset in bytes to one in code points."""
        return bisect_right(self._ends, at) if self._ends else at

    def body(self, node: SyntaxNode, depth: int) -> Mapping:
        self._check(node, depth)
        made = Mapping()
        for child in node.named_children:
            if child.type == "comment" or child.has_error:
                continue
            if child.type == "attribute":
                name, *_, value = [c for c in child.named_children if c.type != "comment"]
                made.pairs.append((self._scalar(name), self._expression(value, depth + 1)))
            elif child.type == "block":
                made.pairs.append(self._block(child, depth + 1))
        return made

    def _block(self, node: SyntaxNode, depth: int) -> tuple[Node, Node]:
        parts = [c for c in node.named_children if c.type in ("identifier", "string_lit")]
        bodies = [c for c in node.named_children if c.type == "body"]
        made = self.body(bodies[0], depth) if bodies else Mapping()
        count = made.get("count")
        none = isinstance(count, Scalar) and count.is_known and count.value == "0"  # the block makes nothing
        value: Node = Mapping() if none else made
        for label in reversed(parts[1:]):
            outer = Mapping()
            outer.pairs.append((self._scalar(label), value))
            value = outer
        return self._scalar(parts[0]), value

    def _expression(self, node: SyntaxNode, depth: int) -> Node:
        self._check(node, depth)
        inner = [c for c in node.named_children if c.type != "comment"]
        only = inner[0] if len(inner) == 1 else None
        if node.type == "expression" and only is not None:
            return self._expression(only, depth + 1)
        if node.type == "collection_value" and only is not None:
            return self._object(only, depth) if only.type == "object" else self._tuple(only, depth)
        if node.type == "literal_value" and only is not None and only.type in (*_LITERALS, "string_lit"):
            return self._scalar(only)
        if node.type == "function_call":
            return self._call(node, inner, depth)
        if node.type == "template_expr" and only is not None:
            return self._heredoc(only) if only.type == "heredoc_template" else self._template(only)
        return self._arithmetic(node)

    def _arithmetic(self, node: SyntaxNode) -> Scalar:
        """Return a negative number or a product of numbers; any other expression is not known."""
        text = self._text(node) if node.type == "operation" else b""
        if re.fullmatch(rb"-\s*[\d.]+", text):
            return self._made(node, text.decode())
        if re.fullmatch(rb"\d{1,15}(?:\s*\*\s*\d{1,15}){1,5}", text):
            return self._made(node, str(prod(int(number) for number in text.split(b"*"))))
        return self._made(node, "", EXPRESSION)

    def _call(self, node: SyntaxNode, inner: list[SyntaxNode], depth: int) -> Node:
        name = self._text(inner[0])
        if name in JOINING:
            return self._join_lists(inner[1:], depth)
        if name in ENCODING:
            encoded = [self._expression(part, depth + 1) for part in _arguments(inner[1:])]
            return encoded[0] if encoded and not isinstance(encoded[0], Scalar) else self._made(node, "", EXPRESSION)
        if name == b"merge":
            return MergedMaps([self._expression(part, depth + 1) for part in _arguments(inner[1:])])
        return self._made(node, "", EXPRESSION)

    def _object(self, node: SyntaxNode, depth: int) -> Mapping:
        made = Mapping()
        for element in node.named_children:
            parts = [c for c in element.named_children if c.type != "comment"]
            if element.type == "object_elem" and len(parts) > 1:
                made.pairs.append((self._key(parts[0], depth + 1), self._expression(parts[1], depth + 1)))
        return made

    def _key(self, node: SyntaxNode, depth: int) -> Node:
        if re.fullmatch(rb"[\w-]+", self._text(node)):
            return self._scalar(node)
        return self._expression(node, depth)

    def _tuple(self, node: SyntaxNode, depth: int) -> Sequence:
        made = Sequence()
        made.items = [self._expression(c, depth + 1) for c in node.named_children if c.type == "expression"]
        return made

    def _join_lists(self, arguments: list[SyntaxNode], depth: int) -> Sequence:
        """Return the items of all lists among a function's arguments."""
        made = Sequence()
        for argument in _arguments(arguments):
            part = self._expression(argument, depth + 1)
            made.items += part.items if isinstance(part, Sequence) else [part]
        return made

    def _scalar(self, node: SyntaxNode) -> Scalar:
        text = self._text(node).decode("utf-8", "surrogatepass")
        if node.type != "string_lit":
            return self._made(node, text, "!null" if node.type == "null_lit" else "")
        return self._made(node, re.sub(_ESCAPED, lambda m: _ESCAPES.get(m[1] or "", ""), text[1:-1]), style='"')

    def _template(self, node: SyntaxNode) -> Scalar:
        """Return a text with expressions in quotes: it is not known, but what is around them is."""
        return self._made(node, self._text(node).decode("utf-8", "surrogatepass")[1:-1], EXPRESSION, '"')

    def _heredoc(self, node: SyntaxNode) -> Scalar:
        """Return a here-document as a literal block; one with an expression of several lines is not known."""
        marks = [child for child in node.named_children if child.type == "heredoc_identifier"]
        text = self._text(node).decode("utf-8", "surrogatepass")
        if len(marks) != len(("begin", "end")) or _spans_lines(node):
            return self._made(node, "", EXPRESSION)
        lines = [line.removesuffix("\r") for line in text.split("\n")[1:-1]]
        flush = text.startswith("<<-")
        indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0) if flush else 0
        return self._made(node, "".join(f"{line[indent:]}\n" for line in lines), style="|")

    def _made(self, node: SyntaxNode, value: str, tag: str = "", style: str = "") -> Scalar:
        return Scalar(value, style, self.offset(node.start_byte), self.offset(node.end_byte), tag)

    def _text(self, node: SyntaxNode) -> bytes:
        return self.data[node.start_byte : node.end_byte]

    def _check(self, node: SyntaxNode, depth: int) -> None:
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_NODES:
            line, _ = self.document.place(self.offset(node.start_byte))
            what = f"nested deeper than {MAX_DEPTH} levels" if depth > MAX_DEPTH else f"more than {MAX_NODES:,} values"
            raise CarrierError(f"{self.document.path}:{line}: {what}, which no configuration is; name a smaller file")


def _spans_lines(heredoc: SyntaxNode) -> bool:
    """Whether an expression within a here-document goes on in another line."""
    waiting = list(heredoc.named_children)
    while waiting:
        node = waiting.pop()
        if node.type in ("template_directive", "template_for", "template_if"):
            waiting += node.named_children
        elif node.type != "template_literal" and node.start_point[0] != node.end_point[0]:
            return True
    return False


def _arguments(nodes: list[SyntaxNode]) -> list[SyntaxNode]:
    """Return the expressions among a function's arguments."""
    return [argument for node in nodes for argument in node.named_children if argument.type == "expression"]


def _width(character: str) -> int:
    """Return the number of bytes of a character in UTF-8."""
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4  # noqa: PLR2004 - limits of UTF-8


class MergedMaps(Mapping):
    """The maps that `merge` joins, of which later ones win."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Node]) -> None:
        super().__init__()
        self.parts = parts


class Item(NamedTuple):
    """What `key` and `value` of an iterator stand for."""

    key: Node
    value: Node


def resolve_references(document: Document, root: Mapping) -> Mapping:
    """Return the body of a file with the values of its references, and a block for each item that for_each names.

    Raises CarrierError if this makes more nodes than a document may have.
    """
    found = _Resolver(document, root).node(root, {}, 0)
    return found if isinstance(found, Mapping) else root


class _Resolver:
    """Builds the nodes of one document again; the iterators of the blocks around a node are given by name."""

    def __init__(self, document: Document, root: Mapping) -> None:
        self.document = document
        self.locals: dict[str, Node] = {}
        self.conditional: dict[int, Node] = {}  # by id
        self.count = 0
        for key, block in root.pairs:
            if isinstance(key, Scalar) and key.value == "locals" and isinstance(block, Mapping):
                self.locals |= block.own_values()

    def node(self, node: Node, iterators: dict[str, Item], depth: int) -> Node:
        """Return a node with its references resolved."""
        self.count += 1
        if self.count > MAX_NODES:
            path = self.document.path
            raise CarrierError(f"{path}: references make more than {MAX_NODES:,} values of it; name a smaller file")
        depth += 1
        if depth > MAX_NESTED:
            return node
        if isinstance(node, Scalar):
            return self._scalar(node, iterators, depth)
        if isinstance(node, MergedMaps):
            return self._merge_maps([self.node(part, iterators, depth) for part in node.parts])
        if isinstance(node, Sequence):
            return self._sequence(node, iterators, depth)
        made = Mapping()
        for key, value in node.pairs:
            made.pairs += self._pairs(key, value, iterators, depth)
        self._drop_alternatives(made)
        return made

    def _drop_alternatives(self, body: Mapping) -> None:
        """Remove blocks that may not exist if another block has the same name: only one of them is meant."""
        named = [(block, _name_of(block)) for _, block in body.pairs]
        often = Counter(name for _, name in named if name)
        dropped = {id(block) for block, name in named if often[name] > 1 and id(block) in self.conditional}
        body.pairs = [pair for pair in body.pairs if id(pair[1]) not in dropped]

    def _pairs(self, key: Node, value: Node, iterators: dict[str, Item], depth: int) -> list[tuple[Node, Node]]:
        """Return a pair, or several where its block is repeated."""
        name = key.value if isinstance(key, Scalar) else ""
        if not isinstance(value, Mapping):
            return [(key, self.node(value, iterators, depth))]
        if name == DYNAMIC and value.pairs:
            return [pair for label, block in value.pairs for pair in self._dynamic(label, block, iterators, depth)]
        each = value.get(FOR_EACH)
        if each is None:
            return [(key, self.node(value, iterators, depth))]
        items = self._items(self.node(each, iterators, depth))
        return [(key, self.node(value, {**iterators, "each": item}, depth)) for item in items]

    def _dynamic(self, label: Node, block: Node, iterators: dict[str, Item], depth: int) -> list[tuple[Node, Node]]:
        content = block.get(CONTENT) if isinstance(block, Mapping) else None
        each = block.get(FOR_EACH) if isinstance(block, Mapping) else None
        if not isinstance(label, Scalar) or not isinstance(block, Mapping) or content is None or each is None:
            return []
        iterator = block.get("iterator")
        name = label.value
        if isinstance(iterator, Scalar):
            name = self.document.text[iterator.start : iterator.end]
        items = self._items(self.node(each, iterators, depth))
        made = [self.node(content, {**iterators, name: item}, depth) for item in items]
        self.conditional |= {id(one): one for one, item in zip(made, items, strict=True) if item.value is _UNKNOWN}
        return [(label, one) for one in made]

    def _items(self, node: Node) -> list[Item]:
        """Return what for_each runs over; one unknown item if the document does not show it."""
        if isinstance(node, Mapping):
            return [Item(key, value) for key, value in node.pairs]
        if isinstance(node, Sequence):
            return [Item(item if isinstance(item, Scalar) else _UNKNOWN, item) for item in node.items]
        return [Item(_UNKNOWN, _UNKNOWN)]

    def _scalar(self, node: Scalar, iterators: dict[str, Item], depth: int) -> Node:
        if node.tag != EXPRESSION:
            return node
        match = re.fullmatch(_REFERENCE, self.document.text[node.start : node.end].strip())
        if match is None:
            return node
        if match["root"] == "local":
            value = self.locals.get(match["part"])
            value = None if value is None else self.node(value, {}, depth)
        else:
            item = iterators.get(match["root"])
            value = {"key": item.key, "value": item.value}.get(match["part"]) if item else None
        attribute = match["attribute"] or match["index"] or match["key"]
        if attribute:
            value = value.get(attribute) if isinstance(value, Mapping) else None
        return node if value is None or value is _UNKNOWN else value

    def _sequence(self, node: Sequence, iterators: dict[str, Item], depth: int) -> Sequence:
        """Return a list, into which concat has joined other lists."""
        made = Sequence()
        for item in node.items:
            resolved = self.node(item, iterators, depth)
            joined = isinstance(item, Scalar) and isinstance(resolved, Sequence)
            made.items += resolved.items if joined and isinstance(resolved, Sequence) else [resolved]
        return made

    def _merge_maps(self, parts: list[Node]) -> Mapping:
        """Return the maps as one; an unknown one may replace the values of those before it."""
        pairs: dict[str, tuple[Node, Node]] = {}
        for part in parts:
            if isinstance(part, Mapping):
                pairs |= {key.value: (key, value) for key, value in part.pairs if isinstance(key, Scalar)}
            else:
                pairs = {name: (key, _unknown_node(value)) for name, (key, value) in pairs.items()}
        made = Mapping()
        made.pairs = list(pairs.values())
        return made


def _name_of(block: Node) -> str:
    """Return the name that a block gives its parameter; empty if the file does not show it."""
    name = block.get("name") if isinstance(block, Mapping) else None
    return name.value if isinstance(name, Scalar) and name.is_known else ""


def _unknown_node(node: Node) -> Node:
    """Return a node in place of one whose value another may replace."""
    return Scalar("", "", node.start, node.end, EXPRESSION) if isinstance(node, Scalar) else _UNKNOWN
