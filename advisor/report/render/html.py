"""A document as one page that fetches nothing; HTML is a type of its own, into which text comes masked and escaped."""

from __future__ import annotations

import base64
import hashlib
import os
from functools import cache
from html import escape

from advisor import __version__
from advisor.core.model import Severity
from advisor.redaction import escape_text, redact_text
from advisor.report.document import (
    Cards,
    Chart,
    Code,
    Copy,
    Entries,
    Entry,
    Facts,
    Items,
    Link,
    Listing,
    Paragraph,
    Section,
    StackedBar,
    Table,
    holds,
    lines,
    parts,
    shorten_text,
    value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.report.document import Block, Document, Value, Words
    from advisor.report.output import Paper


LONGEST = 2_000  # characters of one text
EMPTY = frozenset({"meta", "link", "input"})  # elements that have no end
# Those that end a line of the file, for who reads it without a browser; no browser shows a space there.
BLOCKS = frozenset(
    {"head", "meta", "link", "title", "style", "header", "footer", "section", "h1", "h2", "h3", "h4", "p", "ul", "ol"}
    | {"nav", "li", "dl", "div", "details", "summary", "figure", "article", "table", "tr", "fieldset", "script"}
)


class Html(str):
    """Markup that may be printed as it stands."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | bool | None) -> Html:
    """An element; a child that is no Html is text of any origin. `class_` is class, `data_code` is data-code.

    An attribute of None or False is left out, one of True has no value.
    """
    opening = f"<{name}{''.join(_attribute(*pair) for pair in attributes.items())}>"
    end = "\n" if name in BLOCKS else ""
    return Html(f"{opening}{end}" if name in EMPTY else f"{opening}{join_markup(children)}</{name}>{end}")


def join_markup(parts: Iterable[str], between: str = "") -> Html:
    """The parts as one piece of markup; what is no Html among them is text."""
    return Html(between.join(part if isinstance(part, Html) else escape_markup(part) for part in parts))


def escape_markup(words: str, longest: int = LONGEST) -> Html:
    """Words of any origin: secrets masked, on one line, nothing in them that acts, no longer than a page bears."""
    return Html(escape(escape_text(shorten_text(words, longest))))


def list_items(name: str, items: Iterable[str], /, **attributes: str | bool | None) -> Html:
    """A list, `name` being ul or ol; nothing where it has no items."""
    rows = [tag("li", item) for item in items]
    return tag(name, *rows, **attributes) if rows else Html("")


def _attribute(name: str, value: str | bool | None) -> str:
    if value is None or value is False:
        return ""
    plain = name.rstrip("_").replace("_", "-")
    return f" {plain}" if value is True else f' {plain}="{escape_markup(value)}"'


FOLDER = os.path.dirname(os.path.abspath(__file__))
THEMES = (("", "system"), ("light", "light"), ("dark", "dark"))


def page_of(title: str, head: Sequence[str], parts: Sequence[str], foot: str) -> str:
    """The whole page; `head` is what stands beside the title, `parts` are sections, `foot` the last line."""
    style, script = _asset("page.css"), _asset("page.js")
    about = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(_policy(style, script))),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"mycnf {__version__}"),
        tag("link", rel="icon", href="data:,"),
        tag("title", title),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", class_="skip", href="#content"),
        tag("header", _theme(), tag("h1", title), *head),
        tag("main", *parts, id="content", tabindex="-1"),
        tag("footer", tag("p", foot)),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', about, body, lang='en')}\n"


def _policy(style: str, script: str) -> str:
    """Nothing may be fetched, sent or framed; of styles and scripts, these two alone are in force."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


@cache
def _asset(name: str) -> Html:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return Html(file.read())


def _theme() -> Html:
    """The switch of colours, which the script shows."""
    options = [tag("option", words, value=value) for value, words in THEMES]
    return tag("div", tag("label", "Colours ", tag("select", *options, id="theme")), class_="theme", hidden=True)


BAR_WIDTH, BAR_TOP, THICK, FOOT = 400, 4, 26, 20
BEYOND = 1.3  # times the limit, or the amounts without the last one: what exceeds it is cut off, with a remark
KINDS = 4  # looks of amounts


def draw(bar: StackedBar) -> Html:
    """The bar with its legend; the drawing is for the eye alone, as the legend has every number."""
    reach = _reach(bar)
    drawn, at = [], 0.0
    for order, (_, size, _) in enumerate(bar.parts):
        width = max(1.0, size / reach * BAR_WIDTH)
        drawn.append(_rect(at, min(width, max(0.0, BAR_WIDTH - at)), order))
        at += width
    cut = at > BAR_WIDTH + 1
    box = f"0 0 {BAR_WIDTH} {BAR_TOP + THICK + FOOT}"
    marks = (*(_limit(bar.limit, reach) if bar.limit else ()), *(_cut() if cut else ()))
    svg = tag("svg", *drawn, *marks, viewBox=box, role="img", aria_label=_words(bar, cut=cut))
    legend = (_legend_entry(name, written, order) for order, (name, _, written) in enumerate(bar.parts))
    note = [tag("p", "The last amount is cut off: it does not fit the drawing.", class_="fine-print")] if cut else []
    return tag("figure", svg, tag("ul", *legend, class_="legend"), *note, class_="bar")


def _reach(bar: StackedBar) -> float:
    """The amount at the right edge: the limit or the amounts but the last, if that one dwarfs them, with some room."""
    sizes = [size for _, size, _ in bar.parts]
    usual = max(bar.limit[0] if bar.limit else 0, sum(sizes[:-1]) if len(sizes) > 1 else 0)
    whole = max(sum(sizes), bar.limit[0] if bar.limit else 0)
    return float(min(whole, usual * BEYOND) if usual else whole) or 1.0


def _words(bar: StackedBar, *, cut: bool) -> str:
    amounts = ", ".join(f"{name} {written}" for name, _, written in bar.parts)
    limit = f"; limit: {bar.limit[1]}" if bar.limit else ""
    return f"{bar.caption}: {amounts}{limit}{' (the bar is cut off)' if cut else ''}"


def _rect(x: float, width: float, order: int) -> Html:
    kind = f"part-{min(order, KINDS - 1)}"
    return tag("rect", x=f"{x:.1f}", y=str(BAR_TOP), width=f"{width:.1f}", height=str(THICK), class_=kind)


def _limit(limit: tuple[int, str], reach: float) -> Iterator[Html]:
    x = limit[0] / reach * BAR_WIDTH
    side = "end" if x > BAR_WIDTH / 2 else "start"
    yield tag("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1="0", y2=str(BAR_TOP + THICK + 4), class_="limit")
    yield tag("text", limit[1], x=f"{x:.1f}", y=str(BAR_TOP + THICK + FOOT - 4), class_=side)


def _cut() -> Iterator[Html]:
    y = BAR_TOP + THICK / 2
    yield tag("path", d=f"M{BAR_WIDTH - 14} {y - 6}l8 6l-8 6", class_="cut")


def _legend_entry(name: str, written: str, order: int) -> Html:
    kind = f"swatch part-{min(order, KINDS - 1)}"
    return tag("li", tag("span", class_=kind, aria_hidden="true"), f" {name} ", tag("strong", written))


MOST = 1_000  # rows of a table and items of a list
STATEMENT = 4_000  # characters of a statement or line to copy, which is whole or not there
TOP, DEEPEST = 2, 6  # levels of headings below the title
MANY = 2  # sections, beyond which a page has contents
SIGNS = {"error": "✖", "warning": "▲", "note": "●"}  # as in the app: no severity is distinguished by its colour alone


def write(document: Document, page: Paper) -> str:  # noqa: ARG001 - every format is called alike
    """The whole page."""
    title, *about = [part for part in document.title if part]
    head = [tag("p", " · ".join(about), class_="about")] if about else []
    head += [_contents(document.blocks)]
    body = [shown_block(block, TOP) for block in document.blocks if holds(block)]
    return page_of(title, head, body, document.foot or f"mycnf {__version__} · secrets are masked")


def _contents(blocks: Iterable[Block]) -> Html:
    """Links to the sections of a page that has several."""
    named = [b for b in blocks if isinstance(b, Section) and b.name and b.title and not b.folded and holds(b)]
    links = (tag("li", tag("a", _title(section), href=f"#{section.name}")) for section in named)
    return tag("nav", tag("ul", *links), aria_label="Contents") if len(named) > MANY else Html("")


def size(block: Block) -> int:
    """Bytes that a block adds to a page."""
    return len(shown_block(block, TOP + 1).encode()) if holds(block) else 0


def words_markup(words: Words) -> Html:
    """Words of any origin, names and values as code."""
    return join_markup(map(_part, parts(words)), " " if all(isinstance(part, Code) for part in parts(words)) else "")


def _part(part: str) -> str:
    match part:
        case Copy():
            masked = redact_text(part).text
            whole = len(masked) <= STATEMENT
            long = f"{len(masked):,} characters, too long for a page: --format json has them"
            return tag("code", escape_markup(masked, STATEMENT), class_="copy") if whole else long
        case Code():
            return tag("code", part)
        case Link() if part.away or part.url.startswith("#"):
            return tag("a", str(part), href=part.url, rel="noreferrer" if part.away else None)
    return part


def shown_block(block: Block, level: int = TOP) -> Html:  # noqa: PLR0911 - one answer a kind of block
    """One block, its heading of this level."""
    match block:
        case Paragraph(words=words, strong=strong, lead=lead):
            before = [tag("strong", lead), " "] if lead else []
            inside = tag("strong", words_markup(words)) if strong else words_markup(words)
            return tag("p", *before, inside, class_="lost" if lead else None)
        case Facts(rows=rows):
            return tag("dl", *(_fact(name, value(words)) for name, words in rows if words), class_="facts")
        case Items(items=items):
            return list_items("ul", [*map(words_markup, items[:MOST]), *_more(len(items))])
        case Table():
            return _table(block)
        case Listing():
            return tag("pre", join_markup((tag("code", line) for line in lines(block)), "\n"))
        case Chart():
            from advisor.report.render import svg_chart

            return tag("figure", Html(svg_chart.draw(block)), class_="chart")
        case StackedBar():
            return draw(block)
        case Cards(sections=sections):
            laid = (shown_block(section._replace(name=""), level) for section in sections if holds(section))
            return tag("div", *laid, class_="cards")
        case Entry():
            return _entry(block, level)
        case Entries():
            return _entries(block, level)
        case Section():
            return _section(block, level)


def _inside(blocks: Iterable[Block], level: int) -> Html:
    return join_markup(shown_block(block, level) for block in blocks if holds(block))


def _fact(name: str, fact: Value) -> Html:
    note = [tag("p", words_markup(fact.note), class_="fine-print")] if fact.note else []
    return tag("div", tag("dt", name), tag("dd", words_markup(fact.words), *note))


def _section(section: Section, level: int) -> Html:
    if not section.title:
        return _inside(section.blocks, level)
    title = _title(section)
    if section.folded:
        return tag("details", tag("summary", title), _inside(section.blocks, level))
    aside = [tag("p", section.remark, class_="about")] if section.remark else []
    label = f"{section.name}-title" if section.name and level == TOP else None
    heading = tag(f"h{min(level, DEEPEST)}", title, id=label)
    inside = (heading, *aside, _inside(section.blocks, level + 1))
    return tag("section", *inside, id=section.name or None, aria_labelledby=label)


def _title(section: Section) -> Html:
    title = words_markup(section.title)
    return Html(f"{title[:1].upper()}{title[1:]}")


def badge(kind: str, severity: Severity) -> Html:
    """A severity as a sign and a word."""
    return tag("span", tag("span", SIGNS[severity], aria_hidden="true"), f" {kind}", class_=f"badge {severity}")


def _entries(block: Entries, level: int) -> Html:
    if block.numbered:
        return tag("ol", *map(_step, block.entries), class_="steps")
    if not block.orders:
        return join_markup(_entry(entry, level) for entry in block.entries)
    rows = (_entry(entry, level, "li") for entry in block.entries)
    return join_markup([_controls(block), tag("ul", *rows, id="list")])


def _entry(entry: Entry, level: int, element: str = "article") -> Html:
    inside = [_heading(entry, level), _inside(entry.blocks, level + 1)]
    if entry.folded:
        inside = [tag("details", tag("summary", inside[0]), inside[1])]
    return tag(
        element,
        _line(entry, "brief") if entry.brief else join_markup(inside),
        class_=f"finding {entry.severity}",
        id=entry.name or None,
        data_severity=entry.severity if entry.keys else None,
        **{f"data_{key}": words for key, words in entry.keys},
    )


def _heading(entry: Entry, level: int) -> Html:
    sure = [" ", tag("span", entry.sure, class_="sure")] if entry.sure else []
    where = [" ", entry.where] if entry.where else []
    kind = badge(entry.kind, entry.severity)
    return tag(f"h{min(level, DEEPEST)}", kind, *where, " ", words_markup(entry.title), *sure)


def _line(entry: Entry, kind: str | None = None) -> Html:
    """The head of an entry and its first paragraph on a line."""
    title = words_markup(entry.title)
    linked = tag("a", title, href=f"#{entry.leads}") if entry.leads else title
    first = entry.blocks[0] if entry.blocks else None
    words = [": ", words_markup(first.words)] if isinstance(first, Paragraph) and first.words else []
    sure = [" ", tag("span", entry.sure, class_="sure")] if entry.sure else []
    return tag("p", badge(entry.kind, entry.severity), " ", linked, *sure, *words, class_=kind)


def _step(entry: Entry) -> Html:
    return tag("li", _line(entry), _inside(entry.blocks[1:], DEEPEST))


def _controls(block: Entries) -> Html:
    """What filters, sorts and unfolds the entries; the script shows it, as without one it would do nothing."""
    orders = (tag("option", words, value=key) for key, words in block.orders)
    areas = (tag("option", words, value=value) for value, words in (("", "all"), *((a, a) for a in block.areas)))
    counts = {severity: sum(entry.severity is severity for entry in block.entries) for severity in Severity}
    return tag(
        "div",
        tag("label", "Search ", tag("input", type="search", id="words", autocomplete="off")),
        tag("fieldset", tag("legend", "Severity"), *(_box(*pair) for pair in counts.items() if pair[1])),
        *([tag("label", "Area ", tag("select", *areas, id="area"))] if block.areas else []),
        tag("label", "Sort by ", tag("select", *orders, id="order")),
        tag("button", "Unfold all", type="button", id="unfold", aria_pressed="false"),
        tag("p", role="status", id="shown"),
        class_="controls",
        role="search",
        aria_label=f"Filter and sort {block.what}",
        hidden=True,
    )


def _box(severity: Severity, count: int) -> Html:
    box = tag("input", type="checkbox", value=severity.value, checked=True, class_="severity")
    return tag("label", box, " ", badge(severity.value, severity), f" {count:,}")


def _table(table: Table) -> Html:
    heads = (tag("th", head, scope="col", class_=_kind(at, table)) for at, head in enumerate(table.heads))
    rows = [
        tag("tr", *(_cell(value(cell), _kind(at, table)) for at, cell in enumerate(row))) for row in table.rows[:MOST]
    ]
    inside = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="sheet")
    label = table.name or f"Table: {', '.join(table.heads)}"
    whole = tag("div", inside, class_="wide", tabindex="0", role="region", aria_label=label)
    notes = [*_more(len(table.rows)), *([table.more] if table.more else [])]
    return join_markup([whole, *(tag("p", note, class_="fine-print") for note in notes)])


def _kind(column: int, table: Table) -> str:
    return "number" if column in table.numbers else "words"


def _cell(cell: Value, kind: str) -> Html:
    lead = [cell.lead, " "] if cell.lead else []
    note = [" ", tag("span", words_markup(cell.note), class_="sure")] if cell.note else []
    return tag(
        "td", *lead, words_markup(cell.words), *note, class_=f"{kind} {cell.severity}" if cell.severity else kind
    )


def _more(count: int) -> Sequence[str]:
    return [f"… and {count - MOST:,} more: --format json has all"] if count > MOST else []
