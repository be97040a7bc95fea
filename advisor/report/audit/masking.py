"""A finding without what its option's value keeps: a secret, or the literals of statements that it holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from advisor.redaction.secrets import MASK, STATEMENTS, is_secret

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.core.model import Action, Finding

_LITERAL = r"'(?:\\.|[^'\\])+'?|\"(?:\\.|[^\"\\])+\"?"


def masked(f: Finding) -> Finding:
    """The finding fit for a page that strangers read: what is masked in its value is masked wherever it is quoted."""
    hidden = _hidden(f)
    if not hidden:
        return f

    def without(words: str) -> str:
        for part in hidden:
            words = words.replace(part, MASK)
        return words

    return f._replace(
        message=without(f.message),
        help=without(f.help),
        value=f.value and without(f.value),
        actions=tuple(_action(a, without) for a in f.actions),
        local=f.local and f.local._replace(words=without(f.local.words)),
    )


def _hidden(f: Finding) -> list[str]:
    """The parts of its value to be masked, the longest first."""
    value = (f.value or "").strip()
    names = {name.removeprefix("loose_") for name in (f.canonical, f.option) if name}
    if not value or value == MASK:
        return []
    if any(map(is_secret, names)):
        return sorted({value, value.strip("'\"")} - {""}, key=len, reverse=True)
    if names.isdisjoint(STATEMENTS):
        return []
    literals = {found.strip("'\"") for found in re.findall(_LITERAL, value)}
    return sorted(literals - {""}, key=len, reverse=True)


def _action(a: Action, without: Callable[[str], str]) -> Action:
    def maybe(words: str | None) -> str | None:
        return None if words is None else without(words)

    return a._replace(
        option_line=maybe(a.option_line),
        statement=maybe(a.statement),
        risk=without(a.risk),
        undo=maybe(a.undo),
        watch=maybe(a.watch),
        argument=maybe(a.argument),
        replaces=without(a.replaces),
    )
