"""What a YAML scalar says, as a piece of the document that it stands in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from advisor.carriers.piece import Piece, aligned, straight
from advisor.optionfile.value import looks_templated

if TYPE_CHECKING:
    from advisor.carriers.document import Document
    from advisor.carriers.yamltree import Scalar

BLOCKS = ("|", ">")


def piece_of(document: Document, parsed: str, scalar: Scalar) -> Piece:
    """The scalar's value; `parsed` is the text that was parsed, with fillers in the place of expressions."""
    start, end = scalar.start, scalar.end
    if scalar.style in BLOCKS:
        start = min(end, parsed.find("\n", start) + 1 or end)
    elif scalar.style:
        start, end = start + 1, end - 1
    filled, written = parsed[start:end], document.text[start:end]
    if scalar.value == filled:
        return straight(filled, start, written)._replace(start=scalar.start, end=scalar.end)
    found = aligned(scalar.value, filled, written, start)
    if found is not None:
        return found._replace(start=scalar.start, end=scalar.end)
    return Piece(*_untold(scalar, document.text[scalar.start : scalar.end]), None, scalar.start, scalar.end)


def _untold(scalar: Scalar, written: str) -> tuple[str, str]:
    """Value and source where escapes stand between the document and the value."""
    if not looks_templated(written):
        return scalar.value, scalar.value
    try:
        alone = next(e.value for e in yaml.parse(written, Loader=yaml.SafeLoader) if isinstance(e, yaml.ScalarEvent))
    except (yaml.YAMLError, StopIteration):
        return scalar.value, scalar.value
    same = alone if len(alone) == len(scalar.value) else scalar.value
    return scalar.value, same


def block_lines(document: Document, scalar: Scalar) -> list[tuple[int, int]] | None:
    """For each line of a literal block: its number and how many characters of indentation YAML takes off.

    None where the lines of the value aren't those of the document.
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
    return indented(document, first, len(wanted), min(widths, default=0))


def indented(document: Document, first: int, count: int, indent: int) -> list[tuple[int, int]]:
    """The numbers of lines, each with its indentation up to a width: a template's own lines may have less."""
    lines = ((number, document.line(number)) for number in range(first, first + count))
    return [(number, min(indent, len(text) - len(text.lstrip(" ")))) for number, text in lines]


def is_key_of_block(line: str) -> re.Match[str] | None:
    """Whether a line opens a literal block, for documents that are no YAML until a template engine has been there."""
    return re.match(r"^(?P<indent>\s*)(?:- )?[\"']?(?P<key>[\w.\-/]+)[\"']?\s*:\s*\|[+-]?\d?[+-]?\s*(?:#.*)?$", line)
