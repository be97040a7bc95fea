"""The probes screen: the list on the left; description, run or result of one probe on the right."""

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

from advisor.tui.screens.base import Pane
from advisor.tui.screens.probes.list import (
    DetailContent,
    ProbeAnswer,
    ProbeDetail,
    ProbeStatus,
    answers_by_probe,
    cannot_run_reason,
    column_titles,
    probe_row,
)
from advisor.tui.screens.probes.plan import ProbeFormValues, RunPreview, entries_without_plan, plan_entries, preview_run
from advisor.tui.screens.probes.run import ProbeRun, RunAdvanced, RunEnded
from advisor.tui.text import safe_text
from advisor.tui.workers import WorkFailed, run_in_background

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult
    from textual.events import Click, Resize
    from textual.timer import Timer

    from advisor.facts.probes import ProbeResult
    from advisor.tui.screens.probes.plan import PlannedRun
    from probes.experiment import ProbeEntry

DWELL = 0.5  # seconds on a probe until its objections are checked
TICK = 1.0  # seconds between two drawings of a run: drawing takes processor time from the measurement


class ProbeOptionList(OptionList):
    """A list in which a click selects, and a click on the selected option acts like Enter."""

    def on_click(self, event: Click) -> None:
        """Select the option."""
        clicked = event.style.meta.get("option")
        if clicked is not None and clicked != self.highlighted:
            self.highlighted = clicked
            event.prevent_default()


