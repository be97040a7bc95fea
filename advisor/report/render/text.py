"""A document as text for a terminal, a pipe or a mail: 80 columns wide where words allow."""

from __future__ import annotations

from advisor.redaction import escape_text, redact_value
from advisor.report import bold_text, paint_severity, wrap
from advisor.report.document import (
    Cards,
    Chart,
    Code,
    Entries,
    Entry,
    Facts,
    Items,
    Link,
    Listing,
    OwnText,
    Paragraph,
    Section,
    StackedBar,
    Table,
    holds,
    lines,
    parts,
)
from advisor.report.document import value as valued

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.report.document import Block, Document, Value, Words
    from advisor.report.output import Paper

LABEL = 10  # columns of a fact's name
MOST = 40  # rows of a table and items of a list
ROOMY = 24  # columns, from which on a last column is wrapped instead of put below
FAINT, TO_COPY = "2", "32"  # colours of names, and of what is to be copied
STEP = 2  # columns by which what is in a section is indented


def write(document: Document, page: Paper) -> str:
    """The whole report: blocks with an empty line between them, what is in a section without."""
    title = wrap(" · ".join(map(words_text, filter(None, document.title))), rest="  ", width=page.width)
    blocks = [bold_text(title, page.colour)] if title else []
    blocks += ["\n".join(_lines(block, page, 0)) for block in document.blocks if holds(block)]
    return page.fit_text("\n\n".join(blocks) + "\n")


def block_text(block: Block, page: Paper) -> str:
    """A separate block."""
    return page.fit_text("\n".join(_lines(block, page, 0)))


def words_text(words: Words) -> str:
    """Words on one line: secrets masked, nothing that moves a cursor, the address of a link behind it."""
    text = "".join(f"{part}, {part.url}" if isinstance(part, Link) and part.away else part for part in parts(words))
    return escape_text(text if all(isinstance(part, OwnText) for part in parts(words)) else redact_value("", text))


def _lines(block: Block, page: Paper, depth: int) -> Iterator[str]:  # noqa: PLR0912 - one branch a kind of block
    margin = " " * STEP * depth
    match block:
        case Paragraph(words=words, indent=indent, lead=lead):
            yield _paragraph((f"{lead} ", *parts(words)) if lead else words, margin or " " * indent, page)
        case Facts(rows=rows, label=label):
            named = [(words_text(name), words) for name, words in rows if words]
            width = label or max(LABEL, *(len(name) + 1 for name, _ in named))
            for name, fact in named:
                yield from _fact(f"{margin or '  '}{name:<{width}}", valued(fact), page)
        case Items(items=items, grows=grows):
            inner, kept = margin or "  ", items[: MOST if grows else None]
            yield from (wrap(words_text(item), inner, f"{inner}  ", page.width) for item in kept)
            yield from _rows_left(len(items) - len(kept), inner)
        case Table():
            yield from _table(block, page, margin or "  ")
        case Listing():
            yield from (f"{margin or '  '}{line}" for line in lines(block))
        case Chart():
            yield from _chart(block, page)
        case StackedBar(caption=caption, parts=amounts):
            listed = ", ".join(f"{written} {name}" for name, _, written in amounts)
            yield wrap(words_text(f"{caption}: {listed}"), margin or "  ", width=page.width)
        case Cards(sections=sections):
            yield from (line for section in sections for line in _section(section, page, depth))
        case Entry():
            yield from _entry(block, page)
        case Entries(entries=entries):
            for at, entry in enumerate(entries):
                yield from [""] * bool(at and not entry.brief)
                yield from _entry(entry, page)
        case Section():
            yield from _section(block, page, depth)


def _paragraph(words: Words, margin: str, page: Paper) -> str:
    if isinstance(words, tuple) and any(isinstance(part, Code) for part in words[-1:]):
        return f"{margin}{words_text(words)}"  # it ends with what is to be copied
    return wrap(words_text(words), margin, width=page.width)


def _fact(lead: str, fact: Value, page: Paper) -> Iterator[str]:
    """A name with its words; what is to be copied stays on one line, or a line a piece where there are several."""
    copied = [words_text(part) for part in parts(fact.words) if isinstance(part, Code)]
    if copied and len(copied) == len(parts(fact.words)):
        line = "  ".join(copied)
        lines = [line] if len(lead) + len(line) <= page.width else copied
        for at, piece in enumerate(lines):
            yield f"{' ' * len(lead) if at else _paint_text(lead, FAINT, page)}{_paint_text(piece, TO_COPY, page)}"
    else:
        text = wrap(words_text(fact.words), lead, " " * len(lead), page.width)
        yield f"{_paint_text(text[: len(lead)], FAINT, page)}{text[len(lead) :]}"
    if fact.note:
        yield wrap(words_text(fact.note), " " * len(lead), width=page.width)


