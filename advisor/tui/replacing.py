"""A small dialog that asks whether a file may be replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from advisor.tui.plain import line

if TYPE_CHECKING:
    from textual.app import ComposeResult


class Replacing(ModalScreen[bool]):
    """Gives True for `y` alone: enter has just been pressed to save, and may be pressed once too often."""

    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "replace it", id="replace.yes"),
        Binding("n,escape", "dismiss(False)", "keep it", id="replace.no", key_display="n"),
    ]

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    def compose(self) -> ComposeResult:
        """What is there, and the keys that answer."""
        with Vertical(classes="dialog"):
            yield Static(line(self._reason, longest=400), markup=False)
            yield Static("y replaces it · n or esc keeps it", markup=False)
