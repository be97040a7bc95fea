"""Suppresses findings by comments in the files, and reports comments that suppress nothing."""

from __future__ import annotations

from advisor.analysis.suppress.comments import FileFindings, Suppression, Word, read_suppressions
from advisor.core.model import Finding, Location
from advisor.core.value_types import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.core.rule import Rule

Key = tuple[str, int, str]


class Suppressed(NamedTuple):
    """The findings of one reading: those to report, including those about suppressions, and the suppressed ones.

    `reasons` has the comment's reason for each suppressed finding, "" if there is none.
    """

    kept: tuple[Finding, ...]
    hidden: tuple[Finding, ...]
    reasons: tuple[str, ...]


def suppress(readings: Sequence[FileFindings]) -> list[Suppressed]:
    """Apply the suppressions to each reading, in the same order.

    A suppression counts as used if it hides a finding in any reading. So one for findings of a single target, or of
    files read together, is not reported as unused because of the other readings.
    """
    from advisor.analysis.suppress.unused import report_suppressions

    comments = _comments(readings)
    rules = _rules_by_word() if comments else {}
    asked = _requests_by_place(comments, rules)
    reasons_at = {comment.location: comment.reason for comment in comments}
    met: set[Key] = set()
    split = [_split(r, r.findings, asked, reasons_at, met) for r in readings]
    used = {word for key in met for word in asked[key]}
    reports = report_suppressions(comments, readings, rules, used)
    more = [_split(r, found, asked, reasons_at, met).kept for r, found in zip(readings, reports, strict=True)]
    return [own._replace(kept=(*own.kept, *new)) for own, new in zip(split, more, strict=True)]


def _rules_by_word() -> dict[str, tuple[Rule, ...]]:
    """Map each code, name and family, in lower case, to its rules."""
    from rules import all_rules

    found: dict[str, tuple[Rule, ...]] = {}
    for rule in all_rules():
        for word in (rule.code, rule.name, rule.family):
            found[word.lower()] = (*found.get(word.lower(), ()), rule)
    return found


def _comments(readings: Iterable[FileFindings]) -> list[Suppression]:
    files = {file.path: file for reading in readings for file in reading.resolved.files}
    return [comment for file in files.values() for comment in read_suppressions(file)]


def _requests_by_place(comments: Iterable[Suppression], rules: dict[str, tuple[Rule, ...]]) -> dict[Key, list[Word]]:
    """Map path, line (0: the whole file) and code to the words that suppress findings there."""
    asked: dict[Key, list[Word]] = {}
    for comment in comments:
        path, own = comment.location.path, comment.location.line
        lines = {0} if comment.whole_file else {own, comment.line or own}
        for word in comment.words if not comment.wrong else ():
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
) -> Suppressed:
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
    return Suppressed(tuple(kept), tuple(hidden), tuple(reasons))
