"""What every screen has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from advisor.tui.view import View


REST = 0.03  # seconds; a key that is held down comes about as often


class Pane(Container):
    """One screen: shows the audit it is given, and keeps its place when it is given a newer one."""

    view: View | None = None
    _resting: Timer | None = None

    def show(self, view: View) -> None:
        """Show this audit."""
        self.view = view
        self.refill()

    def refill(self) -> None:
        """Draw `self.view` anew; screens write this one."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """To who types words to look for, the key that leads there is a letter like any other."""
        if action in ("filter", "find"):
            return not any(field.has_focus for field in self.query(".filter"))
        return super().check_action(action, parameters)

    def leaving(self) -> None:
        """The app is being left: end what goes on here, within half a second; most screens have nothing under way."""

    def soon(self, draw: Callable[[], None]) -> None:
        """Draw once the keys rest for a moment: while one is held down, the mark alone moves."""
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, draw)

    def sampled(self, view: View) -> None:
        """Take a view that differs in its samples alone; screens that draw none leave it at that."""
        self.view = view
