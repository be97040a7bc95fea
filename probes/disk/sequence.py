"""Reading a file from front to back in pieces of one size, within a process of the driver."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from probes.disk.buffers import buffer
from probes.disk.turns import Stopwatch, clock, turns

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator

LARGE = 4 << 20


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
        piece = _memory(task["block"])
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


_kept: list[memoryview] = []


def _memory(size: int) -> memoryview:
    """Memory for that much; much is kept for the next task, for making it anew takes longer than to read into it."""
    if size < LARGE:
        return buffer(size)
    if not _kept or len(_kept[-1]) < size:
        _kept.clear()
        _kept.append(buffer(size))
    return _kept[-1][:size]


def _forget(file: io.FileIO) -> None:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
