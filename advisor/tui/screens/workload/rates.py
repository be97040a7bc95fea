"""The samples that the app keeps, and their rates: each interval is computed once, then summed over a window."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts import Workload
from advisor.facts.workload import DISK_BUSY, Sample
from advisor.tui.screens.workload.counters import SERIES, USED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from advisor.tui.screens.workload.counters import Series


FINE = 900.0  # seconds in which every sample is kept
COARSE = 10.0  # seconds between older samples: rates stay exact, as counters only rise
LONGEST = 3600.0  # seconds
MOST_SAMPLES = 900  # in any case
MOST_CHANGES = 100
RULES_STEP, RULES_LONGEST = 300.0, 1800.0  # seconds between samples kept whole, and of the window that rules judge


class VariableChange(NamedTuple):
    """A global variable that changed at or shortly before `at`, on the clock of the samples; secrets are masked."""

    at: float
    name: str
    before: str
    after: str


def add_sample(samples: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """The samples with a new one: all of the last minutes, fewer of the hour before, none from before a restart."""
    slim = Sample(new.at, _used_counters(new.status), new.lsn, new.query_time)
    if not samples or new.at < samples[-1].at:
        return (slim,)
    kept: list[Sample] = []
    for sample in samples:
        if new.at - sample.at > LONGEST + COARSE:
            continue
        if new.at - sample.at <= FINE or not kept or sample.at - kept[-1].at >= COARSE:
            kept.append(sample)
    return (*kept[-MOST_SAMPLES + 1 :], slim)


def _used_counters(status: Mapping[str, int]) -> dict[str, int]:
    """The counters that charts need, without a copy of each name."""
    return {sys.intern(key): value for key, value in status.items() if key in USED or key.startswith(DISK_BUSY)}


def add_whole_sample(kept: tuple[Sample, ...], new: Sample) -> tuple[Sample, ...]:
    """The samples that rules judge, with all counters; first and last are a window of about half an hour at most."""
    if not kept or new.at < kept[-1].at:
        return (new,)
    if len(kept) > 1 and kept[-1].at - kept[-2].at < RULES_STEP:
        kept = kept[:-1]
    while len(kept) > 1 and new.at - kept[1].at >= RULES_LONGEST:
        kept = kept[1:]
    return (*kept, new)


class RecordedSeries(NamedTuple):
    """Samples that were recorded with the changes of variables among them, and one sentence about them."""

    samples: tuple[Sample, ...]
    changes: tuple[VariableChange, ...]
    about: str


def write_series(path: str, series: RecordedSeries) -> None:
    """Write a series as small as it goes: of each counter the first value, then by how much it rose."""
    names = sorted({name for sample in series.samples for name in sample.status})
    used = [name for name in names if all(name in sample.status for sample in series.samples)]
    counters = {name: _steps(sample.status[name] for sample in series.samples) for name in used}
    series_json = {
        "version": 1,
        "about": series.about,
        "at": [round(sample.at, 2) for sample in series.samples],
        "query_time": [round(sample.query_time or 0.0, 4) for sample in series.samples],
        "counters": counters,
        "changes": [list(change) for change in series.changes],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(series_json, file, separators=(",", ":"))
        file.write("\n")


def _steps(values: Iterable[int]) -> list[int]:
    steps, before = [], 0
    for value in values:
        steps.append(value - before)
        before = value
    return steps


def load_series(path: str, ends_at: float) -> RecordedSeries:
    """Read a series that came with mycnf, moved so that it ends at this time of a server's clock."""
    with open(path, encoding="utf-8") as file:
        recorded = json.load(file)
    shift = ends_at - recorded["at"][-1]
    values = {name: _sums(steps) for name, steps in recorded["counters"].items()}
    samples = tuple(
        Sample(
            at + shift, {name: column[place] for name, column in values.items()}, None, recorded["query_time"][place]
        )
        for place, at in enumerate(recorded["at"])
    )
    changes = tuple(VariableChange(at + shift, *words) for at, *words in recorded["changes"])
    return RecordedSeries(samples, changes, recorded["about"])


def _sums(steps: Iterable[int]) -> list[int]:
    values, value = [], 0
    for step in steps:
        value += step
        values.append(value)
    return values


SAME = 1.000001  # times, by which rounding may move a mean beyond its ends
SLACK = 1.0  # seconds: samples come slightly late, and a window of 30 s should include all of its samples


class SampleInterval(NamedTuple):
    """The interval between two samples; the tuples have one entry for each of SERIES.

    A value is an amount divided by its divisor; if unknown, it is None and both are 0. `broken` has the indexes of the
    series whose counters decreased.
    """

    first: Sample
    last: Sample
    values: tuple[float | None, ...]
    amounts: tuple[float, ...]
    divisors: tuple[float, ...]
    broken: frozenset[int]


class SeriesRates(NamedTuple):
    """One series over a window, in its unit; None if unknown.

    `mean` is the sum of amounts divided by the sum of divisors, `columns` are the same for each column drawn, the
    oldest first. `broken` says that counters decreased within the window.
    """

    now: float | None
    minimum: float | None
    mean: float | None
    maximum: float | None
    columns: tuple[float | None, ...]
    broken: bool


