"""The report of lint for tickets and merge requests: a table for each file and target, in Markdown of every forge."""

from __future__ import annotations

from advisor.report import plural
from advisor.report.document import Code, Document, Items, Paragraph, Section, Table, list_words, shorten_text
from advisor.report.lint import INFERRED, count_new, heading, is_inferred, outdated_options, rows
from advisor.report.output import Paper
from advisor.report.render.markdown import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from advisor.core.model import Finding
    from advisor.report import CheckedFile, Page
    from advisor.report.document import Block, Words

LONGEST = 60  # characters of a setting that a table has room for
HEADS = ("Line", "Severity", "Rule", "Setting", "Finding", "What to do")
OUTDATED = ("Line", "Setting", "Refused by", "What to do")


def report(files: Sequence[CheckedFile], page: Page) -> str:
    """The whole page: counts, then what was found in each file, then what could not be read."""
    finding_counts = count_new(files)
    unread = [plural(len(page.broken), "file") + " not read"] if page.broken else []
    title = f"mycnf lint: {', '.join([*([finding_counts] if files else []), *unread])}"
    blocks = [Section((Code(c.path), f" for {c.target.label}"), tuple(_file(c))) for c in files]
    not_read = Section("Not read", (Items(tuple((Code(why),) for _, why in page.broken)),))
    return write(Document((title,), (*blocks, not_read)), Paper())


def _file(c: CheckedFile) -> Iterator[Block]:
    if not c.findings:
        yield Paragraph("Nothing new." if c.baselined else "Nothing found.")
        return
    old = outdated_options(c)
    known = {id(one.finding) for one in old}
    yield Table(HEADS, tuple(_row(f, c) for f in c.findings if id(f) not in known), (0,))
    if old:
        yield Paragraph(heading(old))
        lines = ((at, Code(name), when, words) for at, name, when, words in rows(old, c.path))
        yield Table(OUTDATED, tuple(lines), (0,))
    if any(is_inferred(f, c) for f in c.findings):
        yield Paragraph(INFERRED.format(c.target.label))
    yield Paragraph(
        ("Why: ", *list_words(Code(f"mycnf explain {code}") for code in sorted({f.code for f in c.findings})))
    )


def _row(f: Finding, c: CheckedFile) -> tuple[Words, ...]:
    sure = "" if f.confidence.value == "certain" or is_inferred(f, c) else f", {f.confidence.value}"
    to_do = " ".join([*([f.help] if f.help else []), *([f"(fix: {f.fix.applicability})"] if f.fix else [])])
    return _line(f, c), f"{f.severity.value}{sure}", (Code(f.code), f" {f.name}"), _setting(f), f.message, to_do


def _line(f: Finding, c: CheckedFile) -> Words:
    if f.location is None:
        return ""
    number = str(f.location.line or "")
    return number if f.location.path == c.path else (Code(f.location.path), f" {number}" if number else "")


def _setting(f: Finding) -> Words:
    if not f.option:
        return ""
    return Code(shorten_text(f.option if f.value is None else f"{f.option} = {f.value}", LONGEST))
