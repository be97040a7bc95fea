"""The themes that the palette offers: the framework's own, and one for eyes or screens that need contrast."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.theme import Theme

from advisor.core.errors import MycnfError
from advisor.state.directory import make_state_folder
from advisor.state.private_file import replace_private
from advisor.tui.view import FOLDER, folder

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


FEW_COLOURS = "ansi-dark"
USUAL = "textual-dark"
LONGEST = 100


def theme() -> str:
    """The name of the theme to begin with; the app passes over one that it doesn't know."""
    chosen = _chosen()
    # Made grey, as the framework does for NO_COLOR, the terminal's own colours come out black on black.
    return USUAL if "NO_COLOR" in os.environ and chosen.startswith("ansi") else chosen


def _chosen() -> str:
    with suppress(OSError, UnicodeDecodeError), open(_path(), encoding="ascii") as file:
        return file.read(LONGEST).strip()
    from rich.console import Console

    return USUAL if Console(force_terminal=True).color_system in ("256", "truecolor") else FEW_COLOURS


def keep_theme(name: str) -> None:
    """Remember the user's choice; where that can't be written it lasts until the app is left."""
    with suppress(OSError, MycnfError):
        make_state_folder(FOLDER)
        replace_private(_path(), f"{name}\n".encode("ascii", "replace"))


def _path() -> str:
    return os.path.join(folder(), "theme")
