"""Changes of files as a unified diff for `patch`."""

from __future__ import annotations

import os
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from advisor.redaction import MASK, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.fixing.texts import FileChange

CONTEXT_LINES = 3
MASKED = MASK.encode()


class DiffBlock(NamedTuple):
    """Lines `begin` to `end` of the old text and the new lines that replace them; 0-based, ends exclusive."""

    begin: int
    end: int
    new_begin: int
    new_end: int


def unified_diff(changes: Iterable[FileChange], *, below_root: bool = False) -> bytes:
    """Return the diff of all files; with `below_root`, absolute paths are written for `patch -p1 -d /`.

    Context lines with a secret are omitted, and changed lines have secrets masked: such a hunk can be read, but only
    `mycnf lint --fix` can apply it.
    """
    return b"".join(line for change in changes for line in _diff_file(change, below_root=below_root))


def _diff_file(change: FileChange, *, below_root: bool) -> Iterator[bytes]:
    old, new = _lines(change.before), _lines(change.after)
    shown, new_shown = _mask_lines(change.before), _mask_lines(change.after)
    # The text of a snapshot has its secrets masked already.
    secret = {at for at, (line, masked) in enumerate(zip(old, shown, strict=True)) if line != masked or MASKED in line}
    path = os.fsencode(change.path.replace("\n", "?"))
    before, after = (b"a/" + path.lstrip(b"/"), b"b/" + path.lstrip(b"/")) if below_root else (path, path)
    yield from (b"--- " + before + b"\n", b"+++ " + after + b"\n")
    matcher = SequenceMatcher(None, old, new)
    blocks = [DiffBlock(*place) for tag, *place in matcher.get_opcodes() if tag != "equal"]
    for group in _groups(blocks, secret):
        yield from _hunk(group, shown, new_shown, secret)


def _lines(text: bytes) -> list[bytes]:
    """Split into lines with their endings; only a newline ends a line."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _mask_lines(text: bytes) -> list[bytes]:
    """Return the lines with secrets masked."""
    masked = redact_text(text.decode("utf-8", "surrogateescape")).text
    return _lines(masked.encode("utf-8", "surrogateescape"))


def _groups(blocks: Iterable[DiffBlock], secret: set[int]) -> list[list[DiffBlock]]:
    """Group blocks that are close enough for one hunk, without a secret between them."""
    groups: list[list[DiffBlock]] = []
    for block in blocks:
        between = range(groups[-1][-1].end, block.begin) if groups else range(0)
        if groups and len(between) <= 2 * CONTEXT_LINES and not secret & set(between):
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups


def _hunk(group: Sequence[DiffBlock], old: list[bytes], new: list[bytes], secret: set[int]) -> Iterator[bytes]:
    first, last = group[0], group[-1]
    before = _count_before_secret(range(first.begin - 1, max(-1, first.begin - 1 - CONTEXT_LINES), -1), secret)
    after = _count_before_secret(range(last.end, min(len(old), last.end + CONTEXT_LINES)), secret)
    if last.end + after < len(old):
        before = min(before, after)  # patch anchors a hunk with less context behind at the file's end
    begin, end = first.begin - before, last.end + after
    new_begin, new_end = first.new_begin - before, last.new_end + after
    yield f"@@ -{_span(begin, end)} +{_span(new_begin, new_end)} @@\n".encode()
    at = begin
    for block in group:
        yield from _prefix_lines(b" ", old[at : block.begin])
        yield from _prefix_lines(b"-", old[block.begin : block.end])
        yield from _prefix_lines(b"+", new[block.new_begin : block.new_end])
        at = block.end
    yield from _prefix_lines(b" ", old[at:end])


def _count_before_secret(places: range, secret: set[int]) -> int:
    """Return how many of the places precede the first secret."""
    return next((n for n, at in enumerate(places) if at in secret), len(places))


def _span(begin: int, end: int) -> str:
    count = end - begin
    return f"{begin + 1 if count else begin},{count}"


def _prefix_lines(mark: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line
        if not line.endswith(b"\n"):
            yield b"\n\\ No newline at end of file\n"
