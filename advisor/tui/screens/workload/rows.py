"""The rows of the workload screen: a window of each series as text and sparkline, and the large chart of one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static

from advisor.core.model import format_duration, format_latency
from advisor.facts.workload import DIGESTS, NO_EVENTS, STATEMENT_KINDS, WAIT_EVENTS, EventTotal
from advisor.redaction import escape_text
from advisor.report.render.terminal_chart import EVENT_LINE, area_glyphs, draw_area, label_line
from advisor.tui.screens.workload.counters import GROUPS, HOST, PROCESS, READS, SERIES, TROUBLE, WAITS, WRITES
from advisor.tui.screens.workload.rates import column_spans, intervals_within, series_columns, window_rates
from advisor.tui.text import (
    MUTED,
    NO_VALUE,
    SPARK_STEPS,
    cut_line,
    fit_line,
    format_value,
    sparkline,
    update_if_changed,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from textual.geometry import Size

    from advisor.analysis.audited import AuditResult
    from advisor.catalog import Catalog
    from advisor.facts import Sample
    from advisor.facts.workload import TopEvents
    from advisor.tui.screens.workload.counters import Series
    from advisor.tui.screens.workload.rates import SampleInterval, SeriesRates, VariableChange


WINDOWS = (60.0, 300.0, 900.0, 3600.0)  # seconds
LABEL, UNIT, FIGURE = 16, 4, 8
LEAST = 8  # columns of the narrowest sparkline
WIDE = LABEL + UNIT + 4 * FIGURE + 2 + LEAST  # columns from which on minimum, mean and maximum have room
# Styles of what series measure; amounts of work have the plain colour of charts.
STYLES = {READS: "$text-primary", WRITES: "$text-secondary", WAITS: "$text-warning", TROUBLE: "$text-error"}
WORK_STYLE = "$text-success"
GROUP_OF = {series.id: group.title for group in GROUPS for series in group.series}
PLACE_OF = {series.id: place for place, series in enumerate(SERIES)}


class SeriesRow(NamedTuple):
    """One series as it is shown; the sparkline has its columns `drawn` of the line (from, up to)."""

    series: Series
    rates: SeriesRates
    line: str
    drawn: tuple[int, int] = (0, 0)

    @property
    def group(self) -> str:
        """The title of its group."""
        return GROUP_OF[self.series.id]

    @property
    def style(self) -> str:
        """The colour of what it measures."""
        return STYLES.get(self.series.kind, WORK_STYLE)


class WindowRows(NamedTuple):
    """One window: its rows, its actual seconds and samples, and the seconds of a column (0: none drawn)."""

    rows: tuple[SeriesRow, ...]
    seconds: float
    samples: int
    column: float = 0.0


def window_title(seconds: float) -> str:
    """The title of a window."""
    return f"the last {format_duration(seconds)}"


def live_rows(moments: Sequence[SampleInterval], seconds: float, width: int) -> WindowRows:
    """The rows of a window with charts, at most `width` columns wide; optional rows without counters are left out."""
    window = intervals_within(moments, seconds)
    length = _length(window)
    room = _spark_room(width)
    columns, latest = column_spans(window, seconds, room), window[-1].last if window else None
    rows = tuple(
        _row(series, found, width)
        for series, found in zip(SERIES, window_rates(window, columns), strict=True)
        if series.is_shown(latest)
    )
    samples = len(window) + 1 if length else len(window)
    return WindowRows(rows, length, samples, seconds / room if length else 0.0)


def snapshot_rows(moments: Sequence[SampleInterval]) -> WindowRows:
    """The rows of a snapshot's only window: rate and counters, no sparkline."""
    rows = []
    for series, rates in zip(SERIES, window_rates(moments), strict=True):
        if not series.is_shown(moments[-1].last):
            continue
        formula = series.formula_for(moments[-1].last)
        line = (
            _row_start(series)
            + f"{format_value(rates.mean, series.unit):>{FIGURE}}   {formula.source if formula else NO_VALUE}"
        )
        rows.append(SeriesRow(series, rates, line))
    return WindowRows(tuple(rows), _length(moments), len(moments) + 1)


def _length(window: Sequence[SampleInterval]) -> float:
    return window[-1].last.at - window[0].first.at if window else 0.0


def _spark_room(width: int) -> int:
    figures = 4 if width >= WIDE else 1
    return max(LEAST, width - LABEL - UNIT - figures * FIGURE - (2 if figures > 1 else 1))


def _row(series: Series, rates: SeriesRates, width: int) -> SeriesRow:
    drawn = sparkline(rates.columns, *sparkline_scale(series, rates.columns))
    now, *rest = (
        f"{format_value(x, series.unit):>{FIGURE}}" for x in (rates.now, rates.minimum, rates.mean, rates.maximum)
    )
    head = f"{_row_start(series)}{now} "
    line = f"{head}{drawn} {''.join(rest)}" if width >= WIDE else f"{head}{drawn}"
    return SeriesRow(series, rates, line, (len(head), len(head) + len(drawn)))


def _row_start(series: Series) -> str:
    return f"{series.label:<{LABEL}}{series.unit:>{UNIT}}"


