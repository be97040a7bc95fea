"""Small dialogs: ask for a reason, for a choice, and whether to replace a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from advisor.tui.text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult


class ReasonDialog(ModalScreen[str | None]):
    """Asks for a reason, or another text of one line; returns None if the user cancels.

    `fault` returns what is wrong with a text, empty if it can be used: until then the dialog stays, and keeps the text.
    """

    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "cancel", id="reason.cancel")]

    def __init__(
        self, question: str, value: str = "", missing: str = "Enter a reason", fault: Callable[[str], str] | None = None
    ) -> None:
        super().__init__()
        self._question, self._value, self._missing, self._fault = question, value, missing, fault

    def compose(self) -> ComposeResult:
        """The question and a text field."""
        with Vertical(classes="dialog"):
            yield Static(self._question, markup=False)
            hint = "" if self._value else "who decided it, when and why"
            yield Input(self._value, placeholder=hint, select_on_focus=False)
            yield Static("Enter saves, Esc cancels", markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the text; an empty or faulty one is refused with a notice."""
        text = event.value.strip()
        fault = (self._fault(text) if self._fault else "") if text else self._missing
        if fault:
            self.notify(fault, severity="warning", markup=False)
        else:
            self.dismiss(text)


class ChoiceDialog(ModalScreen[bool]):
    """Asks a question with two answers; returns True for the first."""

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
        """Return the answer."""
        self.dismiss(event.option_index == 0)


class SchemaDialog(ModalScreen[bool]):
    """Asks whether to read the definitions of tables; only `y` does."""

    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "examine tables", id="schema.yes"),
        Binding("n,escape", "dismiss(False)", "not now", id="schema.no", key_display="n"),
    ]

    def compose(self) -> ComposeResult:
        """What it costs, and the keys that answer."""
        with Vertical(classes="dialog"):
            yield Static(
                "Examine the definitions of tables: AUTO_INCREMENT, primary keys, engines, redundant indexes? "
                "MySQL 5.7 and MariaDB open tables for it, within the limits --schema-tables and --schema-time. "
                "No rows are read.",
                markup=False,
            )
            yield Static("y examines them · n or Esc does not", markup=False)


class ReplaceDialog(ModalScreen[bool]):
    """Asks whether to replace a file; only `y` does, as Enter may have been pressed twice to save."""

    BINDINGS: ClassVar = [
        Binding("y", "dismiss(True)", "replace it", id="replace.yes"),
        Binding("n,escape", "dismiss(False)", "keep it", id="replace.no", key_display="n"),
    ]

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    def compose(self) -> ComposeResult:
        """What exists, and the keys that answer."""
        with Vertical(classes="dialog"):
            yield Static(safe_line(self._reason, longest=400), markup=False)
            yield Static("y replaces the file · n or Esc keeps it", markup=False)
