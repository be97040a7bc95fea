"""With any words and names, the outer syntax of every format holds."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hostile_findings import MYSQL, page
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from markdown_it import MarkdownIt

from advisor.core.model import Confidence, Edit, Finding, Fix, Location, Severity
from advisor.report import WIDTH, CheckedFile
from advisor.report.formats import names
from advisor.report.formats import render_lint as render

# What some syntax or other ends at, controls, marks that turn text, and lone surrogates: bytes that were no UTF-8.
HOSTILE = [
    *"|`\\*_[]()<>!#@{}&~$:;%,\"'=-",
    *"\n\r\t\0\x1b\x1f\x85\u2028\u202e\ufffe\uffff\udc80\udcff\U0001f42c",
    *("]]>", "-->", "::error::", "%0A", "<b>", "](x)", "{0}", "a", "1", " ", " "),
]
TEXT = st.lists(st.sampled_from(HOSTILE), max_size=8).map("".join) | st.text(max_size=8)
PATHS = TEXT.filter(bool)
PLACES = st.builds(Location, PATHS, st.integers(0, 9), st.integers(1, 300), st.integers(0, 10), st.integers(1, 400))
FIXES = st.builds(
    Fix,
    st.sampled_from(["safe", "unsafe"]),
    st.lists(st.builds(Edit, *[st.integers(1, 9)] * 4, TEXT), min_size=1, max_size=2).map(tuple),
)
FINDINGS = st.builds(
    Finding,
    st.sampled_from(["TST001", "TST002", "OPT001"]),
    TEXT,
    st.sampled_from(list(Severity)),
    st.sampled_from(list(Confidence)),
    TEXT,
    help=TEXT,
    option=st.none() | TEXT,
    canonical=st.none() | TEXT,
    value=st.none() | TEXT,
    group=st.none() | TEXT,
    evidence=st.lists(TEXT, max_size=1).map(tuple),
    location=st.none() | PLACES,
    fix=st.none() | FIXES,
)


@st.composite
def files(draw: st.DrawFn) -> list[CheckedFile]:
    """Up to two files with hostile names, findings and source lines."""
    made = []
    for path in draw(st.lists(PATHS, max_size=2)):
        found = tuple(draw(st.lists(FINDINGS, max_size=2)))
        sources = {(f.location.path, f.location.line): draw(TEXT) for f in found if f.location}
        made.append(CheckedFile(path, MYSQL, found, sources))
    return made


BROKEN = st.lists(st.tuples(PATHS, TEXT), max_size=2).map(tuple)


def rendered(name: str, checked: list[CheckedFile], broken: tuple[tuple[str, str], ...] = ()) -> str:
    """The report, which must be something that can be printed as UTF-8."""
    text = render(name, checked, page(*broken))
    text.encode()
    return text


@given(files(), BROKEN)
@settings(max_examples=60)
def test_json_kinds(checked: list[CheckedFile], broken: tuple[tuple[str, str], ...]) -> None:
    """JSON, JSON lines, SARIF and GitLab's list parse, in ASCII, with one entry a finding."""
    count = sum(len(c.findings) for c in checked)
    assert all(rendered(name, checked, broken).isascii() for name in ("json", "jsonl", "sarif", "gitlab"))
    assert sum(len(f["findings"]) for f in json.loads(rendered("json", checked, broken))["files"]) == count
    assert len([json.loads(line) for line in rendered("jsonl", checked, broken).split("\n")[:-1]]) == count
    assert len(json.loads(rendered("sarif", checked, broken))["runs"][0]["results"]) == count
    assert len(json.loads(rendered("gitlab", checked, broken))) == count + len(dict(broken))


@given(files(), BROKEN)
@settings(max_examples=60)
def test_junit(checked: list[CheckedFile], broken: tuple[tuple[str, str], ...]) -> None:
    """The XML is well formed, with a test a finding."""
    root = etree.fromstring(rendered("junit", checked, broken).encode())
    tests = sum(max(1, len(c.findings)) for c in checked) + len(broken)
    assert len(list(root.iter("testcase"))) == tests
    assert len(list(root.iter("error"))) == len(broken)


@given(files(), BROKEN)
@settings(max_examples=60)
def test_lines(checked: list[CheckedFile], broken: tuple[tuple[str, str], ...]) -> None:
    """Reports of lines have one a finding, and no control character but line ends."""
    count = sum(len(c.findings) for c in checked)
    for name, lines in (("concise", count), ("github", count + len(broken))):
        text = rendered(name, checked, broken)
        assert len(text.splitlines()) == lines
        assert not [c for c in text if unicodedata.category(c) == "Cc" and c != "\n"]


@given(files())
@settings(max_examples=60)
def test_markdown(checked: list[CheckedFile]) -> None:
    """Markdown has a row a finding, and neither HTML nor links."""
    tokens = MarkdownIt("commonmark").enable("table").parse(rendered("markdown", checked))
    rows = sum(t.type == "tr_open" for t in tokens)
    assert rows == sum(len(c.findings) + 1 for c in checked if c.findings)
    assert {child.type for t in tokens for child in t.children or ()} <= {"text", "code_inline"}
    assert not [t for t in tokens if t.type == "html_block"]


@given(files())
@settings(max_examples=60)
def test_text(checked: list[CheckedFile]) -> None:
    """Text for people holds no control character, and no source line wider than the page."""
    text = rendered("text", checked)
    assert not [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
    assert all(len(line) <= WIDTH for line in text.splitlines() if line[3:6] == " │ ")


@pytest.mark.parametrize("name", names("lint"))
@given(files(), BROKEN)
@settings(max_examples=20)
def test_every_format(name: str, checked: list[CheckedFile], broken: tuple[tuple[str, str], ...]) -> None:
    """No format writes a control character but line ends, with any texts."""
    text = rendered(name, checked, broken).replace("\r\n", "\n")
    assert not [c for c in text if unicodedata.category(c) == "Cc" and c != "\n"]
