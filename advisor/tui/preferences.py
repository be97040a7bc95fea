"""The user's preferences: the theme, the keys of keys.toml, and whether the first hint was shown."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.theme import Theme

from advisor.core.errors import MycnfError, did_you_mean
from advisor.state.directory import make_state_folder
from advisor.state.private_file import replace_private
from advisor.tui.view import STATE_SUBDIRECTORY, app_state_directory

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def register_themes(app: App[int]) -> None:
    """Register the high-contrast theme; under NO_COLOR remove ANSI themes, whose colours turn black when made grey."""
    app.register_theme(HIGH_CONTRAST)
    for name, read_theme in app.available_themes.items():
        if app.no_color and read_theme.ansi:
            app.unregister_theme(name)


ANSI_THEME = "ansi-dark"
DEFAULT_THEME = "textual-dark"
LONGEST = 100


def read_theme() -> str:
    """The name of the initial theme; the app ignores unknown names."""
    chosen = _saved_theme()
    # Under NO_COLOR textual turns colours grey, and ANSI colours become black on black.
    return DEFAULT_THEME if "NO_COLOR" in os.environ and chosen.startswith("ansi") else chosen


def _saved_theme() -> str:
    with suppress(OSError, UnicodeDecodeError), open(_path(), encoding="ascii") as file:
        return file.read(LONGEST).strip()
    from rich.console import Console

    return DEFAULT_THEME if Console(force_terminal=True).color_system in ("256", "truecolor") else ANSI_THEME


def save_theme(name: str) -> None:
    """Save the user's choice; if that fails, it lasts until the app quits."""
    with suppress(OSError, MycnfError):
        make_state_folder(STATE_SUBDIRECTORY)
        replace_private(_path(), f"{name}\n".encode("ascii", "replace"))


def _path() -> str:
    return os.path.join(app_state_directory(), "theme")


def is_first_start() -> bool:
    """Whether the hint of the first start was never shown to this user."""
    return not os.path.exists(_hint_path())


def save_hint_shown() -> None:
    """Remember that the hint was shown; if that fails, the next start shows it again."""
    with suppress(OSError, MycnfError):
        make_state_folder(STATE_SUBDIRECTORY)
        replace_private(_hint_path(), b"shown\n")


def _hint_path() -> str:
    return os.path.join(app_state_directory(), "hint")


def theme_synonyms(name: str, *, dark: bool, ansi: bool) -> str:
    """What people search for when they want this theme: `light`, `dark, 16 colours`."""
    kind = "dark" if dark else "light"
    more = ["16 colours"] if ansi else ["high contrast"] if name == HIGH_CONTRAST.name else []
    return ", ".join([kind, *more])


def keymap_path() -> str:
    """Path of the keymap file."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(home):  # the XDG specification says to ignore relative paths
        home = os.path.expanduser("~/.config")
    return os.path.join(home, "mycnf", "keys.toml")


def read_keymap() -> dict[str, str]:
    """Keys by id of the binding; empty without a file. Raises MycnfError for an invalid file."""
    try:
        with open(keymap_path(), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise MycnfError(f"{keymap_path()} cannot be read: {error.strerror}. Correct or remove the file") from error
    return _parse_keymap(data)


def _parse_keymap(data: bytes) -> dict[str, str]:
    import tomllib

    try:
        keymap = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # invalid TOML, invalid UTF-8, a number of thousands of digits
        why = str(error) or "nested too deep"
        raise MycnfError(
            f'{keymap_path()} is not valid TOML: {why}. Write lines such as "findings.suppress" = "h"'
        ) from error
    wrong = next((name for name, keys in keymap.items() if not isinstance(keys, str)), None)
    if wrong is not None and isinstance(keymap[wrong], dict):
        name, key = next(iter(keymap[wrong].items()), ("suppress", "h"))
        key = key if isinstance(key, str) else "h"
        raise MycnfError(f'{keymap_path()}: an id that contains a dot needs quotes: write "{wrong}.{name}" = "{key}"')
    if wrong is not None:
        raise MycnfError(f'{keymap_path()}: {wrong} has no key. Write "{wrong}" = "h"; separate several keys by commas')
    if keymap:
        _refuse_unknown_ids(keymap)
    return keymap


def _refuse_unknown_ids(keymap: Iterable[str]) -> None:
    known = action_ids()
    for name in keymap:
        if name not in known:
            close = did_you_mean(name, known, "the help (F1) lists the ids")
            raise MycnfError(f"{keymap_path()}: no action has the id {name!r}{close}")


def action_ids() -> frozenset[str]:
    """The ids of all actions; imports the modules of the app, which have them in the bindings of their classes."""
    import importlib
    import pkgutil

    from textual.binding import Binding
    from textual.dom import DOMNode

    import advisor.tui

    for module in pkgutil.walk_packages(advisor.tui.__path__, "advisor.tui."):
        importlib.import_module(module.name)
    classes: list[type[DOMNode]] = [DOMNode]
    for known in classes:
        classes += known.__subclasses__()
    bound = (binding for known in classes for binding in known.__dict__.get("BINDINGS", ()))
    return frozenset(binding.id for binding in bound if isinstance(binding, Binding) and binding.id)
