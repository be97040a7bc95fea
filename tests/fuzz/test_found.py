"""Inputs that once broke a reader, cut down to what did it."""

from __future__ import annotations

import json
import zlib
from functools import partial
from typing import TYPE_CHECKING

import tabletexts
import trying
from outside import PERSISTED, READERS, Reader

if TYPE_CHECKING:
    import random

    import pytest

DIGITS = b"7" * 5000
DEEP = b"[" * 100_000


def ring(head: bytes) -> bytes:
    """A ring with that head and no slot."""
    return (b"mycnf ring 1\n%08x\n" % zlib.crc32(head) + head + b"\n").ljust(4096, b"\0")


FOUND = {
    "a persisted version of thousands of digits": ("persisted", b'{"Version": %s}' % DIGITS),
    "a persisted value nested deep": ("persisted", PERSISTED[0].replace(b'"500"', DEEP)),
    "a key's value of thousands of digits": ("keys", b"x = " + DIGITS),
    "keys nested deep": ("keys", b"x = " + DEEP),
    "a row nested deep": ("fleet-row", DEEP),
    "slots without end": ("ring", ring(b'{"server": "a", "names": [], "slots": 1e999}')),
    "more slots than any disk has": (
        "ring",
        ring(json.dumps({"server": "a", "names": ["x"] * 200, "slots": 1 << 20}).encode()),
    ),
    "a schema of thousands of digits": ("snapshot", b'{"schema": "%s.0"}' % DIGITS),
    "a schema in small digits": ("snapshot", '{"schema": "².0"}'.encode()),
    "half a character for a name": ("snapshot", b'{"schema": "1.2", "\\ud800": 1}'),
    "a short ring that claims a million slots": (
        "ring",
        ring(b'{"server": "a", "names": [], "slots": 1048576}') + bytes(range(48)),
    ),
    "a size of hundreds of digits": (
        "text",
        f"{'# Percona Toolkit MySQL Summary Report ####'}\n# InnoDB ###\nBuffer Pool Size | {'9' * 400}G\n".encode(),
    ),
    "a word where a size would be a number": ("configuration", b'"fail-on" = 0x' + b"f" * 9000),
    "a bound of hundreds of digits": ("configuration", b'house.read_buffer_size.maximum = "%s1M"' % (b"9" * 400)),
    "a bound of thousands of digits": ("configuration", b'house.max_connections.minimum = "%s"' % DIGITS),
    "an endless bound": ("configuration", b"house.long_query_time.minimum = inf"),
    "processors beyond counting": ("configuration", b"cpus = 0x" + b"f" * 9000),
}


def test_is_read_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What broke a reader once is read now, or refused in one line, in the room that a process of its own has."""
    for name, (reader, data) in FOUND.items():
        monkeypatch.setitem(READERS, name, Reader(partial(_same, data), READERS[reader].read, 1))
    done = list(trying.run(dict.fromkeys(FOUND, 1), "seed", 1))
    assert [broken for batch in done for broken in batch.broken] == []
    assert sum(batch.read + batch.refused for batch in done) == len(FOUND)


def _same(data: bytes, _chance: random.Random) -> bytes:
    return data


def test_a_directory_of_samples_is_put_together() -> None:
    """The parts of a made-up directory come back as files that pt-stalk would have named so."""
    whole = b"".join(tabletexts.STALKED + name + b"\n" + name * 2 for name in (b"variables", b"df"))
    assert tabletexts.unpack(whole) == {
        "2026_11_21_05_00_00-variables": b"variablesvariables",
        "2026_11_21_05_00_00-df": b"dfdf",
    }
