"""The findings of a ticket in three lengths, fitted to what every tracker takes, and the steps that come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.analysis.engine import RANK
from advisor.core.model import Confidence, Severity
from advisor.report.audit.ticket_words import LONG, about, link, mixed, said, shown
from advisor.report.finding import place, setting, sure, to_do
from advisor.report.rules.page import STRENGTHS
from rules.core.evidence import find_evidence
from rules.core.statements import permanent_setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from advisor.core.model import Finding


BRIEF = 80  # characters of a finding's words where one line must do
# Jira's default for a description; GitHub takes 65,536 characters and GitLab 1,048,576.
MOST = 32_767
BETWEEN = 2  # line ends between two blocks
FIRST = 10  # steps that are still "first"; the rest stand with their findings
SURE = list(Confidence)


class Fitted(NamedTuple):
    """The findings that are told as blocks, then those on one line each; the last `without` are not told at all.

    Of the blocks, the last `named` give their evidence by name alone.
    """

    blocks: list[str]
    lines: list[str]
    named: int
    without: int


def length(text: str) -> int:
    """As trackers count: in units of UTF-16, of which an emoji has two."""
    return len(text) + sum(character > "\uffff" for character in text)


def fitted(findings: Sequence[Forms], room: int, size: Callable[[str], int] = length) -> Fitted:
    """The findings in `room` characters, or what else `size` counts.

    Evidence goes first, from the last finding upwards, then all but one line.
    """
    sizes = [[*(size(form) + BETWEEN for form in finding), 0] for finding in findings]
    levels = [0] * len(findings)
    total = sum(size[0] for size in sizes)
    for level in (1, 2, 3):
        for order in reversed(range(len(findings))):
            if total <= room:
                break
            total += sizes[order][level] - sizes[order][level - 1]
            levels[order] = level
    told = list(zip(findings, levels, strict=True))
    return Fitted(
        [forms[level] for forms, level in told if level < 2],  # noqa: PLR2004 - the two long forms
        [forms.brief for forms, level in told if level == 2],  # noqa: PLR2004 - the short one
        levels.count(1),
        levels.count(3),
    )


def within(texts: Sequence[str], room: int) -> list[str]:
    """As many of the first texts as `room` characters take, each on lines of its own."""
    kept = []
    for text in texts:
        room -= length(text) + 1
        if room < 0:
            break
        kept.append(text)
    return kept


class Forms(NamedTuple):
    """One finding, the longest form first."""

    whole: str
    named: str
    brief: str


def forms(findings: Sequence[Finding], step: Mapping[int, int]) -> list[Forms]:
    """All of them; `step` is the number among the first steps by place in `findings`. Evidence is told in full once."""
    made, cited = [], set[str]()
    for order, finding in enumerate(findings):
        whole = "\n".join([*_head(finding), *_cited(finding, cited), *_to_do(finding, step.get(order))])
        named = "\n".join([*_head(finding), *_names(finding), *_to_do(finding, step.get(order))])
        made.append(Forms(whole, named, _brief(finding, step.get(order))))
    return made


def _head(f: Finding) -> Iterator[str]:
    yield f"#### {f.severity.value}: {shown(f.code)} {said(f.name)} ({sure(f)})\n"
    where = about(f)
    yield f"{where}: {said(f.message)}\n" if where else f"{said(f.message)}\n"


def _cited(f: Finding, cited: set[str]) -> Iterator[str]:
    for identity in f.evidence:
        found = find_evidence(identity)
        if found is None or identity in cited:
            yield f"- **Evidence:** {shown(identity)}{', above' if identity in cited else ''}"
            continue
        cited.add(identity)
        on = ", ".join(part for part in (found.versions, found.date) if part)
        kind = STRENGTHS.get(found.strength, found.strength)
        yield f"- **Evidence:** {shown(identity)}, {kind}{f' ({said(on)})' if on else ''}: {said(found.conclusion)}"
        yield f"  From {link(found)}."
    yield from _here(f)


def _names(f: Finding) -> Iterator[str]:
    if f.evidence:
        yield f"- **Evidence:** {', '.join(map(shown, f.evidence))}: {shown(f'mycnf explain {f.code}')}"
    yield from _here(f)


def _here(f: Finding) -> Iterator[str]:
    if f.local:
        yield f"- **Measured here** on {said(f.local.began_at[:10])}: {said(f.local.words)}"


def _to_do(f: Finding, number: int | None) -> Iterator[str]:
    if number is not None:
        yield f"- **To do:** step {number} above"
    else:
        yield from steps(f)


def _brief(f: Finding, number: int | None) -> str:
    where = shown(setting(f)) if setting(f) else shown(place(f.location), LONG) if f.location else ""
    words = said(f.message, BRIEF)
    above = f" (step {number} above)" if number is not None else ""
    return f"- {f.severity.value}: {' '.join(part for part in (shown(f.code), where) if part)}: {words}{above}"


def first(findings: Sequence[Finding]) -> list[Finding]:
    """Errors, then warnings; of these what is ready to be carried out, then what is surest, then without a restart."""
    pressing = [f for f in findings if f.severity is not Severity.NOTE and (f.actions or f.help)]
    return sorted(pressing, key=_weight)[:FIRST]


def _weight(f: Finding) -> tuple[int, bool, int, bool]:
    ready = any(a.statement or permanent_setting(a) for a in f.actions)
    return RANK[f.severity], not ready, SURE.index(f.confidence), any(a.restart for a in f.actions)


def numbered(number: int, f: Finding) -> str:
    """One step of the list: what is wrong, and what to do about it."""
    where = about(f)
    head = f"{number}. **{f.severity.value}** {shown(f.code)} {said(f.name)}: {said(f.message)}"
    # Four columns are within an item of one digit and of two alike.
    return "\n".join([head, *(f"    - {line}" for line in ([f"**At:** {where}"] if where else [])), *steps(f, "    ")])


def steps(f: Finding, margin: str = "") -> Iterator[str]:
    """The finding's actions as items of a list; its help where these are none to carry out."""
    return (f"{margin}- **{name}:** {mixed(words)}" for name, words in to_do(f))
