"""Sample a server's counters at both ends of a window."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.asking import Notes, ask, pairs
from advisor.collect.innodb import counts_lsn, innodb_status, lsn
from advisor.collect.statements import STATUS
from advisor.facts import Unavailable
from advisor.facts.workload import Sample, Workload

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.send import Session

_CLOCKS_AGREE = 2.0  # seconds: Uptime counts whole ones at both ends


class Reading(NamedTuple):
    """Counters and InnoDB status at one moment of our own clock, in seconds."""

    status: dict[str, str]
    innodb_text: str
    clock: float

    @property
    def uptime(self) -> int:
        """Whole seconds since the server started."""
        return int(self.status.get("uptime", "0") or 0)


def read_counters(session: Session, notes: Notes, *, with_text: bool) -> Reading:
    """Read the counters now, and the InnoDB status text where it is wanted."""
    status = pairs(ask(session, STATUS, "server.status", notes))
    clock = time.monotonic()
    return Reading(status, innodb_status(session, notes) if with_text else "", clock)


def read_workload(
    session: Session, first: Reading, window: float, notes: Notes, wait: Callable[[float], object] = time.sleep
) -> Workload | None:
    """Wait for the window and read the counters again; None with the reason noted where there is nothing to compare."""
    if window <= 0:
        notes.append(Unavailable("workload", "needs a sampling window (--window SECONDS)"))
        return None
    if not first.status or session.lost:
        notes.append(Unavailable("workload", session.lost or "needs the status counters"))
        return None
    wait(window)
    last = read_counters(session, notes, with_text=not counts_lsn(first.status) and bool(first.innodb_text))
    if not last.status:
        notes.append(Unavailable("workload", session.lost or "needs the status counters at the end of the window too"))
        return None
    if last.uptime < first.uptime:
        notes.append(Unavailable("workload", "the server restarted within the sampling window"))
        return None
    return Workload(_sample(first, float(first.uptime)), _sample(last, first.uptime + _elapsed(first, last)))


def _elapsed(first: Reading, last: Reading) -> float:
    """Seconds between two readings: by our clock, which is finer, unless the server's disagrees (a paused machine)."""
    ours, theirs = last.clock - first.clock, float(last.uptime - first.uptime)
    return ours if abs(ours - theirs) <= _CLOCKS_AGREE else theirs


def _sample(reading: Reading, at: float) -> Sample:
    counters = {name: int(text) for name, text in reading.status.items() if text.lstrip("-").isdigit()}
    return Sample(at, counters, lsn(reading.status, reading.innodb_text))
