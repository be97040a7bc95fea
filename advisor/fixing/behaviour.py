"""Compares how a server takes a file before and after a change."""

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
    """Return the first option that the server takes differently or newly refuses; None if nothing changes.

    Options that the server accepts without effect do not count; two names of one variable count as one.
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
    """Return the resulting values of the line; its text only if they are unknown or it adds to a list."""
    text = line.placed.line.value if line.value is None or line.canonical in LISTS else None
    return line.value, line.running, text


def _prints_no_value(line: LineVerdict) -> bool:
    """Whether it is a maximum- or named key cache option, whose value `--verbose --help` does not print."""
    name = (line.placed.line.name or "").lower()
    return "maximum" in name or "." in name


def _refused_options(verdict: FileVerdict) -> Counter[tuple[str, Outcome]]:
    lines = [line for line in verdict.lines if line.outcome in REFUSED and not line.loose]
    return Counter((line.placed.line.name or "", line.outcome) for line in lines)
