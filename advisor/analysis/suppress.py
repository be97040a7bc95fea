"""Suppresses findings by comments in the files, and reports comments that suppress nothing."""

from __future__ import annotations

import re

from advisor.core import NamedTuple
from advisor.core.errors import nearest_word
from advisor.core.model import Finding, Location
from advisor.optionfile.lines import LineKind, comment_start
from rules.core.subject import Subject
from rules.optionfile import suppressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.core.model import Target
    from advisor.optionfile.lines import Line, OptionFile, ResolvedFiles
    from rules.core import Rule


Key = tuple[str, int, str]
Word = tuple[Location, str]
KEYWORDS = ("ignore", "ignore-file")
SAMPLE = "write # mycnf: ignore[BUF001] and the reason"
_AT_ONCE = re.compile(r"[#;][#; \t]*(mycnf:.*)", re.DOTALL)
_BEHIND = re.compile(r"(?<!#)#+[ \t]*(mycnf:.*)", re.DOTALL)
_BURIED = re.compile(r"mycnf:\s*ignore")
_LIST = r"(?P<list>\[(?P<words>[^\]]*)(?P<close>\])?)"
_PARTS = re.compile(rf"mycnf:\s*(?P<keyword>[\w-]*)\s*{_LIST}?(?P<reason>.*)", re.DOTALL)
NO_HINT = "`mycnf rules` lists them"
MAX_WORD = 40  # characters of a word that are printed
MAX_SUGGESTIONS = 100  # searching similar names takes time; no file misspells as many
SAMPLE_DAY = "2027-01-31"
_UNTIL = re.compile(r"until[ \t:=]+(?P<first>\S+)(?P<more>(?:\s+\S+){0,2})", re.IGNORECASE)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# A year of this century or a date with slashes, but no version such as 8.0.36 and no number of connections.
_MEANT_AS_DAY = re.compile(r"(?:(?<!\d)20[23]\d(?!\d)|(?<![\d/-])\d{1,2}[/-]\d{1,2}[/-]\d{2}(?!\d))\S*")


class SuppressionResult(NamedTuple):
    """The findings of one reading: those to report, including those about suppressions, and the suppressed ones.

    `reasons` has the comment's reason for each suppressed finding, "" if there is none.
    """

    kept: tuple[Finding, ...]
    hidden: tuple[Finding, ...]
    reasons: tuple[str, ...]


def suppress(readings: Sequence[FileFindings], today: str = "") -> list[SuppressionResult]:
    """Apply the suppressions to each reading, in the same order.

    A suppression counts as used if it hides a finding in any reading. So one for findings of a single target, or of
    files read together, is not reported as unused because of the other readings. One whose last day is before `today`,
    such as 2027-02-01, hides nothing.
    """
    comments = [comment._replace(over=is_over(comment.until, today)) for comment in _comments(readings)]
    rules = _rules_by_word() if comments else {}
    asked = _requests_by_place(comments, rules)
    reasons_at = {comment.location: comment.reason for comment in comments}
    met: set[Key] = set()
    split = [_split(r, r.findings, asked, reasons_at, met) for r in readings]
    used = {word for key in met for word in asked[key]}
    reports = report_suppressions(comments, readings, rules, used)
    more = [_split(r, found, asked, reasons_at, met).kept for r, found in zip(readings, reports, strict=True)]
    return [own._replace(kept=(*own.kept, *new)) for own, new in zip(split, more, strict=True)]


class Expiry(NamedTuple):
    """The end of a suppression, at the beginning of its reason: `until 2027-01-31 see OPS-1234`.

    `day` is the last day on which it applies, "" if there is none; `wrong` is what was written in place of a date, and
    `reason` the text after the date.
    """

    day: str
    wrong: str
    reason: str


def read_expiry(reason: str) -> Expiry:
    """Read the end of a suppression from its reason; `until` before anything but a date is part of the reason."""
    match = _UNTIL.match(reason)
    if match is None:
        return Expiry("", "", reason)
    day = match["first"].rstrip(",.;:")
    if _is_day(day):
        return Expiry(day, "", reason[match.end("first") :].strip(" \t,.;:#-"))
    written = match["first"] + match["more"]
    meant = _MEANT_AS_DAY.search(written)
    return Expiry("", written[: meant.end()].rstrip(",.;:") if meant else "", reason)


def _is_day(word: str) -> bool:
    if not _DAY.fullmatch(word):
        return False
    from datetime import date

    try:
        date.fromisoformat(word)
    except ValueError:
        return False
    return True


def is_over(day: str, today: str) -> bool:
    """Whether the last day of a suppression is past; it never is without such a day or without `today`."""
    return "" < day < today


