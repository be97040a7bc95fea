"""Timing and CPU use of one measurement in a driver process."""

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
"""Nanoseconds between two checks for the request to stop, a line on standard input or its end."""

clock = time.monotonic_ns


def time_slices(seconds: float) -> Iterator[int]:
    """Yield the next check time in ns, until the time is up or a request to stop has arrived."""
    ending = select.poll()
    ending.register(sys.stdin.fileno(), select.POLLIN)
    now = clock()
    end = now + int(seconds * 1e9)
    while now < end and not ending.poll(0):
        yield min(end, now + LOOK_NS)
        now = clock()


class Stopwatch:
    """Start and end of a measurement in ns of the monotonic clock, with the CPU time in between."""

    def __init__(self) -> None:
        self._used = _cpu_seconds()
        self._waited = _queued_seconds()
        self.began = clock()

    def stop(self) -> dict[str, Any]:
        """The report: `began`, `ended`, and in seconds `cpu` (user and system) and `queued` (waiting for a CPU)."""
        ended = clock()
        return {
            "began": self.began,
            "ended": ended,
            "cpu": _cpu_seconds() - self._used,
            "queued": _queued_seconds() - self._waited,
        }


def latency_percentiles(latencies: list[int]) -> dict[str, float]:
    """Median and 99th percentile in microseconds, from nanoseconds; empty without values."""
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
    """Seconds that this process was runnable without a CPU; 0 if the kernel does not count them."""
    try:
        with open("/proc/self/schedstat", encoding="ascii") as text:
            return int(text.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


SCATTERED_BYTES = 8 << 20


def aligned_buffer(size: int) -> memoryview:
    """A zeroed buffer of that many bytes, aligned to a page.

    It is private memory in ordinary pages, as a server gets from malloc. The fragmentation of its physical pages
    decides into how many parts a request is split, and pages that a process freed recently are more fragmented: such
    pages are allocated first and not used. Each measurement allocates its own buffer, so that this randomness appears
    as a difference between rounds.
    """
    room = mmap.mmap(-1, SCATTERED_BYTES + size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room.write(bytes(SCATTERED_BYTES + size))  # touch all pages now, not during the measurement
    room.madvise(mmap.MADV_DONTNEED, 0, SCATTERED_BYTES)
    return memoryview(room)[SCATTERED_BYTES:]


def buffer_address(memory: memoryview) -> int:
    """The memory address of the buffer."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
