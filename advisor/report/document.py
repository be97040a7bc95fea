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

from advisor.core import NamedTuple
from advisor.redaction import escape_text, redact_text, redact_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Severity
    from advisor.report.render.curves import AxisMark, Curve


class Code(str):
    """A name, a path, a value, a statement or a line to copy: shown as it stands, and never wrapped."""

    __slots__ = ()


class Copy(Code):
    """A statement or a line of an option file, which is shown whole or not at all."""

    __slots__ = ()


class OwnText(str):
    """Words of mycnf itself, such as those of a rule: they hold no secret, and are shown whole."""

    __slots__ = ()


class Link(str):
    """Words that lead to an address, or with `#` and a name to a place of the report, where the format can link."""

    __slots__ = ("url",)
    url: str

    @classmethod
    def to(cls, url: str, words: str) -> Link:
        """The link; one without an address is shown as words."""
        link = cls(words)
        link.url = url
        return link

    @property
    def away(self) -> bool:
        """Whether it leads to an address of the web."""
        return self.url.startswith(("https://", "http://"))


Words = str | tuple[str, ...]


class Paragraph(NamedTuple):
    """A sentence or several; `strong` where it is what the report is about. `indent` is for text alone.

    `lead` is shown in bold before the words; a page shows such a paragraph as a warning.
    """

    words: Words
    strong: bool = False
    indent: int = 0
    lead: str = ""


class Items(NamedTuple):
    """A list of sentences; of one that `grows` with the number of servers writers show as much as people read."""

    items: tuple[Words, ...]
    grows: bool = False


class Value(NamedTuple):
    """A cell: a value, and in `note` where it comes from; `lead` stands before the column's head in a stacked row.

    A page colours the cell by `severity`.
    """

    words: Words
    note: Words = ""
    lead: str = ""
    severity: Severity | None = None


class Facts(NamedTuple):
    """Names with what is to be said of each; those with nothing to say are left out.

    `label` is for text alone: the columns of the names, 0 for as many as the longest takes.
    """

    rows: tuple[tuple[str, Words | Value], ...]
    label: int = 0


class Table(NamedTuple):
    """Rows of cells under heads, the columns at the places `numbers` being numbers; `more` says what is left out.

    For text are the `widths` of all columns but the last, where they are not to follow from the rows, and whether it
    shows the heads. `grows` is as in a list. `name` is for screen readers.
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Words | Value, ...], ...]
    numbers: tuple[int, ...] = ()
    more: str = ""
    widths: tuple[int, ...] = ()
    headed: bool = True
    grows: bool = False
    name: str = ""


class Listing(NamedTuple):
    """Lines of an option file, SQL or a diff, to copy as they are."""

    text: str
    language: str = ""


class Chart(NamedTuple):
    """Curves, with what their numbers are and the name of the axis; `joined` where that is one of numbers.

    A drawing has `title` and `answer` above it. `marks` are values of the axis that a line shows: the reader's own
    setting and the advice. One `over_time` is lower, and its numbers begin at zero.
    """

    curves: tuple[Curve, ...]
    caption: str
    axis: str
    joined: bool = True
    title: str = ""
    answer: str = ""
    marks: tuple[AxisMark, ...] = ()
    over_time: bool = False


class StackedBar(NamedTuple):
    """Amounts drawn one after another in a bar by a page, with a line at the limit and what that is.

    An amount is a name, its size in `caption`'s unit, and how it is written. What exceeds the drawing is cut off there.
    """

    parts: tuple[tuple[str, int, str], ...]
    caption: str
    limit: tuple[int, str] | None = None


class Entry(NamedTuple):
    """One finding or thing like it: its kind, coloured by severity, what it is about, how sure it is, and the rest.

    `where` stands before the title. With `beside`, text puts a first paragraph beside the head where there is room; a
    `brief` entry is one line everywhere: its head and its first paragraph. `name` is its place in a report, `leads` the
    name of the place that its title leads to. `keys` are what a page sorts it by. A page unfolds a `folded` entry
    on demand.
    """

    kind: str
    severity: Severity
    title: Words
    blocks: tuple[Block, ...]
    sure: str = ""
    where: str = ""
    beside: bool = False
    brief: bool = False
    name: str = ""
    leads: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    folded: bool = False


class Entries(NamedTuple):
    """Findings, or things like them, one after another; `numbered` ones are steps to be taken in this order.

    On a page, entries with `orders` can be filtered, and sorted by these: pairs of a key and its words, the key being
    empty for the order as it is. `what` names the entries for screen readers, `areas` are the values of the key `area`
    that a page filters by.
    """

    entries: tuple[Entry, ...]
    numbered: bool = False
    what: str = ""
    orders: tuple[tuple[str, str], ...] = ()
    areas: tuple[str, ...] = ()


class Section(NamedTuple):
    """Blocks under a title; those of an empty title follow one another without empty lines, and that is all.

    `severity` colours the title in a terminal. `remark` follows the title. A `folded` section is opened by who
    wants it, where the format can fold. `name` is its place in the report.
    """

    title: Words
    blocks: tuple[Block, ...]
    severity: Severity | None = None
    remark: str = ""
    folded: bool = False
    name: str = ""


class Cards(NamedTuple):
    """Short sections that a page lays beside one another; other formats show them one after another."""

    sections: tuple[Section, ...]


Block = Paragraph | Facts | Items | Table | Listing | Chart | StackedBar | Entry | Entries | Section | Cards


class Document(NamedTuple):
    """A whole report: the parts of its title, its blocks, and a last line, which text leaves out.

    Empty blocks are left out by the writers.
    """

    title: tuple[str, ...]
    blocks: tuple[Block, ...]
    foot: str = ""


def holds(block: Block) -> bool:
    """Whether there is anything to show."""
    match block:
        case Section(blocks=blocks) | Cards(sections=blocks):
            return any(map(holds, blocks))
        case Facts(rows=rows):
            return any(words for _, words in rows)
        case Entry() | Listing():
            return True
        case Table(rows=content) | Items(items=content) | Chart(curves=content) | Paragraph(words=content):
            return bool(content)
        case Entries(entries=content) | StackedBar(parts=content):
            return bool(content)


def shorten_text(text: str, longest: int) -> str:
    """At most so many characters of a text, in whole words if these are short.

    Secrets are masked first: half a secret is not recognized as one.
    """
    if isinstance(text, OwnText):
        return text
    masked = redact_value("", text)
    if len(masked) <= longest:
        return masked
    words, blank, _ = masked[:longest].rpartition(" ")
    return f"{words.rstrip(' ,;:') if blank and 3 * len(words) > 2 * longest else masked[: longest - 1]}…"


def parts(words: Words) -> tuple[str, ...]:
    """The texts that words are made of."""
    return (words,) if isinstance(words, str) else words


def list_words(words: Iterable[str], between: str = ", ") -> tuple[str, ...]:
    """The texts of a list with what stands between them."""
    return tuple(part for text in words for part in (between, text))[1:]


def plain_text(words: Words) -> str:
    """Words as one text."""
    return words if isinstance(words, str) else "".join(words)


def lines(listing: Listing) -> list[str]:
    """The lines of a listing: secrets masked, nothing in them that acts."""
    return [escape_text(redact_text(line).text) for line in listing.text.splitlines()]


def value(cell: Words | Value) -> Value:
    """A cell as a value with its origin."""
    return cell if isinstance(cell, Value) else Value(cell)
