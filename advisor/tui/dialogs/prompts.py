"""A small dialog that asks for one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from advisor.tui.text import line

if TYPE_CHECKING:
    from textual.app import ComposeResult


class Reason(ModalScreen[str | None]):
    """Asks for a sentence; gives None where the user thinks better of it."""

    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "cancel", id="reason.cancel")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        """The question and a field."""
        with Vertical(classes="dialog"):
            yield Static(self._question, markup=False)
            yield Input(placeholder="who decided it, when, on what grounds")
            yield Static("enter keeps it, esc cancels", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the words, where there are any."""
        if event.value.strip():
            self.dismiss(event.value.strip())
        else:
            self.notify("a reason is wanted: the next reader will ask", severity="warning")


class Offer(ModalScreen[bool]):
    """Offers to do something now; gives whether the user wants it."""

    BINDINGS: ClassVar = [Binding("escape", "dismiss(False)", "not now", id="offer.no")]

    def __init__(self, question: str, yes: str, no: str) -> None:
        super().__init__()
        self._question, self._answers = question, (yes, no)

    def compose(self) -> ComposeResult:
        """The question and its two answers."""
        with Vertical(classes="dialog"):
            yield Static(self._question, markup=False)
            yield OptionList(*self._answers, markup=False, compact=True, classes="answers")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the answer."""
        self.dismiss(event.option_index == 0)


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
