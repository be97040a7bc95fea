"""Requests of the kernel's asynchronous I/O reach the places that they name, and report when they don't."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from probes.disk.aio import READ, WRITE, AioRing, aio_available

BLOCK = 4096
BLOCKS = 64

pytestmark = pytest.mark.skipif(not aio_available(), reason="the kernel grants no asynchronous I/O here")


@pytest.fixture
def numbered(tmp_path: Path) -> Iterator[int]:
    """An open file whose every block begins with its own number."""
    path = tmp_path / "numbered"
    path.write_bytes(b"".join(number.to_bytes(8, "little").ljust(BLOCK, b"\0") for number in range(BLOCKS)))
    file = os.open(path, os.O_RDWR)
    yield file
    os.close(file)


def reap(ring: AioRing, count: int) -> list[int]:
    """The slots of so many answers."""
    done: list[int] = []
    while len(done) < count:
        done += ring.reap()
    return done


def test_each_slot_reads_its_own_place(numbered: int) -> None:
    """Every slot's part of the memory holds the block that it was sent to, again after it was sent elsewhere."""
    with contextlib.closing(AioRing(numbered, 8, BLOCK, READ)) as ring:
        for first in (0, 17, 48):
            ring.submit(list(range(8)), iter((first + slot) * BLOCK for slot in range(8)))
            assert sorted(reap(ring, 8)) == list(range(8))
            found = [int.from_bytes(ring.memory[slot * BLOCK : slot * BLOCK + 8], "little") for slot in range(8)]
            assert found == list(range(first, first + 8))


def test_some_slots_may_be_sent_again_alone(numbered: int) -> None:
    """A slot that is sent again moves, the others stay as they were."""
    with contextlib.closing(AioRing(numbered, 4, BLOCK, READ)) as ring:
        ring.submit([0, 1, 2, 3], iter([0, BLOCK, 2 * BLOCK, 3 * BLOCK]))
        reap(ring, 4)
        ring.submit([3, 1], iter([40 * BLOCK, 41 * BLOCK]))
        assert sorted(reap(ring, 2)) == [1, 3]
        assert [ring.memory[slot * BLOCK] for slot in range(4)] == [0, 41, 2, 40]


def test_writes_land_where_they_are_sent(numbered: int) -> None:
    """What is in a slot's memory is afterwards in the file, and nothing else of it has changed."""
    with contextlib.closing(AioRing(numbered, 2, BLOCK, WRITE)) as ring:
        ring.memory[:] = b"a" * BLOCK + b"b" * BLOCK
        ring.submit([0, 1], iter([5 * BLOCK, 63 * BLOCK]))
        reap(ring, 2)
    blocks = [os.pread(numbered, BLOCK, number * BLOCK) for number in range(BLOCKS)]
    assert blocks[5] == b"a" * BLOCK
    assert blocks[63] == b"b" * BLOCK
    assert all(blocks[n][0] == n for n in range(BLOCKS) if n not in (5, 63))


def test_a_read_beyond_the_end_is_an_error(numbered: int) -> None:
    """A request that gives fewer bytes than asked for raises instead of being counted."""
    with contextlib.closing(AioRing(numbered, 1, BLOCK, READ)) as ring:
        ring.submit([0], iter([BLOCKS * BLOCK]))
        with pytest.raises(OSError, match="0 of 4096 bytes"):
            reap(ring, 1)


def test_a_refused_request_is_an_error(tmp_path: Path) -> None:
    """A write to a file that is open for reading raises the kernel's own error."""
    path = tmp_path / "read-only"
    path.write_bytes(bytes(BLOCK))
    file = os.open(path, os.O_RDONLY)
    try:
        with (
            contextlib.closing(AioRing(file, 1, BLOCK, WRITE)) as ring,
            pytest.raises(OSError, match="Bad file descriptor"),
        ):
            ring.submit([0], iter([0]))
    finally:
        os.close(file)
