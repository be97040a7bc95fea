"""The model of a report: a builder says once what a report holds, and every writer lays it out in its own way.

To add a kind of report, write a function that returns a Document, and render it with `advisor.report.formats`:

    Document(("mycnf diff", "2 differences"), (
        Facts((("A", Code("db1.cnf")), ("B", Code("db2.cnf")))),
        Section("memory", (Table(("setting", "A", "B"), rows),)),
    ))

Words are a text, or a tuple of texts of which some are Code. Nothing need be escaped, masked or wrapped here: writers
mask secrets and make everything harmless that a server, a file or a user says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.redaction.secrets import escape_text, redact_text

if TYPE_CHECKING:
    from advisor.core.model import Severity
    from advisor.report.render.curves import Curve


class Code(str):
    """A name, a path, a value, a statement or a line to copy: shown as it stands, and never wrapped."""

    __slots__ = ()


class Copy(Code):
    """A statement or a line of an option file, which is shown whole or not at all."""

    __slots__ = ()


Words = str | tuple[str, ...]


class Paragraph(NamedTuple):
    """A sentence or several; `strong` where it is what the report is about. `indent` is for text alone."""

    words: Words
    strong: bool = False
    indent: int = 0


class Facts(NamedTuple):
    """Names with what is to be said of each; those with nothing to say are left out.

    `label` is for text alone: how many columns the names take, where that is not to follow from the longest.
    """

    rows: tuple[tuple[str, Words], ...]
    label: int = 0


class Items(NamedTuple):
    """A list of sentences; of one that `grows` with the number of servers writers show as much as people read."""

    items: tuple[Words, ...]
    grows: bool = False


class Value(NamedTuple):
    """A cell: a value, and in `note` where it comes from; `lead` stands before the column's head in a stacked row."""

    words: Words
    note: str = ""
    lead: str = ""


class Table(NamedTuple):
    """Rows of cells under heads, the columns at the places `numbers` being numbers; `more` says what is left out.

    For text are the `widths` of all columns but the last, where they are not to follow from the rows, and whether it
    shows the heads. `grows` is as in a list.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Words | Value, ...], ...]
    numbers: tuple[int, ...] = ()
    more: str = ""
    widths: tuple[int, ...] = ()
    headed: bool = True
    grows: bool = False


class Listing(NamedTuple):
    """Lines of an option file, SQL or a diff, to copy as they are."""

    text: str
    language: str = ""


class Chart(NamedTuple):
    """Curves, with what their numbers are and the name of the axis; `joined` where that is one of numbers."""

    curves: tuple[Curve, ...]
    caption: str
    axis: str
    joined: bool = True


class Entry(NamedTuple):
    """One finding or thing like it: its kind, coloured by severity, what it is about, how sure it is, and the rest.

    `where` stands before the title. With `beside`, text puts a first paragraph beside the head where there is room.
    """

    kind: str
    severity: Severity
    title: Words
    blocks: tuple[Block, ...]
    sure: str = ""
    where: str = ""
    beside: bool = False


class Entries(NamedTuple):
    """Findings, or things like them, one after another."""

    entries: tuple[Entry, ...]


class Section(NamedTuple):
    """Blocks under a title; those of an empty title follow one another without empty lines, and that is all.

    `severity` colours the title in a terminal. `aside` is said beside the title. A `folded` section is opened by who
    wants it, where the format can fold.
    """

    title: Words
    blocks: tuple[Block, ...]
    severity: Severity | None = None
    aside: str = ""
    folded: bool = False


Block = Paragraph | Facts | Items | Table | Listing | Chart | Entry | Entries | Section


class Document(NamedTuple):
    """A whole report: the parts of its title, and its blocks. Empty blocks are left out by the writers."""

    title: tuple[str, ...]
    blocks: tuple[Block, ...]


def holds(block: Block) -> bool:
    """Whether there is anything to show."""
    match block:
        case Section(blocks=blocks):
            return any(map(holds, blocks))
        case Facts(rows=rows):
            return any(words for _, words in rows)
        case Entry() | Listing():
            return True
        case Table(rows=content) | Items(items=content) | Chart(curves=content) | Paragraph(words=content):
            return bool(content)
        case Entries(entries=entries):
            return bool(entries)


def parts(words: Words) -> tuple[str, ...]:
    """The texts that words are made of."""
    return (words,) if isinstance(words, str) else words


def plain(words: Words) -> str:
    """Words as one text."""
    return words if isinstance(words, str) else "".join(words)


def lines(listing: Listing) -> list[str]:
    """The lines of a listing: secrets masked, nothing in them that acts."""
    return [escape_text(redact_text(line).text) for line in listing.text.splitlines()]


def value(cell: Words | Value) -> Value:
    """A cell as a value with its origin."""
    return cell if isinstance(cell, Value) else Value(cell)
