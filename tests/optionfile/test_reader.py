"""How every construct of an option file is read, with the servers' own readers as judges."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.optionfile import parse, resolve
from advisor.optionfile.lines import Line, LineKind, dialect_of, unquote
from tests.optionfile.judges import PrintDefaults, Server, foreseen

CASES = {
    "plain": b"[mysqld]\nport=3306\n",
    "spaces": b"[mysqld]\n  port \t=  3306  \n",
    "no_value": b"[mysqld]\nskip-name-resolve\n  quick  \n",
    "empty_value": b"[mysqld]\na=\nb= \nc=''\nd=\"\"\n",
    "equals_in_value": b"[mysqld]\na=b=c\na = = b\n",
    "equals_in_quotes": b"[mysqld]\n'a=b'=c\n",
    "double_quotes": b'[mysqld]\na="x y"\nb=" x "\n',
    "single_quotes": b"[mysqld]\na='x y'\nb=' x '\n",
    "quotes_apart": b"[mysqld]\na='x' 'y'\nb='x'y'\nc=\"x'\nd='x\n",
    "lone_quote": b"[mysqld]\na='\nb=\"\nc=''''\n",
    "escapes": b"[mysqld]\na=x\\ny\\tz\\rw\\bv\\su\\\\t\\qs\\'r\\\"q\n",
    "escapes_in_quotes": b"[mysqld]\na='x\\'y'\nb=\"x\\\"y\"\n",
    "escape_at_end": b"[mysqld]\na=x\\\nb='x\\'\nc=x\\\\\nd='\\\\'\n",
    "comment_at_start": b"# c\n; c\n  # c\n\t; c\n[mysqld]\na=1\n",
    "comment_behind": b"[mysqld]\na=1 # c\nb=1# c\nc#=1\ntmpdir=/a#b\nflag # c\nflag#c\n",
    "semicolon_in_value": b"[mysqld]\na=1 ; c\ninit_connect=SET x; SET y\nflag ; c\n",
    "hash_in_quotes": b"[mysqld]\na='x # y' # c\nb=\"x#y\"\nc='x\" # y'#c\n",
    "hash_behind_escaped_quote": b"[mysqld]\na='x\\' # y' # c\nb='x\\\\' # c\nd='\\\\\\' # y' # c\n",
    "hash_behind_escaped_quote_outside": b"[mysqld]\nc=\\' # c' #c\nd=1\n",
    "hash_behind_open_quote": b"[mysqld]\na='x # y\nb=it's # y\n",
    "quote_in_name": b"[mysqld]\na'b # c=1' # d\n",
    "crlf": b"[mysqld]\r\na=1\r\nflag\r\nb='x'\r\n\r\n# c\r\n",
    "old_mac": b"[mysqld]\ra=1\rb=2\r",
    "no_final_newline": b"[mysqld]\na=1",
    "no_final_newline_flag": b"[mysqld]\nflag",
    "nothing": b"",
    "newlines": b"\n\n\r\n \t\n",
    "odd_spaces": b"[mysqld]\n\va\f=\v1\f\n\x1ca=\x1c1\x1c\n\x85b=1\n",
    "odd_spaces_behind": b"[mysqld]\na\x1c=1\nflag\x1c\n\xc2\x85b\xc2\x85=1\n",
    "long_line": b"[mysqld]\na=" + b"x" * 4091 + b"yz=1\n" + b"# " + b"x" * 4092 + b"c=1\n",
    "latin1_space": b"[mysqld]\na=\xc3\xa0\n\xa0b=\xa0c\xa0\nnam\xc3\xa0=3\nflag\xa0\n\xa0# c\n",
    "utf8_space": b"[mysqld]\n\xc2\xa0a=1\nb=\xc2\xa0x\xc2\xa0\n",
    "utf8": "[mysqld]\nä = 'ö # ü' # ß\nb=\N{SNOWMAN}\n".encode(),
    "not_utf8": b"[mysqld]\n\xff=\xfe\nb='\xe9t\xe9'\n",
    "group_spaces": b"[ mysqld]\na=1\n[mysqld \t]\nb=1\n  [mysqld]\nc=1\n[mysqld\xa0]\nd=1\n",
    "group_tail": b"[mysqld] # c\na=1\n[client]\nb=1\n[mysqld]] x\nc=1\n[mysqld] d=1\n",
    "group_case": b"[MySQLd]\na=1\n[MYSQLD]\nb=1\n",
    "group_empty": b"[]\na=1\n[ ]\nb=1\n[mysqld]\nc=1\n",
    "group_bracket_in_comment": b"[client\t# x]\na=1\n[[mysqld]\nb=1\n",
    "group_again": b"[mysqld]\na=1\n[client]\na=2\n[mysqld]\na=3\n",
    "group_unclosed": b"[mysqld]\na=1\n[oops\nb=1\n",
    "outside_group": b"a=1\n[mysqld]\nb=1\n",
    "outside_group_flag": b"# c\n\nflag\n[mysqld]\nb=1\n",
    "byte_order_mark": b"\xef\xbb\xbf[mysqld]\na=1\n",
    "byte_order_mark_comment": b"\xef\xbb\xbf# c\n[mysqld]\na=1\n",
    "byte_order_mark_alone": b"\xef\xbb\xbf",
    "unknown_directives": b"!foo\n!\n!includes x\n!Include x\n!includedirx y\n[mysqld]\na=1\n",
    "include_nothing": b"[mysqld]\na=1\n!include\nb=1\n",
    "includedir_nothing": b"[mysqld]\na=1\n!includedir \t\nb=1\n",
    "include_at_end": b"[mysqld]\na=1\n!include",
    "template_like": b"[mysqld]\na={ % x }\nb=$x\n",
    "minus": b"[mysqld]\n--port=1\n-P=1\n-=x\n",
    "nul": b"[mysqld]\nb=2\nc=1\0 # x\n",
}
GROUPS = ("mysqld", "server")


@pytest.mark.parametrize("name", CASES)
def test_my_print_defaults_agrees(name: str, print_defaults: PrintDefaults, tmp_path: Path) -> None:
    """my_print_defaults gets the same options out of the file, or refuses it where we say so."""
    path = tmp_path / "f.cnf"
    path.write_bytes(CASES[name])
    assert foreseen(resolve([str(path)], flavour="mariadb"), GROUPS) == print_defaults.arguments(path, *GROUPS)


def test_servers_agree(server: Server, tmp_path: Path) -> None:
    """Each real server starts with the same options of all files, included one after another."""
    folder = tmp_path / "d"
    folder.mkdir()
    for at, data in enumerate(CASES.values()):
        (folder / f"{at:02}.cnf").write_bytes(data)
    path = tmp_path / "f.cnf"
    path.write_text(f"[mysqld]\n!includedir {folder}\nlast=1\n")
    assert server.foreseen(path) == server.arguments(path)


@pytest.mark.parametrize("name", ["group_unclosed", "outside_group", "include_nothing", "byte_order_mark"])
def test_servers_refuse(name: str, server: Server, tmp_path: Path) -> None:
    """A line that we call rejected, or an option before any group, stops every real server."""
    path = tmp_path / "f.cnf"
    path.write_bytes(CASES[name])
    assert server.foreseen(path) is None
    assert server.arguments(path) is None


def test_long_lines(server: Server, tmp_path: Path) -> None:
    """A line longer than a reader's buffer is several to MariaDB and old MySQL, and one to new MySQL."""
    folder = tmp_path / "d"
    folder.mkdir()
    for length in (4080, 4089, 4090, 4091, 4092, 4093, 9000):
        for at, start in enumerate(("a=", "# ", "flag")):
            (folder / f"{length}-{at}.cnf").write_text(f"[mysqld]\n{start}{'x' * length}\nb=2\n")
    path = tmp_path / "f.cnf"
    path.write_text(f"!includedir {folder}\n")
    arguments = server.arguments(path)
    assert arguments is not None
    assert arguments.count(b"--b=2") == 21
    assert server.foreseen(path) == arguments


