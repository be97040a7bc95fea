"""The base class of the screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer
    from textual.widget import Widget

    from advisor.facts.workload import TopEvents
    from advisor.tui.app_base import AppBase
    from advisor.tui.view import View


DRAW_DELAY = 0.03  # seconds; about the repeat interval of a key that is held down


class Pane(Container):
    """One screen: shows an audit, and keeps its position when a newer one arrives."""

    app: AppBase
    view: View | None = None
    _draw_timer: Timer | None = None

    def show(self, view: View) -> None:
        """Show this audit."""
        self.view = view
        self.refill()

    @property
    def first_focus(self) -> Widget | None:
        """The widget that has the focus when the screen is opened, by default the first that can have it."""
        return next((widget for widget in self.query("*") if widget.focusable), None)

    def refill(self) -> None:
        """Draw `self.view` again; subclasses implement this."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In a search field, the search key is an ordinary character."""
        if action in ("filter", "find"):
            return not any(field.has_focus for field in self.query(".filter"))
        return super().check_action(action, parameters)

    def current_item(self) -> object:
        """What is selected here, for `choose_item`; None if nothing can be returned to."""
        return None

    def choose_item(self, item: object) -> bool:  # noqa: ARG002 - screens with items override this
        """Select an item that `current_item` returned, or that another screen names; whether it exists here."""
        return False

    def stop_work(self) -> None:
        """Stop running work within half a second because the app is closing; most screens have none."""

    def draw_later(self, draw: Callable[[], None]) -> None:
        """Draw after a short pause: while a key is held down, only the cursor moves."""
        if self._draw_timer is not None:
            self._draw_timer.stop()
        self._draw_timer = self.set_timer(DRAW_DELAY, draw)

    def show_selection(self, view: View) -> None:
        """Take a view that differs only in the change set; most screens do not draw it."""
        self.view = view

    def show_samples(self, view: View) -> None:
        """Take a view that differs only in its samples; most screens do not draw them."""
        self.view = view

    def show_events(self, first: TopEvents, last: TopEvents) -> None:
        """Take two readings of a summary table of events; only the workload screen draws them."""


NARROW = 70  # columns; below this width, panes are stacked