def measure_intervals(samples: Sequence[Sample], known: Iterable[SampleInterval] = ()) -> tuple[SampleInterval, ...]:
    """The intervals of the samples, the oldest first; those among `known` are not computed again.

    A single sample gives one interval of length zero: levels have a value, rates have none.
    """
    kept = {id(moment.last): moment for moment in known}
    pairs = [(samples[0], samples[0])] if len(samples) == 1 else pairwise(samples)
    intervals = []
    for first, last in pairs:
        old = kept.get(id(last))
        intervals.append(old if old and old.first is first and old.last is last else measure_interval(first, last))
    return tuple(intervals)


def measure_interval(first: Sample, last: Sample) -> SampleInterval:
    """Compute every series between two samples."""
    interval = Workload(first, last)
    counted = [_read_series(series, interval) for series in SERIES]
    parts = [part or (0.0, 0.0) for part in counted]
    return SampleInterval(
        first,
        last,
        tuple(_divide(*part) for part in parts),
        tuple(amount for amount, _ in parts),
        tuple(divisor for _, divisor in parts),
        frozenset(
            place for place, part in enumerate(counted) if part is None and _both_ends_have(SERIES[place], interval)
        ),
    )


def _read_series(series: Series, interval: Workload) -> tuple[float, float] | None:
    formula = series.formula_for(interval.last)
    if formula is None or not formula.has_counters(interval.first):
        return None
    try:
        counted = formula.read(interval)
        return None if counted is None else (float(counted[0]), float(counted[1]))
    except OverflowError:  # a server may report a number too large for a float
        return None


def _both_ends_have(series: Series, interval: Workload) -> bool:
    formula = series.formula_for(interval.last)
    return formula is not None and formula.has_counters(interval.first)


def _divide(amount: float, divisor: float) -> float | None:
    return amount / divisor if divisor > 0 else None


def intervals_within(all_moments: Sequence[SampleInterval], seconds: float | None) -> tuple[SampleInterval, ...]:
    """The intervals of the last `seconds`, at least the newest; None means all."""
    if seconds is None or not all_moments:
        return tuple(all_moments)
    since = all_moments[-1].last.at - seconds - SLACK
    return (*(m for m in all_moments[:-1] if m.first.at >= since), all_moments[-1])


def column_spans(window: Sequence[SampleInterval], seconds: float | None, count: int) -> list[tuple[int, int]]:
    """The intervals (from, up to) that each of `count` columns shows; the last column ends at the newest sample.

    Without `seconds` the columns start at the oldest sample. An interval is in every column whose middle it covers; one
    that covers none is in the column of its own middle.
    """
    spans = [(0, 0)] * count
    end = window[-1].last.at if window else 0.0
    begin = end - seconds if seconds is not None else window[0].first.at if window else 0.0
    width = (end - begin) / count
    for place, moment in enumerate(window if width > 0 else ()):
        first, last = (moment.first.at - begin) / width, (moment.last.at - begin) / width
        low, high = ceil(first - 0.5), ceil(last - 0.5)
        if low == high:
            low = min(count - 1, floor((first + last) / 2))
            high = low + 1
        for column in range(max(0, low), min(count, high)):
            start, stop = spans[column]
            spans[column] = (start if stop else place, place + 1)
    return spans


def window_rates(window: Sequence[SampleInterval], columns: Sequence[tuple[int, int]] = ()) -> list[SeriesRates]:
    """The rates of each of SERIES over a window of at least one interval, in these columns (see `column_spans`)."""
    broken = frozenset[int]().union(*(moment.broken for moment in window))
    values = zip(*(moment.values for moment in window), strict=True)
    amounts = zip(*(moment.amounts for moment in window), strict=True)
    divisors = zip(*(moment.divisors for moment in window), strict=True)
    return [
        _series_rates(*counted, columns, place in broken)
        for place, counted in enumerate(zip(values, amounts, divisors, strict=True))
    ]


def series_columns(
    window: Sequence[SampleInterval], place: int, columns: Sequence[tuple[int, int]]
) -> tuple[float | None, ...]:
    """One of SERIES, by its place among them, in these columns."""
    return tuple(
        _divide(sum(m.amounts[place] for m in window[low:high]), sum(m.divisors[place] for m in window[low:high]))
        for low, high in columns
    )


def _series_rates(
    values: tuple[float | None, ...],
    amounts: tuple[float, ...],
    divisors: tuple[float, ...],
    columns: Sequence[tuple[int, int]],
    broken: bool,
) -> SeriesRates:
    present = [value for value in values if value is not None]
    low, mean, high = min(present, default=None), _divide(sum(amounts), sum(divisors)), max(present, default=None)
    # InnoDB counts a wait when it begins and its time when it ends: intervals between show nothing of waits.
    if mean is not None and low is not None and high is not None and not low <= mean * SAME <= high * SAME * SAME:
        low = high = None
    return SeriesRates(
        values[-1],
        low,
        mean,
        high,
        tuple(_divide(sum(amounts[start:stop]), sum(divisors[start:stop])) for start, stop in columns),
        broken,
    )
