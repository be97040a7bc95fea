"""Reading a file from front to back in pieces of one size, within a process of the driver."""

from __future__ import annotations

import contextlib
import mmap
import os
from typing import TYPE_CHECKING, Any

from probes.disk.turns import Stopwatch, clock, turns

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def following(task: dict[str, Any]) -> Iterator[Callable[[float], dict[str, Any]]]:
    """Reads of `block` bytes in a row, from byte `start` on, over `length` bytes again and again.

    `drop` keeps what was read out of the page cache, so that each pass reads from the device anew. Measuring gives
    `count` and `bytes`.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_DIRECT if task["direct"] else 0)
    with open(os.open(task["path"], flags), "rb", buffering=0) as file:
        if task["drop"]:
            _forget(file)
        with memoryview(_buffer(task["block"]))[: task["block"]] as piece:
            yield lambda seconds: _measure(file, piece, task, seconds)
        if task["drop"]:
            _forget(file)


def _measure(file: io.FileIO, piece: memoryview, task: dict[str, Any], seconds: float) -> dict[str, Any]:
    block, start = task["block"], task["start"]
    reads = task["length"] // block
    readinto = file.readinto
    count, left, short = 0, reads, 0
    watch = Stopwatch()
    file.seek(start)
    for soon in turns(seconds):
        while clock() < soon:
            short += readinto(piece) != block
            count += 1
            left -= 1
            if not left:
                if task["drop"]:
                    _forget(file)
                file.seek(start)
                left = reads
    if short:
        raise OSError(f"{short} of {count} reads gave fewer bytes than asked for")
    return watch.stop() | {"count": count, "bytes": count * block}


_kept: list[mmap.mmap] = []


def _buffer(size: int) -> mmap.mmap:
    """Memory for that much, kept for the next task: making 32M anew takes longer than to read them."""
    if not _kept or len(_kept[-1]) < size:
        _kept.clear()
        _kept.append(mmap.mmap(-1, size))
        _kept[-1][:] = bytes(size)  # pages that were never touched would be made while we measure
    return _kept[-1]


def _forget(file: io.FileIO) -> None:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
