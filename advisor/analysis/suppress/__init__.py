"""Leave out the findings that a comment in the file asks to be left out, and tell of comments that ask for nothing."""

from typing import TYPE_CHECKING, NamedTuple

from advisor.analysis.suppress.comments import FileFindings, Suppression, Word, read_suppressions
from advisor.core.model import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.core.rule import Rule

Key = tuple[str, int, str]


class Suppressed(NamedTuple):
    """The findings of one reading: those to show, those about suppressions among them, and those that were left out.

    `reasons` has for each one that was left out what the comments say, "" where they say nothing.
    """

    kept: tuple[Finding, ...]
    hidden: tuple[Finding, ...]
    reasons: tuple[str, ...]


def suppress(readings: "Sequence[FileFindings]") -> list[Suppressed]:
    """What is left of each reading, in the same order.

    A suppression is used as soon as it hides something in one of the readings, so what speaks on one target only, or
    only where two files are read together, is not told as unused because of the others.
    """
    from advisor.analysis.suppress.unused import report_suppressions

    comments = _comments(readings)
    rules = _rules_by_word() if comments else {}
    asked = _requests_by_place(comments, rules)
    said = {comment.location: comment.reason for comment in comments}
    met: set[Key] = set()
    split = [_split(r, r.findings, asked, said, met) for r in readings]
    used = {word for key in met for word in asked[key]}
    told = report_suppressions(comments, readings, rules, used)
    more = [_split(r, found, asked, said, met).kept for r, found in zip(readings, told, strict=True)]
    return [own._replace(kept=(*own.kept, *new)) for own, new in zip(split, more, strict=True)]


def _rules_by_word() -> "dict[str, tuple[Rule, ...]]":
    """The rules that each code, name and family stands for, in lower case."""
    from rules import all_rules

    found: dict[str, tuple[Rule, ...]] = {}
    for rule in all_rules():
        for word in (rule.code, rule.name, rule.family):
            found[word.lower()] = (*found.get(word.lower(), ()), rule)
    return found


def _comments(readings: "Iterable[FileFindings]") -> list[Suppression]:
    files = {file.path: file for reading in readings for file in reading.resolved.files}
    return [comment for file in files.values() for comment in read_suppressions(file)]


def _requests_by_place(
    comments: "Iterable[Suppression]", rules: "dict[str, tuple[Rule, ...]]"
) -> "dict[Key, list[Word]]":
    """By path, line (0: the whole file) and code, the words that ask for silence there."""
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
    findings: "Iterable[Finding]",
    asked: "dict[Key, list[Word]]",
    said: "dict[Location, str]",
    met: set[Key],
) -> Suppressed:
    """The findings apart, by whether a word asks for silence; what was met on the way is noted."""
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
            given = dict.fromkeys(said[comment] for key in keys for comment, _ in asked[key])
            reasons.append("; ".join(reason for reason in given if reason))
        else:
            kept.append(finding)
    return Suppressed(tuple(kept), tuple(hidden), tuple(reasons))
