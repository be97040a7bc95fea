"""The load of this host and of its processes, against what the kernel prints."""

from __future__ import annotations

import os

import pytest

from advisor.collect.host.live_load import read_host_seconds
from probes.safety.neighbours import disk_bytes, processor_seconds

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
GONE = 1 << 22  # beyond the numbers that Linux gives to processes
ROUNDING = 0.05  # seconds: the kernel counts in hundredths, and what it counts as idle may go back a little


def printed_seconds() -> tuple[float, float]:
    """Seconds in use and of all in the first line of /proc/stat, see proc(5): user, nice, system, idle, iowait, …"""
    with open("/proc/stat", encoding="ascii") as text:
        ticks = [int(word) for word in text.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / TICKS_PER_SECOND, sum(ticks) / TICKS_PER_SECOND


def test_the_hosts_processor_time() -> None:
    """Waiting for disks is no use, and the time of guests, which counts as user time already, counts once."""
    before, between, after = printed_seconds(), read_host_seconds(), printed_seconds()
    for earlier, seconds, later in zip(before, between[:2], after, strict=True):
        assert earlier - ROUNDING <= seconds <= later + ROUNDING


def test_the_processor_time_of_a_process() -> None:
    """User and system time, as the kernel gives them to the process itself, without its children's."""
    before, seconds, after = os.times(), processor_seconds(os.getpid()), os.times()
    assert seconds is not None
    assert before.user + before.system - ROUNDING <= seconds <= after.user + after.system + ROUNDING


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="this kernel does not count what processes read")
def test_the_disk_use_of_a_process() -> None:
    """Bytes read and written, by /proc/PID/io."""

    def printed() -> int:
        with open("/proc/self/io", encoding="ascii") as text:
            rows = dict(line.split(": ") for line in text)
        return int(rows["read_bytes"]) + int(rows["write_bytes"])

    before, counted, after = printed(), disk_bytes(os.getpid()), printed()
    assert counted is not None
    assert before <= counted <= after


def test_a_process_that_is_gone_has_no_load() -> None:
    """None instead of an error, for servers end while they are looked at."""
    assert (processor_seconds(GONE), disk_bytes(GONE)) == (None, None)
