"""Typography that reports share."""

from __future__ import annotations

import textwrap

from hypothesis import given
from hypothesis import strategies as st

from advisor.report import plural, wrap

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
