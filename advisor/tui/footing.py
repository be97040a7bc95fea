"""The keys at the bottom of the app, which are made last: making them takes as long as the list of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
