"""A document as Markdown for a ticket or a page, and foreign text escaped so that it is shown as written."""

from __future__ import annotations

import re

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
    from collections.abc import Iterator, Sequence

    from advisor.report.document import Block, Document, Value, Words
    from advisor.report.output import Paper


# A word with the punctuation of the sentence around it.
_AROUND = "([\"'(]*)(.*?)([\"'),;:.!?\u2020\u2026]*)"
_URL = re.compile(r"https?://[\w.~:/?#@!$&'*+,;=%-]+", re.ASCII)
# A word that no dialect of Markdown and no forge makes anything of: letters, a number, or several of these joined.
_SIGNS = r"[-=+%/\u2013\u2020\xb7\xd7\u2264\u2265\u2026\u2190\u2192]"
_WORD = rf"(?:[^\W_]+(?:['/-][^\W_]+)*|[-+]?\d+(?:[.,:]\d+)*[%A-Za-z]*|{_SIGNS}|)"
# Words that forges link although they look plain: commits, and issues of trackers.
_LINKED = r"[0-9A-Fa-f]{7,64}|[A-Za-z][A-Za-z0-9]*-\d+"


def prose(text: str) -> str:
    """A sentence on one line; each word that could mean something to a renderer is put in a code span."""
    return " ".join(_word(word) for word in escape_text(text).split())


def code(text: str) -> str:
    """The text as a code span, fit for a table's cell too; a space where there is none, as a span can't be empty."""
    # Tables are cut at their bars before code spans are looked for, and renderers differ in how one is escaped.
    return "&#124;".join(_span(part) if part else "" for part in escape_text(text).split("|")) or "` `"


def link_words(url: str, words: str) -> str:
    """Words with an address behind them, where it is one of the web; the words alone else."""
    shown = prose(words)
    return f"[{shown}]({url})" if _URL.fullmatch(url) else shown


