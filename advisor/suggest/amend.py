"""Merges a suggestion into an existing option file: lines are changed in place, the others are appended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError
from advisor.core.model import Edit
from advisor.optionfile.lines import LineKind, apply_edits, groups_read
from advisor.verdict import judge_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from advisor.optionfile.lines import Line, OptionFile
    from advisor.suggest.choices import SuggestedLine
    from advisor.verdict import FileVerdict, LineVerdict

SHARED_GROUPS = frozenset(
    {"client-server", "galera", "mysql_cluster"}
)  # also read by other programs, or only by some servers
CONTENT_KINDS = frozenset({LineKind.GROUP, LineKind.OPTION})


class AmendedFile(NamedTuple):
    """The file's bytes with the suggestion, and sentences on the choices that could not be merged."""

    text: bytes
    omitted: tuple[str, ...]


def amend_file(
    path: str,
    data: bytes,
    verdict: FileVerdict,
    choices: tuple[SuggestedLine, ...],
    remarks: Callable[[SuggestedLine], Iterator[str]],
) -> AmendedFile:
    """Merge the choices into the file.

    `verdict` is on the file with its includes, `remarks` returns the comments of a choice. Lines that already set the
    value stay unchanged. Raises MycnfError if the file is not among the files read.
    """
    file = next((f for f in verdict.resolved.files if f.path == path), None)
    if file is None:
        raise MycnfError(f"{path} is not one of the files read")
    edits: list[Edit] = []
    added: list[str] = []
    omitted: list[str] = []
    for choice in choices:
        line = verdict.effective.get(choice.option)
        if line is None:
            added += [*remarks(choice), choice.line, ""]
        elif line.value != judge_value(choice.option, choice.value, verdict.catalog).value:
            edit = _replace_line(path, line, choice, remarks)
            edits += edit
            omitted += [] if edit else [f"{choice.option} is set in {line.placed.path}, not here"]
    if added:
        edits.append(_append_lines(file, verdict, added))
    return AmendedFile(apply_edits(data, edits), tuple(omitted))


def _replace_line(
    path: str, line: LineVerdict, choice: SuggestedLine, remarks: Callable[[SuggestedLine], Iterator[str]]
) -> list[Edit]:
    """Replace the option of a line in this file, with the reason above it."""
    placed = line.placed.line
    if line.placed.path != path or placed.templated or placed.conditional:
        return []
    above = "".join(f"{remark}\n" for remark in remarks(choice))
    end = placed.end_column
    return [
        Edit(placed.number, 1, placed.number, 1, above),
        Edit(placed.number, placed.column, placed.number, end, choice.line),
    ]


def _append_lines(file: OptionFile, verdict: FileVerdict, added: list[str]) -> Edit:
    """Append lines to the last group that only this server reads, in a new [mysqld] group if there is none."""
    groups = groups_read(verdict.catalog.target) - SHARED_GROUPS
    text = "\n".join(added).rstrip("\n") + "\n"
    within = [at for at, line in enumerate(file.lines) if _group(line) in groups and line.kind in CONTENT_KINDS]
    if not within:
        last = len(file.lines) - 1
        text = f"[mysqld]\n{text}"
    else:
        last = within[-1]
    if last < 0:
        return Edit(1, 1, 1, 1, text)
    line = file.lines[last]
    if line.text.endswith("\n"):
        return Edit(line.number + 1, 1, line.number + 1, 1, f"\n{text}")
    column = len(line.text) + 1
    return Edit(line.number, column, line.number, column, f"\n\n{text}")


def _group(line: Line) -> str:
    return ((line.name if line.kind is LineKind.GROUP else line.group) or "").lower()
