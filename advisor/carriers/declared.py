"""Options in mappings of documents: names and values with places, and the option sets that they form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.carriers.document import OptionSet, SetReading
from advisor.carriers.yaml_tree import Mapping, Node, Scalar, Sequence, piece_of
from advisor.catalog.presence import find_presence
from advisor.core.model import Location, Origin
from advisor.optionfile.lines import Line, LineKind, PlacedLine, ResolvedFiles, looks_templated
from advisor.redaction import STATEMENTS, is_secret
from advisor.verdict import REFUSED, Outcome, judge_file, judge_value
from advisor.verdict.declared import DeclaredOption, DeclaredSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Mapping as AbstractMapping

    from advisor.carriers.document import Document, Piece
    from advisor.catalog import Catalog
    from advisor.core.model import Target
    from advisor.verdict.declared import ProviderParameter

GROUP = "mysqld"
NULLS = ("", "~", "null", "Null", "NULL")
TRUTHS = ("true", "yes", "on")
FALSEHOODS = ("false", "no", "off")
VARIABLE = r"\$[A-Z][A-Z0-9_]+$"  # that envsubst or a shell replaces
UNKNOWN_MARKS = ("$(", "%{", "<%", "@@")
NAME_KEYS = ("name", "Name", "parameter_name", "parameterName", "ParameterName")
VALUE_KEYS = ("value", "Value", "parameter_value", "parameterValue", "ParameterValue")
METHOD_KEYS = ("apply_method", "applyMethod", "ApplyMethod")
UNKNOWN_METHOD = "unknown"


class Entry(NamedTuple):
    """A name and its value; `value` is None if the option has no value, `is_complete` says if it is all in the text.

    `prefix` and `is_key` are as in `DeclaredOption`; `name` includes the prefix.
    """

    name: Piece
    value: Piece | None
    is_complete: bool
    apply_method: str = ""
    prefix: str = ""
    is_key: bool = False

    @property
    def option(self) -> str:
        """The option's name: the written one without its prefix."""
        return self.name.text.removeprefix(self.prefix)


class DeclaredServer(NamedTuple):
    """The server that a set is for: its target, how that was found, and what the platform calls the whole.

    `lenient` means that a template decides what becomes of the options; `partial` is as in `OptionSet`.
    """

    target: Target | None = None
    why: str = ""
    kind: str = "options"
    scope: str = ""
    lenient: bool = False
    partial: bool = False


