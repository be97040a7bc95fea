"""Documents and what their sets read as."""

from __future__ import annotations

import pytest

from advisor.carriers.document import Carrier, SetReading
from advisor.carriers.recognise import carrier_of
from advisor.catalog import load
from advisor.catalog.targets import parse_target
from advisor.optionfile.lines import Line


class Carried:
    """A document, and its options for a target."""

    def __init__(self, text: str, name: str, root: str | None = None) -> None:
        self.text = text
        found = carrier_of(text.encode(), name, name.lower(), root)
        assert found is not None
        self.carrier: Carrier = found

    @property
    def labels(self) -> list[str]:
        """The names of its sets."""
        return [one.label for one in self.carrier.sets]

    def options(self, target: str = "mysql-8.0", at: int = 0) -> dict[str, str | None]:
        """Names and values of a set, in the server's order."""
        return {line.name or "": line.value for line in self.lines(target, at)}

    def lines(self, target: str = "mysql-8.0", at: int = 0) -> tuple[Line, ...]:
        """The option lines of a set, in the server's order."""
        return self.carrier.sets[at].read(load(parse_target(target))).order

    def within(self, target: str = "mysql-8.0", at: int = 0) -> SetReading:
        """A set as the text counts its lines whose places the document hides."""
        found = self.carrier.sets[at].read(load(parse_target(target))).within
        assert found is not None
        return found.reading

    def strays(self, target: str = "mysql-8.0", at: int = 0) -> list[str]:
        """What stands at the places of a set's words that are no options."""
        reading = self.carrier.sets[at].read(load(parse_target(target)))
        return [self.slice(s.location.line, s.location.column, s.location.end_column) for s in reading.strays]

    def slices(self, target: str = "mysql-8.0", at: int = 0) -> list[str]:
        """The document's text at the place of each option."""
        return [self.slice(o.number, o.column, o.end_column) for o in self.lines(target, at)]

    def values(self, target: str = "mysql-8.0", at: int = 0) -> list[str]:
        """The document's text at the place of each option's value."""
        return [self.slice(o.number, o.value_column, o.value_end_column) for o in self.lines(target, at)]

    def slice(self, number: int, column: int, end: int) -> str:
        """A stretch of a line of the document."""
        return self.text.split("\n")[number - 1][column - 1 : end - 1]


class Reader:
    """Reads documents by the name of their kind."""

    def __call__(self, text: str, name: str = "compose.yml", root: str | None = None) -> Carried:
        return Carried(text, name, root)


@pytest.fixture
def carried() -> Reader:
    """Reads a document."""
    return Reader()