def sparkline_scale(series: Series, columns: Iterable[float | None]) -> tuple[float, float]:
    """The values of the lowest and highest step: 0 and maximum, or minimum and maximum if dips matter."""
    drawn = [value for value in columns if value is not None]
    return (min(drawn, default=0.0) if series.dips else 0.0), max(drawn, default=0.0)


def column_heads(width: int) -> str:
    """The column titles for charts."""
    room = _spark_room(width)
    order = "older → newer"
    head = f"{'':<{LABEL + UNIT}}{'now':>{FIGURE}} {order if len(order) <= room else '':<{room}}"
    return f"{head} {''.join(f'{word:>{FIGURE}}' for word in ('min', 'mean', 'max'))}" if width >= WIDE else head


def explain_row(row: SeriesRow, latest: Sample, column: float) -> list[str]:
    """Explain one row: its counters, their meaning, and the scale of the sparkline."""
    formula = row.series.formula_for(latest)
    if formula is None:
        return [f"{row.series.label}: {row.series.why_missing}"]
    source = "by psutil" if row.group in (HOST.title, PROCESS.title) else formula.source
    lines = [f"{row.series.label}: {source}, {formula.meaning}"]
    if row.rates.broken and row.rates.mean is None:
        lines.append("the counters were reset")
    elif row.rates.mean is None and column:
        lines.append("no events in this window")
    elif column:
        lines.append(_scale_text(row, column))
    return lines


def explain_changes(changes: Sequence[VariableChange], now: float, catalog: Catalog) -> str:
    """The last of these changes of variables, how long ago it was, and how many more there are."""
    from advisor.tui.screens.variables.rows import value_for_people  # only where something has changed

    last = changes[-1]
    option = catalog.find_variable(last.name)
    before, after = (value_for_people(last.name, text, option) for text in (last.before, last.after))
    more = f"; {len(changes) - 1} more in this window" if len(changes) > 1 else ""
    return f"{EVENT_LINE} {last.name}: {before} → {after}, {format_duration(now - last.at)} ago{more}"


ABOUT_LINES = 3  # of the screen for the explanation, as in the style sheet
WORD = 20  # columns that a word may leave blank at the end of a line


def fit_lines(lines: Sequence[str], size: Size) -> list[str]:
    """The explanation; its first line, the meaning of the counters, is cut so that all lines have room."""
    if not size.width:
        return list(lines)  # not laid out yet
    heights = [Content(line).get_height({}, size.width) for line in lines]
    room = max(1, max(ABOUT_LINES, size.height) - sum(heights[1:]))
    if heights[0] <= room:
        return list(lines)
    return [cut_line(lines[0], room * size.width - (room - 1) * WORD), *lines[1:]]


def with_unit(value: float | None, unit: str) -> str:
    """A value with its unit."""
    return f"{format_value(value, unit)} {unit}".rstrip()


def _scale_text(row: SeriesRow, column: float) -> str:
    low, high = (with_unit(end, row.series.unit) for end in sparkline_scale(row.series, row.rates.columns))
    each = f"{column:.1f} s" if column < 10 else format_duration(column)  # noqa: PLR2004 - the precision changes here
    if low == high or (row.rates.minimum == row.rates.maximum):
        return f"constant at {high}"
    return f"{SPARK_STEPS[0]} {low} to {SPARK_STEPS[-1]} {high}; each column is the mean of {each}"


TOP_TITLES = {
    WAIT_EVENTS: "Top waits",
    STATEMENT_KINDS: "Top kinds of statements",
    DIGESTS: "Top statements, without values",
}


class TopTable(NamedTuple):
    """The events of a summary table as lines below their titles, and one sentence about them."""

    heads: str
    lines: tuple[str, ...]
    about: str


NUMBERS = 9  # columns of a number of the table
_ABOUT = {
    WAIT_EVENTS: "Waits by the server's own instruments; those that are switched off count nothing. ms per second "
    "are the sessions that waited at once, times 1,000.",
    STATEMENT_KINDS: "Statements by their kind, with the time that they took. d shows their texts without values.",
    DIGESTS: "Statements as the server writes them, without values, with the default database before them.",
}


def top_table(first: TopEvents, last: TopEvents, width: int = 0) -> TopTable:
    """The events with the longest time between two readings; with a single reading, since the server's start.

    The table is `width` columns wide; 0 means as wide as the longest name needs.
    """
    seconds = last.clock - first.clock
    rates = {row.name: _event_rates(row, first, seconds) for row in last.rows}
    ranked = sorted(last.rows, key=lambda row: (-(rates[row.name][0] or 0.0), -row.seconds))
    names = {row.name: escape_text(row.name) for row in last.rows}
    room = max(LEAST, width - 4 * NUMBERS if width else max(map(cell_len, names.values()), default=0))
    lines = []
    for row in ranked:
        mean = _mean_time(row.seconds / row.count if row.count else 0.0)
        milliseconds, count = (format_value(value, "/s") for value in rates[row.name])
        figures = (milliseconds, count, mean, format_value(row.seconds, "/s"))
        lines.append(fit_line(names[row.name], room) + "".join(f"{figure:>{NUMBERS}}" for figure in figures))
    heads = "".join(f"{word:>{NUMBERS}}" for word in ("ms/s", "/s", "mean", "total s"))
    window = f"ms/s and /s of the last {seconds:.0f} s, mean and total since the server started. " if seconds else ""
    return TopTable(f"{'':<{room}}{heads}", tuple(lines), window + _ABOUT[last.of])


