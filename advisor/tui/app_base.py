"""The interface of the app that screens and dialogs use; a separate module avoids circular imports."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from textual.app import App

if TYPE_CHECKING:
    from advisor.core.model import Finding
    from advisor.tui.start import StartOptions
    from advisor.tui.view import UserMarks, View


class AppBase(App[int]):
    """The methods of the app that screens may call."""

    opening: StartOptions
    view: View | None = None

    @abstractmethod
    async def show_finding(self, finding: Finding) -> None:
        """Show the findings screen with this finding marked."""

    @abstractmethod
    async def action_probe(self, name: str) -> None:
        """Show the probe of that name."""

    @abstractmethod
    def change_marks(self, marks: UserMarks) -> None:
        """Save which findings the user marked as seen or hid, and show the change."""

    @abstractmethod
    def add_to_baseline(self, finding: Finding, reason: str) -> None:
        """Add a finding to the baseline, if one is in use."""

    @abstractmethod
    def remove_from_baseline(self, finding: Finding) -> None:
        """Remove a finding from the baseline, if one is in use, and run the rules again."""

    @abstractmethod
    def copy(self, text: str, what: str) -> None:
        """Copy text to the terminal's clipboard, and confirm it."""

    @abstractmethod
    def action_refresh(self) -> None:
        """Read everything again."""

    @abstractmethod
    def watch_events(self, of: str) -> None:
        """Read a summary table of events beside the samples; none for an empty name."""

    @abstractmethod
    def leave(self, code: int) -> None:
        """Exit with that code; wait only for what a screen has to clean up."""
