"""Files of unlikely content, read by the reader and by the servers' own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.optionfile import parse, render, resolve
from advisor.optionfile.lines import dialect_of
from tests.optionfile.judges import PrintDefaults, Server, foreseen

EXAMPLES = int(os.environ.get("MYCNF_FUZZ_EXAMPLES", "200"))

# Pieces of bytes, put together without any idea of what a line is.
SPACES = st.sampled_from([b"", b"", b" ", b"\t", b"  ", b"\r", b"\v", b"\f", b"\xa0", b"\x1c"])
WORDS = st.sampled_from(
    [
        b"a",
        b"skip-x",
        b"loose_b",
        b"Key_Buffer",
        b"x1",
        b"\xc3\xa0",
        b"\xe2\x80\xa0",
        b"\xff",
        b"k\xa0k",
        b"-",
        b"\x85",
    ]
)
ODD = st.sampled_from(
    [
        b"'",
        b'"',
        b"\\",
        b"#",
        b"=",
        b";",
        b"[",
        b"]",
        b"!",
        b"\\n",
        b"\\s",
        b"\\\\",
        b"\\'",
        b'\\"',
        b"\\q",
        b"a",
        b" ",
    ]
)
CHUNKS = st.one_of(
    WORDS, ODD, SPACES, st.binary(min_size=0, max_size=3).filter(lambda b: b"\n" not in b and b"\0" not in b)
)
VALUES = st.lists(CHUNKS, max_size=8).map(b"".join)
QUOTED = st.builds(lambda q, v, e: q + v + e, st.sampled_from([b"'", b'"']), VALUES, st.sampled_from([b"'", b'"', b""]))
GROUPS = st.sampled_from(
    [b"mysqld"] * 6
    + [
        b"MySQLd",
        b"server",
        b"mysqld-8.0",
        b"mysqld-9.7",
        b"mariadb",
        b"mariadbd-10.11",
        b"mariadb-11",
        b"client",
    ]
    + [
        b"client-server",
        b"galera",
        b"mysql_cluster",
        b"mysqld-5.7",
        b"",
        b" mysqld",
        b"mysqld ",
        b"mysqld_x",
        b"[mysqld",
    ]
)
TAILS = st.one_of(SPACES, st.builds(lambda s, v: s + b"#" + v, SPACES, VALUES))
HEADERS = st.builds(
    lambda s, g, c, t: s + b"[" + g + c + t, SPACES, GROUPS, st.sampled_from([b"]", b"]]", b" ]", b""]), TAILS
)
GOOD_HEADERS = st.builds(lambda s, g, t: s + b"[" + g + b"]" + t, SPACES, GROUPS, TAILS)
OPTIONS = st.builds(
    lambda s, n, b, a, v, t: s + n + b + b"=" + a + v + t,
    SPACES,
    WORDS,
    SPACES,
    SPACES,
    st.one_of(VALUES, QUOTED),
    TAILS,
)
BARE = st.builds(lambda s, n, t: s + n + t, SPACES, WORDS, TAILS)
COMMENTS = st.builds(lambda s, c, v: s + c + v, SPACES, st.sampled_from([b"#", b";"]), VALUES)
# An include of nothing: which files are read is tested elsewhere.
DIRECTIVES = st.builds(lambda s, w: s + b"!" + w, SPACES, st.sampled_from([b"foo", b"", b"includes x", b"Include x"]))
TAME = st.one_of(OPTIONS, OPTIONS, OPTIONS, BARE, GOOD_HEADERS, COMMENTS, COMMENTS, SPACES, DIRECTIVES)
WILD = st.one_of(TAME, HEADERS, VALUES, st.sampled_from([b"!include", b"! include \t", b"!includedir"]))
ENDINGS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"])
STARTS = st.sampled_from([b"[mysqld]\n", b"[mysqld]\n", b"[server]\r\n", b"\n[client]\n[ mysqld]\n"])
WILD_STARTS = st.sampled_from([b"", b"\xef\xbb\xbf", b"#\n", b"[mysqld]\r"])


def files(start: st.SearchStrategy[bytes], line: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    """Files of a few lines, the last of which has no ending."""
    body = st.lists(st.builds(lambda text, end: text + end, line, ENDINGS), min_size=1, max_size=12)
    return st.builds(lambda first, lines, last: first + b"".join(lines) + last, start, body, line)


FILES = st.one_of(files(STARTS, TAME), files(STARTS, TAME), files(STARTS, TAME), files(WILD_STARTS, WILD))
LONG = st.builds(
    lambda head, count, middle, more, tail: b"[mysqld]\n" + head + b"x" * count + middle + b"y" * more + tail,
    st.sampled_from([b"a=", b"# ", b"a", b"a='"]),
    st.integers(4070, 4100),
    VALUES,
    st.integers(0, 4200),
    st.sampled_from([b"\nb=2\n", b"", b"'\nb=2", b" # c\n"]),
)


def left_to_chance(data: bytes) -> bool:
    """Whether a line has no name: there servers read memory that isn't theirs, and any answer is chance."""
    lines = parse(data, "f", dialect_of("mariadb")).lines
    return any(line.name == "" and line.raw is not None for line in lines)


@settings(max_examples=EXAMPLES)
@given(data=st.one_of(FILES, LONG))
def test_my_print_defaults_reads_the_same(print_defaults: PrintDefaults, tmp_path: Path, data: bytes) -> None:
    """The options of any generated file are those that my_print_defaults prints."""
    assume(not left_to_chance(data))
    path = tmp_path / "f.cnf"
    path.write_bytes(data)
    groups = ("mysqld", "server", "client", "mariadb")
    resolved = resolve([str(path)], flavour="mariadb")
    assert foreseen(resolved, groups) == print_defaults.arguments(path, *groups)


@settings(max_examples=max(20, EXAMPLES // 10))
@given(data=st.one_of(FILES, LONG))
def test_every_server_reads_the_same(server: Server, tmp_path: Path, data: bytes) -> None:
    """The options of any generated file are those that each real server would start with."""
    assume(not left_to_chance(data))
    path = tmp_path / "f.cnf"
    path.write_bytes(data)
    assert server.foreseen(path) == server.arguments(path)


@settings(max_examples=EXAMPLES)
@given(data=st.one_of(st.binary(), FILES, LONG), name=st.sampled_from(["mysql", "mariadb"]))
@pytest.mark.parametrize("version", [None, (5, 7)])
def test_any_bytes_come_back(data: bytes, name: str, version: tuple[int, ...] | None) -> None:
    """Reading and writing gives the same bytes, for any bytes."""
    assert render(parse(data, "f", dialect_of(name, version))) == data