class ProbesPane(Pane):
    """The probes screen."""

    BINDINGS: ClassVar = [
        Binding("p,enter", "begin", "run", id="probes.run", key_display="enter"),
        Binding("c", "stop", "stop", id="probes.stop"),
        Binding("v", "result", "result", id="probes.result"),
        Binding("y", "copy", "copy", id="probes.copy"),
        Binding("escape", "back", "back", show=False, id="probes.back"),
    ]

    class EntriesReady(Message):
        """The list of probes is ready."""

        def __init__(self, entries: tuple[ProbeEntry, ...]) -> None:
            self.entries = entries
            super().__init__()

    class AnswersReady(Message):
        """The answers of the saved results, by probe."""

        def __init__(self, answers: dict[str, tuple[ProbeAnswer, ...]]) -> None:
            self.answers = answers
            super().__init__()

    class ObjectionsReady(Message):
        """The objections to a run of one probe."""

        def __init__(self, preview: RunPreview) -> None:
            self.preview = preview
            super().__init__()

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self.run: ProbeRun | None = None
        self._entries: dict[str, ProbeEntry] = {}
        self._statuses: dict[str, ProbeStatus] = {}
        self._results_shown: set[str] = set()
        self._entries_for: object = None
        self._answers_for: object = None
        self._marked_name = self._name_to_mark = ""
        self._dwell_timer: Timer | None = None
        self._draw_run_timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """The list and the detail of one probe."""
        with Horizontal():
            yield ProbeOptionList(id="probes-list", classes="box", markup=False)
            yield ProbeDetail(id="probes-detail", classes="box")

    # What is shown

    def choose(self, name: str) -> None:
        """Select the probe of that name as soon as it is listed."""
        self._name_to_mark = name
        self._fill()

    def current_item(self) -> object:
        """The name of the selected probe."""
        return self.chosen

    def choose_item(self, item: object) -> bool:
        """Select the probe of that name."""
        self.choose(str(item))
        return True

    def refill(self) -> None:
        """Reload probes and answers for another audit."""
        view = self.view
        if view is None:
            return
        if self._entries_for != (view.place, view.read_at) and self.run is None:
            self._entries_for = (view.place, view.read_at)
            site = self.app.opening.site
            if cannot_run_reason(view, "") or site is None:
                run_in_background(
                    self.app,
                    "probes",
                    lambda: self.EntriesReady(entries_without_plan(lambda n: cannot_run_reason(view, n))),
                    self,
                )
            else:
                run_in_background(self.app, "probes", lambda: self.EntriesReady(plan_entries(site)), self)
        results = view.audited.facts.probes
        answers_for = tuple((result.probe, result.began_at, result.rounds) for result in results)
        if self._answers_for != answers_for:
            self._answers_for = answers_for
            run_in_background(self.app, "probe-answers", lambda: self.AnswersReady(answers_by_probe(results)), self)
        self._fill()

    @on(EntriesReady)
    def _set_entries(self, message: EntriesReady) -> None:
        self._entries = {entry.experiment.name: entry for entry in message.entries}
        for name in self._statuses:
            self._update_status(name, objections=None)
        self.query_one(ProbeDetail).clear_texts()
        self._fill()
        self._start_dwell()

    @on(AnswersReady)
    def _set_answers(self, message: AnswersReady) -> None:
        for name in {*self._statuses, *message.answers}:
            self._update_status(name, answers=message.answers.get(name, ()))
        self._fill()

    @on(WorkFailed)
    def _show_failure(self, message: WorkFailed) -> None:
        message.stop()
        self.notify(safe_text(message.reason).plain, severity="error", timeout=10, markup=False)

    def _update_status(self, name: str, **changes: object) -> None:
        self._statuses[name] = self._status_of(name)._replace(**changes)  # type: ignore[arg-type] # fields of ProbeStatus

    def _status_of(self, name: str) -> ProbeStatus:
        return self._statuses.get(name, ProbeStatus())

    def _fill(self) -> None:
        """Draw the list again and keep the selected probe."""
        options, kept = self.query_one("#probes-list", OptionList), self.chosen
        width = options.scrollable_content_region.width
        running = self.run.order.experiment.name if self.run else ""
        listed = []
        for name, entry in self._entries.items():
            listed.append(Option(probe_row(entry, self._status_of(name), width, runs=name == running), id=name))
        options.clear_options()
        options.add_options(listed)
        options.border_title = "Probes" if self._entries else "Probes: loading …"
        options.border_subtitle = column_titles(width, here=any(entry.directory for entry in self._entries.values()))
        if self._entries:
            marked, self._name_to_mark = self._name_to_mark or kept, ""
            options.highlighted = list(self._entries).index(marked) if marked in self._entries else 0
        self._show()

    @property
    def chosen(self) -> str:
        """The name of the selected probe; empty without one."""
        options = self.query_one("#probes-list", OptionList)
        if options.highlighted is None:
            return ""
        return options.get_option_at_index(options.highlighted).id or ""

    @on(OptionList.OptionHighlighted)
    def _mark_changed(self) -> None:
        self.draw_later(self._show_marked_probe)

    def _show_marked_probe(self) -> None:
        """Show the selected probe from the top."""
        self._show()
        if self.chosen != self._marked_name:
            self._marked_name = self.chosen
            self.query_one(ProbeDetail).scroll_home(animate=False)
            self._start_dwell()

    def on_resize(self, _: Resize) -> None:
        """Wrap the text to the new width."""
        self._fill()

    def on_show(self) -> None:
        """Draw the list again: a run may have advanced, and the width was unknown."""
        self.call_after_refresh(self._fill)
        self._start_dwell()

    def _show(self) -> None:
        """Draw the right side."""
        name = self.chosen
        if (entry := self._entries.get(name)) is not None:
            run = self.run if self.run is not None and self.run.order.experiment.name == name else None
            shown = DetailContent(entry, self._status_of(name), run, name in self._results_shown, self._variables)
            self.query_one(ProbeDetail).draw(shown)

    @property
    def _variables(self) -> Mapping[str, str]:
        """The variables of the audited server."""
        return self.view.audited.facts.server.variables if self.view is not None else {}

    def _start_dwell(self) -> None:
        """Check objections after the user has stayed on a probe for a moment."""
        if self._dwell_timer is not None:
            self._dwell_timer.stop()
        self._dwell_timer = self.set_timer(DWELL, self._check_objections)

    def _check_objections(self) -> None:
        """Check the objections of the selected probe, unless that would disturb a run."""
        entry, site = self._entries.get(self.chosen), self.app.opening.site
        if entry is None or entry.plan is None or site is None or self.run is not None or not self.is_on_screen:
            return
        if self._status_of(self.chosen).objections is not None:
            return
        experiment, wish = entry.experiment, ProbeFormValues(entry.directory)
        run_in_background(
            self.app, "probe-look", lambda: self.ObjectionsReady(preview_run(site, experiment, wish)), self
        )

    @on(ObjectionsReady)
    def _set_objections(self, message: ObjectionsReady) -> None:
        found = message.preview
        self._update_status(found.entry.experiment.name, objections=found.objections, checked_at=found.checked_at)
        self._show()

    # What the user does

    @on(OptionList.OptionSelected)
    def _start_selected(self) -> None:
        self.action_begin()

    def action_begin(self) -> None:
        """Ask for the options of the run."""
        entry, site, view = self._entries.get(self.chosen), self.app.opening.site, self.view
        if entry is None or view is None:
            return
        reason = cannot_run_reason(view, self.chosen)
        if self.run is not None:
            reason = f"{self.run.order.experiment.name} is running, and a second probe would disturb it. c stops it"
        if reason or site is None:
            self.notify(safe_text(reason).plain, severity="warning", timeout=10, markup=False)
            return
        from advisor.tui.dialogs.start_probe import StartProbeDialog

        self.app.push_screen(StartProbeDialog(entry, site), self._start_run)

    def _start_run(self, order: PlannedRun | None) -> None:
        if order is None or self.run is not None:
            return
        name = order.experiment.name
        self._results_shown.discard(name)
        self._update_status(name, failure="")
        self.run = ProbeRun(self.app, self, order, self._variables)
        self.run.start()
        self._draw_run_timer = self.set_interval(TICK, self._draw_run)
        self.refresh_bindings()
        self._fill()

    @on(RunAdvanced)
    def _draw_run_if_due(self) -> None:
        if time.monotonic() - self.query_one(ProbeDetail).drawn_at >= TICK:
            self._draw_run()

    def _draw_run(self) -> None:
        """Draw the run again if it is visible."""
        if self.run is not None and self.is_on_screen and self.chosen == self.run.order.experiment.name:
            self._show()

    @on(RunEnded)
    def _finish_run(self, message: RunEnded) -> None:
        if self.run is None:
            return
        name, self.run = self.run.order.experiment.name, None
        if self._draw_run_timer is not None:
            self._draw_run_timer.stop()
        if message.result is not None:
            self._results_shown.add(name)
            known = self.view.audited.facts.probes if self.view else ()
            results = (message.result, *known)
            run_in_background(self.app, "probe-answers", lambda: self.AnswersReady(answers_by_probe(results)), self)
            self.notify(safe_text(f"{name}: {_ended_text(message.result)}").plain, markup=False)
        else:
            self._update_status(name, failure=message.reason)
            self.notify(safe_text(f"{name}: {message.reason}").plain, severity="error", timeout=10, markup=False)
        self.refresh_bindings()
        self._fill()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to stop only while a probe runs."""
        return self.run is not None if action == "stop" else super().check_action(action, parameters)

    def action_stop(self) -> None:
        """Stop the run; complete rounds are saved."""
        if self.run is not None:
            self.run.cancel()
            self._draw_run()

    def action_back(self) -> None:
        """Return to the list, then to the description; in the list, stop a run."""
        options = self.query_one("#probes-list", OptionList)
        if not options.has_focus:
            options.focus()
        elif self.run is not None:
            self.action_stop()
        else:
            self._results_shown.discard(self.chosen)
            self._show()

    def action_result(self) -> None:
        """Show the newest saved result, or the description again."""
        name = self.chosen
        if name in self._results_shown:
            self._results_shown.discard(name)
        elif self._status_of(name).answers:
            self._results_shown.add(name)
        else:
            runs = "" if self.view is None or cannot_run_reason(self.view, name) else ". Enter runs it"
            self.notify(f"No result of {name} yet{runs}", markup=False)
        self._show()

    def action_copy(self) -> None:
        """Copy the report of the displayed result, or the command that runs the probe."""
        if report := self.query_one(ProbeDetail).report:
            self.app.copy(report, "the report")
        elif name := self.chosen:
            self.app.copy(f"mycnf probe {name}", "the command that runs this probe")

    def stop_work(self) -> None:
        """Stop the run and save complete rounds; what it cannot clean up in time is removed after the process ends."""
        from probes.sandbox.cleanup import sweep_afterwards
        from probes.sandbox.scratch import default_base, has_leftovers

        if self.run is not None:
            self.run.leave()
        elif has_leftovers(os.getpid(), default_base()):  # a server binary is still running in a scratch directory
            sweep_afterwards(default_base())


def _ended_text(result: ProbeResult) -> str:
    from advisor.report.probe.words import end_words

    return end_words(result)
