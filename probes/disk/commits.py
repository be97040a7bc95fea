"""Commits as a log makes them, within a process of the driver: write the next piece, wait until it is safe."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from probes.disk.buffers import buffer
from probes.disk.turns import Stopwatch, clock, spread, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORD = 8


@contextlib.contextmanager
def committing(task: dict[str, Any]) -> Iterator[Callable[[float], dict[str, Any]]]:
    """Pieces of `block` bytes over a file that was written before, one after another, each made safe by `call`.

    Measuring gives `count`, the latencies of write and sync together, and the `sync`'s own median in microseconds.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | (os.O_DIRECT if task["direct"] else 0)
    sync = {"fsync": os.fsync, "fdatasync": os.fdatasync}[task["call"]]
    file = os.open(task["path"], flags)
    try:
        piece = buffer(task["block"])
        piece[:] = os.urandom(task["block"])
        yield lambda seconds: _measure(file, piece, sync, task, seconds)
    finally:
        os.close(file)


def _measure(
    file: int, piece: memoryview, sync: Callable[[int], None], task: dict[str, Any], seconds: float
) -> dict[str, Any]:
    whole: list[int] = []
    syncs: list[int] = []
    place, end = 0, task["size"] - task["block"]
    watch = Stopwatch()
    for soon in turns(seconds):
        while (began := clock()) < soon:
            piece[:WORD] = began.to_bytes(WORD, "little")
            os.pwrite(file, piece, place)
            written = clock()
            sync(file)
            now = clock()
            whole.append(now - began)
            syncs.append(now - written)
            place = place + task["block"] if place < end else 0
    report = watch.stop() | {"count": len(whole), "bytes": len(whole) * task["block"]} | spread(whole)
    return report | {"sync": spread(syncs).get("median", 0.0)}
