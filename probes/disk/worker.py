"""A driver process: reads tasks as JSON lines from standard input, and writes reports as JSON lines.

For each task it first answers that it is ready, then waits for the start line. A line that arrives during the
measurement ends it early, and the end of the input ends the process, so that it cannot outlive its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from probes.disk.pages import random_reads, random_writes
from probes.disk.turns import Stopwatch, aligned_buffer, clock, latency_percentiles, time_slices

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator


LARGE_BUFFER = 4 << 20


@contextlib.contextmanager
def sequential_reads(task: dict[str, Any]) -> Iterator[Callable[[float], dict[str, Any]]]:
    """Sequential reads of `block` bytes, from byte `start` on, over `length` bytes repeatedly.

    `drop` evicts what was read from the page cache, so that each pass reads from the device again. The report has
    `count` and `bytes`.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | (os.O_DIRECT if task["direct"] else 0)
    with open(os.open(task["path"], flags), "rb", buffering=0) as file:
        if task["drop"]:
            _drop_from_cache(file)
        piece = _read_buffer(task["block"])
        yield lambda seconds: _measure_sequence(file, piece, task, seconds)
        if task["drop"]:
            _drop_from_cache(file)


def _measure_sequence(file: io.FileIO, piece: memoryview, task: dict[str, Any], seconds: float) -> dict[str, Any]:
    block, start = task["block"], task["start"]
    reads = task["length"] // block
    readinto = file.readinto
    count, left, short = 0, reads, 0
    watch = Stopwatch()
    file.seek(start)
    for soon in time_slices(seconds):
        while clock() < soon:
            short += readinto(piece) != block
            count += 1
            left -= 1
            if not left:
                if task["drop"]:
                    _drop_from_cache(file)
                file.seek(start)
                left = reads
    if short:
        raise OSError(f"{short} of {count} reads gave fewer bytes than asked for")
    return watch.stop() | {"count": count, "bytes": count * block}


_large_buffers: list[memoryview] = []


def _read_buffer(size: int) -> memoryview:
    """An aligned buffer; a large one is kept for the next task, because allocating it takes longer than reading."""
    if size < LARGE_BUFFER:
        return aligned_buffer(size)
    if not _large_buffers or len(_large_buffers[-1]) < size:
        _large_buffers.clear()
        _large_buffers.append(aligned_buffer(size))
    return _large_buffers[-1][:size]


def _drop_from_cache(file: io.FileIO) -> None:
    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


STAMP_BYTES = 8


@contextlib.contextmanager
def log_writes(task: dict[str, Any]) -> Iterator[Callable[[float], dict[str, Any]]]:
    """Writes of `block` bytes to a file that was written before, one after another, each synced by `call`.

    The report has `count`, the latencies of write and sync together, and the median of the `sync` alone in
    microseconds.
    """
    flags = os.O_RDWR | os.O_CLOEXEC | (os.O_DIRECT if task["direct"] else 0)
    sync = {"fsync": os.fsync, "fdatasync": os.fdatasync}[task["call"]]
    file = os.open(task["path"], flags)
    try:
        piece = aligned_buffer(task["block"])
        piece[:] = os.urandom(task["block"])
        yield lambda seconds: _measure_log_writes(file, piece, sync, task, seconds)
    finally:
        os.close(file)


def _measure_log_writes(
    file: int, piece: memoryview, sync: Callable[[int], None], task: dict[str, Any], seconds: float
) -> dict[str, Any]:
    whole: list[int] = []
    syncs: list[int] = []
    place, end = 0, task["size"] - task["block"]
    watch = Stopwatch()
    for soon in time_slices(seconds):
        while (began := clock()) < soon:
            piece[:STAMP_BYTES] = began.to_bytes(STAMP_BYTES, "little")
            os.pwrite(file, piece, place)
            written = clock()
            sync(file)
            now = clock()
            whole.append(now - began)
            syncs.append(now - written)
            place = place + task["block"] if place < end else 0
    report = watch.stop() | {"count": len(whole), "bytes": len(whole) * task["block"]} | latency_percentiles(whole)
    return report | {"sync": latency_percentiles(syncs).get("median", 0.0)}


TASKS = {"read": random_reads, "write": random_writes, "commit": log_writes, "follow": sequential_reads}
END = "end"
OOM_SCORE = "600"  # if memory runs out, the kernel kills a driver before any process of the user


def run_worker() -> None:
    """Run tasks until the input ends."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
            score.write(OOM_SCORE)
    except OSError:
        pass  # its score may already be higher
    while line := _read_line():
        told = json.loads(line)
        if isinstance(told, dict):  # otherwise it is a request to stop that arrived after the task was done
            _write_answer(_run_task(told))


def _run_task(told: dict[str, Any]) -> dict[str, Any]:
    try:
        with TASKS[told["task"]](told) as measure:
            _write_answer({"ready": True})
            seconds = json.loads(_read_line() or "0")
            return measure(0 if seconds == END else seconds)
    except (OSError, MemoryError) as error:
        return {"broken": getattr(error, "strerror", None) or str(error) or "out of memory"}


def _read_line() -> bytes:
    # Unbuffered, so that poll sees the next line.
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(sys.stdin.fileno(), 1)):
        line += byte
    return line


def _write_answer(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
