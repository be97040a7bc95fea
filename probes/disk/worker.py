"""A driver process: reads tasks as JSON lines, does page I/O or other tasks, and writes reports as JSON lines."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import resource
import select
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from probes.disk.aio import READ, WRITE, AioRing, aligned_buffer

if TYPE_CHECKING:
    import io
    from collections.abc import Callable, Iterator


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


LARGE_BUFFER = 4 << 20
STAMP_BYTES = 8
SWITCH_INTERVAL = 0.0005  # seconds; the switch interval of Python threads, a tenth of the default
_page_orders: dict[tuple[int, int], list[int]] = {}


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
        task = json.loads(line)
        if isinstance(task, dict):  # otherwise it is a request to stop that arrived after the task was done
            _write_answer(_run_task(task))


def _run_task(task: dict[str, Any]) -> dict[str, Any]:
    try:
        with TASKS[task["task"]](task) as measure:
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
