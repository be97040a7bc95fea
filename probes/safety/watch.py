"""Monitor the other servers of this host while a probe runs, and stop the probe if they slow down."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from probes.safety import thresholds as at
from probes.safety.neighbours import find_other_servers, read_wait_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from probes.safety.neighbours import OtherServer
    from probes.stop import StopSignal


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
    found = () if "neighbour" in force else find_other_servers()
    if not found:
        yield ()
        return
    watches = [_Watch(neighbour, ask(neighbour)) for neighbour in found]
    for _ in range(at.BASELINE_LOOKS):
        time.sleep(at.WATCH_EVERY)
        for watch in watches:
            watch.sample_baseline()
    over = threading.Event()
    thread = threading.Thread(target=_watch_until, args=(watches, stop, over), name="mycnf-watch", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()
        for watch in watches:
            watch.close()


def _watch_until(watches: list[_Watch], stop: StopSignal, over: threading.Event) -> None:
    while not over.wait(at.WATCH_EVERY) and not stop.is_set():
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
        self._latest: deque[ServerSample] = deque(maxlen=at.WORSE_LOOKS)

    def sample_baseline(self) -> None:
        """Take one sample of the baseline."""
        self._baseline.append(self._sample())

    def check(self) -> str:
        """Take one sample during the run; returns how the server got slower as a phrase, or an empty string."""
        self._latest.append(self._sample())
        return describe_degradation(self._baseline, list(self._latest)) if len(self._latest) == at.WORSE_LOOKS else ""

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
        ("answer", at.WORSE_ANSWER, "answers {times:.0f} times slower than before"),
        ("processor", at.WORSE_WAIT, "waits for a processor {now:.1f} s per second, {before:.1f} before"),
        ("disk", at.WORSE_WAIT, "waits for its disk {now:.1f} s per second, {before:.1f} before"),
    ):
        usual = [value for look in alone if (value := getattr(look, field)) is not None]
        seen = [value for look in latest if (value := getattr(look, field)) is not None]
        if not usual or len(seen) < len(latest):
            continue
        before, best = statistics.median(usual), min(seen)
        if best > before * at.WORSE_TIMES and best > before + least:
            return words.format(times=best / max(before, 1e-6), now=best, before=before)
    return ""


def _rate(then: float | None, now: float | None, passed: float) -> float | None:
    return None if then is None or now is None else max(0.0, now - then) / passed
