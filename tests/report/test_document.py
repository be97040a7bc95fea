"""The model of a report in each writer: nothing that others say acts on a terminal, in Markdown or on a page."""

from __future__ import annotations

import re

import pytest
from audit_samples import HOSTILE
from hostile_findings import SECRET
from lxml import html as parser
from markdown_it import MarkdownIt

from advisor.core.model import Severity
from advisor.report import formats
from advisor.report.document import (
    Block,
    Cards,
    Chart,
    Code,
    Document,
    Entry,
    Facts,
    Items,
    Listing,
    OwnText,
    Paragraph,
    Section,
    StackedBar,
    Table,
    Value,
    shorten_text,
)
from advisor.report.output import Paper
from advisor.report.render.curves import AxisMark, Curve, Point
from advisor.report.render.text import write as write_text

FORMS = [form.name for form in formats.FORMATS if form.document]


def written(form: str, *blocks: Block, width: int = 80) -> str:
    """A document of these blocks."""
    return formats.render("diff", form, Paper(width), lambda: Document(("mycnf", HOSTILE), blocks), {})


def everything(words: str) -> tuple[Block, ...]:
    """Each kind of block with these words in every place."""
    inner = (Paragraph(words), Facts(((words, Code(words)),)), Items((words, (Code(words), words))))
    table = Table(
        ("a", "b"), ((words, Value(words, words)), (Code(words), Value(Code(words), words, "only"))), more=words
    )
    bar = StackedBar(((words, 3, words), (words, 9, words)), words, (4, words))
    points = tuple(Point(words, place, 1 + place, 1 + place, 1 + place) for place in (1.0, 2.0))
    chart = Chart((Curve(words, points, here=True),), words, words, True, words, words, (AxisMark(words, 2.0),), True)
    return (
        *inner,
        table,
        Listing(words),
        Cards((Section(words, (bar, chart, *inner)),)),
        Entry("error", Severity.ERROR, Code(words), inner, "likely", words),
        Section(words, (*inner, Section(words, (table,), remark=words))),
        Section(words, inner, folded=True),
    )


def test_colours_change_no_words() -> None:
    """Without its colours, a report in colour is the plain one; names are faint, what is to be copied is green."""
    rows = Facts((("do now", (Code("SET GLOBAL a = 1;"),)), ("risk", "some words " * 20)))
    document = Document(("mycnf",), (rows, *everything("word")))
    coloured = write_text(document, Paper(colour=True))
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == write_text(document, Paper())
    assert "\x1b[32mSET GLOBAL a = 1;\x1b[0m" in coloured


@pytest.mark.parametrize("form", FORMS)
def test_nothing_acts(form: str) -> None:
    """Hostile words turn, hide and mark up nothing in any block."""
    text = written(form, *everything(HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.replace("\n", "").isprintable()


def test_markdown_is_plain() -> None:
    """No HTML but that of what is folded, no link, no mention and no picture comes of hostile words."""
    tokens = MarkdownIt("gfm-like").parse(written("markdown", *everything(HOSTILE)))
    inline = [child for token in tokens for child in token.children or ()]
    assert not [t for t in inline if t.type in ("html_inline", "link_open", "image")]
    blocks = [t.content.strip() for t in tokens if t.type == "html_block"]
    assert all(re.fullmatch(r"</details>|<details>\n<summary>.*</summary>", block) for block in blocks)


def test_page_is_one_of_text() -> None:
    """The elements of the page are those of the writer."""
    names = {element.tag for element in parser.document_fromstring(written("html", *everything(HOSTILE))).iter()}
    assert not names & {"b", "img", "iframe", "form", "x"}


@pytest.mark.parametrize("form", FORMS)
def test_secrets_are_masked(form: str) -> None:
    """A password in a statement is masked wherever it stands."""
    assert SECRET not in written(form, *everything(f"SET PASSWORD = '{SECRET}'"))


@pytest.mark.parametrize("form", FORMS)
def test_words_of_mycnf_are_whole(form: str) -> None:
    """What a rule says about passwords is not masked, and a long text is not cut; it is harmless all the same."""
    words = f"SET PASSWORD is written to the log <b>as sent</b>.{' more' * 600} \x1b[31m end"
    text = written(form, Paragraph(OwnText(words)))
    assert "SET PASSWORD is written" in text
    assert text.count("more") == 600
    assert "\x1b" not in text
    assert ("<b>as" in text.replace("`", "")) == (form != "html")


@pytest.mark.parametrize("form", FORMS)
def test_empty_blocks_leave_nothing(form: str) -> None:
    """Titles over nothing are left out."""
    nothing = (Paragraph(""), Facts((("a", ""),)), Items(()), Table(("a",), ()), Section("a title", (Items(()),)))
    assert written(form, *nothing) == written(form)


def test_text_keeps_to_its_width() -> None:
    """Sentences, lists and cells are wrapped; what is to be copied is whole."""
    long = "word " * 60
    row = ("name", Value("a,b," * 40), Value("c" * 5, "/etc/mysql/my.cnf:1"))
    blocks = (
        Paragraph(long),
        Items((long,)),
        Section(long, (Facts((("why", long),)),)),
        Table(("x", "A", "B"), (row,)),
    )
    assert max(map(len, written("text", *blocks).splitlines())) <= 80
    statement = f"SET GLOBAL init_connect = '{'x' * 100}';"
    assert statement in written("text", Facts((("do now", Code(statement)),)))


def test_words_are_cut_between_words() -> None:
    """A text that is too long ends after a whole word; one long word is cut where the room ends."""
    text = "use mariabackup on all nodes, if the donor must stay available"
    assert [shorten_text(text, room) for room in (62, 60, 30)] == [
        text,
        "use mariabackup on all nodes, if the donor must stay…",
        "use mariabackup on all nodes…",
    ]
    assert shorten_text("x" * 70, 60) == "x" * 59 + "…"


def test_text_lays_a_wide_row_below_its_name() -> None:
    """A row that finds no room has a line a value, with what it comes from."""
    row = (Code("sql_mode"), Value("A" * 30, "my.cnf:3"), Value("B", "default"))
    text = written("text", Table(("setting", "A", "B"), (row,), widths=(32, 20), headed=False))
    assert text.endswith(f"\n\n  sql_mode\n    A  {'A' * 30}  my.cnf:3\n    B  B  default\n")


def test_text_keeps_a_row_without_a_first_cell_in_its_column() -> None:
    """Below an area of a table without heads, a long name has its value on the next line, in the column of values."""
    rows = (
        (Value("I/O"), Value("flush"), Value("0 → 1")),
        (Value(""), Code("n" * 36), Value(f"{'a' * 20},{'b' * 20}")),
    )
    text = written("text", Table(("area", "default of", "change"), rows, widths=(9, 31), headed=False))
    assert text.endswith(f"\n{' ' * 13}{'n' * 36}\n{' ' * 46}{'a' * 20},\n{' ' * 46}{'b' * 20}\n")


def test_what_grows_is_cut_where_people_read() -> None:
    """Of a list that grows with the number of servers, text and Markdown show the first ones and say how many more."""
    items = Items(tuple(f"host{number}" for number in range(300)), grows=True)
    assert "… and 260 more: --format json has all" in written("text", items)
    assert "… and 100 more" in written("markdown", items)
    assert "host299" in written("html", items)
