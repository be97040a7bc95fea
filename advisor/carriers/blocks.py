"""Option files embedded in a document: the data of a ConfigMap, the content of a compose config."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING

from advisor.carriers.document import EmbeddedText, OptionSet, SetReading, line_offsets
from advisor.core.model import Location
from advisor.optionfile.lines import Line, LineKind, Problem, dialect_of, looks_templated
from advisor.optionfile.reader import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.carriers.document import Document
    from advisor.carriers.yaml_tree import Mapping, Scalar
    from advisor.catalog import Catalog


_SERVER_GROUP = (
    r"(?m)^[ \t]*\[[ \t]*"
    r"(?:mysqld|server|mariadb|mariadbd|galera|mysql_cluster|(?:mysqld|mariadbd?)-\d+(?:\.\d+)?)[ \t]*\]"
)
_INSIGNIFICANT = r"\s*(?:[#;].*|\{\{.*|\{%.*|\{#.*|<%.*)?$"
_FILE_NAME = r"\.cnf(?:$|\.)|(?:^|/)\.?my\.(?:cnf|ini)$"
# Files of other programs with such a name, by the name or by what no option file has.
_OTHER_NAME = r"(?i)(?:proxysql|maxscale|openssl)[^/]*$"
_OTHER_TEXT = r"(?m)^[ \t]*(?:(?:admin|mysql|pgsql)_variables[ \t]*[=:]|\[maxscale\])"
_DIRECTIVE, _DIRECTIVE_END = r"%\{~?\s*(?:if|for)\b", r"%\{~?\s*end(?:if|for)\b"


def holds_options(key: str, text: str) -> bool:
    """Whether a text is an option file: by its file name, or because it starts with a group and has a server group."""
    if re.search(_FILE_NAME, key) and text.strip():
        return not re.search(_OTHER_NAME, key) and not re.search(_OTHER_TEXT, text)
    if "[" not in text or not re.search(_SERVER_GROUP, text):
        return False
    lines = (line for line in text.split("\n") if not re.match(_INSIGNIFICANT, line))
    return next(lines, "").lstrip().startswith(("[", "!include"))


def block_option_set(
    document: Document, label: str, placed: Sequence[tuple[int, int]], fills: str = "", group: str = ""
) -> OptionSet:
    """Return the option file embedded in lines of the document, each given by its number and indentation to strip.

    `fills` is a pattern of text that is substituted before a server reads it. `group` is the group of the lines if
    they name none.
    """
    text = "\n".join([document.line(number)[indent:] for number, indent in placed]) + "\n"
    if group:
        text, placed = f"[{group}]\n{text}", [placed[0], *placed]
    _check_size(document, text)

    def read(catalog: Catalog) -> SetReading:
        own = _parse_lines(text, document, catalog)
        if fills:
            own = tuple(_within_directives([_has_filler(line, fills) for line in own]))
        lines = [_placed_line(line, placed, document) for line in own]
        options = tuple(line for line in lines if line.kind is LineKind.OPTION)
        editable = frozenset((line.number, line.column) for line in options)
        whole = frozenset(line.number for line in options)
        return SetReading(tuple(lines), options, _problems(lines, document.path), (), editable, whole)

    return OptionSet(label, read)


def text_option_set(document: Document, label: str, text: str, start: int, called: str = "") -> OptionSet:
    """Return an option file whose lines have no positions in the document: all of it is placed at the scalar.

    `called` names the text whose line numbers findings use; its label by default.
    """
    number, column = document.place(start)
    _check_size(document, text)

    def read(catalog: Catalog) -> SetReading:
        end = document.width(number) + 1
        own = _parse_lines(text, document, catalog)
        lines = [
            line._replace(
                number=number, column=column, end_column=end, value_column=column, value_end_column=end,
                text=document.whole_line(number),
            )
            for line in own
        ]  # fmt: skip
        place = Location(document.path, number, column, number, end)
        within = EmbeddedText(_reading(own, document.path), place, called or label)
        return _reading(lines, document.path)._replace(within=within)

    return OptionSet(label, read)


def _check_size(document: Document, text: str) -> None:
    """Raise CarrierError for a text with more lines or options than a document may have."""
    line_offsets(document.path, text)
    document.count(sum(1 for line in text.split("\n") if not re.match(_INSIGNIFICANT, line)))


def _reading(lines: Sequence[Line], path: str) -> SetReading:
    options = tuple(line for line in lines if line.kind is LineKind.OPTION)
    return SetReading(tuple(lines), options, _problems(lines, path))


def _parse_lines(text: str, document: Document, catalog: Catalog) -> tuple[Line, ...]:
    data = text.encode("utf-8", "surrogateescape")
    return parse(data, document.path, dialect_of(catalog.target.flavour, catalog.target.version)).lines


def _has_filler(line: Line, fills: str) -> Line:
    """Mark an option with a placeholder in its value as templated; with one in its name it becomes a comment."""
    if line.kind is not LineKind.OPTION or not re.search(fills, line.text):
        return line
    if re.search(fills, line.name or ""):
        return line._replace(kind=LineKind.COMMENT, templated=True)
    return line._replace(templated=line.templated or re.search(fills, line.raw or "") is not None)


def _within_directives(lines: Sequence[Line]) -> Iterator[Line]:
    """Mark the lines between directives such as %{ if … } and %{ endif } of Terraform, which omits or repeats them."""
    depth = 0
    for line in lines:
        depth -= len(re.findall(_DIRECTIVE_END, line.text))
        yield line._replace(conditional=line.conditional or depth > 0)
        depth += len(re.findall(_DIRECTIVE, line.text))


def _placed_line(line: Line, placed: Sequence[tuple[int, int]], document: Document) -> Line:
    number, indent = placed[min(line.number, len(placed)) - 1]
    return line._replace(
        number=number,
        text=document.whole_line(number),
        column=line.column + indent,
        end_column=line.end_column + indent,
        value_column=line.value_column + indent,
        value_end_column=line.value_end_column + indent,
    )


def _problems(lines: Sequence[Line], path: str) -> tuple[Problem, ...]:
    return tuple(
        Problem(path, line.number, "unknown-directive", line.value or "")
        for line in lines
        if line.kind is LineKind.IGNORED
    )


FIELDS = {"Secret": "data", "ConfigMap": "binaryData"}  # by kind: the field whose values are base64


def encoded_values(node: Mapping) -> Iterator[tuple[Scalar, Scalar]]:
    """Yield the keys and base64 values of a manifest."""
    from advisor.carriers.yaml_tree import Mapping, Scalar

    kind = node.get("kind")
    field = node.get(FIELDS.get(kind.value, "")) if isinstance(kind, Scalar) else None
    if isinstance(field, Mapping):
        yield from ((k, v) for k, v in field.pairs if isinstance(k, Scalar) and isinstance(v, Scalar))


def encoded_option_set(document: Document, key: Scalar, value: Scalar) -> OptionSet | None:
    """Return the option file that a base64 value decodes to, placed at the value, or at a key on an earlier line.

    The encoded value is never printed, since base64 is easily decoded.
    """
    document.hide(value.start, value.end)
    text = _decode_scalar(document, value)
    if text is None or not holds_options(key.value, text):
        return None
    beside = document.place(key.start)[0] == document.place(value.start)[0]
    return text_option_set(document, key.value, text, value.start if beside else key.start, f"the decoded {key.value}")


def _decode_scalar(document: Document, value: Scalar) -> str | None:
    """Decode a value; None for templates and binary data. Bytes that are not UTF-8 become surrogates."""
    if looks_templated(document.text[value.start : value.end]):
        return None
    try:
        data = base64.b64decode("".join(value.value.split()), validate=True)
    except (binascii.Error, ValueError):
        return None
    return None if b"\0" in data else data.decode("utf-8", "surrogateescape")
