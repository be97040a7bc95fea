"""Monitor the other servers of this host while a probe runs, and stop the probe if they slow down.

The user sees each threshold of the safety checks under its name.
"""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from probes.safety.neighbours import find_other_servers, read_wait_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.safety.neighbours import OtherServer
    from probes.stop import StopSignal


GIB = 1 << 30
BUSY_SERVER_CPU = 0.25
"""CPUs that another server uses from which on it counts as busy."""
BUSY_SERVER_IO = 4 << 20
"""Bytes per second that another server reads and writes from which on it counts as busy."""
BUSY_HOST = 0.5
"""Share of all CPU time in use from which on measurements are dominated by other processes."""
BUSY_SAMPLE = 1.0
"""Seconds over which all three are sampled."""
FULL_SHARE = 0.05
FULL_BYTES = GIB
"""What must stay free on the file system during the run: this share of it, and at least this many bytes."""
LITTLE_SHARE = 0.1
LITTLE_BYTES = GIB // 2
"""What must stay available of the memory during the run: this share of it, and at least this many bytes."""
WATCH_EVERY = 0.5
"""Seconds between two samples of a monitored server."""
BASELINE_LOOKS = 5
"""Samples before anything is prepared: the baseline without a probe."""
WORSE_LOOKS = 4
"""Consecutive samples that must be worse before a run stops: two seconds."""
WORSE_TIMES = 3.0
"""Factor by which a sample must be worse than the baseline."""
WORSE_WAIT = 0.2
"""Seconds per second of waiting for a CPU or a disk by which it must also be worse."""
WORSE_ANSWER = 0.005
"""Seconds by which the answer to a statement must also be slower."""


class LatencyProbe(Protocol):
    """A callable that measures the response time of a server in seconds; None if there is no answer."""

    def __call__(self) -> float | None:
        """Seconds until the answer."""

    def close(self) -> None:
        """Stop measuring and close the connection."""


class ServerSample(NamedTuple):
    """One sample of a server: seconds per second of waiting for CPUs and for disks, and seconds until an answer."""

    processor: float | None
    disk: float | None
    answer: float | None


@contextlib.contextmanager
def watch_other_servers(
    stop: StopSignal,
    force: frozenset[str] = frozenset(),
    ask: Callable[[OtherServer], LatencyProbe | None] = lambda _: None,
) -> Iterator[tuple[OtherServer, ...]]:
    """Monitor every other server of this host while the context lasts; yields the monitored servers.

    First it samples their baseline, which takes two and a half seconds if there are any. `ask` may open a latency
    probe for a server. With "neighbour" in `force` nothing is monitored.
    """
    servers = () if "neighbour" in force else find_other_servers()
    if not servers:
        yield ()
        return
    watches = [_Watch(neighbour, ask(neighbour)) for neighbour in servers]
    for _ in range(BASELINE_LOOKS):
        time.sleep(WATCH_EVERY)
        for watch in watches:
            watch.sample_baseline()
    over = threading.Event()
    thread = threading.Thread(target=_watch_until, args=(watches, stop, over), name="mycnf-watch", daemon=True)
    thread.start()
    try:
        yield servers
    finally:
        over.set()
        thread.join()
        for watch in watches:
            watch.close()


def _watch_until(watches: list[_Watch], stop: StopSignal, over: threading.Event) -> None:
    while not over.wait(WATCH_EVERY) and not stop.is_set():
        for watch in watches:
            suffering = watch.check()
            if suffering:
                stop.say(f"neighbour: {watch.neighbour} {suffering}")
                return


class _Watch:
    """One monitored server: its baseline without a probe, and its latest samples."""

    def __init__(self, neighbour: OtherServer, ask: LatencyProbe | None) -> None:
        self.neighbour = neighbour
        self._ask = ask
        self._before = (time.monotonic(), read_wait_times(neighbour.pid))
        self._baseline: list[ServerSample] = []
        self._latest: deque[ServerSample] = deque(maxlen=WORSE_LOOKS)

    def sample_baseline(self) -> None:
        """Take one sample of the baseline."""
        self._baseline.append(self._sample())

    def check(self) -> str:
        """Take one sample during the run; returns how the server got slower as a phrase, or an empty string."""
        self._latest.append(self._sample())
        return describe_degradation(self._baseline, list(self._latest)) if len(self._latest) == WORSE_LOOKS else ""

    def close(self) -> None:
        """Stop monitoring."""
        if self._ask:
            self._ask.close()

    def _sample(self) -> ServerSample:
        then, waited = self._before
        now, waits_now = time.monotonic(), read_wait_times(self.neighbour.pid)
        self._before = now, waits_now
        passed = max(1e-3, now - then)
        return ServerSample(
            _rate(waited.processor, waits_now.processor, passed),
            _rate(waited.disk, waits_now.disk, passed),
            self._ask() if self._ask else None,
        )


def describe_degradation(alone: list[ServerSample], latest: list[ServerSample]) -> str:
    """In what way all of the latest samples are worse than the baseline; empty if in none."""
    for field, least, words in (
        ("answer", WORSE_ANSWER, "answers {times:.0f} times slower than before"),
        ("processor", WORSE_WAIT, "waits for a processor {now:.1f} s per second, {before:.1f} before"),
        ("disk", WORSE_WAIT, "waits for its disk {now:.1f} s per second, {before:.1f} before"),
    ):
        usual = [value for look in alone if (value := getattr(look, field)) is not None]
        seen = [value for look in latest if (value := getattr(look, field)) is not None]
        if not usual or len(seen) < len(latest):
            continue
        before, best = statistics.median(usual), min(seen)
        if best > before * WORSE_TIMES and best > before + least:
            return words.format(times=best / max(before, 1e-6), now=best, before=before)
    return ""


def _rate(then: float | None, now: float | None, passed: float) -> float | None:
    return None if then is None or now is None else max(0.0, now - then) / passed
