"""Suppressions in option files: where they may be, what they apply to, what is wrong with them."""

from __future__ import annotations

import pytest

from advisor.analysis.suppress import Suppression, read_suppressions
from advisor.optionfile.lines import dialect_of
from advisor.optionfile.reader import parse


def read(text: str) -> list[Suppression]:
    """The suppressions of a text, as MySQL 8.4 reads it."""
    return list(
        read_suppressions(parse(text.encode("utf-8", "surrogateescape"), "x.cnf", dialect_of("mysql", (8, 4, 8))))
    )


def only(text: str) -> Suppression:
    """The one suppression of a text."""
    (found,) = read(text)
    return found


@pytest.mark.parametrize(
    "line",
    [
        "port = 1 # mycnf: ignore[BUF001] why",
        "port = 1# mycnf:ignore[BUF001] why",
        "port # mycnf: ignore[BUF001]: why",
        'port = "a # b"  ## mycnf:  ignore [ BUF001 ] - why',
        "port = 1 # large # mycnf: ignore[BUF001] why",
        "[mysqld] # mycnf: ignore[BUF001] why",
        "!foo # mycnf: ignore[BUF001] why",
        "port = 1 # mycnf: ignore[BUF001] why\r",
        "ünïcode = é # mycnf: ignore[BUF001] why",
        "\udcff = \udcfe # mycnf: ignore[BUF001] why",
        "port = 1 # mycnf: ignore[BUF001] why\0# mycnf: ignore[X]",
    ],
)
def test_on_the_line(line: str) -> None:
    """A comment behind what the server reads applies to its own line."""
    found = only(f"\n{line}\n")
    assert (found.words, found.line, found.reason, found.wrong) == (("BUF001",), 2, "why", "")
    assert found.location.line == 2
    span = line[found.location.column - 1 : found.location.end_column - 1]
    assert span.startswith("mycnf:")
    assert span.endswith("why")


@pytest.mark.parametrize("mark", ["#", "# ", ";", "; ", "  ##\t", ";;# "])
def test_on_the_line_above(mark: str) -> None:
    """A line of comment applies to the next line that is none, in either of the server's notations."""
    found = only(f"{mark}mycnf: ignore[BUF001, sec] why\n# see the wiki\n; too\nport = 1\n")
    assert (found.words, found.line, found.location.line) == (("BUF001", "sec"), 4, 1)


@pytest.mark.parametrize("behind", ["", "\n\nport = 1\n", "\n# more\n \t\nport = 1\n"])
def test_nothing_below(behind: str) -> None:
    """A blank line, or the end of the file, ends what a line of comment applies to."""
    assert only(f"# mycnf: ignore[BUF001] why{behind}").line == 0


def test_several_in_a_row() -> None:
    """Comments one under the other all apply to the line that follows."""
    assert [s.line for s in read("# mycnf: ignore[A] x\n# mycnf: ignore[B] y\nport\n")] == [3, 3]


def test_for_the_file() -> None:
    """ignore-file applies to the whole file, in any place."""
    found = only("[mysqld]\nport = 1 # mycnf: ignore-file[SEC] a lab\n")
    assert (found.whole_file, found.words, found.reason) == (True, ("SEC",), "a lab")


@pytest.mark.parametrize(
    ("comment", "wrong", "remedy"),
    [
        ("mycnf:", "nothing follows mycnf:", "write # mycnf: ignore[BUF001] and the reason"),
        ("mycnf: igonre[BUF001] x", "igonre follows mycnf:", "did you mean ignore?"),
        ("mycnf: ignorefile[BUF001] x", "ignorefile follows mycnf:", "did you mean ignore-file?"),
        ("mycnf: ignore BUF001", "no rule is named in brackets", "write # mycnf: ignore[BUF001] and the reason"),
        ("mycnf: ignore-file", "no rule is named in brackets", "write # mycnf: ignore-file[BUF001] and the reason"),
        ("mycnf: ignore[BUF001 x", "the closing bracket is missing", "write # mycnf: ignore[BUF001] and the reason"),
        ("mycnf: ignore[ , ] x", "its brackets are empty", "write # mycnf: ignore[BUF001] and the reason"),
        ("big, mycnf: ignore[BUF001]", "other text comes before it in the comment", "begin the comment with mycnf:"),
    ],
)
def test_malformed(comment: str, wrong: str, remedy: str) -> None:
    """What is wrong with a suppression is reported together with what to write, on the line and above it."""
    for text in (f"port = 1 # {comment}\n", f"# {comment}\nport = 1\n"):
        found = only(text)
        assert (found.wrong, found.remedy) == (wrong, remedy)


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("port = 1 ; mycnf: ignore[BUF001] x", "; does not begin a comment"),
        ("init_connect = '# mycnf: ignore[BUF001]'", "as part of the line"),
        ("!includedir /etc/mysql # mycnf: ignore[OPT015] x", "as part of the line"),
        ("[mysqld # mycnf: ignore[OPT010] x", "as part of the line"),
    ],
)
def test_no_comment_to_the_server(line: str, word: str) -> None:
    """Where the server reads the text, it is no comment, and the message names another place for it."""
    assert word in only(f"{line}\n").wrong


def test_an_include_of_a_newer_server() -> None:
    """MySQL 9.7 knows comments behind an include, so a suppression may stand there."""
    (found,) = read_suppressions(
        parse(b"!include a # mycnf: ignore[OPT015] x\n", "x.cnf", dialect_of("mysql", (9, 7, 4)))
    )
    assert (found.wrong, found.words) == ("", ("OPT015",))


@pytest.mark.parametrize(
    "text",
    [
        "# mycnf is good\n",
        "# see mycnf: it says so\n",
        "port = 1 # about mycnf: nothing\n",
        "#read_buffer_size = 8M  # mycnf: ignore[BUF001] measured\n",
        "\0# mycnf: ignore[BUF001]\n",
    ],
)
def test_no_suppression(text: str) -> None:
    """Words about the program, and a line that was commented out together with its suppression, ask for nothing."""
    assert read(text) == []


def test_in_a_long_line() -> None:
    """In a line that the server reads in pieces the columns are those of the whole line."""
    line = f"a = {'x' * 4200} # mycnf: ignore[OPT] x"
    found = only(f"{line}\n")
    assert line[found.location.column - 1 :].startswith("mycnf:")
