"""Applies edits to the bytes of an option file; all other bytes stay unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Edit


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Apply all edits; their positions refer to the original text.

    Newlines in the new text become the file's line ending. Raises ValueError if two edits overlap or one lies outside
    the file.
    """
    text = data.decode("utf-8", "surrogateescape")
    starts = _line_starts(text)
    ending = "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
    changed: list[str] = []
    done = 0
    for begin, end, edit in sorted(_spans(starts, edits), key=lambda span: span[:2]):
        if begin < done:
            raise ValueError(f"two edits overlap at line {edit.line}")
        changed += (text[done:begin], edit.text.replace("\n", ending))
        done = end
    return "".join((*changed, text[done:])).encode("utf-8", "surrogateescape")


def _line_starts(text: str) -> list[int]:
    """Return the offset of each line, and the end of the text as the last one."""
    starts = [0]
    for line in text.split("\n")[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _spans(starts: list[int], edits: Iterable[Edit]) -> list[tuple[int, int, Edit]]:
    return [(_offset_of(starts, e.line, e.column), _offset_of(starts, e.end_line, e.end_column), e) for e in edits]


def _offset_of(starts: list[int], line: int, column: int) -> int:
    if not 1 <= line <= len(starts) or column < 1:
        raise ValueError(f"no line {line} column {column} in the file")
    at = starts[line - 1] + column - 1
    if at > starts[-1] or (line < len(starts) and at > starts[line]):
        raise ValueError(f"line {line} has no column {column}")
    return at
