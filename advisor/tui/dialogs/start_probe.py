"""The dialog before a run: directory, duration, cost and objections; the user can change the request."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from advisor.report import plural
from advisor.report.probe.listing import lasts
from advisor.tui.screens.probes.list import cost_rows, labelled_text, objection_text
from advisor.tui.screens.probes.plan import PlannedRun, ProbeFormValues, RunPreview, preview_run
from advisor.tui.text import safe_line, safe_text
from advisor.tui.workers import WorkFailed, run_in_background

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from advisor.tui.start import ProbeSite
    from probes.experiment import ProbeEntry
    from probes.results import KeptResult

LABEL = 14
YES = frozenset({"yes", "y"})
NARROWEST, WIDTH = 30, 72  # columns of the dialog's text, if the screen is wide enough
BAR = 1  # column of the scrollbar that a small screen adds


class StartProbeDialog(ModalScreen[PlannedRun | None]):
    """Asks for the options of a run and returns it once there is no objection; None if the user cancels."""

    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "back", id="begin.back")]

    AUTO_FOCUS = "#begin-time"

    class PreviewReady(Message):
        """The preview of the run is ready."""

        def __init__(self, preview: RunPreview) -> None:
            self.preview = preview
            super().__init__()

    def __init__(self, entry: ProbeEntry, find: Callable[[str | None], ProbeSite]) -> None:
        super().__init__()
        self._entry, self._find_site = entry, find
        self._experiment = entry.experiment
        self._preview: RunPreview | None = None
        self._previewing = self._starts = False

    def compose(self) -> ComposeResult:
        """Fields for directory, time and the probe's own options, and the preview of the run."""
        plan = self._entry.plan
        at_most = f"at most {lasts(plan.seconds)}; or 60s, 10m, 3h" if plan else "such as 60s, 10m or 3h"
        with Vertical(classes="dialog", id="beginning"):
            yield Static(safe_line(f"Run {self._experiment.name}: Enter starts, Esc cancels"), markup=False)
            yield from self._field(
                "directory", "directory", self._entry.directory, "a directory on the file system to measure"
            )
            yield from self._field("time", "time", "", at_most)
            yield from self._field("earlier", "resume", "", "")
            with VerticalScroll(id="begin-more", can_focus=False):
                yield Static("checking this host …", id="begin-state", markup=False)
                yield from self._field("force", "override", "", "names of refusals: busy, full, little, neighbour")
                for order, choice in enumerate(self._experiment.choices):
                    yield from self._field(f"choice-{order}", choice.name, choice.default, choice.words)

    def _field(self, name: str, label: str, value: str, hint: str) -> ComposeResult:
        with Horizontal(classes="field"):
            yield Static(f"{label:>{LABEL}} ", markup=False)
            yield Input(value=value, placeholder=hint, id=f"begin-{name}", compact=True)

    def on_mount(self) -> None:
        """Preview the run."""
        self._offer_resume(None)
        self._preview_run()

    @property
    def wish(self) -> ProbeFormValues:
        """The values of the fields."""
        directory, time, force = (self.query_one(f"#begin-{n}", Input).value for n in ("directory", "time", "force"))
        choices = tuple(
            (choice.name, self.query_one(f"#begin-choice-{order}", Input).value)
            for order, choice in enumerate(self._experiment.choices)
        )
        resume = self.query_one("#begin-earlier", Input).value.strip().lower() in YES
        return ProbeFormValues(directory.strip(), time, choices, force, resume)

    @on(Input.Changed)
    def _cancel_start(self) -> None:
        self._starts = False

    @on(Input.Blurred)
    def _preview_changes(self) -> None:
        if self._preview is not None and self._preview.wish != self.wish:
            self._preview_run()

    @on(Input.Submitted)
    def _start_run(self) -> None:
        self._starts = True
        self._preview_run()

    def _preview_run(self) -> None:
        """Preview the run with the values of the fields, one preview at a time."""
        if self._previewing:
            return
        self._previewing, wish = True, self.wish
        self.query_one("#begin-state", Static).update("checking this host …")
        run_in_background(
            self.app,
            "probe-look",
            lambda: self.PreviewReady(preview_run(self._find_site, self._experiment, wish)),
            self,
        )

    @on(PreviewReady)
    def _show_preview(self, message: PreviewReady) -> None:
        preview = self._preview = message.preview
        self._previewing = False
        self._offer_resume(preview.earlier)
        if preview.wish != self.wish:
            self._preview_run()
            return
        begins, self._starts = self._starts, False
        if begins and preview.order is not None:
            self.dismiss(preview.order)
            return
        state = self.query_one("#begin-state", Static)
        room = state.size.width if state.size.width >= WIDTH else state.size.width - BAR
        state.update(_preview_text(preview, min(WIDTH, max(NARROWEST, room))))
        if begins and any(not o.final for o in preview.objections):
            self.query_one("#begin-force", Input).focus()

    def _offer_resume(self, earlier: KeptResult | None) -> None:
        """Offer to resume an incomplete run if one with the same parameters is saved."""
        box = self.query_one("#begin-earlier", Input)
        if box.parent is not None:
            box.parent.display = earlier is not None
        if earlier is None:
            box.value = ""
        else:
            began = earlier.result.began_at[:16].replace("T", " ")
            box.placeholder = f"yes resumes the run of {began}, {plural(earlier.result.rounds, 'round')} so far"

    @on(WorkFailed)
    def _show_failure(self, message: WorkFailed) -> None:
        message.stop()
        self._previewing = self._starts = False
        self.query_one("#begin-state", Static).update(safe_text(message.reason, "$text-error"))


def _preview_text(preview: RunPreview, width: int) -> Content:
    """What the run does, and the objections, each with its remedy."""
    shown = [labelled_text(label, words, width) for label, words in cost_rows(preview.entry) if words]
    shown += [labelled_text("refused", objection_text(o), width, "$text-warning") for o in preview.objections]
    if names := [o.name for o in preview.objections if not o.final]:
        shown.append(safe_line(f"To run anyway, type: {', '.join(names)}"))
    return Content("\n").join(shown)
