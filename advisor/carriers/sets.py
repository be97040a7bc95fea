"""A set of options that one server gets together, and how it reads for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Origin

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.carriers.document import Document
    from advisor.catalog.load import Catalog
    from advisor.core.model import Location, Target
    from advisor.optionfile.lines import Line, Problem

MAX_SETS = 500  # of a document; ours, for each is judged by itself


class NonOption(NamedTuple):
    """Something that is no option line: what the server does about it, what to do, and where it stands.

    `name` is that of the rule which tells of it; `fatal` says that the server doesn't start.
    """

    name: str
    message: str
    help: str
    location: Location
    fatal: bool
    option: str | None = None


class Within(NamedTuple):
    """A text whose lines have no places of their own: `reading` numbers them as the text does, `called` names it.

    All of it stands at `place`.
    """

    reading: SetReading
    place: Location
    called: str


class SetReading(NamedTuple):
    """What a set holds for one target.

    `lines` stand in the document's order, `order` is that in which the server reads the options among them.
    `editable` are the places (line, column) of options whose text is the document's own, `whole` the lines of the
    document that hold one option and nothing else, so that they may be taken out. `within` is there where the
    document's notation hides the places of all lines.
    """

    lines: tuple[Line, ...]
    order: tuple[Line, ...]
    problems: tuple[Problem, ...] = ()
    strays: tuple[NonOption, ...] = ()
    editable: frozenset[tuple[int, int]] = frozenset()
    whole: frozenset[int] = frozenset()
    within: Within | None = None


class OptionSet(NamedTuple):
    """Options that belong together: `label` names them for people.

    `hint` is the server that the document names, `why` how it does so; None where it names none. `groupless` is what
    to call the place where options stand in no group, empty where they stand in groups. `origin` says how the server
    gets the values.
    """

    label: str
    read: Callable[[Catalog], SetReading]
    hint: Target | None = None
    why: str = ""
    groupless: str = ""
    origin: Origin = Origin.FILE


class Carrier(NamedTuple):
    """A document and its sets, in the document's order."""

    document: Document
    sets: tuple[OptionSet, ...]
