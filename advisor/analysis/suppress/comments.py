"""Reads suppressions from option files: comments that begin with `mycnf:`, and the lines they apply to."""

from __future__ import annotations

import re

from advisor.core.errors import nearest_word
from advisor.core.model import Finding, Location
from advisor.core.value_types import NamedTuple
from advisor.optionfile.lines import LineKind, comment_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Target
    from advisor.optionfile.lines import Line, OptionFile, ResolvedFiles

Word = tuple[Location, str]
KEYWORDS = ("ignore", "ignore-file")
SAMPLE = "write # mycnf: ignore[BUF001] and the reason"
_AT_ONCE = re.compile(r"[#;][#; \t]*(mycnf:.*)", re.DOTALL)
_BEHIND = re.compile(r"(?<!#)#+[ \t]*(mycnf:.*)", re.DOTALL)
_BURIED = re.compile(r"mycnf:\s*ignore")
_LIST = r"(?P<list>\[(?P<words>[^\]]*)(?P<close>\])?)"
_PARTS = re.compile(rf"mycnf:\s*(?P<keyword>[\w-]*)\s*{_LIST}?(?P<reason>.*)", re.DOTALL)


class Suppression(NamedTuple):
    """One suppression comment.

    `words` are codes, names or families as written. `line` is the line it applies to: its own, the one below it, or 0
    if nothing follows. `wrong` says why it suppresses nothing, "" if it is well formed; `remedy` says what to write
    instead.
    """

    location: Location
    words: tuple[str, ...]
    whole_file: bool
    line: int
    reason: str
    wrong: str = ""
    remedy: str = ""


def read_suppressions(file: OptionFile) -> Iterator[Suppression]:
    """Yield every suppression of one file in line order, including malformed ones."""
    spoken_of = _lines_under_comments(file)
    number = offset = before = 0
    for line, under in zip(file.lines, spoken_of, strict=True):
        offset = offset + before if line.number == number else 0
        number, before = line.number, len(line.text)
        if "mycnf:" in line.text:
            found = _read_line(file.path, line, under)
            if found is not None:
                yield found._replace(location=_shift_location(found.location, offset))


def _lines_under_comments(file: OptionFile) -> list[int]:
    """Return, per line, the line that a comment on it applies to: itself, or for a comment line the next other."""
    under = 0
    found = []
    for line in reversed(file.lines):
        if line.kind is not LineKind.COMMENT:
            under = 0 if line.kind is LineKind.BLANK else line.number
        found.append(under)
    return found[::-1]


def _shift_location(place: Location, offset: int) -> Location:
    return place._replace(column=place.column + offset, end_column=place.end_column + offset)


def _read_line(path: str, line: Line, under: int) -> Suppression | None:
    text = line.text.partition("\0")[0].rstrip("\r\n")
    start, at_once = _find_comment(line, text)
    match = (_AT_ONCE.match if at_once else _BEHIND.search)(text, start)
    if match is None:
        return _find_misplaced(path, line, text, start)
    place = Location(path, line.number, match.start(1) + 1, line.number, match.start(1) + len(match[1].rstrip()) + 1)
    return _parse_comment(match[1], place, under)


def _find_comment(line: Line, text: str) -> tuple[int, bool]:
    """Return where the comment of a line begins for the server, and whether the comment mark is at that position."""
    begin = len(text) - len(text.lstrip())
    if line.kind is LineKind.COMMENT:
        return begin, True
    if line.kind is LineKind.OPTION:
        return comment_start(text), False
    if line.kind in (LineKind.GROUP, LineKind.INCLUDE, LineKind.INCLUDEDIR):
        return begin + line.end_column - line.column, False
    return 0, False


def _parse_comment(comment: str, place: Location, line: int) -> Suppression:
    match = _PARTS.match(comment)
    assert match is not None, "every part but the first word may be absent"  # noqa: S101
    keyword = match["keyword"]
    words = tuple(w.strip() for w in (match["words"] or "").split(",") if w.strip())
    wrong, remedy = _fault(match, words)
    return Suppression(place, words, keyword == "ignore-file", line, match["reason"].strip(" \t#:-"), wrong, remedy)


def _fault(match: re.Match[str], words: tuple[str, ...]) -> tuple[str, str]:
    """Return what is wrong with a suppression, and what to write; empty strings if it is well formed."""
    keyword = match["keyword"]
    sample = f"write # mycnf: {keyword}[BUF001] and the reason"
    if keyword not in KEYWORDS:
        meant = nearest_word(keyword, KEYWORDS)
        return f"{keyword or 'nothing'} stands behind mycnf:", f"did you mean {meant}?" if meant else SAMPLE
    if match["list"] is None:
        return "no rule is named in brackets", sample
    if match["close"] is None:
        return "the closing bracket is missing", sample
    return ("", "") if words else ("its brackets are empty", sample)


def _find_misplaced(path: str, line: Line, text: str, start: int) -> Suppression | None:
    """Return a suppression that the server does not read as a comment, or that does not begin its comment."""
    match = _BURIED.search(text)
    before = text[: match.start()].rstrip() if match else ""
    if match is None or (line.kind is LineKind.COMMENT and before.endswith("#")):
        return None  # an option that was commented out keeps its suppression
    place = Location(path, line.number, match.start() + 1, line.number, len(text.rstrip()) + 1)
    return Suppression(place, (), False, 0, "", *_why_misplaced(line, before, within=match.start() >= start))


def _why_misplaced(line: Line, before: str, *, within: bool) -> tuple[str, str]:
    if within:
        return "other words stand before it in its comment", "begin the comment with mycnf:"
    if line.kind is LineKind.OPTION and before.endswith(";"):
        return "behind a value, ; begins no comment, so the server takes it for part of the value", SAMPLE
    return "to the server it is no comment, but part of what it reads", "put it on the line above"


class FileFindings(NamedTuple):
    """One file with its includes, read for one target: the codes of the rules that ran, and the findings.

    `silent` are codes of rules about suppressions that are not selected.
    """

    resolved: ResolvedFiles
    target: Target
    findings: tuple[Finding, ...]
    ran: frozenset[str]
    silent: frozenset[str] = frozenset()
