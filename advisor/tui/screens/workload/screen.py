"""Workload: what the server does now and did in a window, a row and a sparkline for each series of counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.sizes import lasted
from advisor.report.words import plural
from advisor.tui.screens.base import Pane
from advisor.tui.screens.workload.rates import moments
from advisor.tui.screens.workload.rows import WINDOWS, about, heads, live, named, recorded
from advisor.tui.text import MUTED, line, plain, put
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize, Show

    from advisor.facts import Sample
    from advisor.tui.app import AuditApp
    from advisor.tui.screens.workload.rates import Moment
    from advisor.tui.screens.workload.rows import WindowRows
    from advisor.tui.view import View

NARROWEST = 20
BACKLOG = 120  # intervals that are measured between two keys without anybody noticing


class Measured(Message):
    """Intervals that were too many to measure at once."""

    def __init__(self, measured: tuple[Moment, ...]) -> None:
        self.moments = measured
        super().__init__()


class Workload(Pane):
    """The screen of rates."""

    BINDINGS: ClassVar = [
        Binding("w", "window(1)", "window", id="workload.window"),
        Binding("W", "window(-1)", "window before", show=False, id="workload.window-before"),
        Binding("p,space", "pause", "pause", id="workload.pause", key_display="p"),
        Binding("y", "copy", "copy", id="workload.copy"),
    ]
    app: AuditApp

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self.window = WINDOWS[0]
        self.shown: WindowRows | None = None
        self._held: View | None = None
        self._moments: tuple[Moment, ...] = ()
        self._recording: bool | None = None

    def compose(self) -> ComposeResult:
        """The rows under their heads, and one of them explained."""
        with Vertical(id="workload-box", classes="box"):
            yield Static("", id="workload-heads", markup=False)
            yield OptionList(id="workload-list", markup=False)
        yield Static("", id="workload-about", markup=False)

    # What is shown

    @property
    def paused(self) -> bool:
        """Whether what is shown stands still."""
        return self._held is not None

    @property
    def samples(self) -> tuple[Sample, ...] | None:
        """The samples that are shown; None for a snapshot."""
        view = self._held or self.view
        return view.samples if view else None

    @property
    def _width(self) -> int:
        """The columns that a row has."""
        return max(NARROWEST, self.query_one(OptionList).scrollable_content_region.width)

    def sampled(self, view: View) -> None:
        """Show the newest sample, unless it is paused or another screen is shown."""
        self.view = view
        if self.display:
            self.refill()

    def on_show(self, _: Show) -> None:
        """Catch up with what came while another screen was shown."""
        self.refill()

    def on_resize(self, _: Resize) -> None:
        """Draw as wide as there is room."""
        self.refill()

    def refill(self) -> None:
        """Measure what is new, and draw the rows."""
        if self.view is None:
            return
        if self._held is not None and self._held.place != self.view.place:
            self._held = None
        if self._recording is not (self.view.samples is None):
            self._recording = self.view.samples is None
            self.refresh_bindings()
        if self.view.samples is None:
            self._recorded(self.view)
        else:
            self._live(self.samples or ())
        self._mark_state()
        self._explain()

    def _live(self, samples: tuple[Sample, ...]) -> None:
        if len(samples) - len(self._moments) > BACKLOG:
            self._say(f"{plural(len(samples), 'sample')}: measuring …")
            in_background(self.app, "rates", lambda: Measured(moments(samples)), to=self)
            return
        self._moments = moments(samples, self._moments)
        self.shown = live(self._moments, self.window, self._width) if samples else None
        if len(samples) > 1:
            self._say(heads(self._width))
        else:
            self._say("One sample so far: a rate needs two." if samples else "No sample yet: one comes every 2 s.")
        self._draw()

    @on(Measured)
    def _caught_up(self, message: Measured) -> None:
        self._moments = message.moments
        self.refill()

    def _recorded(self, view: View) -> None:
        facts = view.audited.facts
        workload = facts.workload
        self._moments = moments((workload.first, workload.last)) if workload else ()
        self.shown = recorded(self._moments) if self._moments else None
        if workload is None:
            self._say(f"Not sampled: {facts.why_not('workload')}.")
        else:
            self._say(
                f"One recorded window of {lasted(workload.seconds)}, a rate each; only a running server has curves."
            )
        self._draw()

    def _say(self, words: str) -> None:
        put(self.query_one("#workload-heads", Static), plain(words, MUTED), layout=True)

    def _draw(self) -> None:
        rows = self.query_one(OptionList)
        shown = self.shown.rows if self.shown else ()
        if rows.option_count != len(shown):
            rows.set_options(Option("", id=row.series.id) for row in shown)
            rows.highlighted = 0 if shown else None
        width = self._width
        for row, option in zip(shown, rows.options, strict=True):
            text = line(row.line, longest=width)
            if text != option.prompt:
                rows.replace_option_prompt(row.series.id, text)

    def _mark_state(self) -> None:
        box = self.query_one("#workload-box")
        recording = self.view is not None and self.view.samples is None
        box.border_title = "Workload" if recording else f"Workload: {named(self.window)}"
        box.border_subtitle = "" if recording or self.shown is None else self._state(self.shown)

    def _state(self, shown: WindowRows) -> str:
        parts = [f"{plural(shown.samples, 'sample')}, {lasted(shown.seconds)}"]
        if any(row.told.broken for row in shown.rows):
            parts.append("counters began anew")
        if self._held is not None and self.view is not None:
            held = {id(sample) for sample in self._held.samples or ()}
            newer = sum(id(sample) not in held for sample in self.view.samples or ())
            parts.append(f"paused, {newer} newer kept")
        return " · ".join(parts)

    @on(OptionList.OptionHighlighted)
    def _explain(self) -> None:
        place = self.query_one(OptionList).highlighted
        text = self.query_one("#workload-about", Static)
        if self.shown is None or place is None or not self._moments:
            put(text, plain(""))
            return
        told = about(self.shown.rows[place], self._moments[-1].last, self.shown.column)
        put(text, Content("\n").join(plain(words) for words in told))

    # What the user does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A recording has one window at the most, and that stands still by itself."""
        return not self._recording if action in ("window", "pause") else super().check_action(action, parameters)

    def action_window(self, by: int) -> None:
        """The next window, or the one before."""
        self.window = WINDOWS[(WINDOWS.index(self.window) + by) % len(WINDOWS)]
        self.refill()

    def action_pause(self) -> None:
        """Let what is shown stand still, or go on with all that came meanwhile."""
        self._held = None if self._held else self.view
        self.refill()

    def action_copy(self) -> None:
        """Copy the rows as they are shown."""
        if self.shown is None or self.view is None:
            self.notify("there are no rates to copy", severity="warning")
            return
        heading = self.query_one("#workload-heads", Static).content
        lines = [str(heading), *(row.line for row in self.shown.rows)]
        self.app.copy("\n".join(text.rstrip() for text in lines) + "\n", "the rates as they are shown")
