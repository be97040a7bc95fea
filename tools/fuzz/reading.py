"""Unusual option files, read by my_print_defaults and by mycnf's reader, hundreds at once as includes of one file."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from advisor.optionfile import parse, resolve
from advisor.optionfile.lines import dialect_of
from tests.optionfile.judges import PrintDefaults, foreseen

BATCH = 400
GROUPS = ("mysqld", "server", "client", "mariadb")
SPACES = (b"", b"", b"", b" ", b"\t", b"  ", b"\r", b"\v", b"\f", b"\xa0", b"\x1c", b"\x85")
NAMES = (
    *(b"a", b"skip-x", b"loose_b", b"Key_Buffer", b"x1", b"\xc3\xa0", b"\xe2\x80\xa0"),
    *(b"\xff", b"k\xa0k", b"-", b"a b", b"a.b"),
)
ODD = (
    *(b"'", b'"', b"\\", b"#", b"=", b";", b"[", b"]", b"!", b" # ", b" ; "),
    *(b"\\n", b"\\s", b"\\\\", b"\\'", b'\\"', b"\\q", b"\\t"),
)
HEADS = (
    *(b"mysqld", b"mysqld", b"server", b"client", b"mariadb", b"MySQLd"),
    *(b" mysqld", b"mysqld ", b"other", b"", b"[mysqld", b"a]b"),
)
FIRST = (
    *([b"[mysqld]\n"] * 6),
    *(b"[server]\r\n", b"\n[client]\n[ mysqld]\n", b"", b"\xef\xbb\xbf[mysqld]\n", b"#\n", b"[mysqld]\r"),
)
ENDS = (b"\n",) * 6 + (b"\r\n", b"\r\r\n")
MARK = b"mycnf-file-number"


def _value(chance: random.Random) -> bytes:
    text = b"".join(chance.choice((*ODD, *SPACES, *NAMES)) for _ in range(chance.randrange(7)))
    quote = chance.choice((b"", b"", b"", b"'", b'"'))
    return quote + text + chance.choice((quote, quote, b""))


def line(chance: random.Random) -> bytes:
    """An unusual option line, without its line end."""
    space, name, value = chance.choice(SPACES), chance.choice(NAMES), _value(chance)
    tail = chance.choice((b"", b"", chance.choice(SPACES) + b"#" + value))
    kind = chance.random()
    if kind < 0.6:
        return space + name + chance.choice(SPACES) + b"=" + chance.choice(SPACES) + value + tail
    if kind < 0.7:
        return space + name + tail
    if kind < 0.8:
        return space + b"[" + chance.choice(HEADS) + chance.choice((b"]", b"]", b"]", b"]]", b" ]", b"")) + tail
    if kind < 0.9:
        return space + chance.choice((b"#", b";")) + value
    if kind < 0.97:
        return space + chance.choice((b"!foo", b"!", b"!include", b"! include \t", b"!includedir", b"!Include x"))
    return name + b"=" + b"x" * chance.randrange(4070, 4110) + value + b"y" * chance.randrange(4200)


def files(seed: str) -> Iterator[bytes]:
    """Endless generated files; those that servers read nondeterministically are left out."""
    chance = random.Random(seed)
    while True:
        lines = [line(chance) + chance.choice(ENDS) for _ in range(chance.randrange(1, 12))]
        data = chance.choice(FIRST) + b"".join(lines) + chance.choice((b"", line(chance)))
        read = parse(data, "f", dialect_of("mariadb")).lines
        if not any(one.name == "" and one.raw is not None for one in read) and MARK not in data:
            yield data


def compare_batch(made: list[bytes], program: str) -> list[tuple[bytes, bytes, bytes]]:
    """The files on which reader and program differ, with the output of the program and of the reader."""
    with tempfile.TemporaryDirectory(prefix="mycnf-read-") as folder:
        main = Path(folder, "all.cnf")
        text = [b"[mysqld]\n"]
        for at, data in enumerate(made):
            path = Path(folder, f"{at}.cnf")
            path.write_bytes(data)
            text.append(b"!include %s\n%s=%d\n" % (os.fsencode(path), MARK, at))
        main.write_bytes(b"".join(text))
        arguments = PrintDefaults(program).arguments(main, *GROUPS) or b""
        ours = foreseen(resolve([str(main)], flavour="mariadb"), GROUPS) or b""
    pairs = zip(made, _parts(arguments, len(made)), _parts(ours, len(made)), strict=True)
    return [(data, one, other) for data, one, other in pairs if one != other]


def _parts(output: bytes, count: int) -> list[bytes]:
    """The output for each file: everything before its mark."""
    parts = []
    for at in range(count):
        part, _, output = output.partition(b"--%s=%d\n" % (MARK, at))
        parts.append(part)
    return parts


def run(program: str, count: int, seed: str) -> Iterator[tuple[int, list[tuple[bytes, bytes, bytes]]]]:
    """Compare that many files; yields after each batch the number done and those that differ."""
    source = files(seed)
    for done in range(0, count, BATCH):
        made = [next(source) for _ in range(min(BATCH, count - done))]
        yield done + len(made), compare_batch(made, program)
