"""Sample a server's counters at both ends of a window."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.connection.session import Notes, ask, name_value_dict, whole_number
from advisor.collect.connection.statement import MOST_EVENTS
from advisor.collect.connection.statements import STATUS, TOP_DIGESTS, TOP_STATEMENTS, TOP_WAITS
from advisor.collect.server.server import has_lsn_counter, innodb_status, redo_position
from advisor.facts import Unavailable
from advisor.facts.workload import (
    DIGESTS,
    NO_EVENTS,
    STATEMENT_KINDS,
    WAIT_EVENTS,
    EventTotal,
    Sample,
    TopEvents,
    Workload,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.collect.connection.session import Session

_COUNTER = re.compile(r"-?[0-9]{1,20}")  # range of 64-bit numbers; Python refuses to convert thousands of digits
_SECONDS = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")
_CLOCKS_AGREE = 2.0  # seconds; Uptime is in whole seconds at both ends


class CounterReading(NamedTuple):
    """Counters and InnoDB status at one moment of the local clock, in seconds."""

    status: dict[str, str]
    innodb_text: str
    clock: float

    @property
    def uptime(self) -> int:
        """Whole seconds since the server started; 0 in its first second, or if unknown."""
        text = self.status.get("uptime", "")
        return int(text) if _COUNTER.fullmatch(text) else 0


def read_counters(session: Session, notes: Notes, *, with_text: bool) -> CounterReading:
    """Read the counters now, and the InnoDB status text if requested."""
    status = name_value_dict(ask(session, STATUS, "server.status", notes))
    clock = time.monotonic()
    return CounterReading(status, innodb_status(session, notes) if with_text else "", clock)


def read_workload(
    session: Session, first: CounterReading, window: float, notes: Notes, wait: Callable[[float], object] = time.sleep
) -> Workload | None:
    """Wait for the window, then read the counters again; None if nothing can be compared, with the reason noted."""
    if window <= 0:
        notes.append(Unavailable("workload", "needs a sampling window (--window SECONDS)"))
        return None
    if not first.status or session.lost:
        notes.append(Unavailable("workload", session.lost or "needs the status counters"))
        return None
    wait(window)
    last = read_counters(session, notes, with_text=not has_lsn_counter(first.status) and bool(first.innodb_text))
    if not last.status:
        notes.append(Unavailable("workload", session.lost or "needs the status counters at the end of the window too"))
        return None
    if last.uptime < first.uptime:
        notes.append(Unavailable("workload", "the server restarted within the sampling window"))
        return None
    return Workload(_sample(first, float(first.uptime)), _sample(last, first.uptime + _elapsed_seconds(first, last)))


def sample_of(reading: CounterReading, first: CounterReading) -> Sample:
    """A reading as a sample on the server's clock, in a series that began with `first`."""
    return _sample(reading, first.uptime + (_elapsed_seconds(first, reading) if reading is not first else 0.0))


def _elapsed_seconds(first: CounterReading, last: CounterReading) -> float:
    """Seconds between two readings, by the local clock, which is finer than the server's.

    If the two disagree (a paused machine), the server's is used.
    """
    ours, theirs = last.clock - first.clock, float(last.uptime - first.uptime)
    return ours if abs(ours - theirs) <= _CLOCKS_AGREE else theirs


def _sample(reading: CounterReading, at: float) -> Sample:
    return sample_at(reading.status, at, reading.innodb_text)


def sample_at(status: dict[str, str], at: float, innodb_text: str = "") -> Sample:
    """A sample from counters as text, at a time of the server's clock.

    The redo position is from a counter or from the status text.
    """
    counters = {name: int(text) for name, text in status.items() if _COUNTER.fullmatch(text)}
    took = status.get("query_time", "")
    return Sample(at, counters, redo_position(status, innodb_text), float(took) if _SECONDS.fullmatch(took) else None)


_TOP = {WAIT_EVENTS: TOP_WAITS, STATEMENT_KINDS: TOP_STATEMENTS, DIGESTS: TOP_DIGESTS}
_PICOSECONDS = 1e12


def read_top_events(session: Session, of: str) -> TopEvents:
    """The events of WAIT_EVENTS, STATEMENT_KINDS or DIGESTS that took longest."""
    notes: Notes = []
    answer = ask(session, _TOP[of], "top", notes)
    totals: dict[str, EventTotal] = {}
    for text, count, time_waited in answer.rows if answer else ():
        name, seconds = (text or "").strip(), (whole_number(time_waited) or 0) / _PICOSECONDS
        known = totals.get(name, EventTotal(name, 0, 0.0, rows=0))
        times = known.count + (whole_number(count) or 0)
        totals[name] = EventTotal(name, times, known.seconds + seconds, known.rows + 1)
    rows = sorted(totals.values(), key=lambda total: -total.seconds)
    reason = notes[0].reason if notes else "" if rows else NO_EVENTS
    complete = answer is None or len(answer.rows) < MOST_EVENTS
    return TopEvents(of, tuple(rows), time.monotonic(), reason, complete)
