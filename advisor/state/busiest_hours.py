"""The saved rings, and the busiest hours of each: for redo, connections and temporary tables."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts.workload import BusyHour, Sample, SampledHours, Workload
from advisor.state import sample_ring
from advisor.state.directory import state_folder
from advisor.state.sample_ring import ENDING, FOLDER, same_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from advisor.state.sample_ring import RingSample


HOUR = 3600
SHORTEST, LONGEST = 0.75 * HOUR, 1.5 * HOUR  # length of an hour: timers are delayed, and samples may be missing
LATE = 60  # seconds by which a sample may be early or late
WARM = 600  # seconds of uptime before the caches are warm
MAX_SAMPLES = 13  # per hour in the facts
FLUSHED = "uptime_since_flush_status"
Weight = tuple[float, float]


class HourSpan(NamedTuple):
    """Samples of about an hour without a restart, by their indices in the ring."""

    first: int
    last: int


def summarize_samples(entries: Sequence[RingSample]) -> SampledHours | None:
    """Summarise the samples of a ring; None if it is empty."""
    if not entries:
        return None
    spans = list(hour_spans(entries))
    hours = [_busiest(kind, weigh, entries, spans) for kind, weigh in KINDS.items()]
    times = [entry.time for entry in entries]
    return SampledHours(_utc(min(times)), _utc(max(times)), len(entries), tuple(hour for hour in hours if hour))


def hour_spans(entries: Sequence[RingSample]) -> Iterator[HourSpan]:
    """Yield about an hour from each sample on, if the server did not restart and its counters were not reset."""
    for first, begin in enumerate(entries):
        last = first
        while last + 1 < len(entries) and entries[last].uptime - begin.uptime < HOUR - LATE:
            ahead = entries[last + 1]
            if not _is_continuous(entries[last], ahead) or ahead.uptime - begin.uptime > LONGEST:
                break
            last += 1
        if entries[last].uptime - begin.uptime >= SHORTEST and begin.uptime >= WARM:
            yield HourSpan(first, last)


def _is_continuous(earlier: RingSample, later: RingSample) -> bool:
    """Whether the counters can be subtracted: no restart, clock jump or FLUSH STATUS in between."""
    before, after = earlier.counters.get(FLUSHED), later.counters.get(FLUSHED)
    return same_start(earlier, later) and (before is None or after is None or after >= before)


def _busiest(
    kind: str,
    weigh: Callable[[Workload, Sequence[RingSample]], Weight],
    entries: Sequence[RingSample],
    spans: Sequence[HourSpan],
) -> BusyHour | None:
    """Return the hour with the highest weight, the later of equals; None without an hour."""
    if not spans:
        return None

    def weight(span: HourSpan) -> tuple[Weight, int]:
        own = entries[span.first : span.last + 1]
        return weigh(Workload(_sample(own[0]), _sample(own[-1])), own), span.first

    best = max(spans, key=weight)
    own = entries[best.first : best.last + 1]
    return BusyHour(kind, _utc(own[0].time), _utc(own[-1].time), tuple(map(_sample, _thin_out(own))))


def _thin_out(own: Sequence[RingSample]) -> Sequence[RingSample]:
    step = -(-(len(own) - 1) // (MAX_SAMPLES - 1)) or 1
    return [*own[:-1:step], own[-1]]


def _sample(entry: RingSample) -> Sample:
    return Sample(float(entry.uptime), entry.counters, entry.lsn)


def _redo(hour: Workload, _own: Sequence[RingSample]) -> Weight:
    return hour.redo_rate or 0.0, hour.rate("innodb_log_waits") or 0.0


def _connections(hour: Workload, own: Sequence[RingSample]) -> Weight:
    refused = hour.rate("connection_errors_max_connections") or 0.0
    return refused, float(max(entry.counters.get("threads_connected", 0) for entry in own))


def _temporary(hour: Workload, _own: Sequence[RingSample]) -> Weight:
    return hour.rate("created_tmp_disk_tables") or 0.0, hour.rate("created_tmp_tables") or 0.0


def _utc(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return ""


KINDS: dict[str, Callable[[Workload, Sequence[RingSample]], Weight]] = {
    "redo": _redo,
    "connections": _connections,
    "temporary tables": _temporary,
}


class SampleRing(NamedTuple):
    """One server's ring: its name, its file, and its summary; None if it is empty."""

    server: str
    path: str
    hours: SampledHours | None


def read_rings() -> tuple[list[SampleRing], list[str]]:
    """Return the rings sorted by server name, and a line on each invalid file."""
    folder = state_folder(FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(ENDING))
    except OSError:
        return [], []
    rings, damaged = [], []
    for path in (os.path.join(folder, name) for name in names):
        try:
            head, entries = sample_ring.read(path)
            rings.append(SampleRing(head.server, path, summarize_samples(entries)))
        except sample_ring.RingError as error:
            damaged.append(str(error))
        except OSError as error:
            damaged.append(f"{path} can't be read ({error.strerror}); it was ignored")
    return sorted(rings, key=lambda one: one[:2]), damaged
