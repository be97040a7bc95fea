"""Run readers on inputs and check the exceptions, the run time and the memory."""

from __future__ import annotations

import collections
import multiprocessing
import os
import random
import resource
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple

from outside import READERS

from advisor.core.errors import MycnfError
from advisor.redaction import escape_text

SLOW = 1.0  # maximum seconds of CPU time for an input
STUCK = 60.0  # seconds after which a reader that only waits is interrupted
ROOM = 1 << 30  # bytes of address space that a worker may allocate in addition
BATCH = 500
IN_MEMORY = "/dev/shm"  # noqa: S108 - folders of our own are made there


class Hang(BaseException):
    """Raised in a reader that takes too long; not an Exception, so that the product does not catch it."""


class Broken(NamedTuple):
    """An input on which a reader failed or took too long, and how."""

    reader: str
    data: bytes
    how: str


class Batch(NamedTuple):
    """The results of a batch of inputs: numbers read, refused with one line, and broken; seconds of the slowest.

    `peak` is the peak memory of the process so far, in bytes.
    """

    reader: str
    read: int
    refused: int
    broken: tuple[Broken, ...]
    slowest: float
    peak: int


def shares(count: int, wanted: list[str]) -> dict[str, int]:
    """The number of inputs for each reader out of that many, at least one."""
    names = wanted or list(READERS)
    whole = sum(READERS[name].share for name in names)
    return {name: max(1, round(count * READERS[name].share / whole)) for name in names}


def run(asked: dict[str, int], seed: str, workers: int) -> Iterator[Batch]:
    """Run each reader on that many inputs, a batch at a time, in separate processes."""
    jobs = [
        (name, f"{seed}/{name}/{at}", min(BATCH, count - at))
        for name, count in asked.items()
        for at in range(0, count, BATCH)
    ]
    random.Random(seed).shuffle(jobs)
    for name in asked:  # load the seeds once, before the processes fork
        READERS[name].make(random.Random(seed))
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=fork, initializer=_bound) as pool:
        yield from pool.map(_try_one, jobs)


def _try_one(job: tuple[str, str, int]) -> Batch:
    return batch(*job)


def _bound() -> None:
    """Limit the address space, so that allocating another gigabyte fails."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, now + ROOM))


def batch(name: str, seed: str, count: int) -> Batch:
    """Run the reader with that name on generated inputs."""
    chance, reader = random.Random(seed), READERS[name]
    ends: collections.Counter[str] = collections.Counter()
    broken, slowest = [], 0.0
    with tempfile.TemporaryDirectory(prefix="mycnf-fuzz-", dir=_place()) as folder, watch():
        for _ in range(count):
            data = reader.make(chance)
            how, seconds = attempt(reader.read, data, folder)
            ends[how] += 1
            slowest = max(slowest, seconds)
            if how not in ("read", "refused"):
                broken.append(Broken(name, data, how))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return Batch(name, ends["read"], ends["refused"], tuple(broken), slowest, peak)


def attempt(read: Any, data: bytes, folder: str) -> tuple[str, float]:
    """The result, "read", "refused" or a failure; and seconds of CPU time."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 3 * SLOW)
    signal.setitimer(signal.ITIMER_REAL, STUCK)
    try:
        read(data, folder)
        how = "read"
    except MycnfError as error:
        how = "refused" if "\n" not in escape_text(str(error)) else f"refused in several lines: {error}"
    except (Exception, Hang) as error:  # noqa: BLE001 - whatever it is, it is a finding
        how = _error_text(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.process_time() - began
    if seconds > SLOW and how in ("read", "refused"):
        how = f"took {seconds:.1f} s"
    return how, seconds


def _error_text(error: BaseException) -> str:
    """The exception with the last locations in the product."""
    places, at = [], error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        places.append(f"{os.path.basename(code.co_filename)}:{at.tb_lineno}")
        at = at.tb_next
    return f"{type(error).__name__}: {str(error)[:200]} ({' '.join(places[-6:])})"


@contextmanager
def watch() -> Iterator[None]:
    """Make the timers interrupt a reader."""

    def called_off(number: int, _frame: object) -> None:
        raise Hang("it didn't end" if number == signal.SIGPROF else "it waited without end")

    before = {number: signal.signal(number, called_off) for number in (signal.SIGPROF, signal.SIGALRM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _place() -> str | None:
    return IN_MEMORY if os.access(IN_MEMORY, os.W_OK) else None
