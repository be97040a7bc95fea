"""The report screen: choose a format, read the preview, save or copy it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.errors import MycnfError
from advisor.report import plural
from advisor.tui.dialogs.prompts import ReplaceDialog
from advisor.tui.screens.base import Pane
from advisor.tui.screens.report.preview import (
    ReportExistsError,
    ReportText,
    absolute_path,
    change_extension,
    default_name,
    privacy_note,
    render_report,
    report_formats,
    save_report,
)
from advisor.tui.text import safe_line, safe_text
from advisor.tui.workers import run_in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from advisor.report.formats import Format
    from advisor.tui.view import View


class ReportReady(Message):
    """A report is ready; `view`, `form` and `named` are what it was made of."""

    def __init__(self, view: View, form: Format, text: str, *, named: bool) -> None:
        self.view, self.form, self.text, self.named = view, form, text, named
        super().__init__()


class SaveFinished(Message):
    """The result of saving: the path or the error; `exists` if the user must confirm first."""

    def __init__(self, path: str, reason: str = "", *, exists: bool = False) -> None:
        self.path, self.reason, self.exists = path, reason, exists
        super().__init__()


class ReportPane(Pane):
    """The report screen."""

    BINDINGS: ClassVar = [
        Binding("s", "name", "save", id="report.save"),
        Binding("y", "copy", "copy", id="report.copy"),
        Binding("n", "names", "host names on or off", id="report.names"),
        Binding("right", "read", "read the preview", show=False, id="report.read"),
        Binding("escape", "back", "back to the formats", show=False, id="report.back"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self.forms = {form.name: form for form in report_formats()}
        self.form = next(iter(self.forms.values()))
        self.named = True
        self._texts: dict[str, str] = {}
        self._offered = ""

    def compose(self) -> ComposeResult:
        """The formats with a privacy note, the preview, and the file name."""
        with Horizontal():
            with Vertical(id="report-side"):
                formats = OptionList(
                    *(Option(form.title, id=form.name) for form in self.forms.values()),
                    id="report-forms",
                    classes="box",
                    markup=False,
                )
                formats.border_title = "Format"
                yield formats
                yield Static("", id="report-told", markup=False)
            yield ReportText(id="report-preview", classes="box")
        with Horizontal(classes="field"):
            yield Static("save as ", markup=False)
            yield Input(id="report-name", compact=True, select_on_focus=False)
        yield Static("", id="report-state", markup=False)

    # The report

    def on_mount(self) -> None:
        """Select the first format."""
        self.query_one("#report-forms", OptionList).highlighted = 0

    def refill(self) -> None:
        """Render the report again, now or when the screen is shown."""
        self._texts = {}
        if self.view is None:
            return
        name = self.query_one("#report-name", Input)
        if name.value == self._offered:
            self._offered = name.value = default_name(self.view, self.form, named=self.named)
        if self.display:
            self._make_report()

    def on_show(self) -> None:
        """Render the report if that was postponed."""
        self._make_report()

    @on(OptionList.OptionHighlighted, "#report-forms")
    def _change_format(self, event: OptionList.OptionHighlighted) -> None:
        form = self.forms[event.option_id or self.form.name]
        if form is self.form:
            return
        name = self.query_one("#report-name", Input)
        name.value = change_extension(name.value, self.form, form)
        self._offered = change_extension(self._offered, self.form, form)
        self.form = form
        self._show_state("")
        self.query_one(ReportText).scroll_home(animate=False)
        self._make_report()

    @on(OptionList.OptionSelected, "#report-forms")
    def _focus_name(self) -> None:
        self.action_name()

    def _make_report(self) -> None:
        view, form, named = self.view, self.form, self.named
        if view is None:
            return
        if form.name in self._texts:
            self._show(self._texts[form.name])
            return
        self.query_one(ReportText).border_title = f"{form.title}: writing …"
        work = partial(render_report, view, form, named=named)
        run_in_background(self.app, "report", lambda: ReportReady(view, form, work(), named=named), self)

    @on(ReportReady)
    def _keep_report(self, message: ReportReady) -> None:
        # New samples and a selection that changed meanwhile do not change the report.
        if self.view is None or _report_view(message.view) != _report_view(self.view):
            return
        if message.named is not self.named:
            return
        self._texts[message.form.name] = message.text
        if message.form is self.form:
            self._show(message.text)

    def _show(self, text: str) -> None:
        self.query_one(ReportText).border_title = f"{self.form.title}: {plural(len(text), 'character')}"
        self.query_one(ReportText).show(text)
        if self.view is not None:
            self.query_one("#report-told", Static).update(safe_text(privacy_note(self.view, text, named=self.named)))

    # What the user does

    def action_read(self) -> None:
        """Focus the preview to scroll it."""
        self.query_one(ReportText).focus()

    def action_back(self) -> None:
        """Focus the list of formats."""
        self.query_one("#report-forms").focus()

    def action_name(self) -> None:
        """Focus the file name; Enter saves."""
        name = self.query_one("#report-name", Input)
        name.focus()
        name.cursor_position = len(name.value)
        self._show_path()

    @on(Input.Changed, "#report-name")
    def _update_path(self, event: Input.Changed) -> None:
        if event.input.has_focus:
            self._show_path()

    def _show_path(self) -> None:
        try:
            self._show_state(
                f"Enter saves {absolute_path(self.query_one('#report-name', Input).value)}, readable only by you (0600)"
            )
        except MycnfError as error:
            self._show_state(str(error))

    def action_names(self) -> None:
        """Remove host names and addresses from the report, or include them again."""
        self.named = not self.named
        self.refill()

    def action_copy(self) -> None:
        """Copy the whole report."""
        text = self._texts.get(self.form.name)
        if text is None:
            self.notify("The report is still being written")
            return
        self.app.copy(text, f"the report, {plural(len(text), 'character')}")

    @on(Input.Submitted, "#report-name")
    def _save_typed(self) -> None:
        self._save()

    def _save(self, *, replace: bool = False) -> None:
        text, view = self._texts.get(self.form.name), self.view
        if text is None or view is None:
            self._show_state("The report is still being written")
            return
        typed = self.query_one("#report-name", Input).value
        self._show_state("saving …")
        work = partial(save_report, text, typed, view.audited.facts, replace=replace)
        run_in_background(self.app, "save", lambda: _try_save(work), self)

    @on(SaveFinished)
    def _finish_save(self, message: SaveFinished) -> None:
        if message.exists:
            self._show_state("")
            self.app.push_screen(ReplaceDialog(message.reason), self._confirm_replace)
        elif message.reason:
            self._show_state(message.reason, "$text-error")
            self.query_one("#report-name", Input).focus()
        else:
            self._show_state(f"saved {message.path}")
            self.query_one("#report-forms").focus()

    def _confirm_replace(self, sure: bool | None) -> None:
        if sure:
            self._save(replace=True)
        else:
            self._show_state("Nothing was written. Enter another name")
            self.query_one("#report-name", Input).focus()

    def _show_state(self, words: str, style: str = "") -> None:
        self.query_one("#report-state", Static).update(safe_line(words, style, longest=400))


def _report_view(view: View) -> View:
    """The part of a view that a report is made of."""
    return view._replace(samples=None, changes=(), selected=())


def _try_save(work: partial[str]) -> SaveFinished:
    """Save the report; runs in a thread."""
    try:
        return SaveFinished(work())
    except ReportExistsError as error:
        return SaveFinished("", str(error), exists=True)
    except MycnfError as error:
        return SaveFinished("", str(error))
