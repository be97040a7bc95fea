"""The keys that count here and now, made from the bindings in force; typing narrows the list."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.app import SystemCommand
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from textual.app import ComposeResult
    from textual.screen import Screen


# Commands of the framework's: two say less than `help` and `quit` of ours, and pictures go to ~/Downloads, which
# servers lack, or fail without a reason.
UNWANTED = ("Keys", "Quit", "Screenshot")


class Key(NamedTuple):
    """One action in force: the keys in words, what it does, their ids for keymaps, and how to run it."""

    keys: str
    words: str
    id: str
    run: Callable[[], object]


def in_force(screen: Screen[object]) -> list[Key]:
    """The actions that keys would run on this screen, the nearest to the focus first; each once."""
    found: dict[str, Key] = {}
    for active in screen.active_bindings.values():
        binding = active.binding
        if not binding.description or not active.enabled or binding.system:
            continue
        shown = screen.app.get_key_display(binding)
        known = found.get(binding.action)
        if known is None:
            run = partial(screen.app.run_action, binding.action, active.node)
            found[binding.action] = Key(shown, binding.description, binding.id or "", run)
        elif shown not in known.keys.split(", "):
            ids = ", ".join(filter(None, (known.id, binding.id)))
            found[binding.action] = known._replace(keys=f"{known.keys}, {shown}", id=ids)
    return list(found.values())


def commands(screen: Screen[object], others: Iterable[SystemCommand]) -> Iterator[SystemCommand]:
    """What the palette offers: the actions in force by their words, and the framework's own that aren't among them."""
    yield from (command for command in others if command.title not in UNWANTED)
    for key in in_force(screen):
        if key.id:  # the ways to move about have none
            yield SystemCommand(key.words, f"key {key.keys}", key.run)


def what_quits(screen: Screen[object]) -> str:
    """How to get out of here, in words; from a dialog it is back first."""
    quits = (f"{key.keys.split(', ')[-1]} quits" for key in in_force(screen) if key.id.startswith("quit"))
    return next(quits, "esc goes back, then q quits")


class Help(ModalScreen[None]):
    """The list, over the screen that it is about."""

    BINDINGS: ClassVar = [Binding("escape,f1", "dismiss(None)", "close", id="help.close")]

    def __init__(self, about: Screen[object]) -> None:
        super().__init__()
        self._keys = sorted(in_force(about), key=lambda key: not key.id)  # the ways to move come last: all know them

    def compose(self) -> ComposeResult:
        """A field to narrow the list, and the list."""
        with Vertical(classes="dialog"):
            yield Input(placeholder="which key …", id="help-sought")
            with VerticalScroll():
                yield Static(self._list(""), id="help-keys", markup=False)
            yield Static("esc closes · ctrl+p finds all of it by name · ids: for keys.toml", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list."""
        self.query_one("#help-keys", Static).update(self._list(event.value))

    def _list(self, sought: str) -> Content:
        words = sought.lower().split()
        keys = [k for k in self._keys if all(w in f"{k.keys} {k.words} {k.id}".lower() for w in words)]
        width = max((len(k.keys) for k in keys), default=0)
        lines = [
            Content.assemble((f"{k.keys:>{width}}", "bold $text-accent"), f"  {k.words}  ", (k.id, "dim")) for k in keys
        ]
        return Content("\n").join(lines) if lines else Content("no key does that here")
