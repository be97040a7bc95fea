"""How much of the processors other processes used while a block ran."""

from __future__ import annotations

import contextlib
import time
from typing import NamedTuple

import psutil

SHORTEST = 0.5  # seconds; the kernel counts processor time in hundredths, so less says nothing


class Work(NamedTuple):
    """Processor seconds so far: of the whole host, time that the hypervisor took included, and of our processes."""

    moment: float
    whole: float
    own: float

    def share_until(self, later: Work) -> float | None:
        """What others used since then, as a share of all processors; None over too short a time."""
        seconds = later.moment - self.moment
        if seconds < SHORTEST:
            return None
        used = (later.whole - self.whole) - (later.own - self.own)
        return round(max(0.0, used) / (seconds * (psutil.cpu_count() or 1)), 3)


def read_work() -> Work:
    """The host's processor time and our own, with that of every process that we started."""
    times = psutil.cpu_times()
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)  # counted as user and nice already
    waiting = times.idle + getattr(times, "iowait", 0.0)
    ours = psutil.Process()
    own = sum(map(_seconds, (ours, *ours.children(recursive=True))))
    return Work(time.monotonic(), sum(times) - guests - waiting, own)


def _seconds(process: psutil.Process) -> float:
    """A process's own time, and that of its children that have ended and were waited for."""
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0
