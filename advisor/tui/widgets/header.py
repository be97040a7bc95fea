"""The two lines at the top: the server with counts of findings and age of the facts, and the tabs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.core.model import Severity
from advisor.core.sizes import format_duration
from advisor.tui.screens.registry import SCREENS
from advisor.tui.text import SEVERITY_STYLES, safe_line, update_if_changed

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Click

    from advisor.tui.view import View

LETTERS = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.NOTE: "N"}

TABS_WIDTH = 1 + sum(len(place.title) + 3 for place in SCREENS)  # columns of all tabs, with digits and margins


class AppHeader(Horizontal):
    """The server on the left, counts and age on the right."""

    def compose(self) -> ComposeResult:
        """Two texts on one line."""
        yield Static("mycnf", id="server", markup=False)
        yield Static("", id="standing", markup=False)

    def show(self, view: View, gone: str = "") -> None:
        """Show the server of this audit; `gone` is the reason of a lost connection."""
        server = view.audited.facts.server
        since = time.time() - view.read_at if view.live and not gone else 0  # the uptime of a recording does not grow
        up = f"up {format_duration(server.uptime + int(max(0, since)))}" if server.uptime or since else ""
        parts = [server.variables.get("hostname", ""), view.audited.known.target.label, up]
        update_if_changed(self.query_one("#server", Static), safe_line(" · ".join(part for part in parts if part)))
        right, words = self.query_one("#standing", Static), _status_text(view, gone)
        before = right.content
        # The width follows the text: samples change the text often, but its width rarely.
        update_if_changed(
            right, words, layout=not isinstance(before, Content) or before.cell_length != words.cell_length
        )


def _status_text(view: View, gone: str) -> Content:
    severities = [f.severity for f in view.open_findings]
    counts = [
        Content.styled(f"{severities.count(s)}{LETTERS[s]}", SEVERITY_STYLES[s]) for s in Severity if s in severities
    ]
    parts = [Content(" ").join(counts)] if counts else [Content("no findings")]
    if gone:
        parts.append(Content.styled("no connection", "$text-error"))
    elif view.live:
        parts.append(Content(f"{format_duration(int(max(0, time.time() - view.read_at)))} old"))
    else:
        parts.append(Content(view.origin))
    return Content("  ").join([*parts, Content("read-only")])


class ScreenTab(Static):
    """The clickable name of one screen."""

    class Selected(Message):
        """The user clicked the tab of that screen."""

        def __init__(self, place: str) -> None:
            self.place = place
            super().__init__()

    def __init__(self, digit: str, place: str, title: str) -> None:
        super().__init__(f"{digit} {title}", classes="tab", markup=False)
        self.place = place
        self._labels = digit, f"{digit} {title}"

    def shorten(self, short: bool) -> None:
        """Show only the digit, or digit and name."""
        words = self._labels[0 if short else 1]
        if self.content != words:
            self.update(words)

    def on_click(self, event: Click) -> None:
        """Post the message that selects the screen."""
        event.stop()
        self.post_message(self.Selected(self.place))


class ScreenTabs(Horizontal):
    """The row of tabs; the current screen is marked."""

    def compose(self) -> ComposeResult:
        """One tab for each screen."""
        yield from (ScreenTab(place.digit, place.id, place.title) for place in SCREENS)

    def mark_shown(self, chosen: str) -> None:
        """Mark the tab of the screen that is shown."""
        for tab in self.query(ScreenTab):
            tab.set_class(tab.place == chosen, "-shown")
        self.on_resize()

    def on_resize(self) -> None:
        """Without room for all names, shorten all tabs but the current one to digits."""
        for tab in self.query(ScreenTab):
            tab.shorten(self.size.width < TABS_WIDTH and not tab.has_class("-shown"))
