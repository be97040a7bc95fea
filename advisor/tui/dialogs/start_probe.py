"""The dialog before a run: where, how long, what it makes, and what is against it; the user may change it all."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from advisor.report.probe.listing import lasts
from advisor.report.words import plural
from advisor.tui.messages import Failed
from advisor.tui.screens.probes.list import costs, labelled, objection
from advisor.tui.screens.probes.plan import Order, RunOutlook, Wish, look
from advisor.tui.text import line, plain
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from advisor.report.probe.listing import Entry
    from advisor.tui.start import Site
    from probes.results import KeptResult

LABEL = 14
YES = frozenset({"yes", "y"})
LEAST, WIDTH = 30, 72  # columns of the dialog's text, where the screen has so many
BAR = 1  # column of the scrollbar that a small screen adds


class Beginning(ModalScreen[Order | None]):
    """Asks how a run is wanted and gives it once nothing is against it; None where the user thinks better of it."""

    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "back", id="begin.back")]

    AUTO_FOCUS = "#begin-time"

    class Looked(Message):
        """What came of looking."""

        def __init__(self, found: RunOutlook) -> None:
            self.found = found
            super().__init__()

    def __init__(self, entry: Entry, find: Callable[[str | None], Site]) -> None:
        super().__init__()
        self._entry, self._find = entry, find
        self._experiment = entry.experiment
        self._looked: RunOutlook | None = None
        self._looking = self._begins = False

    def compose(self) -> ComposeResult:
        """Directory and time, what a run does then, and the experiment's own choices."""
        plan = self._entry.plan
        at_most = f"{lasts(plan.seconds)} at most; or 60s, 10m, 3h" if plan else "or 60s, 10m, 3h"
        with Vertical(classes="dialog", id="beginning"):
            yield Static(line(f"Run {self._experiment.name}: enter begins, esc goes back"), markup=False)
            yield from self._field("directory", "directory", self._entry.directory, "on the file system to measure")
            yield from self._field("time", "time", "", at_most)
            yield from self._field("earlier", "go on", "", "")
            with VerticalScroll(id="begin-more", can_focus=False):
                yield Static("looking at this host …", id="begin-state", markup=False)
                yield from self._field("force", "in spite of", "", "names of refusals: busy, full, little, neighbour")
                for order, choice in enumerate(self._experiment.choices):
                    yield from self._field(f"choice-{order}", choice.name, choice.default, choice.words)

    def _field(self, name: str, label: str, value: str, hint: str) -> ComposeResult:
        with Horizontal(classes="field"):
            yield Static(f"{label:>{LABEL}} ", markup=False)
            yield Input(value=value, placeholder=hint, id=f"begin-{name}", compact=True)

    def on_mount(self) -> None:
        """Look at the run as it would be."""
        self._offer(None)
        self._look()

    @property
    def wish(self) -> Wish:
        """What the fields say."""
        directory, time, force = (self.query_one(f"#begin-{n}", Input).value for n in ("directory", "time", "force"))
        choices = tuple(
            (choice.name, self.query_one(f"#begin-choice-{order}", Input).value)
            for order, choice in enumerate(self._experiment.choices)
        )
        goes_on = self.query_one("#begin-earlier", Input).value.strip().lower() in YES
        return Wish(directory.strip(), time, choices, force, goes_on)

    @on(Input.Changed)
    def _typed(self) -> None:
        self._begins = False

    @on(Input.Blurred)
    def _went_on(self) -> None:
        if self._looked is not None and self._looked.wish != self.wish:
            self._look()

    @on(Input.Submitted)
    def _wanted(self) -> None:
        self._begins = True
        self._look()

    def _look(self) -> None:
        """Look at the run as the fields have it, one look at a time."""
        if self._looking:
            return
        self._looking, wish = True, self.wish
        self.query_one("#begin-state", Static).update("looking at this host …")
        in_background(self.app, "probe-look", lambda: self.Looked(look(self._find, self._experiment, wish)), self)

    @on(Looked)
    def _found(self, message: Looked) -> None:
        found = self._looked = message.found
        self._looking = False
        self._offer(found.earlier)
        if found.wish != self.wish:
            self._look()
            return
        begins, self._begins = self._begins, False
        if begins and found.order is not None:
            self.dismiss(found.order)
            return
        state = self.query_one("#begin-state", Static)
        room = state.size.width if state.size.width >= WIDTH else state.size.width - BAR
        state.update(_told(found, min(WIDTH, max(LEAST, room))))
        if begins and any(not o.final for o in found.against):
            self.query_one("#begin-force", Input).focus()

    def _offer(self, earlier: KeptResult | None) -> None:
        """Offer to go on with a run that isn't complete, where one of the same parameters is kept."""
        box = self.query_one("#begin-earlier", Input)
        if box.parent is not None:
            box.parent.display = earlier is not None
        if earlier is None:
            box.value = ""
        else:
            began = earlier.result.began_at[:16].replace("T", " ")
            box.placeholder = f"yes goes on with the run of {began}, {plural(earlier.result.rounds, 'round')} so far"

    @on(Failed)
    def _broke(self, message: Failed) -> None:
        message.stop()
        self._looking = self._begins = False
        self.query_one("#begin-state", Static).update(plain(message.reason, "$text-error"))


def _told(found: RunOutlook, width: int) -> Content:
    """What a run does, and what is against it, each with what to do."""
    shown = [labelled(label, words, width) for label, words in costs(found.entry) if words]
    shown += [labelled("refused", objection(o), width, "$text-warning") for o in found.against]
    if names := [o.name for o in found.against if not o.final]:
        shown.append(line(f"Only who types its name runs it in spite of that: {', '.join(names)}"))
    return Content("\n").join(shown)
