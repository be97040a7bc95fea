"""A document as Markdown for a ticket or a page, as GitHub, GitLab and Jira's importers draw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.redaction.secrets import redact_value
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
from advisor.report.render.markdown_text import code, prose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.report.document import Block, Document, Value, Words
    from advisor.report.paper import Paper

MOST = 200  # rows of a table and items of a list: trackers take no more than some ten thousand characters
LONGEST = 600  # characters of one text
VALUE = 120  # characters of a value in a table
FENCE = "```"
TOP, DEEPEST = 2, 6  # levels of headings


def write(document: Document, page: Paper) -> str:  # noqa: ARG001 - every format is called alike
    """The whole report, its title as a heading of the second level."""
    blocks = [f"{'#' * TOP} {' · '.join(shown(part) for part in document.title if part)}"]
    blocks += [text for block in document.blocks if holds(block) for text in _blocks(block, TOP + 1)]
    return "\n\n".join(blocks) + "\n"


def shown(words: Words, longest: int = LONGEST) -> str:
    """Words of any origin: secrets masked, and no markup, link or mention in them; `longest` is of names and values."""
    made = ""
    for part in parts(words):
        if isinstance(part, Code):
            gap = " " if made.endswith("`") else ""  # two spans would be one
            made += gap + code(_cut(redact_value("", part), longest))
        else:
            made += _between(_cut(redact_value("", part), LONGEST))
    return made.strip()


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _between(text: str) -> str:
    """Prose that keeps the spaces at its ends, which part it from what stands beside it."""
    before, after = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' * before}{prose(text)}{' ' * after}"


def _blocks(block: Block, level: int) -> Iterator[str]:
    match block:
        case Paragraph(words=words, strong=strong):
            yield f"**{shown(words)}**" if strong else shown(words)
        case Facts(rows=rows):
            yield "\n".join(f"- **{shown(name)}:** {shown(words)}" for name, words in rows if words)
        case Items(items=items, grows=grows):
            kept = items[: MOST if grows else None]
            more = [f"- … and {len(items) - len(kept):,} more"] if len(items) > len(kept) else []
            yield "\n".join([*(f"- {shown(item)}" for item in kept), *more])
        case Table():
            yield from _table(block)
        case Listing(language=language):
            text = "\n".join(lines(block)).replace(FENCE, "` ` `")
            yield f"{FENCE}{language}\n{text}\n{FENCE}"
        case Chart():
            return  # no tracker draws one
        case Entry():
            yield from _entry(block, level)
        case Entries(entries=entries):
            for entry in entries:
                yield from _entry(entry, level)
        case Section():
            yield from _section(block, level)


def _section(section: Section, level: int) -> Iterator[str]:
    inside = [block for block in section.blocks if holds(block)]
    if section.folded:
        texts = [text for block in inside for text in _blocks(block, level + 1)]
        yield "\n\n".join([f"<details>\n<summary>{shown(section.title)}</summary>", *texts, "</details>"])
        return
    if section.title:
        title = shown(section.title)
        yield f"{'#' * min(level, DEEPEST)} {title[:1].upper()}{title[1:]}"
        level += 1
    if section.aside:
        yield shown(section.aside)
    for block in inside:
        yield from _blocks(block, level)


def _entry(entry: Entry, level: int) -> Iterator[str]:
    sure = f" ({entry.sure})" if entry.sure else ""
    where = f" {shown(entry.where)}" if entry.where else ""
    yield f"{'#' * min(level, DEEPEST)} {entry.kind}:{where} {shown(entry.title)}{sure}"
    for block in entry.blocks:
        if holds(block):
            yield from _blocks(block, level + 1)


def _table(table: Table) -> Iterator[str]:
    drawn = [
        f"| {' | '.join(map(shown, table.heads))} |",
        f"|{''.join('---:|' if at in table.numbers else '---|' for at in range(len(table.heads)))}",
    ]
    kept = table.rows[: MOST if table.grows else None]
    drawn += [f"| {' | '.join(_cell(value(cell)) for cell in row)} |" for row in kept]
    yield "\n".join(drawn)
    if len(table.rows) > len(kept):
        yield f"… and {len(table.rows) - len(kept):,} more; `--format json` has all."
    if table.more:
        yield shown(table.more)


def _cell(cell: Value) -> str:
    lead = f"{cell.lead} " if cell.lead else ""
    note = f" ({shown(cell.note, VALUE)})" if cell.note else ""
    words = shown(cell.words, VALUE)
    if not isinstance(cell.words, tuple | Code) and cell.words.endswith("*"):  # the mark of a claimed difference
        words = f"{shown(cell.words[:-1], VALUE)}\\*"
    return f"{lead}{words}{note}"
