"""The interface of the app that screens and dialogs use; a separate module avoids circular imports."""

from __future__ import annotations

import os
from abc import abstractmethod
from typing import TYPE_CHECKING, Protocol

from textual.app import App

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Finding
    from advisor.tui.start import StartOptions
    from advisor.tui.view import UserMarks, View


MOST_VISITED = 50  # places that Backspace returns to
TMUX_HINT = ". If the clipboard stays empty: tmux set -s set-clipboard on"  # the default ignores what programs copy
TERMINAL_HINT = ". If the clipboard stays empty, the terminal does not accept it (OSC 52)"


class ItemPane(Protocol):
    """What the app asks of a screen: the item that is selected, and to select another."""

    @property
    def id(self) -> str | None:
        """The id of the screen."""

    @property
    def display(self) -> bool:
        """Whether it is shown."""

    def current_item(self) -> object:
        """What is selected; None if nothing can be returned to."""

    def choose_item(self, item: object) -> bool:
        """Select an item; whether it exists here."""

    def show_selection(self, view: View) -> None:
        """Take a view that differs only in the change set."""


class AppBase(App[int]):
    """The methods of the app that screens may call."""

    opening: StartOptions
    view: View | None = None

    def __init__(self) -> None:
        super().__init__()
        self.visited: list[tuple[str, object]] = []  # screens and items that Backspace returns to
        self._has_copied = False

    @abstractmethod
    async def action_go(self, place: str) -> None:
        """Show the screen of that id."""

    @abstractmethod
    def panes(self) -> Sequence[ItemPane]:
        """The screens that exist."""

    async def show_finding(self, finding: Finding) -> None:
        """Show the findings screen with this finding marked."""
        await self.show_item("findings", finding, "")

    async def action_probe(self, name: str) -> None:
        """Show the probe of that name."""
        await self.show_item("probes", name, "")

    async def action_changes(self) -> None:
        """Show the change set."""
        if not any(pane.id == "changes" and pane.display for pane in self.panes()):
            await self.show_item("changes", None, "")

    async def show_item(self, place: str, item: object, missing: str) -> None:
        """Show a screen with an item selected, from which Backspace returns; without the item, say what is missing."""
        here = next((pane for pane in self.panes() if pane.display), None)
        left = (here.id or "", here.current_item()) if here else ("", None)
        await self.action_go(place)
        pane = next((pane for pane in self.panes() if pane.id == place), None)
        if pane is not None and pane.choose_item(item):
            self.visited = [*self.visited[1 - MOST_VISITED :], left]
        elif missing:
            self.notify(missing, severity="warning", markup=False)
            await self.action_go(left[0])

    async def action_back(self) -> None:
        """Return to the place from which a key led here."""
        if not self.visited:
            self.notify("Nothing to go back to: backspace returns after a key such as l or v led to another screen")
            return
        place, item = self.visited.pop()
        await self.action_go(place)
        for pane in self.panes():
            if pane.id == place:
                pane.choose_item(item)

    def toggle_selected(self, finding: Finding) -> None:
        """Put a finding into the change set, or take it out."""
        if self.view is not None:
            self.view = self.view.toggle_selected(finding)
            for pane in self.panes():
                pane.show_selection(self.view)

    @abstractmethod
    def change_marks(self, marks: UserMarks) -> None:
        """Save which findings the user marked as seen or hid, and show the change."""

    @abstractmethod
    def add_to_baseline(self, finding: Finding, reason: str) -> None:
        """Add a finding to the baseline, if one is in use."""

    @abstractmethod
    def remove_from_baseline(self, finding: Finding) -> None:
        """Remove a finding from the baseline, if one is in use, and run the rules again."""

    def copy(self, text: str, what: str) -> None:
        """Copy text to the terminal's clipboard; no terminal confirms it, so the first copy says what to do."""
        self.copy_to_clipboard(text)
        hint = "" if self._has_copied else TMUX_HINT if "TMUX" in os.environ else TERMINAL_HINT
        self._has_copied = True
        self.notify(f"Copied {what}{hint}", markup=False)

    @abstractmethod
    def action_refresh(self) -> None:
        """Read everything again."""

    @abstractmethod
    def watch_events(self, of: str) -> None:
        """Read a summary table of events beside the samples; none for an empty name."""

    @abstractmethod
    def leave(self, code: int) -> None:
        """Exit with that code; wait only for what a screen has to clean up."""