def _span(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    # One space at each end is taken off again, unless there is nothing but spaces.
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _word(word: str) -> str:
    parts = re.fullmatch(_AROUND, word)
    before, bare, after = parts.groups() if parts else ("", word, "")
    while after.startswith(")") and bare.count("(") > bare.count(")"):
        bare, after = bare + ")", after[1:]
    if re.fullmatch(_WORD, bare) and not re.fullmatch(_LINKED, bare):
        return word
    return f"{before}{code(bare)}{after}"


MOST = 200  # rows of a table and items of a list: trackers take no more than some ten thousand characters
LONGEST = 600  # characters of one text
VALUE = 120  # characters of a value in a table
STATEMENT = 400  # characters of a statement or line to copy, which is whole or not there
FENCE = "```"
TOP, DEEPEST = 2, 6  # levels of headings
BETWEEN = 2  # line ends between two blocks


def write(document: Document, page: Paper) -> str:  # noqa: ARG001 - every format is called alike
    """The whole report, its title as a heading of the second level."""
    blocks = [f"{'#' * TOP} {' · '.join(words_markdown(part) for part in document.title if part)}"]
    blocks += [text for block in document.blocks if holds(block) for text in _blocks(block, TOP + 1)]
    blocks += [words_markdown(document.foot)] if document.foot else []
    return "\n\n".join(blocks) + "\n"


def length(block: Block) -> int:
    """What a block adds to a report, as trackers count: in units of UTF-16, of which an emoji has two."""
    texts = list(_blocks(block, TOP + 2)) if holds(block) else []
    return sum(len(text) + sum(character > "\uffff" for character in text) + BETWEEN for text in texts)


def words_markdown(words: Words, longest: int = LONGEST) -> str:
    """Words of any origin: secrets masked, and no markup, link or mention in them; `longest` is of names and values."""
    made = ""
    for part in parts(words):
        if isinstance(part, Code):
            made += " " if made.endswith("`") else ""  # two spans would be one
            made += _to_copy(part) if isinstance(part, Copy) else code(shorten_text(part, longest))
        elif isinstance(part, Link):
            made += link_words(part.url, shorten_text(part, LONGEST))
        else:
            made += _between(shorten_text(part, LONGEST))
    return made.strip()


def _to_copy(text: str) -> str:
    """A statement or a line of an option file, whole; one that is too long is counted, as half is no use."""
    masked = redact_text(text).text
    if len(masked) > STATEMENT:
        return f"{len(masked):,} characters, too long for a ticket: `--format json` has them"
    return code(masked)


def _between(text: str) -> str:
    """Prose that keeps the spaces at its ends, which part it from what stands beside it."""
    before, after = text[:1].isspace(), text[-1:].isspace() and not text.isspace()
    return f"{' ' * before}{prose(text)}{' ' * after}"


def _undrawn(drawing: Chart | StackedBar) -> Iterator[str]:
    """What a chart marks, in words: no tracker draws one."""
    if isinstance(drawing, Chart) and drawing.marks:
        yield words_markdown((Code(drawing.axis), ", ", ", ".join(mark.name for mark in drawing.marks)))


def _blocks(block: Block, level: int) -> Iterator[str]:
    match block:
        case Paragraph(words=words, strong=strong, lead=lead):
            text = words_markdown(words)
            yield f"{f'**{words_markdown(lead)}** ' if lead else ''}{f'**{text}**' if strong else text}"
        case Facts(rows=rows):
            yield "\n".join(_fact(name, value(words)) for name, words in rows if words)
        case Items(items=items, grows=grows):
            kept = items[: MOST if grows else None]
            more = [f"- … and {len(items) - len(kept):,} more"] if len(items) > len(kept) else []
            yield "\n".join([*(f"- {words_markdown(item)}" for item in kept), *more])
        case Table():
            yield from _table(block)
        case Listing(language=language):
            text = "\n".join(lines(block)).replace(FENCE, "` ` `")
            yield f"{FENCE}{language}\n{text}\n{FENCE}"
        case Chart() | StackedBar():
            yield from _undrawn(block)
        case Entry():
            yield from _entry(block, level)
        case Entries(entries=entries, numbered=True):
            yield "\n".join(_step(number, entry) for number, entry in enumerate(entries, 1))
        case Entries(entries=entries):
            yield from _entries(entries, level)
        case Section():
            yield from _section(block, level)
        case Cards(sections=sections):
            for section in sections:
                yield from _section(section, level)


def _section(section: Section, level: int) -> Iterator[str]:
    inside = [block for block in section.blocks if holds(block)]
    title = words_markdown(section.title)
    title = f"{title[:1].upper()}{title[1:]}"
    if section.folded:
        texts = [text for block in inside for text in _blocks(block, level + 1)]
        yield "\n\n".join([f"<details>\n<summary>{title}</summary>", *texts, "</details>"])
        return
    if title:
        yield f"{'#' * min(level, DEEPEST)} {title}"
        level += 1
    if section.remark:
        yield words_markdown(section.remark)
    for block in inside:
        yield from _blocks(block, level)


def _fact(name: str, fact: Value) -> str:
    return f"- **{words_markdown(name)}:** {words_markdown(fact.words)}" + (
        f"\n  {words_markdown(fact.note)}" if fact.note else ""
    )


def _entries(entries: Sequence[Entry], level: int) -> Iterator[str]:
    """The whole ones under a heading each, then the brief ones as a list."""
    brief = [f"- {_line(entry)}" for entry in entries if entry.brief]
    whole = [text for entry in entries if not entry.brief for text in _entry(entry, level)]
    yield from whole
    if brief:
        yield from [f"{'#' * min(level, DEEPEST)} In short"] if whole else []
        yield "\n".join(brief)


def _entry(entry: Entry, level: int) -> Iterator[str]:
    if entry.brief:
        yield f"- {_line(entry)}"
        return
    sure = f" ({words_markdown(entry.sure)})" if entry.sure else ""
    where = f" {words_markdown(entry.where)}" if entry.where else ""
    yield f"{'#' * min(level, DEEPEST)} {entry.kind}:{where} {words_markdown(entry.title)}{sure}"
    for block in entry.blocks:
        if holds(block):
            yield from _blocks(block, level + 1)


def _line(entry: Entry) -> str:
    """A brief entry: its head and its first paragraph."""
    return f"{entry.kind}: {words_markdown(entry.title)}: {_first(entry)}"


def _first(entry: Entry) -> str:
    return words_markdown(entry.blocks[0].words) if entry.blocks and isinstance(entry.blocks[0], Paragraph) else ""


def _step(number: int, entry: Entry) -> str:
    """An item of a numbered list; four columns are within an item of one digit and of two alike."""
    rest = (text for block in entry.blocks[1:] if holds(block) for text in _blocks(block, DEEPEST))
    inner = [f"    {line}" for text in rest for line in text.split("\n")]
    sure = f" ({words_markdown(entry.sure)})" if entry.sure else ""
    return "\n".join([f"{number}. **{entry.kind}** {words_markdown(entry.title)}{sure}: {_first(entry)}", *inner])


def _table(table: Table) -> Iterator[str]:
    drawn = [
        f"| {' | '.join(map(words_markdown, table.heads))} |",
        f"|{''.join('---:|' if at in table.numbers else '---|' for at in range(len(table.heads)))}",
    ]
    kept = table.rows[: MOST if table.grows else None]
    drawn += [f"| {' | '.join(_cell(value(cell)) for cell in row)} |" for row in kept]
    yield "\n".join(drawn)
    if len(table.rows) > len(kept):
        yield f"… and {len(table.rows) - len(kept):,} more; `--format json` has all."
    if table.more:
        yield words_markdown(table.more)


def _cell(cell: Value) -> str:
    lead = f"{cell.lead} " if cell.lead else ""
    note = f" ({words_markdown(cell.note, VALUE)})" if cell.note else ""
    return f"{lead}{words_markdown(cell.words, VALUE)}{note}"
