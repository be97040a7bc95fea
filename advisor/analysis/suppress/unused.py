"""Findings about suppressions themselves: unused, malformed, or without a reason."""

from __future__ import annotations

from advisor.core.errors import nearest_word
from rules.core.subject import Subject
from rules.optionfile import suppressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.analysis.suppress.comments import FileFindings, Suppression, Word
    from advisor.core.model import Finding
    from rules.core.rule import Rule

NO_HINT = "`mycnf rules` lists them"
MAX_WORD = 40  # characters of a word that are printed
MAX_SUGGESTIONS = 100  # searching similar names takes time; no file misspells as many


def report_suppressions(
    comments: Sequence[Suppression],
    readings: Sequence[FileFindings],
    rules: dict[str, tuple[Rule, ...]],
    used: set[Word],
) -> list[list[Finding]]:
    """Return the findings about suppressions per reading: each in the first reading of the comment's file."""
    told: list[list[Finding]] = [[] for _ in readings]
    having = _readings_by_file(readings)
    hints = _suggest_rules(comments, rules)
    for comment in comments:
        numbers = having[comment.location.path]
        own = [n for n in numbers if readings[n].resolved.files[0].path == comment.location.path]
        silent = readings[(own or numbers)[0]].silent
        found = _comment_findings(comment, [readings[n] for n in numbers], rules, used, hints)
        told[(own or numbers)[0]].extend(f for f in found if f.code not in silent)
    return told


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
        message = f"This suppression does nothing: {comment.wrong}."
        yield suppressions.malformed_suppression.finding(message, place, help=comment.remedy)
        return
    for word in comment.words:
        meant = rules.get(word.lower())
        if meant is None:
            message = f"No rule, name or family is called {_shorten(word)}."
            yield suppressions.malformed_suppression.finding(message, place, help=hints.get(word, NO_HINT))
        elif (comment.location, word) not in used and _is_judged(meant, readings):
            message = (
                f"{_shorten(word)} has nothing to say {_describe_scope(comment)}, so this suppression hides nothing."
            )
            yield suppressions.unused_suppression.finding(
                message, place, help="take it out, or what comes later is hidden"
            )
    if not comment.reason:
        yield suppressions.unexplained_suppression.finding(
            "The suppression gives no reason, so the next reader can't tell whether it still holds.",
            place,
            help="write the reason behind the bracket, such as: measured on 2026-03-02",
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
        able = {r.code for r in meant if r.concerns(reading.target) and (not r.needs or r.code in reading.ran)}
        if able and able <= reading.ran:
            return True
    return False
