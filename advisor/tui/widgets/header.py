"""The two lines at the top: which server, how it stands, how old what is shown is; and the screens by digit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.core.model import Severity
from advisor.core.sizes import lasted
from advisor.tui.screens.base import PLACES
from advisor.tui.text import line, put

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Click

    from advisor.tui.view import View

SIGNS = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.NOTE: "●"}
LETTERS = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.NOTE: "N"}
STYLES = {Severity.ERROR: "$text-error", Severity.WARNING: "$text-warning", Severity.NOTE: "$text-accent"}

NAMES = sum(len(place.title) + 4 for place in PLACES)  # columns of all the tabs, with digits and padding


class Heading(Horizontal):
    """Server on the left, counts and age on the right."""

    def compose(self) -> ComposeResult:
        """Two texts on one line."""
        yield Static("mycnf", id="server", markup=False)
        yield Static("", id="standing", markup=False)

    def show(self, view: View, gone: str = "") -> None:
        """Tell of this audit; `gone` says why the server no longer answers."""
        server = view.audited.facts.server
        since = time.time() - view.taken if view.live and not gone else 0  # of a recording it was as long as it was
        up = f"up {lasted(server.uptime + int(max(0, since)))}" if server.uptime or since else ""
        parts = [server.variables.get("hostname", ""), view.audited.known.target.label, up]
        put(self.query_one("#server", Static), line(" · ".join(part for part in parts if part)))
        right, words = self.query_one("#standing", Static), _standing(view, gone)
        before = right.content
        # Its width is that of its words: each sample changes them, and the width once in many.
        put(right, words, layout=not isinstance(before, Content) or before.cell_length != words.cell_length)


def _standing(view: View, gone: str) -> Content:
    severities = [f.severity for f in view.open_findings]
    counts = [Content.styled(f"{severities.count(s)}{LETTERS[s]}", STYLES[s]) for s in Severity if s in severities]
    parts = [Content(" ").join(counts)] if counts else [Content("nothing to say")]
    if gone:
        parts.append(Content.styled("no answer", "$text-error"))
    elif view.live:
        parts.append(Content(f"{lasted(int(max(0, time.time() - view.taken)))} old"))
    else:
        parts.append(Content(view.origin))
    return Content("  ").join([*parts, Content("read-only")])


class Tab(Static):
    """The name of one screen, to be clicked."""

    class Chosen(Message):
        """The screen of that id is wanted."""

        def __init__(self, place: str) -> None:
            self.place = place
            super().__init__()

    def __init__(self, digit: str, place: str, title: str) -> None:
        super().__init__(f"{digit} {title}", classes="tab", markup=False)
        self.place = place
        self._words = digit, f"{digit} {title}"

    def shorten(self, short: bool) -> None:
        """The digit alone, or the name behind it."""
        words = self._words[0 if short else 1]
        if self.content != words:
            self.update(words)

    def on_click(self, event: Click) -> None:
        """Ask for the screen."""
        event.stop()
        self.post_message(self.Chosen(self.place))


class Tabs(Horizontal):
    """The screens, the one that is shown marked."""

    def compose(self) -> ComposeResult:
        """One tab a screen."""
        yield from (Tab(place.digit, place.id, place.title) for place in PLACES)

    def mark(self, chosen: str) -> None:
        """Mark the tab of the screen that is shown."""
        for tab in self.query(Tab):
            tab.set_class(tab.place == chosen, "-shown")
        self.on_resize()

    def on_resize(self) -> None:
        """Where there is no room for all the names, digits alone but for the screen that is shown."""
        for tab in self.query(Tab):
            tab.shorten(self.size.width < NAMES and not tab.has_class("-shown"))
