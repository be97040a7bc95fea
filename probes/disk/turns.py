"""The time of one measurement within a process of the driver, and what it used of the processor."""

from __future__ import annotations

import ctypes
import mmap
import resource
import select
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


LOOK_NS = 50_000_000
"""Nanoseconds between two looks for the word to end, which is a line on standard input or its end."""

clock = time.monotonic_ns


def time_slices(seconds: float) -> Iterator[int]:
    """Until time is up or the word to end has come: the next moment, in ns, until which to go on without looking."""
    ending = select.poll()
    ending.register(sys.stdin.fileno(), select.POLLIN)
    now = clock()
    end = now + int(seconds * 1e9)
    while now < end and not ending.poll(0):
        yield min(end, now + LOOK_NS)
        now = clock()


class Stopwatch:
    """When a measurement began and ended, in ns of the system's monotonic clock, and the processor time between."""

    def __init__(self) -> None:
        self._used = _cpu_seconds()
        self._waited = _queued_seconds()
        self.began = clock()

    def stop(self) -> dict[str, Any]:
        """`began`, `ended`, and in seconds `cpu` (ours and the kernel's for us) and `queued` for a processor."""
        ended = clock()
        return {
            "began": self.began,
            "ended": ended,
            "cpu": _cpu_seconds() - self._used,
            "queued": _queued_seconds() - self._waited,
        }


def latency_percentiles(latencies: list[int]) -> dict[str, float]:
    """Median and 99th percentile in microseconds, of nanoseconds; nothing of nothing."""
    if not latencies:
        return {}
    ordered = sorted(latencies)
    return {
        "median": (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2000,
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] / 1000,
    }


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _queued_seconds() -> float:
    """Seconds that this process stood ready without a processor; 0 where the kernel doesn't count them."""
    try:
        with open("/proc/self/schedstat", encoding="ascii") as text:
            return int(text.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


SCATTERED_BYTES = 8 << 20


def aligned_buffer(size: int) -> memoryview:
    """So many bytes, aligned to a page, zeroed.

    Private memory in ordinary pages, as malloc gives it to a server. How scattered these lie decides in how many parts
    a request is sent, and pages that a process gave back a moment ago lie more scattered than others: such are taken
    first, and are not what is used. Each measurement has memory of its own, so that luck with it shows as what it is,
    a difference between rounds.
    """
    room = mmap.mmap(-1, SCATTERED_BYTES + size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room.write(bytes(SCATTERED_BYTES + size))  # pages that were never touched would be made while we measure
    room.madvise(mmap.MADV_DONTNEED, 0, SCATTERED_BYTES)
    return memoryview(room)[SCATTERED_BYTES:]


def buffer_address(memory: memoryview) -> int:
    """Where it lies."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
