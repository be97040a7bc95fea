"""A theme for eyes or screens that need contrast; the framework's own are beside it in the palette."""

from __future__ import annotations

from textual.theme import Theme

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