def _paint_text(text: str, colour: str, page: Paper) -> str:
    return f"\x1b[{colour}m{text}\x1b[0m" if page.colour and text.strip() else text


def _section(section: Section, page: Paper, depth: int) -> Iterator[str]:
    inside = [block for block in section.blocks if holds(block)]
    if not section.title:
        for block in inside:
            yield from _lines(block, page, depth)
        return
    yield from _title(section, page, " " * STEP * depth)
    for before, block in zip((None, *inside), inside, strict=False):
        yield from [""] * (_is_figure(before) or (before is not None and _is_figure(block)))
        yield from _lines(block, page, depth + 1)


def _is_figure(block: Block | None) -> bool:
    """Whether an empty line parts it from what stands beside it in a section."""
    return isinstance(block, Chart) or (isinstance(block, Table) and block.headed)


def _title(section: Section, page: Paper, margin: str) -> Iterator[str]:
    title = wrap(words_text(section.title), margin, width=page.width)[len(margin) :]
    drawn = paint_severity(title, section.severity, page.colour) if section.severity else bold_text(title, page.colour)
    if not section.remark:
        yield margin + drawn
        return
    aside = words_text(section.remark)
    if len(margin) + len(title) + STEP + len(aside) <= page.width:
        yield f"{margin}{drawn}  {aside}"
        return
    yield margin + drawn
    yield wrap(aside, f"{margin}  ", width=page.width)


def _entry(entry: Entry, page: Paper) -> Iterator[str]:
    """The head with how sure it is at the right edge, and the rest below."""
    inside = [block for block in entry.blocks if holds(block)]
    where = f"{words_text(entry.where)}  " if entry.where else ""
    title = words_text(entry.title)
    room = max(2, page.width - len(f"{entry.kind}  {where}{title}") - len(entry.sure))
    kind = paint_severity(entry.kind, entry.severity, page.colour)
    sure = _paint_text(entry.sure, FAINT, page)
    head = f"{kind}  {where}{bold_text(title, page.colour)}{' ' * room if entry.sure else ''}{sure}"
    if (entry.beside or entry.brief) and inside and isinstance(inside[0], Paragraph):
        first = words_text(inside[0].words)
        if len(f"{entry.kind}  {where}{title}  {first}") <= page.width:
            head, inside = f"{head}  {first}", inside[1:]
    yield head
    for block in inside:
        yield from _lines(block, page, 1)


def _rows_left(count: int, margin: str) -> Iterator[str]:
    if count:
        yield f"{margin}… and {count:,} more: --format json has all"


def _table(table: Table, page: Paper, margin: str) -> Iterator[str]:
    """Rows in columns; one that finds no room there has its cells below one another."""
    room = page.width - len(margin)
    of_numbers = len(table.numbers) == len(table.heads) - 1
    for at, piece in enumerate(_pieces(table, room) if of_numbers else [table]):
        yield from [""] * bool(at)
        wide = of_numbers and sum(_columns(piece)) + STEP * len(piece.numbers) > room
        yield from _lettered_table(piece, page, margin) if wide else _rows(piece, page, margin)
    if table.more:
        yield wrap(words_text(table.more), margin, width=page.width)


def _rows(table: Table, page: Paper, margin: str) -> Iterator[str]:
    rows = [tuple(map(valued, row)) for row in table.rows[: MOST if table.grows else None]]
    widths = table.widths or _widths(table, rows, page.width - len(margin))
    if table.headed:
        yield margin + _cells(table.heads, widths, table.numbers)
    for row in rows:
        yield from _row(row, table, widths, page, margin)
    yield from _rows_left(len(table.rows) - len(rows), margin)


def _lettered_table(table: Table, page: Paper, margin: str) -> Iterator[str]:
    """A table whose heads leave no room: each is a letter, which a line below spells out."""
    letters = [chr(ord("a") + at) for at in range(len(table.heads) - 1)]
    yield from _rows(table._replace(heads=(table.heads[0], *letters)), page, margin)
    yield from (
        wrap(f"{a}: {head}", margin, width=page.width) for a, head in zip(letters, table.heads[1:], strict=True)
    )


def _columns(table: Table) -> list[int]:
    """How wide each column is."""
    cells = (table.heads, *table.rows)
    return [max(len(words_text(valued(cell).words)) for cell in column) for column in zip(*cells, strict=True)]


def _pieces(table: Table, room: int) -> Iterator[Table]:
    """A table of numbers in pieces that fit, each with the first column; a column too wide is printed alone."""
    columns = _columns(table)
    chosen: list[int] = []
    for at in range(1, len(columns)):
        if chosen and columns[0] + sum(STEP + columns[n] for n in (*chosen, at)) > room:
            yield _part(table, chosen)
            chosen = []
        chosen.append(at)
    yield _part(table, chosen)


