"""The overview: what this server is, what is wrong, and its memory, storage, load, replication and blocked sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.tui.screens.base import Pane
from advisor.tui.screens.overview import summary
from advisor.tui.text import MUTED, safe_line, safe_text, update_if_changed

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Click, Resize, Show

    from advisor.tui.screens.overview.summary import Advice
    from advisor.tui.screens.workload.rates import SampleInterval
    from advisor.tui.view import View

TWO_COLUMNS, THREE_COLUMNS = 100, 170  # columns of the terminal from which boxes stand side by side
BOXED = 30  # lines of the terminal from which parts have borders
TALL = 22  # lines of the terminal from which the list of what to do first is visible without scrolling
LEAST_AREA, MOST_AREA = 3, 16  # lines of the area of a chart
OTHER_LINES = 42  # lines of everything else where boxes stand side by side
FRAME = 4  # columns of border and padding of a box
LABEL = 12  # columns of the name of a part without a box
NARROW_LABEL = 60  # columns below which the name of a part has a line to itself
PLACES = {"findings": "1 Findings", "variables": "2 Variables", "workload": "3 Workload", "host": "4 Host"}
TITLES = {
    "server": ("Server", "variables"),
    "risks": ("Risks", "findings"),
    "first": ("Do first", "findings"),
    "memory": ("Memory", "host"),
    "storage": ("Storage", "host"),
    "redo": ("Redo log", "workload"),
    "connections": ("Connections", "workload"),
    "replication": ("Replication", "findings"),
    "blocking": ("Blocked sessions", "findings"),  # next to what to do first: it is about now
    "traffic": ("Traffic", "workload"),
    "innodb": ("InnoDB", "workload"),
    "waits": ("Waits", "workload"),
}
CHARTS = ("traffic", "innodb", "waits")
COLUMNS = (("server", "risks", "first", "blocking"), ("memory", "storage"), ("redo", "connections", "replication"))


class OverviewPart(Static, can_focus=True):
    """One part: a box, or on small terminals lines behind the part's name. Enter or a click opens its screen."""

    BINDINGS: ClassVar = [Binding("enter", "open", "open", id="overview.open", key_display="enter")]

    class Opened(Message):
        """The user wants the screen that this part is about."""

        def __init__(self, part: OverviewPart) -> None:
            self.part = part
            super().__init__()

    def __init__(self, part: str) -> None:
        super().__init__("", id=f"overview-{part}", classes="overview-part", markup=False)
        self.part = part
        self.title, self.place = TITLES[part]
        self._body = Content("")
        self._boxed: bool | None = None

    def draw(self, body: Content, *, boxed: bool, width: int) -> None:
        """Show this text, `width` columns wide, in a box or behind the name of the part."""
        if boxed is not self._boxed:
            self._boxed = boxed
            self.set_class(boxed, "box")
            self.border_subtitle = PLACES[self.place] if boxed else None
        self.border_title = self.title if boxed else None
        before = self._body
        self._body = body if boxed else self._with_labels(body, width)
        lines = str(self._body).count("\n"), str(before).count("\n")
        update_if_changed(self, self._body, layout=lines[0] != lines[1] or not str(before))

    def _with_labels(self, body: Content, width: int) -> Content:
        style = "bold $text-accent"
        if width < NARROW_LABEL:
            return Content.styled(self.title, style) + Content("\n") + body
        first, *rest = body.split("\n")
        name = self.title if len(self.title) < LABEL else self.title.split()[0].rstrip(",")
        shown = [Content.styled(f"{name:<{LABEL}}", style) + first]
        return Content("\n").join([*shown, *(Content(" " * LABEL) + line for line in rest)])

    def action_open(self) -> None:
        """Open the screen of this part."""
        self.post_message(self.Opened(self))

    def on_click(self, event: Click) -> None:
        """Open the screen of this part."""
        event.stop()
        self.action_open()


class OverviewScroll(VerticalScroll, can_focus=False, inherit_bindings=False):
    """The parts: pages scroll it, and the arrow keys are left to select a row or a part."""

    BINDINGS: ClassVar = [
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
    ]


