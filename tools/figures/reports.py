"""The speed and memory of reports on many snapshots, and the size of the pages."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import NamedTuple

from figure import Figure
from madefleet import write

SNAPSHOTS = int(os.environ.get("SNAPSHOTS", "10000"))
RECORDED = os.path.join("examples", "snapshots", "mariadb-10.11.json")
EVERY = 0.2  # seconds between two measurements of the memory


class Ran(NamedTuple):
    """The cost of a report: wall-clock and CPU seconds, and peak megabytes of all its processes."""

    seconds: float
    processor: float
    memory: float


def figures(top: str) -> Iterator[Figure]:
    """Snapshots per second as lines and as a page, CPU time, peak memory of all processes, and its growth."""
    with tempfile.TemporaryDirectory() as folder:
        write(top, folder, SNAPSHOTS)
        small = _run(top, os.path.join(folder, "000"), folder)  # a tenth of the snapshots
        whole = _run(top, folder, folder)
        rate = SNAPSHOTS / whole.seconds
        yield Figure(f"snapshots a second, of {SNAPSHOTS:,}, as jsonl and html", rate, "1/s", ">=", 300)
        yield Figure("processor time of it a snapshot", whole.processor / SNAPSHOTS * 1000, "ms")
        yield Figure("memory of all processes at the peak of it", whole.memory, "MB", "<=", 500)
        grown = whole.memory - small.memory
        yield Figure(f"the same for a tenth of them: growth for {SNAPSHOTS:,}", grown, "MB", "<=", 20)
        yield Figure("page of all of them", _size(os.path.join(folder, "out.html")), "kB", "<=", 1000)
        page = os.path.join(folder, "one.html")
        _report(top, [os.path.join(top, RECORDED), "--format", "html", "-o", page]).wait()
        yield Figure("page of a full audit", _size(page), "kB", "<=", 1000)


def _run(top: str, folder: str, out: str) -> Ran:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = [folder, "--format", "jsonl", "-o", os.path.join(out, "out.jsonl")]
    words += ["--format", "html", "-o", os.path.join(out, "out.html")]
    process = _report(top, words)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _memory(process.pid))
        time.sleep(EVERY)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise RuntimeError(f"mycnf report ended with {process.returncode}")
    return Ran(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak)


def _report(top: str, words: list[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "advisor", "report", "--isolated", "--fail-on", "never", *words]
    return subprocess.Popen(command, cwd=top)


def _memory(pid: int) -> float:
    return sum(_proportional(one) for one in [pid, *_children(pid)]) / 1000


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # the process has ended in the meantime
        return []


def _proportional(pid: int) -> int:
    """Kilobytes of a process, with its share of shared pages (PSS)."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Pss:"))
    except OSError:
        return 0


def _size(path: str) -> float:
    return os.path.getsize(path) / 1000