def reason_fault(reason: str, today: str) -> str:
    """Return what is wrong with the last day in a reason, with the remedy; empty if the reason can be used."""
    expiry = read_expiry(reason)
    if expiry.wrong:
        return f"{expiry.wrong!r} is not a date; write until {SAMPLE_DAY}, year first"
    if is_over(expiry.day, today):
        return f"{expiry.day} is past, so nothing would be suppressed; write a later date"
    return ""


def _rules_by_word() -> dict[str, tuple[Rule, ...]]:
    """Map each code, name and family, in lower case, to its rules."""
    from rules import all_rules

    by_word: dict[str, tuple[Rule, ...]] = {}
    for rule in all_rules():
        for word in (rule.code, rule.name, rule.family):
            by_word[word.lower()] = (*by_word.get(word.lower(), ()), rule)
    return by_word


def _comments(readings: Iterable[FileFindings]) -> list[Suppression]:
    files = {file.path: file for reading in readings for file in reading.resolved.files}
    return [comment for file in files.values() for comment in read_suppressions(file)]


def _requests_by_place(comments: Iterable[Suppression], rules: dict[str, tuple[Rule, ...]]) -> dict[Key, list[Word]]:
    """Map path, line (0: the whole file) and code to the words that suppress findings there."""
    asked: dict[Key, list[Word]] = {}
    for comment in comments:
        path, own = comment.location.path, comment.location.line
        lines = {0} if comment.whole_file else {own, comment.line or own}
        for word in comment.words if not comment.wrong and not comment.over else ():
            for rule in rules.get(word.lower(), ()):
                for line in lines:
                    asked.setdefault((path, line, rule.code), []).append((comment.location, word))
    return asked


def _split(
    reading: FileFindings,
    findings: Iterable[Finding],
    asked: dict[Key, list[Word]],
    reasons_at: dict[Location, str],
    met: set[Key],
) -> SuppressionResult:
    """Split the findings by whether a word suppresses them; adds the keys used to `met`."""
    kept: list[Finding] = []
    hidden: list[Finding] = []
    reasons: list[str] = []
    home = reading.resolved.files[0].path if reading.resolved.files else ""
    for finding in findings:
        place = finding.location or Location(home, 0)
        keys = [key for line in (place.line, 0) if (key := (place.path, line, finding.code)) in asked]
        met.update(keys)
        if keys:
            hidden.append(finding)
            given = dict.fromkeys(reasons_at[comment] for key in keys for comment, _ in asked[key])
            reasons.append("; ".join(reason for reason in given if reason))
        else:
            kept.append(finding)
    return SuppressionResult(tuple(kept), tuple(hidden), tuple(reasons))


class Suppression(NamedTuple):
    """One suppression comment.

    `words` are codes, names or families as written. `line` is the line it applies to: its own, the one below it, or 0
    if nothing follows. `wrong` says why it suppresses nothing, "" if it is well formed; `remedy` says what to write
    instead. `until` is its last day, "" if there is none, and `over` whether that day is past.
    """

    location: Location
    words: tuple[str, ...]
    whole_file: bool
    line: int
    reason: str
    wrong: str = ""
    remedy: str = ""
    until: str = ""
    over: bool = False


def read_suppressions(file: OptionFile) -> Iterator[Suppression]:
    """Yield every suppression of one file in line order, including malformed ones."""
    spoken_of = _lines_under_comments(file)
    number = offset = before = 0
    for line, under in zip(file.lines, spoken_of, strict=True):
        offset = offset + before if line.number == number else 0
        number, before = line.number, len(line.text)
        if "mycnf:" in line.text:
            suppression = _read_line(file.path, line, under)
            if suppression is not None:
                yield suppression._replace(location=_shift_location(suppression.location, offset))


def _lines_under_comments(file: OptionFile) -> list[int]:
    """Return, per line, the line that a comment on it applies to: itself, or for a comment line the next other."""
    under = 0
    line_numbers = []
    for line in reversed(file.lines):
        if line.kind is not LineKind.COMMENT:
            under = 0 if line.kind is LineKind.BLANK else line.number
        line_numbers.append(under)
    return line_numbers[::-1]


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
    reason = match["reason"].strip(" \t#:-")
    expiry = read_expiry(reason)
    if expiry.wrong and not wrong:
        wrong, remedy = f"{_shorten(expiry.wrong)!r} is not a date", f"write until {SAMPLE_DAY}, year first"
    whole_file = keyword == "ignore-file"
    return Suppression(place, words, whole_file, line, reason, wrong, remedy, until=expiry.day)


def _fault(match: re.Match[str], words: tuple[str, ...]) -> tuple[str, str]:
    """Return what is wrong with a suppression, and what to write; empty strings if it is well formed."""
    keyword = match["keyword"]
    sample = f"write # mycnf: {keyword}[BUF001] and the reason"
    if keyword not in KEYWORDS:
        meant = nearest_word(keyword, KEYWORDS)
        return f"{keyword or 'nothing'} follows mycnf:", f"did you mean {meant}?" if meant else SAMPLE
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
        return "other text comes before it in the comment", "begin the comment with mycnf:"
    if line.kind is LineKind.OPTION and before.endswith(";"):
        return "after a value, ; does not begin a comment, so the server reads it as part of the value", SAMPLE
    return "the server does not read it as a comment, but as part of the line", "put it on the line above"


