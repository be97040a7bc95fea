"""What every screen has in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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


NARROW = 70  # columns; with fewer, what stands side by side elsewhere stands one below the other


class ScreenEntry(NamedTuple):
    """One screen: `id` is its key in PLACES."""

    digit: str
    id: str
    title: str

    def make(self) -> Pane:
        """A new one."""
        return _make(self.id)


def _make(name: str) -> Pane:  # noqa: PLR0911 - a table of screens
    match name:
        case "findings":
            from advisor.tui.screens.findings.screen import Findings

            return Findings(id=name)
        case "variables":
            from advisor.tui.screens.variables.screen import Variables

            return Variables(id=name)
        case "workload":
            from advisor.tui.screens.workload.screen import Workload

            return Workload(id=name)
        case "host":
            from advisor.tui.screens.host.screen import Host

            return Host(id=name)
        case "files":
            from advisor.tui.screens.files.screen import Files

            return Files(id=name)
        case "probes":
            from advisor.tui.screens.probes.screen import Probes

            return Probes(id=name)
        case "report":
            from advisor.tui.screens.report.screen import Report

            return Report(id=name)
        case _:
            raise ValueError(f"no screen {name!r}")


PLACES = (
    ScreenEntry("1", "findings", "Findings"),
    ScreenEntry("2", "variables", "Variables"),
    ScreenEntry("3", "workload", "Workload"),
    ScreenEntry("4", "host", "Host"),
    ScreenEntry("5", "files", "Files"),
    ScreenEntry("6", "probes", "Probes"),
    ScreenEntry("7", "report", "Report"),
)
BY_ID = {place.id: place for place in PLACES}
