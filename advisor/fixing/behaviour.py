"""Whether a server does the same with a file as it did before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from advisor.verdict import REFUSED, Outcome
from advisor.verdict.judge import LISTS

if TYPE_CHECKING:
    from advisor.catalog.load import Option
    from advisor.verdict import FileVerdict, LineVerdict

LineEffect = tuple[str | None, ...]


def first_difference(before: FileVerdict, after: FileVerdict) -> str | None:
    """The first option that the server would take in another way, or newly stop at; None where all stays.

    Options that the server accepts and does nothing with don't count, and two names of one variable are one.
    """
    was, now = _effective(before), _effective(after)
    for name in (*now, *was):
        if was.get(name) != now.get(name):
            return name
    more = _refused_options(after) - _refused_options(before)
    return next(iter(more))[0] if more else None


def _effective(verdict: FileVerdict) -> dict[str, tuple[LineEffect, ...]]:
    said: dict[str, tuple[LineEffect, ...]] = {
        _variable_of(line.option, name): (_line_effect(line),)
        for name, line in verdict.effective.items()
        if _has_effect(line)
    }
    for name in LISTS & said.keys():
        said[name] = tuple(_line_effect(line) for line in verdict.lines if line.canonical == name)
    for line in verdict.lines:
        if line.canonical and _prints_no_value(line):
            said[line.placed.line.name or ""] = ((line.placed.line.value,),)
    return said


def _has_effect(line: LineVerdict) -> bool:
    return line.outcome is not Outcome.IGNORED and not (line.option and line.option.ignored)


def _variable_of(option: Option | None, name: str) -> str:
    return (option.alias_of if option else None) or name


def _line_effect(line: LineVerdict) -> LineEffect:
    """What the server makes of the line; as written only where nothing else tells it, or where it adds to a list."""
    text = line.placed.line.value if line.value is None or line.canonical in LISTS else None
    return line.value, line.running, text


def _prints_no_value(line: LineVerdict) -> bool:
    """Upper bounds and named key caches, which help prints nothing of."""
    name = (line.placed.line.name or "").lower()
    return "maximum" in name or "." in name


def _refused_options(verdict: FileVerdict) -> Counter[tuple[str, Outcome]]:
    lines = [line for line in verdict.lines if line.outcome in REFUSED and not line.loose]
    return Counter((line.placed.line.name or "", line.outcome) for line in lines)
