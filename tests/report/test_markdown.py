"""Markdown as forges render it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hostile_findings import nasty, nothing, page
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from advisor.redaction import escape_text
from advisor.report.formats import render_lint as render
from advisor.report.render.markdown import code, prose

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ANY = st.text(st.characters(exclude_categories=[]) | st.sampled_from("|`\\*_[]()<>!#@{}&~$:\n\t -+=1."), max_size=60)


def inline(tokens: list[Token]) -> Iterator[Token]:
    """The tokens within paragraphs, headings and cells."""
    for token in tokens:
        yield from token.children or ()


def shown(text: str) -> str:
    """What a reader sees of one line of Markdown; fails where there is anything but words and code spans."""
    kinds = {token.type for token in inline(READER.parse(text))}
    assert kinds <= {"text", "code_inline"}, kinds
    return "".join(token.content for token in inline(READER.parse(text)))


def cells(text: str) -> list[list[str]]:
    """The rows of every table as a reader sees them."""
    rows: list[list[str]] = []
    for token, before in zip(READER.parse(text)[1:], READER.parse(text), strict=False):
        if token.type == "tr_open":
            rows.append([])
        elif before.type in ("td_open", "th_open"):
            rows[-1].append("".join(child.content for child in token.children or ()))
    return rows


def test_words_of_files_do_nothing() -> None:
    """Nothing that a file says becomes markup, HTML, a link or a picture."""
    tokens = READER.parse(render("markdown", nasty(), page(("a|b", "- [x](y) `"))))
    assert {t.type for t in inline(tokens)} <= {"text", "code_inline"}
    assert not [t for t in tokens if t.type in ("html_block", "fence", "code_block", "blockquote_open")]


def test_every_finding_is_a_row() -> None:
    """A table for each file with findings, six cells a row, in which the setting is whole."""
    files = [c for c in nasty() if c.findings]
    rows = [row for row in cells(render("markdown", nasty(), page())) if row[0] != "Line"]
    findings = [f for c in files for f in c.findings]
    assert [len(row) for row in rows] == [6] * len(findings)
    for row, finding in zip(rows, findings, strict=True):
        assert row[2] == f"{finding.code} {finding.name}"
        value = f" = {escape_text(finding.value)}" if finding.value is not None else ""
        assert row[3] == "" if finding.option is None else row[3][:50] == f"{escape_text(finding.option)}{value}"[:50]
        assert row[4] == " ".join(escape_text(finding.message).split())


def test_clean_and_unread_files() -> None:
    """A clean file is named, one that could not be read is reported, and the title counts both."""
    text = render("markdown", nothing(), page(("gone.cnf", "can't read gone.cnf")))
    assert text.startswith("## mycnf lint: nothing found, 1 file not read\n")
    assert "### `clean.cnf`" in text
    assert "- `can't read gone.cnf`" in text


@pytest.mark.parametrize("word", ["plain", "8.4.8", "12%", "can't", "(no", "128K,", "2026-11-21", "and/or"])
def test_plain_words_stay_plain(word: str) -> None:
    """Words and numbers are not put into code spans."""
    assert prose(word) == word


@pytest.mark.parametrize(
    "word",
    ["@team", "#12", "GH-34", "deadbeef", "www.example.com", "http://x", "a_b", ":smile:", "~x~", "$x$", "<b>", "{x}"],
)
def test_words_that_forges_act_on_are_code(word: str) -> None:
    """Mentions, references, commits, addresses, pictures and macros are in code spans."""
    assert prose(word).startswith("`")


@given(ANY)
def test_any_text_as_prose(text: str) -> None:
    """For any text, a cell shows exactly its words."""
    table = f"| a |\n|---|\n| {prose(text)} |\n"
    shown(table)
    assert cells(table)[1:] == [[" ".join(escape_text(text).split())]]


@given(ANY)
def test_any_text_as_code(text: str) -> None:
    """For any text, a code span in a cell shows exactly it."""
    table = f"| a |\n|---|\n| {code(text)} |\n"
    shown(table)
    (cell,) = cells(table)[1]
    assert cell.strip() == escape_text(text).strip()
