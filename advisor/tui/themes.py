"""The themes that the palette offers: the framework's own, and one for eyes or screens that need contrast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.theme import Theme

if TYPE_CHECKING:
    from textual.app import App

HIGH_CONTRAST = Theme(
    name="high-contrast",
    primary="#ffff00",
    secondary="#00ffff",
    accent="#00ffff",
    warning="#ffff00",
    error="#ff8080",
    success="#80ff80",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#202020",
    dark=True,
    variables={"footer-key-foreground": "#ffff00", "border": "#ffffff", "text-muted": "#ffffff"},
)


def fit_themes(app: App[int]) -> None:
    """Offer that one too, and none that can't be read here: the terminal's own colours made grey come out as black."""
    app.register_theme(HIGH_CONTRAST)
    for name, theme in app.available_themes.items():
        if app.no_color and theme.ansi:
            app.unregister_theme(name)
