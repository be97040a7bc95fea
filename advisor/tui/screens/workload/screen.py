"""The workload screen: a row with rate and sparkline for each series of counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.sizes import format_duration
from advisor.report.words import plural
from advisor.tui.screens.base import Pane
from advisor.tui.screens.workload.rates import measure_intervals
from advisor.tui.screens.workload.rows import WINDOWS, column_heads, explain_row, live_rows, snapshot_rows, window_title
from advisor.tui.text import MUTED, safe_line, safe_text, update_if_changed
from advisor.tui.workers import run_in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize, Show

    from advisor.facts import Sample
    from advisor.tui.screens.workload.rates import SampleInterval
    from advisor.tui.screens.workload.rows import WindowRows
    from advisor.tui.view import View

NARROWEST = 20
BACKLOG = 120  # intervals that are computed without a noticeable delay


class IntervalsMeasured(Message):
    """Intervals computed in a thread, as they were many."""

    def __init__(self, intervals: tuple[SampleInterval, ...]) -> None:
        self.intervals = intervals
        super().__init__()


class WorkloadPane(Pane):
    """The workload screen."""

    BINDINGS: ClassVar = [
        Binding("w", "window(1)", "window", id="workload.window"),
        Binding("W", "window(-1)", "window before", show=False, id="workload.window-before"),
        Binding("p,space", "pause", "pause", id="workload.pause", key_display="p"),
        Binding("y", "copy", "copy", id="workload.copy"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self.window = WINDOWS[0]
        self.shown: WindowRows | None = None
        self._paused_view: View | None = None
        self._intervals: tuple[SampleInterval, ...] = ()
        self._is_recording: bool | None = None

    def compose(self) -> ComposeResult:
        """The rows under their titles, and the explanation of the selected one."""
        with Vertical(id="workload-box", classes="box"):
            yield Static("", id="workload-heads", markup=False)
            yield OptionList(id="workload-list", markup=False)
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
        return view.samples if view else None

    @property
    def _width(self) -> int:
        """The width of a row."""
        return max(NARROWEST, self.query_one(OptionList).scrollable_content_region.width)

    def show_samples(self, view: View) -> None:
        """Show the newest sample, unless it is paused or another screen is shown."""
        self.view = view
        if self.display:
            self.refill()

    def on_show(self, _: Show) -> None:
        """Draw the samples that arrived while another screen was shown."""
        self.refill()

    def on_resize(self, _: Resize) -> None:
        """Draw in the new width."""
        self.refill()

    def refill(self) -> None:
        """Compute new intervals and draw the rows."""
        if self.view is None:
            return
        if self._paused_view is not None and self._paused_view.place != self.view.place:
            self._paused_view = None
        if self._is_recording is not (self.view.samples is None):
            self._is_recording = self.view.samples is None
            self.refresh_bindings()
        if self.view.samples is None:
            self._show_recorded(self.view)
        else:
            self._show_live(self.samples or ())
        self._mark_state()
        self._explain()

    def _show_live(self, samples: tuple[Sample, ...]) -> None:
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
                f"One recorded window of {format_duration(workload.seconds)}. Only a running server has sparklines."
            )
        self._draw()

    def _show_heads(self, words: str) -> None:
        update_if_changed(self.query_one("#workload-heads", Static), safe_text(words, MUTED), layout=True)

    def _draw(self) -> None:
        rows = self.query_one(OptionList)
        shown = self.shown.rows if self.shown else ()
        if rows.option_count != len(shown):
            rows.set_options(Option("", id=row.series.id) for row in shown)
            rows.highlighted = 0 if shown else None
        width = self._width
        for row, option in zip(shown, rows.options, strict=True):
            text = safe_line(row.line, longest=width)
            if text != option.prompt:
                rows.replace_option_prompt(row.series.id, text)

    def _mark_state(self) -> None:
        box = self.query_one("#workload-box")
        recording = self.view is not None and self.view.samples is None
        box.border_title = "Workload" if recording else f"Workload: {window_title(self.window)}"
        box.border_subtitle = "" if recording or self.shown is None else self._status(self.shown)

    def _status(self, shown: WindowRows) -> str:
        parts = [f"{plural(shown.samples, 'sample')}, {format_duration(shown.seconds)}"]
        if any(row.rates.broken for row in shown.rows):
            parts.append("counters were reset")
        if self._paused_view is not None and self.view is not None:
            held = {id(sample) for sample in self._paused_view.samples or ()}
            newer = sum(id(sample) not in held for sample in self.view.samples or ())
            parts.append(f"paused, {newer} newer samples")
        return " · ".join(parts)

    @on(OptionList.OptionHighlighted)
    def _explain(self) -> None:
        place = self.query_one(OptionList).highlighted
        text = self.query_one("#workload-about", Static)
        if self.shown is None or place is None or not self._intervals:
            update_if_changed(text, safe_text(""))
            return
        lines = explain_row(self.shown.rows[place], self._intervals[-1].last, self.shown.column)
        update_if_changed(text, Content("\n").join(safe_text(words) for words in lines))

    # What the user does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording has at most one window and cannot be paused."""
        return not self._is_recording if action in ("window", "pause") else super().check_action(action, parameters)

    def action_window(self, by: int) -> None:
        """Switch to the next or previous window."""
        self.window = WINDOWS[(WINDOWS.index(self.window) + by) % len(WINDOWS)]
        self.refill()

    def action_pause(self) -> None:
        """Pause the display, or resume it with all new samples."""
        self._paused_view = None if self._paused_view else self.view
        self.refill()

    def action_copy(self) -> None:
        """Copy the rows as they are shown."""
        if self.shown is None or self.view is None:
            self.notify("No rates to copy", severity="warning")
            return
        heading = self.query_one("#workload-heads", Static).content
        lines = [str(heading), *(row.line for row in self.shown.rows)]
        self.app.copy("\n".join(text.rstrip() for text in lines) + "\n", "the rates as they are shown")
