"""The lines at the top: the server with counts of findings and age of the facts, the tabs, and a lost connection."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from advisor.core.model import Severity, format_duration
from advisor.report import plural
from advisor.tui.screens import SCREENS
from advisor.tui.screens.base import NARROW
from advisor.tui.text import MUTED, SEVERITY_STYLES, safe_line, safe_text, update_if_changed

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Click
    from textual.timer import Timer

    from advisor.tui.start import AuditSource
    from advisor.tui.view import View

IN_WORDS = 100  # columns from which counts are words
LETTERS = {Severity.ERROR: "E", Severity.WARNING: "W", Severity.NOTE: "N"}

TABS_WIDTH = 1 + sum(len(place.title) + 3 for place in SCREENS)  # columns of all tabs, with digits and margins


FIRST_HINT = (
    "Digits open the screens; enter opens what is selected, and / searches a list.\n"
    "? lists the keys that work here, ctrl+p finds every action by its name.\n"
    "The app changes nothing on the server. Any key removes this hint."
)
LIVE_STEPS = (
    "Variables, counters and their origins, the option files and the host; statements that only read.",
    "q quits at once, even if the server does not respond.",
)


def splash(feed: AuditSource | None) -> Content:
    """What the app shows until the first audit is there: what it reads."""
    if feed is None:
        return Content("")
    steps = LIVE_STEPS if feed.session is not None else ()
    lines = [safe_text("mycnf", "bold"), safe_text(f"reading {feed.place} …")]
    return Content("\n").join([*lines, *(safe_text(step, MUTED) for step in steps)])


class AppHeader(Horizontal):
    """The server on the left, counts and age on the right."""

    _shown: tuple[View, str] | None = None

    def compose(self) -> ComposeResult:
        """Two texts on one line."""
        yield Static("mycnf", id="server", markup=False)
        yield Static("", id="standing", markup=False)

    def show(self, view: View, gone: str = "") -> None:
        """Show the server of this audit; `gone` is the reason of a lost connection."""
        server = view.audited.facts.server
        since = time.time() - view.read_at if view.live else 0  # the uptime of a recording does not grow
        known = not gone and (server.uptime or since)  # a server that does not respond may be down
        up = f"up {format_duration(server.uptime + int(max(0, since)))}" if known else ""
        parts = [server.variables.get("hostname", ""), view.audited.context.target.label, up]
        update_if_changed(self.query_one("#server", Static), safe_line(" · ".join(part for part in parts if part)))
        self._shown = view, gone
        in_words, room = self.app.size.width >= IN_WORDS, self.app.size.width >= NARROW
        right, words = self.query_one("#standing", Static), _status_text(view, gone, words=in_words, room=room)
        before = right.content
        # The width follows the text: samples change the text often, but its width rarely.
        update_if_changed(
            right, words, layout=not isinstance(before, Content) or before.cell_length != words.cell_length
        )

    def clear(self) -> None:
        """Show no server: another one is read."""
        self._shown = None
        self.query_one("#server", Static).update("mycnf")
        self.query_one("#standing", Static).update("", layout=True)

    def on_resize(self) -> None:
        """Write the counts as words or as letters, as there is room."""
        if self._shown is not None:
            self.show(*self._shown)


class LostBanner(Static):
    """Below the tabs while the connection is lost: since when, why, the next try, and how old the values are."""

    _since = _next_try = _read_at = 0.0
    _reason = ""
    _timer: Timer | None = None

    def show(self, reason: str, view: View) -> None:
        """Show the banner with the reason of the last try; the next one is due after the sampler's pause."""
        from advisor.tui.screens.workload.sampler import RETRY_AFTER

        self._reason, self._next_try = reason, time.monotonic() + RETRY_AFTER
        self._read_at = max(self._read_at, view.read_at)
        if self._timer is None:
            self._since = time.time()
            self._timer = self.set_interval(1.0, self._count_down)
        self._set_lost(True)
        self._count_down()

    def hide(self) -> None:
        """The server has responded, now: hide the banner if it is shown."""
        self._read_at = time.time()
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            self._set_lost(False)

    def _set_lost(self, lost: bool) -> None:
        """Dim the values that are no longer read."""
        self.display = lost
        self.app.query_one("#screens").set_class(lost, "-lost")

    def _count_down(self) -> None:
        left = self._next_try - time.monotonic()
        again = f"next try in {left:.0f} s" if left >= 1 else "trying to reconnect"
        since, read = (time.strftime("%H:%M:%S", time.localtime(at)) for at in (self._since, self._read_at))
        shown = (f"✖ No connection since {since}", again, f"values of {read}", self._reason)
        words = " · ".join(part for part in shown if part is not again or self.app.size.width >= IN_WORDS)
        update_if_changed(self, safe_line(words, longest=max(2, self.app.size.width - 2)))


def _status_text(view: View, gone: str, *, words: bool, room: bool) -> Content:
    """Counts by severity, and the age of the audit or what it is of; with room, that the app only reads."""
    severities = [f.severity for f in view.open_findings]
    counts = [
        Content.styled(plural(count, s.value) if words else f"{count}{LETTERS[s]}", SEVERITY_STYLES[s])
        for s in Severity
        if (count := severities.count(s))
    ]
    none = f"{len(view.hidden):,} hidden" if view.hidden else "no findings"
    parts = [Content("  " if words else " ").join(counts)] if counts else [Content(none)]
    if gone:
        parts.append(Content.styled("no connection", "$text-error"))
    elif view.live:
        parts.append(Content(f"{format_duration(int(max(0, time.time() - view.read_at)))} old"))
    else:
        parts.append(Content(view.origin))
    return Content("  ").join([*parts, Content("app: read-only")] if room else parts)


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
