"""The host screen: processors, memory, storage and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.widgets import Static

from advisor.tui.screens.base import Pane
from advisor.tui.screens.host.sections import TITLES, build_sections

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize


WIDE = 110  # columns from which two sections fit side by side
FRAME = 4  # columns of border and padding of a box
BAR = 1  # the column of the scroll bar
COLUMNS = (("cpu", "numa", "memory", "storage"), ("process", "limits", "cgroup", "kernel", "os", "findings"))


class HostPane(Pane):
    """The host screen."""

    BINDINGS: ClassVar = [
        Binding("n", "section(1)", "next part", id="host.next"),
        Binding("N", "section(-1)", "previous part", show=False, id="host.before"),
        Binding("y", "copy", "copy", id="host.copy"),
    ]

    def compose(self) -> ComposeResult:
        """One box for each section, in one or two columns."""
        with VerticalScroll(id="host-scroll"), Container(id="host-sections"):
            for column in COLUMNS:
                with Vertical(classes="host-column"):
                    yield from map(_box, column)

    def refill(self) -> None:
        """Write all sections again; the scroll position stays."""
        if self.view is None or not self.size.width:
            return
        wide = self.size.width >= WIDE
        self.set_class(wide, "-wide")
        width = (self.size.width - BAR) // (2 if wide else 1) - FRAME
        for section in build_sections(self.view, width):
            self.query_one(f"#host-{section.id}", Static).update(section.text)

    def on_resize(self, _: Resize) -> None:
        """Wrap the text to the new width."""
        self.refill()

    def action_section(self, step: int) -> None:
        """Scroll to the next or previous section."""
        scroll = self.query_one("#host-scroll", VerticalScroll)
        tops = sorted({box.virtual_region.y for box in self.query(".host-column > Static")})
        later = [top for top in tops if top > scroll.scroll_offset.y]
        before = [top for top in tops if top < scroll.scroll_offset.y]
        goal = next(iter(later), None) if step > 0 else next(reversed(before), None)
        if goal is not None:
            scroll.scroll_to(y=goal, animate=False)

    def action_copy(self) -> None:
        """Copy all sections as text."""
        if self.view is not None:
            sections = build_sections(self.view, self.app.size.width)
            text = "\n\n".join(f"{TITLES[section.id]}\n{section.text.plain}" for section in sections)
            self.app.copy(text, "the facts about the host")


def _box(part: str) -> Static:
    box = Static("", id=f"host-{part}", classes="box", markup=False)
    box.border_title = TITLES[part]
    return box
