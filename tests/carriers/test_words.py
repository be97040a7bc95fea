"""Words of commands, with their places; Python's shlex is the judge, as compose's documentation names it."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.carriers.document import verbatim_piece
from advisor.carriers.words import OpenQuoteError, shell_words, unit_words

TEXT = st.text(st.sampled_from("ab=-'\"\\ \t\n$#/é"), max_size=30)


@given(TEXT)
def test_shell_words_are_those_of_shlex(text: str) -> None:
    """Any text has the words that shlex finds in it, and an open quote where shlex finds one."""
    # Between double quotes shlex keeps the backslash before $, ` and a newline, a shell does not.
    if '"' in text and any(escape in text for escape in ("\\$", "\\`", "\\\n")):
        return
    if "'" in text and "\\\n" in text:  # taken out below, which a shell does not do between single quotes
        return
    try:
        expected = shlex.split(re.sub(r"(?s)\\(.)", lambda m: "" if m[1] == "\n" else m[0], text))
    except ValueError as error:
        if "closing" in str(error):
            with pytest.raises(OpenQuoteError):
                shell_words(verbatim_piece(text, 0))
        return  # a backslash at the very end, which a shell keeps
    assert [word.text for word in shell_words(verbatim_piece(text, 0))] == expected


@given(TEXT, st.integers(0, 9))
def test_each_character_of_a_word_knows_its_place(text: str, start: int) -> None:
    """The places of a word's characters hold these very characters, in their order."""
    document = "." * start + text
    try:
        words = shell_words(verbatim_piece(text, start))
    except OpenQuoteError:
        return
    for word in words:
        assert "".join(document[p] for p in word.places) == word.text
        assert list(word.places) == sorted(set(word.places))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # systemd.service(5) and systemd.syntax(7): quotes around a word or within it, C-style escapes.
        ("a 'b c' d", ["a", "b c", "d"]),
        ('--x="b c"', ["--x=b c"]),
        (r"a\x20b c\td \065", ["a b", "c\td", "5"]),
        (r"é\u00e9 \q", ["éé", "\\q"]),
        (r"'a\'b'", ["a'b"]),
        ("", []),
        ("''", [""]),
    ],
)
def test_unit_words(text: str, words: list[str]) -> None:
    """A unit's value has the words that systemd's manual describes."""
    assert [word.text for word in unit_words(verbatim_piece(text, 0))] == words


def test_a_unit_with_an_open_quote() -> None:
    """An open quote is reported with its place."""
    with pytest.raises(OpenQuoteError) as caught:
        unit_words(verbatim_piece("a 'b", 0))
    assert caught.value.args[0] == 2
