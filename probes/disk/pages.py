"""Concurrent random reads and writes of pages, in a driver process."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import sys
import threading
from typing import TYPE_CHECKING, Any

from probes.disk.aio import READ, WRITE, AioRing
from probes.disk.turns import Stopwatch, aligned_buffer, clock, latency_percentiles, time_slices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STAMP_BYTES = 8
SWITCH_INTERVAL = 0.0005  # seconds; the switch interval of Python threads, a tenth of the default
_page_orders: dict[tuple[int, int], list[int]] = {}


@contextlib.contextmanager
def random_reads(task: dict[str, Any]) -> Iterator[Callable[[float], dict[str, Any]]]:
    """Random reads of `block` bytes, `depth` at a time, by `way` (aio or threads; not needed for one at a time).

    `path` is opened with O_DIRECT if `direct` is set; otherwise the file is first synced and evicted from the page
    cache. The report has `count`, `bytes` and latencies.
    """
    with _open_file(task, os.O_RDONLY) as file:
        places = _page_offsets(task)
        if not task["direct"]:
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        if task["depth"] == 1:
            yield lambda seconds: _read_singly(file, task, places, seconds)
        elif task["way"] == "aio":
            with contextlib.closing(AioRing(file, task["depth"], task["block"], READ)) as ring:
                yield lambda seconds: _read_by_aio(ring, task, places, seconds)
        else:
            yield lambda seconds: _read_by_threads(file, task, places, seconds)


@contextlib.contextmanager
def random_writes(task: dict[str, Any]) -> Iterator[Callable[[float], dict[str, Any]]]:
    """Batches of `batch` pages of `block` bytes at random offsets, each followed by one fsync.

    With aio, `depth` pages of a batch are written concurrently, otherwise one after another. The report has `count`
    and `bytes` of the pages, and the latencies of whole batches.
    """
    with _open_file(task, os.O_RDWR) as file:
        places = _page_offsets(task)
        slots = min(task["batch"], task["depth"])
        if task["way"] == "aio":
            with contextlib.closing(AioRing(file, slots, task["block"], WRITE)) as ring:
                _randomize(ring.memory)
                yield lambda seconds: _write_batches(
                    task, file, lambda: _write_batch_by_aio(ring, slots, task, places), seconds
                )
        else:
            page = aligned_buffer(task["block"])
            _randomize(page)
            yield lambda seconds: _write_batches(
                task, file, lambda: _write_batch_singly(file, page, task, places), seconds
            )


def _read_by_aio(ring: AioRing, task: dict[str, Any], places: Iterator[int], seconds: float) -> dict[str, Any]:
    slots = list(range(task["depth"]))
    latencies: list[int] = []
    reap, submit, note = ring.reap, ring.submit, latencies.append
    watch = Stopwatch()
    started = [clock()] * len(slots)
    ring.submit(slots, places)
    for soon in time_slices(seconds):
        now = clock()
        while now < soon:
            done = reap()
            now = clock()
            for slot in done:
                note(now - started[slot])
                started[slot] = now
            submit(done, places)
    return _report(watch, len(latencies), task, latencies)


def _read_singly(file: int, task: dict[str, Any], places: Iterator[int], seconds: float) -> dict[str, Any]:
    """Read pages one at a time, as a thread does that waits for each page."""
    page = [aligned_buffer(task["block"])]
    latencies: list[int] = []
    preadv, note = os.preadv, latencies.append
    watch = Stopwatch()
    for soon in time_slices(seconds):
        now = clock()
        while now < soon:
            began = now
            preadv(file, page, next(places))
            now = clock()
            note(now - began)
    return _report(watch, len(latencies), task, latencies)


def _read_by_threads(file: int, task: dict[str, Any], places: Iterator[int], seconds: float) -> dict[str, Any]:
    latencies: list[list[int]] = [[] for _ in range(task["depth"])]
    gate, over = threading.Event(), threading.Event()
    broken: list[OSError] = []

    def read(mine: list[int]) -> None:
        page = [aligned_buffer(task["block"])]
        gate.wait()
        try:
            while not over.is_set():
                began = clock()
                os.preadv(file, page, next(places))
                mine.append(clock() - began)
        except OSError as error:
            broken.append(error)

    sys.setswitchinterval(SWITCH_INTERVAL)
    threads = [threading.Thread(target=read, args=(mine,)) for mine in latencies]
    for thread in threads:
        thread.start()
    watch = Stopwatch()
    gate.set()
    for soon in time_slices(seconds):
        over.wait(max(0, soon - clock()) / 1e9)
    over.set()
    for thread in threads:
        thread.join()
    if broken:
        raise broken[0]
    together = list(itertools.chain.from_iterable(latencies))
    return _report(watch, len(together), task, together)


def _write_batches(task: dict[str, Any], file: int, send: Callable[[], None], seconds: float) -> dict[str, Any]:
    latencies: list[int] = []
    watch = Stopwatch()
    for soon in time_slices(seconds):
        while (began := clock()) < soon:
            send()
            os.fsync(file)
            latencies.append(clock() - began)
    return _report(watch, len(latencies) * task["batch"], task, latencies)


def _write_batch_by_aio(ring: AioRing, slots: int, task: dict[str, Any], places: Iterator[int]) -> None:
    """Write one batch by asynchronous I/O and wait until all of it is done."""
    left = task["batch"] - slots
    under_way = slots
    _stamp(ring.memory, range(slots), task["block"])
    ring.submit(list(range(slots)), places)
    while under_way:
        done = ring.reap()
        again = done[:left]
        left -= len(again)
        under_way -= len(done) - len(again)
        if again:
            _stamp(ring.memory, again, task["block"])
            ring.submit(again, places)


def _write_batch_singly(file: int, page: memoryview, task: dict[str, Any], places: Iterator[int]) -> None:
    for _ in range(task["batch"]):
        _stamp(page, (0,), task["block"])
        os.pwrite(file, page, next(places))


_stamp_numbers = itertools.count(1)


def _stamp(memory: memoryview, slots: Any, block: int) -> None:
    # Make each page unique: a device or file system that deduplicates would skip the write.
    for slot in slots:
        memory[slot * block : slot * block + STAMP_BYTES] = next(_stamp_numbers).to_bytes(STAMP_BYTES, "little")


def _randomize(memory: memoryview) -> None:
    memory[:] = os.urandom(len(memory))


def _report(watch: Stopwatch, count: int, task: dict[str, Any], latencies: list[int]) -> dict[str, Any]:
    return watch.stop() | {"count": count, "bytes": count * task["block"]} | latency_percentiles(latencies)


@contextlib.contextmanager
def _open_file(task: dict[str, Any], flags: int) -> Iterator[int]:
    file = os.open(task["path"], flags | os.O_CLOEXEC | (os.O_DIRECT if task["direct"] else 0))
    try:
        yield file
    finally:
        os.close(file)


def _page_offsets(task: dict[str, Any]) -> Iterator[int]:
    """Offsets of all pages of the file in random order, repeated endlessly from a random start.

    No page is repeated before all others were used, so that caches below do not serve repeated requests.
    """
    key = (task["size"], task["block"])
    if key not in _page_orders:
        order = list(range(0, task["size"] - task["block"] + 1, task["block"]))
        random.Random(task["seed"]).shuffle(order)  # noqa: S311 - an order, no secret
        _page_orders[key] = order
    order = _page_orders[key]
    return itertools.islice(itertools.cycle(order), random.randrange(len(order)), None)  # noqa: S311 - the same
