"""The footer with the keys, created last because that takes as long as the list of findings; and the search field."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.widgets import Input

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App


WITH_PALETTE = 90  # columns from which the footer has room for the key of the palette


async def show_keys(app: App[int]) -> None:
    """Create the footer if it does not exist yet."""
    from textual.widgets import Footer

    for foot in app.query("#foot"):  # a closing app has no footer any more
        if not foot.children:
            await foot.mount(Footer(show_command_palette=app.size.width >= WITH_PALETTE))


def release_old_keys(app: App[int]) -> None:
    """Release the keys that the footer showed before: it keeps references to them until its next refresh."""
    if not app.query("#foot > *"):
        return  # not created yet: the first findings must not wait for its import
    from textual._styles_cache import StylesCache
    from textual.widgets import Footer

    for footer in app.query(Footer):
        footer.mutate_reactive(Footer.compact)
    # Its lru_cache has the instance among its keys, and so keeps what up to 1,024 removed widgets have drawn.
    with suppress(AttributeError):
        StylesCache.get_inner_outer.cache_clear()


class SearchField(Input):
    """A search field; calls `clear` when the user closes it."""

    BINDINGS: ClassVar = [
        Binding("enter", "submit", "go on", id="sought.go-on", key_display="enter"),
        Binding("escape", "clear", "clear", id="sought.clear"),
    ]

    def __init__(self, clear: Callable[[], None], *, placeholder: str, id: str) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(placeholder=placeholder, id=id, classes="filter")
        self._on_clear = clear

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Consume typed characters, and the slash, whose key name textual does not map to a character."""
        return key == "slash" or super().check_consume_key(key, character)

    def open_field(self) -> None:
        """Show and focus the field at once: keys typed after the slash may be queued already."""
        self.add_class("-open")
        self.app.stylesheet.apply(self)  # a hidden widget takes no focus, and the style would apply only later
        self.screen.set_focus(self)

    def action_clear(self) -> None:
        """Clear and close the field."""
        self._on_clear()