class FileFindings(NamedTuple):
    """One file with its includes, read for one target: the codes of the rules that ran, and the findings.

    `silent` are codes of rules about suppressions that are not selected.
    """

    resolved: ResolvedFiles
    target: Target
    findings: tuple[Finding, ...]
    codes_run: frozenset[str]
    silent: frozenset[str] = frozenset()


def report_suppressions(
    comments: Sequence[Suppression],
    readings: Sequence[FileFindings],
    rules: dict[str, tuple[Rule, ...]],
    used: set[Word],
) -> list[list[Finding]]:
    """Return the findings about suppressions per reading: each in the first reading of the comment's file."""
    by_reading: list[list[Finding]] = [[] for _ in readings]
    having = _readings_by_file(readings)
    hints = _suggest_rules(comments, rules)
    for comment in comments:
        numbers = having[comment.location.path]
        own = [n for n in numbers if readings[n].resolved.files[0].path == comment.location.path]
        silent = readings[(own or numbers)[0]].silent
        found = _comment_findings(comment, [readings[n] for n in numbers], rules, used, hints)
        by_reading[(own or numbers)[0]].extend(f for f in found if f.code not in silent)
    return by_reading


def _readings_by_file(readings: Sequence[FileFindings]) -> dict[str, list[int]]:
    having: dict[str, list[int]] = {}
    for number, reading in enumerate(readings):
        for file in reading.resolved.files:
            having.setdefault(file.path, []).append(number)
    return having


def _comment_findings(
    comment: Suppression,
    readings: Sequence[FileFindings],
    rules: dict[str, tuple[Rule, ...]],
    used: set[Word],
    hints: dict[str, str],
) -> Iterator[Finding]:
    place = Subject(None, None, None, None, comment.location)
    if comment.wrong:
        message = f"This suppression has no effect: {comment.wrong}."
        yield suppressions.malformed_suppression.finding(message, place, help=comment.remedy)
        return
    if comment.over:
        yield suppressions.expired_suppression.finding(
            f"This suppression ended on {comment.until}: what it hid {_describe_scope(comment)} is reported again.",
            place,
            help="fix what is reported and remove the comment, or write a later date",
        )
    for word in comment.words:
        meant = rules.get(word.lower())
        if meant is None:
            message = f"No rule, name or family is called {_shorten(word)}."
            yield suppressions.malformed_suppression.finding(message, place, help=hints.get(word, NO_HINT))
        elif not comment.over and (comment.location, word) not in used and _is_judged(meant, readings):
            message = f"{_shorten(word)} reports nothing {_describe_scope(comment)}, so this suppression hides nothing."
            yield suppressions.unused_suppression.finding(message, place, help="remove it, or it hides later findings")
    if not read_expiry(comment.reason).reason:
        yield suppressions.unexplained_suppression.finding(
            "The suppression gives no reason, so the next reader cannot tell whether it is still valid.",
            place,
            help="write the reason after the bracket, such as: measured on 2026-03-02",
        )


def _suggest_rules(comments: Sequence[Suppression], rules: dict[str, tuple[Rule, ...]]) -> dict[str, str]:
    """Return suggestions for words that match no rule."""
    unknown = dict.fromkeys(w for c in comments for w in c.words if w.lower() not in rules and len(w) <= MAX_WORD)
    known = (
        {name for meant in rules.values() for r in meant for name in (r.code, r.name, r.family)} if unknown else set()
    )
    near = {word: nearest_word(word, known) for word in list(unknown)[:MAX_SUGGESTIONS]}
    return {word: f"did you mean {meant}?" for word, meant in near.items() if meant}


def _shorten(word: str) -> str:
    return word if len(word) <= MAX_WORD else f"{word[: MAX_WORD - 1]}…"


def _describe_scope(comment: Suppression) -> str:
    if comment.whole_file:
        return "about this file"
    if comment.line == comment.location.line:
        return "about this line"
    return f"about line {comment.line}" if comment.line else "here, where no line follows the comment"


def _is_judged(meant: tuple[Rule, ...], readings: Sequence[FileFindings]) -> bool:
    """Whether, for one of the targets, all rules matched by the word that need only files have run."""
    if any(rule.family == suppressions.FAMILY for rule in meant):
        return False
    for reading in readings:
        able = {r.code for r in meant if r.concerns(reading.target) and (not r.needs or r.code in reading.codes_run)}
        if able and able <= reading.codes_run:
            return True
    return False
