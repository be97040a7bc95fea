"""Marks on the fields of facts, which say more of a fact than its type: `tasks: Annotated[int | None, Mark(row="…")]`.

They stand at the field, so that a new fact is described in one place.
"""

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints


class Mark(NamedTuple):
    """What holds of one fact.

    `moves`: it changes while the host runs, without any action. `row` is the label under which the app shows it, empty
    if it shows it otherwise or not at all; a number is bytes if `size`, else a count. `unjudged` is the reason why no
    rule reads it.
    """

    moves: bool = False
    row: str = ""
    size: bool = False
    unjudged: str = ""


MOVES = Mark(moves=True)


def marks_of(kind: type) -> dict[str, Mark]:
    """The marks of a class of facts by field, in their order."""
    hints: dict[str, Any] = get_type_hints(kind, include_extras=True)
    return {
        name: mark
        for name, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Mark)
    }
