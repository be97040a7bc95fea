"""The theme: the one that the user chose last, else one that the terminal has the colours for."""

from __future__ import annotations

import os
from contextlib import suppress

from advisor.core.errors import MycnfError
from advisor.state.directory import make_state_folder
from advisor.state.private_file import replace_private
from advisor.tui.state import FOLDER, folder

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
