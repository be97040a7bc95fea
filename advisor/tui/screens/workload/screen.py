"""The workload screen: a row with rate and sparkline for each series of counters, and a large chart of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.model import format_duration
from advisor.facts.workload import DIGESTS, STATEMENT_KINDS, WAIT_EVENTS
from advisor.report import plural
from advisor.tui.screens.base import Pane
from advisor.tui.screens.workload.counters import series_of
from advisor.tui.screens.workload.rates import measure_intervals
from advisor.tui.screens.workload.rows import (
    TOP_TITLES,
    WINDOWS,
    PartResized,
    RowChart,
    RowList,
    column_heads,
    explain_changes,
    explain_row,
    fit_lines,
    live_rows,
    snapshot_rows,
    top_table,
    why_no_events,
    window_title,
)
from advisor.tui.text import LONGEST, MUTED, safe_line, safe_text, update_if_changed
from advisor.tui.workers import run_in_background

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult
    from textual.events import Resize, Show
    from textual.timer import Timer

    from advisor.facts import Sample
    from advisor.facts.workload import TopEvents
    from advisor.tui.screens.workload.rates import SampleInterval, VariableChange
    from advisor.tui.screens.workload.rows import SeriesRow, WindowRows
    from advisor.tui.view import View

NARROWEST = 20
BACKLOG = 120  # intervals that are computed without a noticeable delay
SIDE_BY_SIDE = 170  # columns from which the chart stands beside the rows
LOWEST = 18  # lines of the screen from which on the large chart has room
REPLAY_EVERY = 0.2  # seconds between two samples of a replay; two seconds passed when they were recorded
FIRST_REPLAYED = 2  # samples: a rate needs two
HEADING = "group-"  # before the number of a heading's option


class IntervalsMeasured(Message):
    """Intervals computed in a thread, as they were many."""

    def __init__(self, intervals: tuple[SampleInterval, ...]) -> None:
        self.intervals = intervals
        super().__init__()


class WorkloadPane(Pane):
    """The workload screen."""

    BINDINGS: ClassVar = [
        Binding("w", "window(1)", "window", id="workload.window"),
        Binding("W", "window(-1)", "previous window", show=False, id="workload.window-before"),
        Binding("n", "group(1)", "next group", show=False, id="workload.group"),
        Binding("N", "group(-1)", "previous group", show=False, id="workload.group-before"),
        Binding("p,space", "pause", "pause", id="workload.pause", key_display="p"),
        Binding("p,space", "replay", "replay", id="workload.replay", key_display="p"),
        Binding("t", "top", "top waits", id="workload.top"),
        Binding("escape", "charts", "charts", show=False, id="workload.charts"),
        Binding("d", "digests", "top statements", show=False, id="workload.digests"),
        Binding("y", "copy", "copy", id="workload.copy"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self.window = WINDOWS[1]
        self.shown: WindowRows | None = None
        self._paused_view: View | None = None
        self._intervals: tuple[SampleInterval, ...] = ()
        self._row_to_mark = ""  # id of a series
        self._without_charts: bool | None = None
        self._replay: Timer | None = None
        self._replayed = 0  # samples that the replay shows so far
        self.watched = ""
        self._top: tuple[TopEvents, TopEvents] | None = None

    def compose(self) -> ComposeResult:
        """The large chart, the rows under their titles, and the explanation of the selected one."""
        yield RowChart("", id="workload-chart", classes="box", markup=False)
        with Vertical(id="workload-box", classes="box"):
            yield Static("", id="workload-heads", markup=False)
            yield RowList(id="workload-list", markup=False)
            with VerticalScroll(id="workload-top"):
                yield Static("", markup=False)
        yield Static("", id="workload-about", markup=False)

    # What is shown

    @property
    def paused(self) -> bool:
        """Whether the display is paused."""
        return self._paused_view is not None

    @property
    def samples(self) -> tuple[Sample, ...] | None:
        """The samples on display; None for a snapshot."""
        view = self._paused_view or self.view
        if view is None or view.samples is None or self._replay is None:
            return view.samples if view else None
        return view.samples[: self._replayed]

    @property
    def _latest_sample(self) -> Sample | None:
        """The newest sample on display, that of the window for a snapshot; None before the first."""
        if self.samples is not None or self.view is None:
            return self.samples[-1] if self.samples else None
        return self.view.latest_sample

    @property
    def selected(self) -> SeriesRow | None:
        """The row under the cursor."""
        rows = self.query_one(OptionList)
        if self.shown is None or rows.highlighted is None:
            return None
        chosen = rows.get_option_at_index(rows.highlighted).id
        return next((row for row in self.shown.rows if row.series.id == chosen), None)

    @property
    def _width(self) -> int:
        """The width of a row."""
        return max(NARROWEST, self.query_one(OptionList).scrollable_content_region.width)

    def choose_item(self, item: object) -> bool:
        """Mark the row of the first of these counters that has one."""
        series = series_of(map(str, item), self._latest_sample) if isinstance(item, tuple) else None
        if series is None:
            return False
        if self.watched:
            self._watch("")
        self._row_to_mark = series.id
        self._mark_row()
        return True

    def _mark_row(self) -> None:
        """Mark the row that was asked for, once it is there: the rates of many samples are computed in a thread."""
        rows = self.query_one(OptionList)
        if any(option.id == self._row_to_mark for option in rows.options):
            rows.highlighted = rows.get_option_index(self._row_to_mark)
            self._row_to_mark = ""

    def show_samples(self, view: View) -> None:
        """Show the newest sample, unless it is paused or another screen is shown."""
        self.view = view
        if self.display:
            self.refill()

    def on_show(self, _: Show) -> None:
        """Draw the samples that arrived while another screen was shown."""
        self.refill()

    def on_resize(self, _: Resize) -> None:
        """Draw in the new size."""
        self.refill()

    @on(PartResized)
    def _fit(self) -> None:
        """Draw rows and chart in the sizes that they have got: they were filled for those before."""
        if self.display:
            self.refill()

    def refill(self) -> None:
        """Compute new intervals and draw chart and rows."""
        if self.view is None:
            return
        if self._paused_view is not None and self._paused_view.place != self.view.place:
            self._paused_view = None
        if self._without_charts is not (self.view.samples is None):
            self._without_charts = self.view.samples is None
            self.refresh_bindings()
        chart = self.query_one("#workload-chart")
        has_room = not self._without_charts and self.size.height >= LOWEST
        chart.display = has_room
        self.set_class(has_room and self.size.width >= SIDE_BY_SIDE, "-side-by-side")
        if self.view.samples is None:
            self._show_recorded(self.view)
        else:
            self._show_samples(self.samples or ())
        self._mark_state()
        self._explain()
        if self.watched:
            self._show_top()

    def _show_samples(self, samples: tuple[Sample, ...]) -> None:
        if len(samples) - len(self._intervals) > BACKLOG:
            self._show_heads(f"{plural(len(samples), 'sample')}: computing rates …")
            run_in_background(self.app, "rates", lambda: IntervalsMeasured(measure_intervals(samples)), to=self)
            return
        self._intervals = measure_intervals(samples, self._intervals)
        self.shown = live_rows(self._intervals, self.window, self._width) if samples else None
        if len(samples) > 1:
            self._show_heads(column_heads(self._width))
        else:
            self._show_heads(
                "One sample so far. A rate needs two." if samples else "No sample yet. The counters are read every 2 s."
            )
        self._draw()

    @on(IntervalsMeasured)
    def _use_intervals(self, message: IntervalsMeasured) -> None:
        self._intervals = message.intervals
        self.refill()

    def _show_recorded(self, view: View) -> None:
        facts = view.audited.facts
        workload = facts.workload
        self._intervals = measure_intervals((workload.first, workload.last)) if workload else ()
        self.shown = snapshot_rows(self._intervals) if self._intervals else None
        if workload is None:
            self._show_heads(f"Not sampled: {facts.reason_missing('workload')}.")
        else:
            self._show_heads(
                f"One recorded window of {format_duration(workload.seconds)}. Charts need samples of a running server."
            )
        self._draw()

    def _show_heads(self, words: str) -> None:
        update_if_changed(self.query_one("#workload-heads", Static), safe_text(words, MUTED), layout=True)

    def _draw(self) -> None:
        rows = self.query_one(OptionList)
        width = self._width
        prompts = dict(self._prompts(width))
        if [option.id for option in rows.options] != list(prompts):
            before = self.selected
            rows.set_options(
                Option(prompt, id=name, disabled=name.startswith(HEADING)) for name, prompt in prompts.items()
            )
            names = list(prompts)
            first = 1 if len(names) > 1 else None
            rows.highlighted = names.index(before.series.id) if before and before.series.id in names else first
            self._mark_row()
            return
        for option in rows.options:
            if option.id and prompts[option.id] != option.prompt:
                rows.replace_option_prompt(option.id, prompts[option.id])

    def _prompts(self, width: int) -> Iterator[tuple[str, Content]]:
        """Headings and rows by their options' ids."""
        group = ""
        for row in self.shown.rows if self.shown else ():
            if row.group != group:
                group = row.group
                yield f"{HEADING}{group}", Content.styled(group, "bold")
            line, (first, last) = safe_line(row.line, longest=width), row.drawn
            yield row.series.id, line.stylize(row.style, first, last) if last else line

    def _mark_state(self) -> None:
        box = self.query_one("#workload-box")
        if self.watched:
            box.border_title, box.border_subtitle = TOP_TITLES[self.watched], "t next · esc charts"
            return
        title = "Workload" if self._without_charts else f"Workload: {window_title(self.window)}"
        about = self.view.series_about if self.view is not None else ""
        box.border_title = f"{title} · {about}" if about else title
        box.border_subtitle = "" if self._without_charts or self.shown is None else self._status(self.shown)

    def _status(self, shown: WindowRows) -> str:
        parts = [f"{plural(shown.samples, 'sample')}, {format_duration(_nearest(shown.seconds))}"]
        if any(row.rates.broken for row in shown.rows):
            parts.append("counters were reset")
        if self._replay is not None and self.view is not None:
            parts = [f"replay, {self._replayed} of {len(self.view.samples or ())} samples"]
        if self._paused_view is not None and self.view is not None:
            held = {id(sample) for sample in self._paused_view.samples or ()}
            newer = sum(id(sample) not in held for sample in self.view.samples or ())
            parts.append(f"paused, {newer} newer samples")
        return " · ".join(parts)

    @on(OptionList.OptionHighlighted)
    def _explain(self) -> None:
        row = self.selected
        if self.query_one(OptionList).highlighted == 1:  # the first row: show the heading above it too
            self.query_one(OptionList).scroll_home(animate=False)
        text = self.query_one("#workload-about", Static)
        if row is None or self.shown is None or not self._intervals:
            update_if_changed(text, safe_text(""))
            update_if_changed(self.query_one("#workload-chart", Static), safe_text(""))
            return
        lines = explain_row(row, self._intervals[-1].last, self.shown.column)
        if self.view is not None and (changed := self._changes):
            catalog = self.view.audited.context.catalog
            lines.insert(1, explain_changes(changed, self._intervals[-1].last.at, catalog))
        if not self.watched:
            shown = Content("\n").join(map(safe_text, fit_lines(lines, text.content_size)))
            update_if_changed(text, shown + self._blocked_sessions(text))
        self.query_one(RowChart).draw(row, self._intervals, self.window, [change.at for change in self._changes])

    def _blocked_sessions(self, below: Static) -> Content:
        """Who blocks whom, where the chart stands beside the rows and leaves room below the explanation."""
        if self.view is None or not self.has_class("-side-by-side"):
            return Content("")
        from advisor.tui.screens.overview.summary import blocking_text

        title = Content.styled("\n\nBlocked sessions, as the audit read them\n", "bold")
        return title + blocking_text(self.view.audited, max(NARROWEST, below.content_size.width))

    @property
    def _changes(self) -> tuple[VariableChange, ...]:
        """The changes of variables within the window, the oldest first."""
        view = self._paused_view or self.view
        if view is None or not self._intervals:
            return ()
        end = self._intervals[-1].last.at
        return tuple(change for change in view.changes if end - self.window <= change.at <= end)

    def show_events(self, first: TopEvents, last: TopEvents) -> None:
        """Show two readings of the summary table that was asked for."""
        if last.of == self.watched:
            self._top = (first, last)
            self._show_top()

    def _show_top(self) -> None:
        """The events in place of the rows, or why there are none."""
        text = self.query_one("#workload-top Static", Static)
        about = self.query_one("#workload-about", Static)
        if self._top is None or self._top[1].of != self.watched:
            self._show_heads("Reading the summary table …")
            return
        first, last = self._top
        if last.reason:
            self._show_heads(f"No rows: {why_no_events(last.reason, self.view and self.view.audited)}")
            for part in (text, about):
                update_if_changed(part, safe_text(""), layout=True)
            return
        table = top_table(first, last, max(NARROWEST, self.query_one("#workload-top").scrollable_content_region.width))
        self._show_heads(table.heads)
        shown = Content("\n").join(safe_line(line, longest=LONGEST) for line in table.lines)
        update_if_changed(text, shown, layout=True)
        update_if_changed(about, safe_text(fit_lines([table.about], about.content_size)[0]))

    def _watch(self, of: str) -> None:
        self.watched, self._top = of, None
        rows, top = self.query_one(OptionList), self.query_one("#workload-top")
        rows.display, top.display = not of, bool(of)
        for part in ("#workload-top Static", "#workload-about"):
            self.query_one(part, Static).update("")
        (top if of else rows).focus()
        self.app.watch_events(of)
        self.refill()
        self.refresh_bindings()

    def action_top(self) -> None:
        """Show the top waits, then the kinds of statements, then the charts again."""
        self._watch({"": WAIT_EVENTS, WAIT_EVENTS: STATEMENT_KINDS}.get(self.watched, ""))

    def action_digests(self) -> None:
        """Show the statements that take longest, without their values, or the charts again."""
        self._watch("" if self.watched == DIGESTS else DIGESTS)

    def action_charts(self) -> None:
        """Show the charts again."""
        self._watch("")

    # What the user does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A snapshot has at most one window; only a running server can be paused."""
        if action == "window":
            return not self._without_charts
        if action == "charts":
            return bool(self.watched)
        if action == "replay":
            return self.view is not None and bool(self.view.series_about)
        if action in ("top", "digests"):
            return self.view is not None and self.view.live
        if action == "pause":
            return self.view is not None and self.view.live and not self._without_charts
        return super().check_action(action, parameters)

    def action_window(self, by: int) -> None:
        """Switch to the next or previous window."""
        self.window = WINDOWS[(WINDOWS.index(self.window) + by) % len(WINDOWS)]
        self.refill()

    def action_group(self, by: int) -> None:
        """Go to the first row of the next or previous group."""
        rows = self.query_one(OptionList)
        starts = [at + 1 for at, option in enumerate(rows.options) if (option.id or "").startswith(HEADING)]
        here = rows.highlighted or 0
        if starts:
            later = [at for at in starts if at > here] or starts[:1]
            earlier = [at for at in starts if at < here] or starts[-1:]
            rows.highlighted = later[0] if by > 0 else earlier[-1]

    def action_pause(self) -> None:
        """Pause the display, or resume it with all new samples."""
        self._paused_view = None if self._paused_view else self.view
        self.refill()

    def action_replay(self) -> None:
        """Show a recorded series from its beginning, ten times as fast as it was; or all of it again."""
        if self._replay is not None:
            self._end_replay()
            return
        self._replayed = FIRST_REPLAYED
        self._replay = self.set_interval(REPLAY_EVERY, self._replay_sample)
        self.refill()

    def _replay_sample(self) -> None:
        self._replayed += 1
        if self.view is None or self._replayed >= len(self.view.samples or ()):
            self._end_replay()
        elif self.display:
            self.refill()

    def _end_replay(self) -> None:
        if self._replay is not None:
            self._replay.stop()
        self._replay = None
        self.refill()

    def action_copy(self) -> None:
        """Copy the rows as they are shown."""
        if self.watched and self._top is not None:
            table = top_table(*self._top)
            text = "\n".join(line.rstrip() for line in (table.heads, *table.lines)) + "\n"
            self.app.copy(text, "the table, with whole names and statements")
            return
        if self.shown is None or self.view is None:
            self.notify("No rates to copy", severity="warning")
            return
        lines = [str(self.query_one("#workload-heads", Static).content), *(row.line for row in self.shown.rows)]
        self.app.copy("\n".join(text.rstrip() for text in lines) + "\n", "the rates as they are shown")


def _nearest(seconds: float) -> float:
    """The length of a window to the nearest minute, from one minute on: samples of 5 min are 298 s apart."""
    return 60.0 * round(seconds / 60) if seconds >= 60 else seconds  # noqa: PLR2004 - a minute
