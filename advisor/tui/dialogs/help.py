"""The help dialog: the active keys, from the active bindings; typing filters the list."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import SystemCommand
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from advisor.tui.preferences import theme_synonyms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from textual.app import ComposeResult
    from textual.screen import Screen


# Commands of textual that are hidden: the app has its own help, quit and themes, and ~/Downloads, where screenshots go,
# rarely exists on servers.
HIDDEN_COMMANDS = ("Keys", "Quit", "Screenshot", "Theme")


LIST_KEYS = {"Select": "open"}  # what textual's own lists call what Enter does


class KeyHelp(NamedTuple):
    """One active action: its keys, what it does, the ids for keymaps, and a function that runs it."""

    keys: str
    description: str
    id: str
    run: Callable[[], object]


def active_keys(screen: Screen[object]) -> list[KeyHelp]:
    """The actions that keys run on this screen, those nearest to the focus first; each once."""
    help_by_action: dict[tuple[object, str], KeyHelp] = {}  # lists have an action of the name `select` too
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.description or not active.enabled or binding.system:
            continue
        shown, action = screen.app.get_key_display(binding), (active.node, binding.action)
        known = help_by_action.get(action)
        if known is None:
            run = partial(screen.app.run_action, binding.action, active.node)
            words = binding.tooltip or (binding.description if binding.id else LIST_KEYS.get(binding.description, ""))
            help_by_action[action] = KeyHelp(shown, words or binding.description, binding.id or "", run)
        elif shown not in known.keys.split(", "):
            ids = ", ".join(filter(None, (known.id, binding.id)))
            help_by_action[action] = known._replace(keys=f"{known.keys}, {shown}", id=ids)
    return list(help_by_action.values())


def palette_commands(screen: Screen[object], others: Iterable[SystemCommand]) -> Iterator[SystemCommand]:
    """The commands of the palette in groups: `Here: copy`, `Go to: Host`, `Theme: textual-light (light)`.

    The palette sorts by title and searches titles, so that these have the group first and synonyms last.
    """
    for command in others:
        if command.title not in HIDDEN_COMMANDS:
            yield command._replace(title=f"App: {command.title.lower()}")
    for key in active_keys(screen):
        if key.id:  # keys that only move the cursor have none
            yield SystemCommand(_title(key), f"key {key.keys}", key.run)
    yield from _theme_commands(screen)


GROUPS = {
    "refresh": "Server",
    "connect": "Server",
    "schema": "Server",
    "export": "Server",
    "help": "App",
    "quit": "App",
}
SYNONYMS = {"refresh": "reread, reload", "connect": "another server", "export": "save, report", "quit": "exit, leave"}
SHOWN_THERE = {
    "overview": "blocked sessions, replication, risks",
    "findings": "tickets, changes",
    "variables": "settings, options",
    "workload": "charts, counters, waits",
    "host": "memory, disks, processors",
    "files": "option files, edit",
    "probes": "experiments",
    "report": "save, export",
}
SHOWN_THEMES = ("textual-dark", "textual-light", "ansi-dark", "ansi-light", "high-contrast")


def _title(key: KeyHelp) -> str:
    name, _, place = key.id.partition(",")[0].partition(".")
    if name == "screen":
        return f"Go to: {key.description}{f' ({SHOWN_THERE[place]})' if place in SHOWN_THERE else ''}"
    synonyms = f" ({SYNONYMS[name]})" if name in SYNONYMS else ""
    return f"{GROUPS.get(name, 'Here')}: {key.description}{synonyms}"


def _theme_commands(screen: Screen[object]) -> Iterator[SystemCommand]:
    """One command for each theme; without a search only those that most people look for."""
    app = screen.app
    for name, theme in app.available_themes.items():
        words = theme_synonyms(name, dark=theme.dark, ansi=theme.ansi)
        yield SystemCommand(
            f"Theme: {name} ({words})", "colours of the app", partial(setattr, app, "theme", name), name in SHOWN_THEMES
        )


def quit_hint(screen: Screen[object]) -> str:
    """How to quit from this screen; a dialog is closed first."""
    quits = (f"{key.keys.split(', ')[-1]} quits" for key in active_keys(screen) if key.id.startswith("quit"))
    return next(quits, "Esc goes back, then q quits")


class HelpDialog(ModalScreen[None]):
    """The list of keys, over the screen it describes."""

    BINDINGS: ClassVar = [Binding("escape,f1", "dismiss(None)", "close", id="help.close")]

    def __init__(self, screen: Screen[object]) -> None:
        super().__init__()
        self._keys = sorted(active_keys(screen), key=lambda key: not key.id)  # cursor keys come last

    def compose(self) -> ComposeResult:
        """A search field and the list."""
        with Vertical(classes="dialog"):
            yield Input(placeholder="search for a key or an action", id="help-sought")
            with VerticalScroll():
                yield Static(self._matching_keys(""), id="help-keys", markup=False)
            yield Static("Esc closes · Ctrl+P finds actions by name · ids are for keys.toml", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter the list."""
        self.query_one("#help-keys", Static).update(self._matching_keys(event.value))

    def _matching_keys(self, search_text: str) -> Content:
        words = search_text.lower().split()
        keys = [k for k in self._keys if all(w in f"{k.keys} {k.description} {k.id}".lower() for w in words)]
        width = max((len(k.keys) for k in keys), default=0)
        lines = [
            Content.assemble((f"{k.keys:>{width}}", "bold $text-accent"), f"  {k.description}  ", (k.id, "dim"))
            for k in keys
        ]
        return Content("\n").join(lines) if lines else Content("No key matches")
