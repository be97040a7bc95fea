"""The large chart of the selected row, with its axis, and a line where a variable changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.widgets import Static

from advisor.core.model import format_duration
from advisor.report.render.terminal_chart import area_glyphs, draw_area, label_line
from advisor.tui.screens.workload.rates import column_spans, intervals_within, series_columns
from advisor.tui.screens.workload.rows import LEAST, PLACE_OF, sparkline_scale, with_unit
from advisor.tui.text import MUTED, format_value, update_if_changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.tui.screens.workload.rates import SampleInterval
    from advisor.tui.screens.workload.rows import SeriesRow


class RowChart(Static):
    """The box of the large chart."""

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
    scale = {0: high, rows - 1: low}
    if rows > 4 and high > low:  # noqa: PLR2004 - room for a value between the ends
        scale[(rows - 1) // 2] = low + (high - low) * (1 - ((rows - 1) // 2) / (rows - 1))
    unit = row.series.unit
    axis = [f"{format_value(scale[at], unit) if at in scale else '':>{AXIS - 2}} ┤" for at in range(rows)]
    half = f"{seconds / 120:g} min" if seconds > 120 else f"{seconds / 2:g} s"  # noqa: PLR2004 - two minutes
    ticks = [(0.0, f"-{format_duration(seconds)}"), (0.5, f"-{half}"), (1.0, "now")]
    return LargeChart(tuple(zip(axis, drawn, strict=True)), " " * AXIS + label_line(ticks, room))
