"""The findings of a ticket, each in three lengths: with its evidence, with the names of it, and on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.report.audit.ticket_steps import steps
from advisor.report.audit.ticket_words import LONG, about, link, said, shown
from advisor.report.finding import place, setting, sure
from advisor.report.rules.page import STRENGTHS
from rules.core.evidence import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from advisor.core.model import Finding

BRIEF = 80  # characters of a finding's words where one line must do


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
        found = load(identity)
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