def lines(data: bytes, **version: object) -> tuple[Line, ...]:
    """The lines of some bytes."""
    return parse(data, "my.cnf", dialect_of("mysql", **version)).lines


def test_places() -> None:
    """Columns count code points from 1, the end is exclusive, comment and blanks stay outside."""
    (_, line) = lines("[mysqld]\n  ä_b = 'ö x' # c\n".encode())
    assert (line.name, line.raw, line.value) == ("ä_b", "'ö x'", "ö x")
    assert (line.column, line.name_end_column, line.end_column) == (3, 6, 14)
    assert (line.value_column, line.value_end_column) == (9, 14)
    assert line.text[line.value_column - 1 : line.value_end_column - 1] == line.raw


def test_places_without_value() -> None:
    """An option without a value has no raw one, and its place is its name's."""
    (_, line) = lines(b"[mysqld]\n\tquick  # c\n")
    assert (line.raw, line.value, line.column, line.end_column) == (None, None, 2, 7)


@pytest.mark.parametrize("ending", ["\n", "\r\n", ""])
def test_place_of_a_whole_option(ending: str) -> None:
    """An option's place goes from its name to the end of its value."""
    (_, line) = lines(f"[mysqld]\ninnodb_bufer_pool_size=1G{ending}".encode())
    assert (line.number, line.column, line.end_column) == (2, 1, 26)


def test_places_in_a_long_line() -> None:
    """The second part of a line that is cut has the same number, and columns of the whole line."""
    value = "x" * 4090 + "tail=1"
    (_, first, second) = lines(f"[mysqld]\nab={value}\n".encode(), version=(5, 7))
    assert (first.number, second.number) == (2, 2)
    assert (first.value, second.name) == ("x" * 4090 + "t", "ail")
    assert second.column == len("ab=") + len("x" * 4090 + "t") + 1


def test_kinds() -> None:
    """Each line says what it is, and a rejected or ignored one why."""
    data = b"\n# c\n[mysqld]\na\n!include x\n!includedir y\n!z\n[oops\n"
    read = lines(data)
    assert [line.kind for line in read] == [
        *(LineKind.BLANK, LineKind.COMMENT, LineKind.GROUP, LineKind.OPTION, LineKind.INCLUDE, LineKind.INCLUDEDIR),
        *(LineKind.IGNORED, LineKind.REJECTED),
    ]
    assert [line.value for line in read[4:6]] == ["x", "y"]
    assert "!include" in (read[6].value or "")
    assert "bracket" in (read[7].value or "")


def test_a_mark_is_reported() -> None:
    """A byte order mark is rejected by name, and the header behind it still begins its group."""
    (mark, option) = lines(b"\xef\xbb\xbf[mysqld]\na=1\n")
    assert mark.kind is LineKind.REJECTED
    assert "byte order mark" in (mark.value or "")
    assert option.group == "mysqld"


@given(st.text(st.sampled_from("\\\\\\ntrbs\"'#x \n")))
def test_escapes_are_pairs(raw: str) -> None:
    """A backslash takes the character behind it, from the left; one at the end stays."""
    known = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
    inner = raw[1:-1] if len(raw) > 1 and raw[0] in "'\"" and raw[0] == raw[-1] else raw
    assert unquote(raw) == re.sub(r"(?s)\\(.)", lambda found: known.get(found[1], found[0]), inner)
