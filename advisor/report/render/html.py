"""A document as one page that fetches nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor import __version__
from advisor.report.document import (
    Chart,
    Code,
    Entries,
    Entry,
    Facts,
    Items,
    Listing,
    Paragraph,
    Section,
    Table,
    holds,
    lines,
    parts,
    value,
)
from advisor.report.render.markup import Html, joined, listed, tag
from advisor.report.render.page import document as page_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.report.document import Block, Document, Value, Words
    from advisor.report.paper import Paper

MOST = 1_000  # rows of a table and items of a list
TOP, DEEPEST = 2, 6  # levels of headings below the title


def write(document: Document, page: Paper) -> str:  # noqa: ARG001 - every format is called alike
    """The whole page."""
    title, *about = [part for part in document.title if part]
    head = [tag("p", " · ".join(about), class_="about")] if about else []
    body = [shown_block(block, TOP) for block in document.blocks if holds(block)]
    return page_of(title, head, body, f"mycnf {__version__} · secrets are masked")


def shown(words: Words) -> Html:
    """Words of any origin, names and values as code."""
    spans = (tag("code", part) if isinstance(part, Code) else part for part in parts(words))
    return joined(spans, " " if all(isinstance(part, Code) for part in parts(words)) else "")


def shown_block(block: Block, level: int = TOP) -> Html:  # noqa: PLR0911 - one answer a kind of block
    """One block, its heading of this level."""
    match block:
        case Paragraph(words=words, strong=strong):
            return tag("p", tag("strong", shown(words)) if strong else shown(words))
        case Facts(rows=rows):
            pairs = [tag("div", tag("dt", name), tag("dd", shown(words))) for name, words in rows if words]
            return tag("dl", *pairs, class_="facts")
        case Items(items=items):
            return listed("ul", [*map(shown, items[:MOST]), *_more(len(items))])
        case Table():
            return _table(block)
        case Listing():
            return tag("pre", joined((tag("code", line) for line in lines(block)), "\n"))
        case Chart():
            return _chart(block)
        case Entry():
            return _entry(block, level)
        case Entries(entries=entries):
            return _inside(entries, level)
        case Section():
            return _section(block, level)


def _inside(blocks: Iterable[Block], level: int) -> Html:
    return joined(shown_block(block, level) for block in blocks if holds(block))


def _section(section: Section, level: int) -> Html:
    if not section.title:
        return _inside(section.blocks, level)
    title = shown(section.title)
    if section.folded:
        return tag("details", tag("summary", title), _inside(section.blocks, level))
    aside = [tag("p", section.aside, class_="about")] if section.aside else []
    heading = tag(f"h{min(level, DEEPEST)}", Html(f"{title[:1].upper()}{title[1:]}"))
    return tag("section", heading, *aside, _inside(section.blocks, level + 1))


def _entry(entry: Entry, level: int) -> Html:
    sure = [" ", tag("span", entry.sure, class_="sure")] if entry.sure else []
    kind = tag("span", entry.kind, class_=f"badge {entry.severity.value}")
    where = [" ", entry.where] if entry.where else []
    heading = tag(f"h{min(level, DEEPEST)}", kind, *where, " ", shown(entry.title), *sure)
    return tag("article", heading, _inside(entry.blocks, level + 1), class_=f"finding {entry.severity.value}")


def _table(table: Table) -> Html:
    heads = (tag("th", head, scope="col", class_=_kind(at, table)) for at, head in enumerate(table.heads))
    rows = [
        tag("tr", *(tag("td", _cell(value(cell)), class_=_kind(at, table)) for at, cell in enumerate(row)))
        for row in table.rows[:MOST]
    ]
    inside = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="sheet")
    label = f"Table: {', '.join(table.heads)}"
    whole = tag("div", inside, class_="wide", tabindex="0", role="region", aria_label=label)
    notes = [*_more(len(table.rows)), *([table.more] if table.more else [])]
    return joined([whole, *(tag("p", note, class_="fine-print") for note in notes)])


def _kind(column: int, table: Table) -> str:
    return "number" if column in table.numbers else "words"


def _cell(cell: Value) -> Html:
    note = [" ", tag("span", cell.note, class_="sure")] if cell.note else []
    return joined([*([cell.lead, " "] if cell.lead else []), shown(cell.words), *note])


def _more(count: int) -> Sequence[str]:
    return [f"… and {count - MOST:,} more: --format json has all"] if count > MOST else []


def _chart(chart: Chart) -> Html:
    from advisor.report.render import svg_chart

    drawn = svg_chart.draw(chart.curves, chart.caption, "", (chart.axis, chart.caption), joined=chart.joined)
    return tag("figure", Html(drawn), class_="chart")