def _part(table: Table, chosen: list[int]) -> Table:
    kept = (0, *chosen)
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    heads = tuple(table.heads[at] for at in kept)
    return table._replace(heads=heads, rows=rows, numbers=tuple(range(1, len(kept))), more="")


def _widths(table: Table, rows: Sequence[tuple[Value, ...]], room: int) -> tuple[int, ...]:
    """As wide as the widest cell; rows whose first cells leave the last one no room don't count."""
    texts = [[len(words_text(cell.words)) for cell in row] for row in rows]
    fitting = [line for line in texts if sum(line[:-1]) + STEP * (len(line) - 1) <= room - STEP]
    heads = [len(head) for head in table.heads if table.headed] or [0] * len(table.heads)
    return tuple(max(column) for column in zip(heads, *fitting, strict=True))


def _cells(texts: Sequence[str], widths: Sequence[int], numbers: Sequence[int]) -> str:
    padded = zip(texts, [*widths, 0], strict=False)
    cells = (f"{text:>{width}}" if at in numbers else f"{text:<{width}}" for at, (text, width) in enumerate(padded))
    return "  ".join(cells).rstrip()


def _row(row: tuple[Value, ...], table: Table, widths: Sequence[int], page: Paper, margin: str) -> Iterator[str]:
    texts = [words_text(cell.words) for cell in row]
    notes = [words_text(cell.note) for cell in row]
    rest = page.width - len(margin) - sum(widths[: len(row) - 1]) - STEP * (len(row) - 1)
    rooms = [*widths[1 : len(row) - 1], rest]
    fits = [len(text) <= room for text, room in zip(texts[1:], rooms, strict=True)]
    whole = margin + _cells(texts, widths, table.numbers)
    if not (table.headed or all(fits) or any(notes)) and len(whole) <= page.width:
        yield whole  # one cell is wider than its column, which shifts those behind it
        return
    if not (table.headed or texts[0] or all(fits[:-1])):  # its first cell is that of a row above: the last goes below
        yield margin + _cells(texts[:-1], widths, table.numbers)
        yield wrap(texts[-1].replace(",", ", ").replace(",  ", ", "), " " * (page.width - rest), width=page.width)
        return
    if any(cell.lead for cell in row) or not all(fits[:-1]) or (table.widths and not fits[-1] and rest < ROOMY):
        yield from _stack_row(row, table, page, margin)
        return
    if len(texts[0]) > widths[0]:
        yield margin + texts[0]
        texts[0] = ""
    if fits[-1]:
        yield margin + _cells(texts, widths, table.numbers)
    else:
        lead = margin + _cells(texts[:-1], widths, table.numbers)
        yield _wrap_cell(lead, texts[-1], rest, page, len(margin) + widths[0] + STEP)
    if any(notes):
        cut = [_tail(note, room) for note, room in zip(notes, [widths[0], *rooms], strict=True)]
        yield margin + _cells(cut, widths, table.numbers)


def _wrap_cell(lead: str, text: str, room: int, page: Paper, below: int) -> str:
    """The last cell on several lines of its own column, or from the column `below` on where that is narrow."""
    if room < ROOMY:
        return f"{lead}\n{wrap(text, ' ' * below, width=page.width)}"
    column = page.width - room
    return wrap(text, f"{lead:<{column}}", " " * column, page.width)


def _stack_row(row: tuple[Value, ...], table: Table, page: Paper, margin: str) -> Iterator[str]:
    """The first cell on a line of its own, then each other with the head of its column."""
    yield margin + words_text(row[0].words)
    for head, cell in zip(table.heads[1:], row[1:], strict=True):
        text, note = words_text(cell.words), words_text(cell.note)
        lead = f"{margin}  {f'{cell.lead} {head}' if cell.lead else head}  "
        if len(lead) + len(text) > page.width and ", " not in text:
            text = text.replace(",", ", ")  # a list that is too long for its line can be wrapped
        wrapped = wrap(text, lead, width=page.width)
        if note and len(wrapped.rpartition("\n")[2]) + STEP + len(note) <= page.width:
            wrapped, note = f"{wrapped}  {note}", ""
        yield wrapped
        if note:
            yield " " * len(lead) + _tail(note, page.width - len(lead))


def _tail(text: str, room: int) -> str:
    """The end of a path that is too long, which says more than its beginning."""
    return text if len(text) <= room else f"…{text[len(text) - room + 1 :]}"


def _chart(chart: Chart, page: Paper) -> Iterator[str]:
    from advisor.report.render import terminal_chart

    yield wrap(words_text(chart.caption), "  ", width=page.width)
    yield terminal_chart.draw(chart.curves, page, joined=chart.joined, marks=chart.marks)
