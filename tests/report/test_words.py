"""Words and typography that reports share."""

from __future__ import annotations

import textwrap

import pytest
from audit_samples import audited, recorded
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from advisor.facts.host import HIDDEN_GROUP, Cgroup, Host, Memory, SkippedPart
from advisor.report import plural, wrap
from advisor.report.audit.fact_lines import rows

WORD = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1, max_size=90)
WORDS = st.lists(WORD, min_size=1).map(" ".join)


@given(WORDS, st.integers(0, 12))
def test_wrap_is_textwrap(text: str, indent: int) -> None:
    """Wrapping gives what the standard library's textwrap gives for words."""
    first = "x" * indent
    expected = textwrap.fill(text, 80, initial_indent=first, subsequent_indent=" " * indent, break_long_words=False)
    assert wrap(text, first) == expected


def test_no_line_begins_with_a_command_to_a_runner() -> None:
    """What a file says is in the log of a CI job, where GitHub takes a line that begins with :: for a command."""
    for length in range(90):
        wrapped = wrap(f"{'x' * length} ::error file=a::b is none of these", "  ")
        assert not any(line.lstrip().startswith("::") for line in wrapped.split("\n") if length)


def test_wrap_of_nothing() -> None:
    """No words are an empty line."""
    assert wrap("") == ""


def test_plural() -> None:
    """Counts agree with their nouns."""
    assert [plural(n, "file") for n in (0, 1, 2000)] == ["0 files", "1 file", "2,000 files"]


@pytest.mark.parametrize(
    ("group", "reason", "says"),
    [
        (Cgroup(2, "/", limit=4 << 30, high=3 << 30), "", "cgroup limit 3G"),
        (Cgroup(2, "/"), "", "no cgroup limit"),
        (None, "no control groups that account for memory are mounted", "no cgroup limit"),
        (None, HIDDEN_GROUP, "cgroup limit unknown"),
    ],
)
def test_a_limit_that_is_not_visible_is_not_called_none(group: Cgroup | None, reason: str, says: str) -> None:
    """The group of a server in another container may have a limit; a group that is throttled has one."""
    skipped = (SkippedPart("cgroup", reason),) if reason else ()
    facts = replace(recorded(), host=Host(memory=Memory(16 << 30), cgroup=group, skipped=skipped))
    assert dict(rows(audited(facts=facts)))["Memory"].startswith(f"16G, {says}")
