"""Inputs put to a reader under a watch: what it raises, how long it takes, and how much memory."""

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
from advisor.redaction.secrets import escape_text

SLOW = 1.0  # seconds of processor time that no input may take
STUCK = 60.0  # seconds after which a reader that only waits is called off
ROOM = 1 << 30  # bytes of address space that a worker may take beyond what it has
BATCH = 500
IN_MEMORY = "/dev/shm"  # noqa: S108 - folders of our own are made there


class Hang(BaseException):
    """Raised into a reader that takes too long; no handler of the product's may take it for its own."""


class Broken(NamedTuple):
    """An input that a reader broke on, or took too long for, and how."""

    reader: str
    data: bytes
    how: str


class Batch(NamedTuple):
    """What came of a row of inputs: how many were read, refused in one line, and broken; seconds of the slowest.

    `peak` is the most memory that the process has had so far, in bytes.
    """

    reader: str
    read: int
    refused: int
    broken: tuple[Broken, ...]
    slowest: float
    peak: int


def shares(count: int, wanted: list[str]) -> dict[str, int]:
    """How many inputs each reader gets of so many, at least one."""
    names = wanted or list(READERS)
    whole = sum(READERS[name].share for name in names)
    return {name: max(1, round(count * READERS[name].share / whole)) for name in names}


def run(asked: dict[str, int], seed: str, workers: int) -> Iterator[Batch]:
    """Put so many inputs to each reader, a batch at a time, in processes of their own."""
    jobs = [
        (name, f"{seed}/{name}/{at}", min(BATCH, count - at))
        for name, count in asked.items()
        for at in range(0, count, BATCH)
    ]
    random.Random(seed).shuffle(jobs)
    for name in asked:  # what inputs are made of is read once, before the processes part
        READERS[name].make(random.Random(seed))
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=fork, initializer=_bound) as pool:
        yield from pool.map(_try_one, jobs)


def _try_one(job: tuple[str, str, int]) -> Batch:
    return batch(*job)


def _bound() -> None:
    """Let whoever asks for a gigabyte more than there was fail at it."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, now + ROOM))


def batch(name: str, seed: str, count: int) -> Batch:
    """So many inputs, made with this seed, put to the reader of that name."""
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
    """How reading ends: "read", "refused", or what broke; and seconds of processor time."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 3 * SLOW)
    signal.setitimer(signal.ITIMER_REAL, STUCK)
    try:
        read(data, folder)
        how = "read"
    except MycnfError as error:
        how = "refused" if "\n" not in escape_text(str(error)) else f"refused in several lines: {error}"
    except (Exception, Hang) as error:  # noqa: BLE001 - whatever it is, it is a finding
        how = _told(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
    seconds = time.process_time() - began
    if seconds > SLOW and how in ("read", "refused"):
        how = f"took {seconds:.1f} s"
    return how, seconds


def _told(error: BaseException) -> str:
    """The exception with the last places of the product that it came through."""
    places, at = [], error.__traceback__
    while at is not None:
        code = at.tb_frame.f_code
        places.append(f"{os.path.basename(code.co_filename)}:{at.tb_lineno}")
        at = at.tb_next
    return f"{type(error).__name__}: {str(error)[:200]} ({' '.join(places[-6:])})"


@contextmanager
def watch() -> Iterator[None]:
    """Have the timers call a reader off."""

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