class OverviewPane(Pane):
    """The overview screen."""

    BINDINGS: ClassVar = [
        Binding("down", "move(1)", "next part", show=False, id="overview.next"),
        Binding("up", "move(-1)", "previous part", show=False, id="overview.before"),
        Binding("y", "copy", "copy", id="overview.copy"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self.chosen = 0
        self._parts = {name: OverviewPart(name) for name in TITLES}
        self._advice: list[Advice] = []
        self._has_figures = False
        self._intervals: tuple[SampleInterval, ...] = ()

    def compose(self) -> ComposeResult:
        """The parts in columns, and the charts below them; drawn at once, so that the first layout is not empty."""
        self.view = self.app.view
        self.refill()
        with OverviewScroll(id="overview-scroll"):
            first, *others = [Vertical(*(self._parts[part] for part in parts), classes="column") for parts in COLUMNS]
            yield Horizontal(first, Horizontal(*others, id="overview-side"), id="overview-columns")
            yield Horizontal(*(self._parts[part] for part in CHARTS), id="overview-charts")

    @property
    def first_focus(self) -> OverviewPart:
        """The list of what to do first, or the top if that would scroll it off the screen."""
        return self._parts["first" if self.app.size.height >= TALL else "server"]

    # What is shown

    @property
    def _boxed(self) -> bool:
        return self.app.size.width >= TWO_COLUMNS and self.app.size.height >= BOXED

    @property
    def _columns(self) -> int:
        if not self._boxed:
            return 1
        return 3 if self.app.size.width >= THREE_COLUMNS else 2

    @property
    def _chart_lines(self) -> int:
        """The height of the charts' areas: what tall terminals have left below the other parts."""
        if not self._boxed:
            return 0
        return min(MOST_AREA, max(LEAST_AREA, self.app.size.height - OTHER_LINES))

    def _width(self, part: str) -> int:
        """The columns of text that a part has."""
        whole = self.app.size.width - 1  # the scroll bar
        if self._boxed:
            return whole // (len(CHARTS) if part in CHARTS else self._columns) - FRAME
        return whole - 1 if whole < NARROW_LABEL else whole - LABEL - 1

    def refill(self) -> None:
        """Draw what is wrong at once, and the figures after that is on the screen: their modules take time to load."""
        if self.view is None:
            return
        view, columns = self.view, self._columns
        for count in (1, 2, 3):
            self.set_class(columns == count, f"-columns-{count}")
        self._advice = summary.first_advice(view)
        self.chosen = min(self.chosen, max(0, len(self._advice) - 1))
        width = self._width("risks")
        self._draw("server", summary.server_text(view, width, short=not self._boxed))
        self._draw("risks", Content("\n").join(summary.risk_lines(view, width)))
        self._draw_advice()
        if self._has_figures:
            self._draw_figures()
        elif self.is_mounted:
            self.call_after_refresh(self.draw_later, self._draw_figures)

    def _draw_figures(self) -> None:
        from advisor.tui.screens.overview import gauges

        self._has_figures = True
        view, width = self.view, self._width("memory")
        if view is None:
            return
        self._draw("memory", gauges.memory_text(view.audited, width))
        self._draw("storage", gauges.storage_text(view, width, 8 if self._boxed else 4))
        read_at = summary.read_note(view, width)
        self._draw("blocking", summary.blocking_text(view.audited, width) + read_at)
        replication = summary.replication_text(view.audited, width)
        self._parts["replication"].display = replication is not None
        self._draw("replication", replication + read_at if replication is not None else Content(""))
        self._draw_live()

    def _draw(self, part: str, body: Content) -> None:
        self._parts[part].draw(body, boxed=self._boxed, width=self.app.size.width - 1)  # the scroll bar

    def _draw_advice(self) -> None:
        width = self._width("first")
        part = self._parts["first"]
        rows = [
            summary.advice_line(advice, width, chosen=part.has_focus and place == self.chosen)
            for place, advice in enumerate(self._advice)
        ]
        self._draw("first", Content("\n").join(rows) or safe_line("nothing: no errors and no warnings", MUTED, width))

    def _draw_live(self) -> None:
        from advisor.tui.screens.overview import gauges
        from advisor.tui.screens.workload.rates import measure_intervals

        view = self.view
        if view is None:
            return
        self._draw("redo", gauges.redo_text(view, self._width("redo")))
        self._draw("connections", gauges.connections_text(view, self._width("connections")))
        samples = view.samples
        if samples is None:
            workload = view.audited.facts.workload
            self._intervals = measure_intervals((workload.first, workload.last)) if workload else ()
        else:
            self._intervals = measure_intervals(samples, self._intervals)
        missing = gauges.missing_samples(view)
        for name in CHARTS:
            width = self._width(name)
            if missing:
                text = safe_text(missing, MUTED) if self._boxed or name == "traffic" else Content("-")
            else:
                text = gauges.chart_text(
                    name, self._intervals, width, lines_high=self._chart_lines, live=samples is not None
                )
            self._parts[name].title = TITLES[name][0] + (
                ", recorded series" if samples is not None and not view.live else ""
            )
            self._draw(name, text)

    def show_samples(self, view: View) -> None:
        """Show the newest sample, unless another screen is shown."""
        self.view = view
        if self.display and self._has_figures:
            self._draw_live()

    def on_show(self, _: Show) -> None:
        """Draw the samples that arrived while another screen was shown."""
        if self._has_figures:
            self._draw_live()

    def on_resize(self, _: Resize) -> None:
        """Arrange the parts for the new size."""
        self.refill()

    def on_descendant_focus(self) -> None:
        """Mark the selected row only while the list has the focus."""
        self._draw_advice()

    def on_descendant_blur(self) -> None:
        """As for the focus."""
        self._draw_advice()

    # What the user does

    def action_move(self, by: int) -> None:
        """Select the next row of "Do first", or move to the next part."""
        parts = [part for part in self.query(OverviewPart) if part.display]
        focused = next((place for place, part in enumerate(parts) if part.has_focus), None)
        if focused is not None and parts[focused].part == "first" and 0 <= self.chosen + by < len(self._advice):
            self.chosen += by
            self._draw_advice()
            parts[focused].scroll_visible(animate=False)
            return
        place = 0 if focused is None else min(max(0, focused + by), len(parts) - 1)
        if parts[place].part == "first" and place != focused:
            self.chosen = 0 if by > 0 else max(0, len(self._advice) - 1)
        parts[place].focus()

    async def on_overview_part_opened(self, message: OverviewPart.Opened) -> None:
        """Open the selected finding, or the screen of the part."""
        message.stop()
        blocked = summary.blocking_finding(self.view) if self.view and message.part.part == "blocking" else None
        if message.part.part == "first" and self._advice:
            await self.app.show_finding(self._advice[self.chosen].finding)
        elif blocked is not None:
            await self.app.show_finding(blocked)
        else:
            await self.app.action_go(message.part.place)

    def action_copy(self) -> None:
        """Copy the parts as text."""
        parts = [part for part in self.query(OverviewPart) if part.display]
        texts = [f"{part.title}\n{part.content}" for part in parts]
        self.app.copy("\n\n".join(texts) + "\n", "the overview")
