"""Rates of a row of samples: each interval measured once, then summed up over a window and laid out in columns."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from advisor.facts import Workload
from advisor.tui.screens.workload.counters import SERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.facts import Sample
    from advisor.tui.screens.workload.counters import Series

SLACK = 1.0  # seconds: samples come late by a little, and a window of 30 s should hold all that it is wide


class Moment(NamedTuple):
    """The interval between two samples; the tuples have one entry for each of SERIES.

    A value is an amount by what it is divided by; it is None, and both are 0, where it can't be told. `broken` has
    the places of the series whose counters went backwards.
    """

    first: Sample
    last: Sample
    values: tuple[float | None, ...]
    amounts: tuple[float, ...]
    divisors: tuple[float, ...]
    broken: frozenset[int]


class SeriesRates(NamedTuple):
    """One series over a window, in its unit: None where it can't be told.

    `mean` is all that was counted by all that it is divided by; `columns` are the same for each column that is drawn,
    the oldest first. `broken` says that counters went backwards within the window.
    """

    now: float | None
    least: float | None
    mean: float | None
    most: float | None
    columns: tuple[float | None, ...]
    broken: bool


def moments(samples: Sequence[Sample], known: Iterable[Moment] = ()) -> tuple[Moment, ...]:
    """The intervals of the samples, the oldest first; those among `known` are not measured again.

    A single sample gives one interval of no length, in which levels have a value and rates have none.
    """
    kept = {id(moment.last): moment for moment in known}
    pairs = [(samples[0], samples[0])] if len(samples) == 1 else pairwise(samples)
    found = []
    for first, last in pairs:
        old = kept.get(id(last))
        found.append(old if old and old.first is first and old.last is last else measured(first, last))
    return tuple(found)


def measured(first: Sample, last: Sample) -> Moment:
    """Every series between two samples."""
    interval = Workload(first, last)
    counted = [_counted(series, interval) for series in SERIES]
    parts = [part or (0.0, 0.0) for part in counted]
    return Moment(
        first,
        last,
        tuple(_by(*part) for part in parts),
        tuple(amount for amount, _ in parts),
        tuple(divisor for _, divisor in parts),
        frozenset(
            place for place, part in enumerate(counted) if part is None and _both_ends_have(SERIES[place], interval)
        ),
    )


def _counted(series: Series, interval: Workload) -> tuple[float, float] | None:
    way = series.way(interval.last)
    if way is None or not way.available_parts(interval.first):
        return None
    try:
        counted = way.read(interval)
        return None if counted is None else (float(counted[0]), float(counted[1]))
    except OverflowError:  # no server counts that far, but one may say so
        return None


def _both_ends_have(series: Series, interval: Workload) -> bool:
    way = series.way(interval.last)
    return way is not None and way.available_parts(interval.first)


def _by(amount: float, divisor: float) -> float | None:
    return amount / divisor if divisor > 0 else None


def within(all_moments: Sequence[Moment], seconds: float | None) -> tuple[Moment, ...]:
    """The intervals of the last so many seconds, the newest at the least; None means all."""
    if seconds is None or not all_moments:
        return tuple(all_moments)
    since = all_moments[-1].last.at - seconds - SLACK
    return (*(m for m in all_moments[:-1] if m.first.at >= since), all_moments[-1])


def spans(window: Sequence[Moment], seconds: float | None, count: int) -> list[tuple[int, int]]:
    """Which intervals (from, up to) each of `count` columns shows, the last column ending at the newest sample.

    Without `seconds` the columns begin at the oldest sample. An interval is in the columns whose middle it covers, so
    that a long one is drawn as it was; one that covers none is in the column that has its own middle.
    """
    found = [(0, 0)] * count
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
            start, stop = found[column]
            found[column] = (start if stop else place, place + 1)
    return found


def told(window: Sequence[Moment], columns: Sequence[tuple[int, int]] = ()) -> list[SeriesRates]:
    """Each of SERIES over a window that has an interval at least, drawn in these columns (see `spans`)."""
    broken = frozenset[int]().union(*(moment.broken for moment in window))
    values = zip(*(moment.values for moment in window), strict=True)
    amounts = zip(*(moment.amounts for moment in window), strict=True)
    divisors = zip(*(moment.divisors for moment in window), strict=True)
    return [
        _told(*counted, columns, place in broken)
        for place, counted in enumerate(zip(values, amounts, divisors, strict=True))
    ]


def _told(
    values: tuple[float | None, ...],
    amounts: tuple[float, ...],
    divisors: tuple[float, ...],
    columns: Sequence[tuple[int, int]],
    broken: bool,
) -> SeriesRates:
    there = [value for value in values if value is not None]
    return SeriesRates(
        values[-1],
        min(there, default=None),
        _by(sum(amounts), sum(divisors)),
        max(there, default=None),
        tuple(_by(sum(amounts[low:high]), sum(divisors[low:high])) for low, high in columns),
        broken,
    )
