"""Types for option sets: the options that one server gets together, and their reading for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.carriers.document import Document
    from advisor.catalog.load import Catalog
    from advisor.core.model import Location, Target
    from advisor.optionfile.lines import Line, Problem
    from advisor.verdict.declared import DeclaredSet

MAX_SETS = 500  # our limit per document, since each set is judged separately


class NonOption(NamedTuple):
    """Something that is not an option line: what the server does with it, the remedy, and the location.

    `name` is the name of the rule that reports it; `fatal` means that the server does not start.
    """

    name: str
    message: str
    help: str
    location: Location
    fatal: bool
    option: str | None = None


class EmbeddedText(NamedTuple):
    """A text whose lines have no positions in the document: `reading` uses the text's line numbers, `called` names it.

    All of it is located at `place`.
    """

    reading: SetReading
    place: Location
    called: str


class SetReading(NamedTuple):
    """The content of a set for one target.

    `lines` are in the document's order, `order` are the options in the order in which the server reads them. `editable`
    are the positions (line, column) of options that are in the document verbatim, `whole` the document lines that hold
    exactly one option, so that they can be deleted. `within` is set if the notation hides the positions of all lines.
    """

    lines: tuple[Line, ...]
    order: tuple[Line, ...]
    problems: tuple[Problem, ...] = ()
    strays: tuple[NonOption, ...] = ()
    editable: frozenset[tuple[int, int]] = frozenset()
    whole: frozenset[int] = frozenset()
    within: EmbeddedText | None = None


class OptionSet(NamedTuple):
    """Options that belong together; `label` names them in reports.

    `hint` is the server that the document names and `why` how it was found; None if it names none. `groupless` names
    the source if its options have no groups, else it is empty. `origin` says how the server gets the values. `declared`
    has the entries of a set that a platform or operator passes on. `partial` means that an operator, a template or a
    module adds options that the document does not show. `memory` is the limit that the document sets for the server's
    memory in bytes, 0 if it sets none.
    """

    label: str
    read: Callable[[Catalog], SetReading]
    hint: Target | None = None
    why: str = ""
    groupless: str = ""
    origin: Origin = Origin.FILE
    declared: DeclaredSet | None = None
    partial: bool = False
    memory: int = 0


class Carrier(NamedTuple):
    """A document and its sets, in the document's order; `empty` says why it has none, if that is known."""

    document: Document
    sets: tuple[OptionSet, ...]
    empty: str = ""


def distinguish_labels(sets: Sequence[OptionSet]) -> tuple[OptionSet, ...]:
    """Return the sets with a number behind each label that an earlier one has: `my.cnf`, `my.cnf#2`."""
    seen: dict[str, int] = {}
    found = []
    for one in sets:
        seen[one.label] = count = seen.get(one.label, 0) + 1
        found.append(one if count == 1 else one._replace(label=f"{one.label}#{count}"))
    return tuple(found)
