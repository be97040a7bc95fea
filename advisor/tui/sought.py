"""The field that narrows a list, or goes through a text: while it has the keys, the footer has those that it heeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable


class Sought(Input):
    """A field for words to look for; `clear` is called where the user is done with them."""

    BINDINGS: ClassVar = [
        Binding("enter", "submit", "go on", id="sought.go-on", key_display="enter"),
        Binding("escape", "clear", "clear", id="sought.clear"),
    ]

    def __init__(self, clear: Callable[[], None], *, placeholder: str, id: str) -> None:  # noqa: A002 - the framework's word
        super().__init__(placeholder=placeholder, id=id, classes="filter")
        self._on_clear = clear

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """What is typed, and a slash is too, which the framework doesn't know by its name."""
        return key == "slash" or super().check_consume_key(key, character)

    def open(self) -> None:
        """Show it and give it the keys at once: those typed behind the slash may be waiting already."""
        self.add_class("-open")
        self.app.stylesheet.apply(self)  # what isn't shown takes no keys, and it would be shown a moment later
        self.screen.set_focus(self)

    def action_clear(self) -> None:
        """Be done with it."""
        self._on_clear()
