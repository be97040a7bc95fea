"""The reference of rules as Markdown, read by a renderer of its own."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from advisor.report.rules import anchor, reference, section, table_of
from rules import all_rules, find_rule
from rules.core.areas import all_evidence

READER = MarkdownIt("commonmark").enable("table")


@pytest.mark.parametrize("family", sorted({r.family for r in all_rules()}))
def test_nothing_but_what_was_meant(family: str) -> None:
    """A page has one heading a rule, no HTML, and tables that are as wide as their heads."""
    rules = [r for r in all_rules() if r.family == family]
    tokens = READER.parse(reference(rules, all_evidence(), title=family))
    headings = [tokens[at + 1].content for at, t in enumerate(tokens) if t.type == "heading_open"]
    assert headings == [family, *(f"{r.code} {r.name}" for r in rules)]
    inline = [child for t in tokens for child in t.children or ()]
    assert not [t for t in [*tokens, *inline] if t.type.startswith("html")]
    rows = [t for t in tokens if t.type == "tr_open"]
    assert len(rows) >= len(rules)


def test_a_rule_with_all_of_its_parts() -> None:
    """Reasons, evidence with numbers and source, remedy, and the commands that measure it."""
    rule = find_rule("BUF001")
    assert rule is not None
    text = section(rule, all_evidence())
    assert "| `read_buffer_size` | full table scan time, s |" in text
    assert "| 8M | 66.8 |" in text
    assert "](https://www.percona.com/blog/" in text
    assert "`mycnf probe read-buffer`" in text
    for title in ("What happens", "How to fix", "Risk", "Exceptions", "Reconsider when"):
        assert f"**{title}:**" in text


def test_the_list_leads_to_the_rules() -> None:
    """Each link of the list is the page of the subject and the anchor that renderers create for the heading."""
    listed = re.findall(r"\[([A-Z]{3}\d{3})\]\(\./([a-z]+)\.md#([a-z0-9-]+)\)", table_of(all_rules(), "./"))
    assert listed == [(r.code, r.subject, anchor(r)) for r in all_rules()]