class Declarations:
    """Reads entries from the nodes of one document; `parsed` is its text with fillers in place of expressions."""

    def __init__(self, document: Document, parsed: str, roots: Iterable[Node], notation: str = "") -> None:
        self.document = document
        self.parsed = parsed
        self.notation = notation
        self.roots = tuple(roots)
        self._items: set[int] = set()

    def mappings(self) -> Iterator[tuple[tuple[str, ...], Mapping]]:
        """Yield each mapping once, with the keys that lead to it, in the document's order."""
        seen: set[int] = set()
        waiting: list[tuple[tuple[str, ...], Node]] = [((), root) for root in reversed(self.roots)]
        while waiting:
            path, node = waiting.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Mapping):
                yield path, node
                waiting += [((*path, key_text(k)), v) for k, v in reversed(node.pairs) if not isinstance(v, Scalar)]
            elif isinstance(node, Sequence):
                self._items.update(id(item) for item in node.items)
                waiting += [(path, item) for item in reversed(node.items) if not isinstance(item, Scalar)]

    def is_item(self, node: Mapping) -> bool:
        """Whether a mapping that was yielded is an item of a list, so that it may have a title among its names."""
        return id(node) in self._items

    def named_entries(self, node: Mapping, *, flags: bool = False) -> list[Entry]:
        """Return the entries of a mapping from names to values; a list repeats the option.

        `flags` is Puppet's notation: true stands for an option without a value.
        """
        entries: list[Entry] = []
        for key, value in node.pairs:
            if not isinstance(key, Scalar) or not key.is_known or key.value == "<<":
                continue
            values = value.items if isinstance(value, Sequence) and value.is_known and value.items else [value]
            entries += [self.entry(key, one, flags=flags)._replace(is_key=True) for one in values if not is_null(one)]
        return entries

    def listed_entries(self, node: Node | None) -> list[Entry]:
        """Return the entries of lists and blocks of a name, a value and often an apply method each."""
        return [entry for item in blocks(node) if (entry := self.listed_entry(item)) is not None]

    def listed_entry(self, item: Mapping) -> Entry | None:
        """Return the entry of one mapping with keys for name and value; None if its name is not in the text."""
        name, value = first(item, NAME_KEYS), first(item, VALUE_KEYS)
        if not isinstance(name, Scalar) or not name.is_known or not name.value:
            return None
        return self.entry(name, value or Sequence(), _method(first(item, METHOD_KEYS)))

    def entry(self, name: Scalar, value: Node, method: str = "", *, flags: bool = False) -> Entry:
        """Return an entry; a value that is no text in the document is not known."""
        at = piece_of(self.document, self.parsed, name)
        if not isinstance(value, Scalar) or is_null(value):
            return Entry(at, None, False, method)
        piece = piece_of(self.document, self.parsed, value)
        known = value.is_known and not piece.templated and not _has_reference(piece.source)
        if flags and not value.style and value.value.lower() in TRUTHS:
            return Entry(at, None, True, method)
        if flags and not value.style and value.value.lower() in FALSEHOODS:
            piece = piece._replace(text="false", source="false", places=None)
        return Entry(at, piece, known, method)

    def option_set(
        self, label: str, entries: list[Entry], server: DeclaredServer,
        ranges: AbstractMapping[str, ProviderParameter] | None = None,
    ) -> OptionSet | None:  # fmt: skip
        """Return the entries as a set; None if there are none. Raises CarrierError if there are too many."""
        entries = [entry for entry in entries if not entry.name.templated]
        if not entries:
            return None
        self.document.count(len(entries))
        for entry in entries:
            if entry.value and (is_secret(entry.option) or entry.option in STATEMENTS):
                self.document.hide(entry.value.start, entry.value.end)
        declared = DeclaredSet(
            server.kind,
            server.target,
            tuple(map(self._option, entries)),
            server.scope,
            dict(ranges or {}),
            self.notation,
        )

        def read(catalog: Catalog) -> SetReading:
            lenient = server.lenient or catalog.target.is_managed
            return _reading(self.document, entries, catalog, lenient=lenient)

        partial = server.partial or server.lenient
        return OptionSet(label, read, server.target, server.why, "The document", Origin.FILE, declared, partial)

    def _option(self, entry: Entry) -> DeclaredOption:
        value = entry.value.text if entry.value and entry.is_complete and entry.value.text else None
        place = self._place(entry.value) if entry.value else self._place(entry.name)
        return DeclaredOption(
            entry.option, value, self._place(entry.name), place, entry.apply_method, entry.prefix, entry.is_key
        )

    def _place(self, piece: Piece) -> Location:
        line, column, end = span(self.document, piece)
        return Location(self.document.path, line, column, line, end)


def span(document: Document, piece: Piece) -> tuple[int, int, int]:
    """Return the line of a piece, its column and the column behind it, on that line."""
    start, end = piece.start, piece.end
    if piece.places:
        start, end = piece.places[0], piece.places[-1] + 1
    line, column = document.place(start)
    last, end_column = document.place(end)
    return line, column, end_column if last == line else document.width(line) + 1


def _reading(document: Document, entries: list[Entry], catalog: Catalog, *, lenient: bool) -> SetReading:
    lines = [line for entry in entries if (line := _line(document, entry, catalog, lenient=lenient)) is not None]
    if lenient:
        lines = _accepted_together(document, lines, catalog)
    # The name after a template or an interface is unknown, so fixes don't change it.
    exact = [] if lenient else [line for line in lines if line.value_end_column > line.value_column]
    editable = frozenset((line.number, line.column) for line in exact)
    firsts = {line.number: line for line in reversed(lines)}
    head = [Line(LineKind.GROUP, line.number, line.text, name=GROUP) for line in firsts.values()]
    placed = sorted(lines, key=lambda line: (line.number, line.column))
    whole = frozenset(line.number for line in exact if _is_alone(document, line))
    return SetReading((*head, *placed), tuple(lines), (), (), editable, whole)


