"""Mangle option files and other texts (bytes flipped, cut and joined), and run `mycnf lint` on them in this process."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import random
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from advisor.__main__ import main

LARGEST = 60_000
TARGETS = (
    *("mysql-5.7", "mysql-8.0", "mysql-8.4", "mysql-9.7"),
    *("mariadb-10.6", "mariadb-10.11", "mariadb-11.4", "mariadb-11.8"),
)
ENDINGS = (".cnf", ".cnf", ".cnf", ".cnf", ".ini", ".j2", ".yml", ".service")
SEEDLINGS = (
    *(b"\0", b"\xff\xfe", b"[mysqld]\n", b"!include ", b"{{ x }}", b"\\", b"'", b'"', b"\r", b"%s"),
    *(b"=" * 50, b"9" * 400),
)
TURNS = ((b"\n", b"\r\n"), (b"=", b" "), (b"[", b""), (b"_", b"-"))


class LintRun(NamedTuple):
    """One run of lint: exit code, seconds of CPU time, the last line on stderr, and the input."""

    code: int
    seconds: float
    said: str
    data: bytes
    ending: str


def sources(*folders: str) -> list[bytes]:
    """The files to mangle: those in the folders, and the small readable ones in /etc."""
    contents: list[bytes] = []
    for folder in (*folders, "/etc"):
        for path in sorted(glob.glob(f"{folder}/**/*", recursive=True)):
            with contextlib.suppress(OSError):
                if os.path.isfile(path) and os.path.getsize(path) <= LARGEST:
                    with open(path, "rb") as f:
                        contents.append(f.read())
    return [data for data in contents if data]


def mangle(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """The text with a few random changes."""
    for _ in range(chance.randrange(1, 5)):
        at, to = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
        to = min(to, at + chance.choice((1, 8, 200, LARGEST)))
        accident = chance.randrange(6)
        if accident == 0:
            data = data[:at] + bytes(chance.randrange(256) for _ in range(min(to - at, 8))) + data[to:]
        elif accident == 1:
            data = data[:at] + data[to:]
        elif accident == 2:
            data = data[:at] + data[at:to] * chance.choice((2, 3)) + data[to:]
        elif accident == 3:
            other = chance.choice(others)
            data = data[:at] + other[chance.randrange(len(other)) :][:LARGEST]
        elif accident == 4:
            data = data[:at] + chance.choice(SEEDLINGS) + data[at:]
        else:
            data = data[:at] + data[at:].replace(*chance.choice(TURNS))
        data = data[: 2 * LARGEST]
    return data


def lint(data: bytes, ending: str, target: str, folder: str) -> LintRun:
    """The result of `mycnf lint` on a file with these bytes."""
    path = os.path.join(folder, f"f{ending}")
    with open(path, "wb") as f:
        f.write(data)
    out, err, before = io.StringIO(), io.StringIO(), time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["lint", "--isolated", "--target", target, path])
    return LintRun(code, time.process_time() - before, err.getvalue()[-300:], data, ending)


def run(texts: list[bytes], count: int, seed: str) -> Iterator[LintRun]:
    """Lint that many mangled files, one by one."""
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="mycnf-mangled-") as folder:
        for _ in range(count):
            data = mangle(chance.choice(texts), texts, chance)
            yield lint(data, chance.choice(ENDINGS), chance.choice(TARGETS), folder)


def broke(ended: LintRun) -> bool:
    """Whether lint failed with an internal error, or an undocumented exit code."""
    return ended.code not in (0, 1, 2) or "internal error" in ended.said
