"""Probes: the experiments on the left, one of them on the right as a description, as a run, or as its result."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from advisor.tui.messages import Failed
from advisor.tui.screens.base import Pane
from advisor.tui.screens.probes.detail import Beside, DetailContent
from advisor.tui.screens.probes.list import Answered, Standing, answered, columns, lacking, row
from advisor.tui.screens.probes.plan import RunOutlook, Wish, elsewhere, entries, look
from advisor.tui.screens.probes.run import Ended, Moved, ProbeRun
from advisor.tui.text import plain
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Click, Resize
    from textual.timer import Timer

    from advisor.facts.probes import ProbeResult
    from advisor.report.probe.listing import Entry
    from advisor.tui.app import AuditApp
    from advisor.tui.screens.probes.plan import Order

DWELLS = 0.5  # seconds on an experiment until it is looked at what is against it
TICK = 1.0  # seconds between two drawings of a run: what draws takes processor time from what is measured


class Chooser(OptionList):
    """A list in which a click marks; one on what is marked enters, as the key does."""

    def on_click(self, event: Click) -> None:
        """Mark, and leave it at that."""
        clicked = event.style.meta.get("option")
        if clicked is not None and clicked != self.highlighted:
            self.highlighted = clicked
            event.prevent_default()


class Probes(Pane):
    """The screen of experiments."""

    BINDINGS: ClassVar = [
        Binding("p,enter", "begin", "run", id="probes.run", key_display="enter"),
        Binding("c", "stop", "stop", id="probes.stop"),
        Binding("v", "result", "result", id="probes.result"),
        Binding("y", "copy", "copy", id="probes.copy"),
        Binding("escape", "back", "back", show=False, id="probes.back"),
    ]
    app: AuditApp

    class Listed(Message):
        """The experiments as they would run."""

        def __init__(self, listed: tuple[Entry, ...]) -> None:
            self.listed = listed
            super().__init__()

    class Told(Message):
        """What the kept results come to, by experiment."""

        def __init__(self, answers: dict[str, tuple[Answered, ...]]) -> None:
            self.answers = answers
            super().__init__()

    class Looked(Message):
        """What is against a run of one experiment now."""

        def __init__(self, found: RunOutlook) -> None:
            self.found = found
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self.run: ProbeRun | None = None
        self._entries: dict[str, Entry] = {}
        self._standing: dict[str, Standing] = {}
        self._results_shown: set[str] = set()
        self._listed_for: object = None
        self._told_of: object = None
        self._marked_name = self._wanted = ""
        self._dwelling: Timer | None = None
        self._ticking: Timer | None = None

    def compose(self) -> ComposeResult:
        """The list, and one experiment beside it."""
        with Horizontal():
            yield Chooser(id="probes-list", classes="box", markup=False)
            yield Beside(id="probes-detail", classes="box")

    # What is shown

    def choose(self, name: str) -> None:
        """Mark the experiment of that name, as soon as it is listed."""
        self._wanted = name
        self._fill()

    def refill(self) -> None:
        """Find out anew what can be run and what was answered, where the audit is another one."""
        view = self.view
        if view is None:
            return
        if self._listed_for != (view.place, view.taken) and self.run is None:
            self._listed_for = (view.place, view.taken)
            site = self.app.opening.site
            if lacking(view, "") or site is None:
                in_background(self.app, "probes", lambda: self.Listed(elsewhere(lambda n: lacking(view, n))), self)
            else:
                in_background(self.app, "probes", lambda: self.Listed(entries(site)), self)
        results = view.audited.facts.probes
        told_of = tuple((result.probe, result.began_at, result.rounds) for result in results)
        if self._told_of != told_of:
            self._told_of = told_of
            in_background(self.app, "probe-answers", lambda: self.Told(answered(results)), self)
        self._fill()

    @on(Listed)
    def _list(self, message: Listed) -> None:
        self._entries = {entry.experiment.name: entry for entry in message.listed}
        for name in self._standing:
            self._stand(name, against=None)
        self.query_one(Beside).forget()
        self._fill()
        self._stay()

    @on(Told)
    def _tell(self, message: Told) -> None:
        for name in {*self._standing, *message.answers}:
            self._stand(name, answers=message.answers.get(name, ()))
        self._fill()

    @on(Failed)
    def _broke(self, message: Failed) -> None:
        message.stop()
        self.notify(plain(message.reason).plain, severity="error", timeout=10, markup=False)

    def _stand(self, name: str, **changes: object) -> None:
        self._standing[name] = self._of(name)._replace(**changes)  # type: ignore[arg-type] # fields of Standing

    def _of(self, name: str) -> Standing:
        return self._standing.get(name, Standing())

    def _fill(self) -> None:
        """Draw the list anew and stay on the experiment that was chosen."""
        options, kept = self.query_one("#probes-list", OptionList), self.chosen
        width = options.scrollable_content_region.width
        running = self.run.order.experiment.name if self.run else ""
        listed = []
        for name, entry in self._entries.items():
            listed.append(Option(row(entry, self._of(name), width, runs=name == running), id=name))
        options.clear_options()
        options.add_options(listed)
        options.border_title = "Probes" if self._entries else "Probes: looking …"
        options.border_subtitle = columns(width, here=any(entry.directory for entry in self._entries.values()))
        if self._entries:
            marked, self._wanted = self._wanted or kept, ""
            options.highlighted = list(self._entries).index(marked) if marked in self._entries else 0
        self._show()

    @property
    def chosen(self) -> str:
        """The name of the experiment that is marked in the list; empty while there is none."""
        options = self.query_one("#probes-list", OptionList)
        if options.highlighted is None:
            return ""
        return options.get_option_at_index(options.highlighted).id or ""

    @on(OptionList.OptionHighlighted)
    def _marked(self) -> None:
        self.soon(self._come_to)

    def _come_to(self) -> None:
        """Draw the experiment that the mark came to rest on, from its beginning."""
        self._show()
        if self.chosen != self._marked_name:
            self._marked_name = self.chosen
            self.query_one(Beside).scroll_home(animate=False)
            self._stay()

    def on_resize(self, _: Resize) -> None:
        """Wrap anew."""
        self._fill()

    def on_show(self) -> None:
        """A run may have gone on meanwhile, and rows were drawn for no width."""
        self.call_after_refresh(self._fill)
        self._stay()

    def _show(self) -> None:
        """Draw the right side."""
        name = self.chosen
        if (entry := self._entries.get(name)) is not None:
            run = self.run if self.run is not None and self.run.order.experiment.name == name else None
            self.query_one(Beside).draw(DetailContent(entry, self._of(name), run, name in self._results_shown))

    def _stay(self) -> None:
        """The user has come to an experiment; who stays there wants to know more."""
        if self._dwelling is not None:
            self._dwelling.stop()
        self._dwelling = self.set_timer(DWELLS, self._dwell)

    def _dwell(self) -> None:
        """Look at what is against the experiment that the user has come to, unless a run would be disturbed by it."""
        entry, site = self._entries.get(self.chosen), self.app.opening.site
        if entry is None or entry.plan is None or site is None or self.run is not None or not self.is_on_screen:
            return
        if self._of(self.chosen).against is not None:
            return
        experiment, wish = entry.experiment, Wish(entry.directory)
        in_background(self.app, "probe-look", lambda: self.Looked(look(site, experiment, wish)), self)

    @on(Looked)
    def _seen(self, message: Looked) -> None:
        found = message.found
        self._stand(found.entry.experiment.name, against=found.against, looked=found.looked)
        self._show()

    # What the user does

    @on(OptionList.OptionSelected)
    def _entered(self) -> None:
        self.action_begin()

    def action_begin(self) -> None:
        """Ask how the experiment is to be run."""
        entry, site, view = self._entries.get(self.chosen), self.app.opening.site, self.view
        if entry is None or view is None:
            return
        reason = lacking(view, self.chosen)
        if self.run is not None:
            reason = f"{self.run.order.experiment.name} is running, and two would measure each other: c stops it"
        if reason or site is None:
            self.notify(plain(reason).plain, severity="warning", timeout=10, markup=False)
            return
        from advisor.tui.dialogs.start_probe import Beginning

        self.app.push_screen(Beginning(entry, site), self._ordered)

    def _ordered(self, order: Order | None) -> None:
        if order is None or self.run is not None:
            return
        name = order.experiment.name
        self._results_shown.discard(name)
        self._stand(name, failed="")
        self.run = ProbeRun(self.app, self, order)
        self.run.start()
        self._ticking = self.set_interval(TICK, self._tick)
        self.refresh_bindings()
        self._fill()

    @on(Moved)
    def _moved(self) -> None:
        if time.monotonic() - self.query_one(Beside).drawn >= TICK:
            self._tick()

    def _tick(self) -> None:
        """Draw the run once more, where somebody sees it."""
        if self.run is not None and self.is_on_screen and self.chosen == self.run.order.experiment.name:
            self._show()

    @on(Ended)
    def _over(self, message: Ended) -> None:
        if self.run is None:
            return
        name, self.run = self.run.order.experiment.name, None
        if self._ticking is not None:
            self._ticking.stop()
        if message.result is not None:
            self._results_shown.add(name)
            known = self.view.audited.facts.probes if self.view else ()
            results = (message.result, *known)
            in_background(self.app, "probe-answers", lambda: self.Told(answered(results)), self)
            self.notify(plain(f"{name}: {_ended(message.result)}").plain, markup=False)
        else:
            self._stand(name, failed=message.reason)
            self.notify(plain(f"{name}: {message.reason}").plain, severity="error", timeout=10, markup=False)
        self.refresh_bindings()
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to stop only while something runs."""
        return self.run is not None if action == "stop" else super().check_action(action, parameters)

    def action_stop(self) -> None:
        """End the run; whole rounds are kept."""
        if self.run is not None:
            self.run.cancel()
            self._tick()

    def action_back(self) -> None:
        """Back to the list, then to the description; in the list it stops a run."""
        options = self.query_one("#probes-list", OptionList)
        if not options.has_focus:
            options.focus()
        elif self.run is not None:
            self.action_stop()
        else:
            self._results_shown.discard(self.chosen)
            self._show()

    def action_result(self) -> None:
        """Show the newest kept result, or the description again."""
        name = self.chosen
        if name in self._results_shown:
            self._results_shown.discard(name)
        elif self._of(name).answers:
            self._results_shown.add(name)
        else:
            runs = "" if self.view is None or lacking(self.view, name) else ": enter runs it"
            self.notify(f"no result of {name} is known yet{runs}", markup=False)
        self._show()

    def action_copy(self) -> None:
        """Copy the report of the result that is shown, else the command that runs the experiment."""
        if report := self.query_one(Beside).report:
            self.app.copy(report, "the report")
        elif name := self.chosen:
            self.app.copy(f"mycnf probe {name}", "the command that runs it")

    def leaving(self) -> None:
        """End the run and keep what is whole of it; what it can't clear up in time is removed behind the process."""
        from probes.sandbox.cleanup import sweep_afterwards
        from probes.sandbox.scratch import default_base, has_leftovers

        if self.run is not None:
            self.run.leave()
        elif has_leftovers(os.getpid(), default_base()):  # a server's program is being asked what it knows
            sweep_afterwards(default_base())


def _ended(result: ProbeResult) -> str:
    from advisor.report.probe.words import ended

    return ended(result)