def _accepted_together(document: Document, lines: list[Line], catalog: Catalog) -> list[Line]:
    """Return the lines without those that a server refuses because of others, or of what the platform adds to them."""
    placed = tuple(PlacedLine(document.path, line) for line in lines)
    verdict = judge_file(ResolvedFiles((), placed, ()), catalog)
    refused = {(v.placed.line.number, v.placed.line.column) for v in verdict.lines if v.outcome in REFUSED}
    return [line for line in lines if (line.number, line.column) not in refused]


def _line(document: Document, entry: Entry, catalog: Catalog, *, lenient: bool) -> Line | None:
    """Return the line of an entry; None if only certain options are wanted and this one is not."""
    number, column, end = span(document, entry.name)
    name, value = entry.option, entry.value.text if entry.value else None
    if lenient:
        option = catalog.find_variable(name) or catalog.get(name.lower().replace("-", "_"))
        formula = "{" in (value or "") or "(" in (value or "")
        if option is None or not entry.is_complete or not value or formula:
            return None
        outcome = judge_value(option.name, value, catalog).outcome
        if outcome in REFUSED or (outcome is Outcome.ADJUSTED and option.kind == "bool"):
            return None
        name = option.name
    value_column = value_end = end
    if entry.value:
        value_line, first_column, last_column = span(document, entry.value)
        if value_line == number and entry.value.places:
            value_column, value_end = first_column, last_column
    return Line(
        LineKind.OPTION, number, document.whole_line(number), GROUP, name, value, value, column,
        max(end, value_end), value_column, value_end, not entry.is_complete,
    )  # fmt: skip


def _is_alone(document: Document, line: Line) -> bool:
    """Whether a line holds a key and its value only, so that it can be deleted."""
    text = document.line(line.number)
    before, between = text[: line.column - 1], text[line.column - 1 + len(line.name or "") : line.value_column - 1]
    after = text[line.value_end_column - 1 :]
    return not before.strip() and not between.strip(" \t\"':=") and not after.strip(" \t\"'\r")


def _method(node: Node | None) -> str:
    """Return an apply method; empty if there is none, unknown if it is not in the text."""
    absent = is_null(node) or (isinstance(node, Scalar) and node.tag == "!null")
    return "" if absent else (text_of(node) or UNKNOWN_METHOD).lower()


def _has_reference(text: str) -> bool:
    marked = any(mark in text for mark in UNKNOWN_MARKS) or re.match(VARIABLE, text.strip("\"'"))
    return looks_templated(text) or bool(marked)


def flavours_of(name: str) -> frozenset[str]:
    """Return the flavours with an option of that name in any series; empty if there is none."""
    presence = find_presence(name.lower().replace("-", "_"))
    return frozenset(span.flavour for span in presence.spans) if presence else frozenset()


def key_text(node: Node) -> str:
    """Return a key as text; empty for a key that is a list or a mapping."""
    return node.value if isinstance(node, Scalar) else ""


def is_null(node: Node | None) -> bool:
    """Whether a value is absent."""
    return node is None or (isinstance(node, Scalar) and not node.style and node.value in NULLS and not node.tag)


def text_of(node: Node | None) -> str | None:
    """Return the text of a scalar whose value is in the document; None for anything else."""
    known = isinstance(node, Scalar) and node.is_known and not is_null(node) and not _has_reference(node.value)
    return node.value if known and isinstance(node, Scalar) else None


def first(node: Mapping, keys: Iterable[str]) -> Node | None:
    """Return the value of the first of the keys that a mapping has."""
    return next((value for key in keys if (value := node.get(key)) is not None), None)


def blocks(node: Node | None) -> list[Mapping]:
    """Return a mapping, or the mappings of a list, as a list: one block may stand without a list in JSON."""
    items = node.items if isinstance(node, Sequence) else [node] if node is not None else []
    return [item for item in items if isinstance(item, Mapping)]


def repeated_blocks(node: Mapping, key: str) -> Sequence:
    """Return the blocks of all pairs with a key: HCL repeats the block where JSON has a list."""
    made = Sequence()
    made.items = [block for k, v in node.pairs if key_text(k) == key for block in blocks(v)]
    return made
