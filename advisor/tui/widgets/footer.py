"""The keys at the bottom of the app, which are made last: making them takes as long as the list of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App


async def show_keys(app: App[int]) -> None:
    """Show them where they are not shown yet."""
    from textual.widgets import Footer

    for foot in app.query("#foot"):  # there is none any more in an app that is being left
        if not foot.children:
            await foot.mount(Footer(show_command_palette=False))


def forget_keys(app: App[int]) -> None:
    """Let go of the keys that the footer showed before: it holds each until it looks through whom to tell."""
    if not app.query("#foot > *"):
        return  # not made yet, and the first findings do not wait for its import
    from textual.widgets import Footer

    for footer in app.query(Footer):
        footer.mutate_reactive(Footer.compact)


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
