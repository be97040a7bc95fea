"""The workload in words and lines: the rows of a window, its scale, and what is to be said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import lasted
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rates import spans, told, within
from advisor.tui.text import NOTHING, STEPS, figure, spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts import Sample
    from advisor.tui.screens.workload.counters import Series
    from advisor.tui.screens.workload.rates import Moment, SeriesRates

WINDOWS: tuple[float | None, ...] = (30.0, 300.0, None)  # seconds; None is all that was sampled
LABEL, UNIT, FIGURE = 16, 4, 8
FIXED = LABEL + UNIT + 4 * FIGURE + 2  # columns beside the sparkline, a blank on each side of it
LEAST = 8  # columns of a sparkline that still says something


class SeriesRow(NamedTuple):
    """One series as it is shown."""

    series: Series
    told: SeriesRates
    line: str


class WindowRows(NamedTuple):
    """One window: its rows, the seconds and samples that it really has, and the seconds of a column (0: none drawn)."""

    rows: tuple[SeriesRow, ...]
    seconds: float
    samples: int
    column: float = 0.0


def named(seconds: float | None) -> str:
    """A window in words."""
    return "all that was sampled" if seconds is None else f"the last {lasted(seconds)}"


def live(moments: Sequence[Moment], seconds: float | None, width: int) -> WindowRows:
    """The rows of a running server's window in lines of at most `width` columns."""
    window = within(moments, seconds)
    length = _length(window)
    room = max(LEAST, width - FIXED)
    columns = spans(window, seconds, room)
    rows = tuple(_row(series, found) for series, found in zip(SERIES, told(window, columns), strict=True))
    samples = len(window) + 1 if length else len(window)
    return WindowRows(rows, length, samples, (length if seconds is None else seconds) / room if length else 0.0)


def recorded(moments: Sequence[Moment]) -> WindowRows:
    """The rows of a snapshot's one window: the rate and where it comes from, with nothing to draw."""
    rows = []
    for series, found in zip(SERIES, told(moments), strict=True):
        way = series.way(moments[-1].last)
        line = _begun(series) + f"{figure(found.mean, series.unit):>{FIGURE}}   {way.source if way else NOTHING}"
        rows.append(SeriesRow(series, found, line))
    return WindowRows(tuple(rows), _length(moments), len(moments) + 1)


def _length(window: Sequence[Moment]) -> float:
    return window[-1].last.at - window[0].first.at if window else 0.0


def _row(series: Series, found: SeriesRates) -> SeriesRow:
    drawn = spark(found.columns, *scale(series, found))
    now, *rest = (f"{figure(x, series.unit):>{FIGURE}}" for x in (found.now, found.least, found.mean, found.most))
    return SeriesRow(series, found, f"{_begun(series)}{now} {drawn} {''.join(rest)}")


def _begun(series: Series) -> str:
    return f"{series.label:<{LABEL}}{series.unit:>{UNIT}}"


def scale(series: Series, found: SeriesRates) -> tuple[float, float]:
    """What the lowest and the highest step stand for: 0 and the most, or the least and the most where dips matter."""
    drawn = [value for value in found.columns if value is not None]
    return (min(drawn, default=0.0) if series.dips else 0.0), max(drawn, default=0.0)


def heads(width: int) -> str:
    """The line over the rows of a running server."""
    rest = "".join(f"{word:>{FIGURE}}" for word in ("least", "mean", "most"))
    return f"{'':<{LABEL + UNIT}}{'now':>{FIGURE}} {'older → newer':<{max(LEAST, width - FIXED)}} {rest}"


def about(row: SeriesRow, latest: Sample, column: float) -> list[str]:
    """One row explained: its counters, what they count, and the scale of its sparkline."""
    way = row.series.way(latest)
    if way is None:
        return [f"{row.series.label}: {row.series.lack}"]
    lines = [f"{row.series.label}: {way.source}, {way.about}"]
    if row.told.broken and row.told.mean is None:
        lines.append("its counters began anew")
    elif row.told.mean is None and column:
        lines.append("nothing of it happened in this window")
    elif column:
        lines.append(_scale(row, column))
    return lines


def _scale(row: SeriesRow, column: float) -> str:
    low, high = (f"{figure(end, row.series.unit)} {row.series.unit}".rstrip() for end in scale(row.series, row.told))
    each = f"{column:.1f} s" if column < 10 else lasted(column)  # noqa: PLR2004 - where a digit stops counting
    if low == high or (row.told.least == row.told.most):
        return f"it was {high} all the time"
    return f"{STEPS[0]} {low} to {STEPS[-1]} {high}; a column is {each}, drawn at its mean"
