"""The rows of the workload screen: a window of each series as text and sparkline, with its scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.core.sizes import format_duration
from advisor.tui.screens.workload.counters import SERIES
from advisor.tui.screens.workload.rates import column_spans, intervals_within, window_rates
from advisor.tui.text import NO_VALUE, SPARK_STEPS, format_value, sparkline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.facts import Sample
    from advisor.tui.screens.workload.counters import Series
    from advisor.tui.screens.workload.rates import SampleInterval, SeriesRates

WINDOWS: tuple[float | None, ...] = (30.0, 300.0, None)  # seconds; None: all samples
LABEL, UNIT, FIGURE = 16, 4, 8
FIXED = LABEL + UNIT + 4 * FIGURE + 2  # columns besides the sparkline and a blank on each side
LEAST = 8  # columns of the narrowest sparkline


class SeriesRow(NamedTuple):
    """One series as it is shown."""

    series: Series
    rates: SeriesRates
    line: str


class WindowRows(NamedTuple):
    """One window: its rows, its actual seconds and samples, and the seconds of a column (0: none drawn)."""

    rows: tuple[SeriesRow, ...]
    seconds: float
    samples: int
    column: float = 0.0


def window_title(seconds: float | None) -> str:
    """The title of a window."""
    return "all samples" if seconds is None else f"the last {format_duration(seconds)}"


def live_rows(moments: Sequence[SampleInterval], seconds: float | None, width: int) -> WindowRows:
    """The rows of a running server's window, at most `width` columns wide."""
    window = intervals_within(moments, seconds)
    length = _length(window)
    room = max(LEAST, width - FIXED)
    columns = column_spans(window, seconds, room)
    rows = tuple(_row(series, found) for series, found in zip(SERIES, window_rates(window, columns), strict=True))
    samples = len(window) + 1 if length else len(window)
    return WindowRows(rows, length, samples, (length if seconds is None else seconds) / room if length else 0.0)


def snapshot_rows(moments: Sequence[SampleInterval]) -> WindowRows:
    """The rows of a snapshot's only window: rate and counters, no sparkline."""
    rows = []
    for series, found in zip(SERIES, window_rates(moments), strict=True):
        formula = series.formula_for(moments[-1].last)
        line = (
            _row_start(series)
            + f"{format_value(found.mean, series.unit):>{FIGURE}}   {formula.source if formula else NO_VALUE}"
        )
        rows.append(SeriesRow(series, found, line))
    return WindowRows(tuple(rows), _length(moments), len(moments) + 1)


def _length(window: Sequence[SampleInterval]) -> float:
    return window[-1].last.at - window[0].first.at if window else 0.0


def _row(series: Series, found: SeriesRates) -> SeriesRow:
    drawn = sparkline(found.columns, *sparkline_scale(series, found))
    now, *rest = (
        f"{format_value(x, series.unit):>{FIGURE}}" for x in (found.now, found.minimum, found.mean, found.maximum)
    )
    return SeriesRow(series, found, f"{_row_start(series)}{now} {drawn} {''.join(rest)}")


def _row_start(series: Series) -> str:
    return f"{series.label:<{LABEL}}{series.unit:>{UNIT}}"


def sparkline_scale(series: Series, found: SeriesRates) -> tuple[float, float]:
    """The values of the lowest and highest step: 0 and maximum, or minimum and maximum if dips matter."""
    drawn = [value for value in found.columns if value is not None]
    return (min(drawn, default=0.0) if series.dips else 0.0), max(drawn, default=0.0)


def column_heads(width: int) -> str:
    """The column titles for a running server."""
    rest = "".join(f"{word:>{FIGURE}}" for word in ("min", "mean", "max"))
    return f"{'':<{LABEL + UNIT}}{'now':>{FIGURE}} {'older → newer':<{max(LEAST, width - FIXED)}} {rest}"


def explain_row(row: SeriesRow, latest: Sample, column: float) -> list[str]:
    """Explain one row: its counters, their meaning, and the scale of the sparkline."""
    formula = row.series.formula_for(latest)
    if formula is None:
        return [f"{row.series.label}: {row.series.why_missing}"]
    lines = [f"{row.series.label}: {formula.source}, {formula.meaning}"]
    if row.rates.broken and row.rates.mean is None:
        lines.append("the counters were reset")
    elif row.rates.mean is None and column:
        lines.append("no events in this window")
    elif column:
        lines.append(_scale_text(row, column))
    return lines


def _scale_text(row: SeriesRow, column: float) -> str:
    low, high = (
        f"{format_value(end, row.series.unit)} {row.series.unit}".rstrip()
        for end in sparkline_scale(row.series, row.rates)
    )
    each = f"{column:.1f} s" if column < 10 else format_duration(column)  # noqa: PLR2004 - the precision changes here
    if low == high or (row.rates.minimum == row.rates.maximum):
        return f"constant at {high}"
    return f"{SPARK_STEPS[0]} {low} to {SPARK_STEPS[-1]} {high}; each column is the mean of {each}"