def why_no_events(reason: str, audited: AuditResult | None) -> str:
    """Why the summary table has no rows; the server's variable shows which of the two reasons it is."""
    if reason != NO_EVENTS or audited is None:
        return reason
    exact = {"OFF": "performance_schema is off", "ON": "the consumer of performance_schema for these events is off"}
    return exact.get(audited.facts.server.variables.get("performance_schema", ""), reason)


def _mean_time(seconds: float) -> str:
    """A time of an event, in eight columns."""
    if seconds < 1e-6:  # noqa: PLR2004 - a microsecond
        return "<1 µs"
    return format_latency(1e6 * seconds) if seconds < 1 else f"{format_value(seconds, '/s')} s"


def _event_rates(row: EventTotal, first: TopEvents, seconds: float) -> tuple[float | None, float | None]:
    """Milliseconds and events per second since the first reading; None if that is unknown."""
    before = next((known for known in first.rows if known.name == row.name), EventTotal(row.name, 0, 0.0, rows=0))
    if seconds <= 0 or (before.rows < row.rows and not first.complete):
        return None, None  # not among the rows of the first reading, which left out those of less time
    return 1000 * max(0.0, row.seconds - before.seconds) / seconds, max(0, row.count - before.count) / seconds


class PartResized(Message):
    """A part of the screen has another size now."""


class RowList(OptionList):
    """The list of rows."""

    def on_resize(self) -> None:
        """Ask for rows of the new width: it also changes where the chart moves beside the list."""
        self.post_message(PartResized())


class RowChart(Static):
    """The box of the large chart."""

    def on_resize(self) -> None:
        """Ask for what fits the new size, maybe the first: the screen can be filled before it is laid out."""
        self.post_message(PartResized())

    def draw(
        self, row: SeriesRow, intervals: Sequence[SampleInterval], seconds: float, events: Iterable[float]
    ) -> None:
        """Draw this row over a window of so many seconds, with its lowest, mean and highest value in the frame."""
        if not self.display:
            return
        rates, unit = row.rates, row.series.unit
        self.border_title = f"{row.series.label} · now {with_unit(rates.now, unit)}"
        ends = (("min", rates.minimum), ("mean", rates.mean), ("max", rates.maximum))
        self.border_subtitle = " · ".join(f"{name} {with_unit(value, unit)}" for name, value in ends)
        region = self.content_region
        if not region.width:
            return
        drawn = large_chart(row, intervals, seconds, (region.width, region.height), events)
        lines = [Content.styled(axis, MUTED) + Content.styled(area, row.style) for axis, area in drawn.lines]
        update_if_changed(self, Content("\n").join([*lines, Content.styled(drawn.foot, MUTED)]))


class LargeChart(NamedTuple):
    """The chart of one series: its lines from the top, each with the text of the axis before it, and the time below."""

    lines: tuple[tuple[str, str], ...]
    foot: str


AXIS = 9  # columns of the axis: the longest value, a blank and the line


def large_chart(
    row: SeriesRow, moments: Sequence[SampleInterval], seconds: float, size: tuple[int, int], events: Iterable[float]
) -> LargeChart:
    """The chart in `size` columns and lines; `events` are times of the samples' clock that a line shows."""
    glyphs = area_glyphs(os.environ.get("TERM", ""), "utf-8")  # the app itself draws frames, and needs them
    room, rows = max(LEAST, size[0] - AXIS), max(2, size[1] - 1)
    window = intervals_within(moments, seconds)
    count = room * glyphs.columns
    values = series_columns(window, PLACE_OF[row.series.id], column_spans(window, seconds, count))
    low, high = sparkline_scale(row.series, values)
    end = window[-1].last.at if window else 0.0
    places = [int((at - end + seconds) / seconds * count) for at in events]
    drawn = draw_area(values, rows, (low, high), glyphs, [place for place in places if 0 <= place < count])
    scale = {0: high, rows - 1: low} if high > low else {0 if high > 0 else rows - 1: high}  # where the curve is
    if rows > 4 and high > low:  # noqa: PLR2004 - room for a value between the ends
        scale[(rows - 1) // 2] = low + (high - low) * (1 - ((rows - 1) // 2) / (rows - 1))
    unit = row.series.unit
    axis = [f"{format_value(scale[at], unit) if at in scale else '':>{AXIS - 2}} ┤" for at in range(rows)]
    half = f"{seconds / 120:g} min" if seconds > 120 else f"{seconds / 2:g} s"  # noqa: PLR2004 - two minutes
    ticks = [(0.0, f"-{format_duration(seconds)}"), (0.5, f"-{half}"), (1.0, "now")]
    return LargeChart(tuple(zip(axis, drawn, strict=True)), " " * AXIS + label_line(ticks, room))
