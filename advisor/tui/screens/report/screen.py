"""Report: pick a format, read what it holds, and save or copy it."""

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
from advisor.report.words import plural
from advisor.tui.dialogs.prompts import Replacing
from advisor.tui.screens.base import Pane
from advisor.tui.screens.report.formats import choices, default_name, renamed, render, warnings
from advisor.tui.screens.report.preview import ReportText, TakenError, place_of, save
from advisor.tui.text import line, plain
from advisor.tui.workers import in_background

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from advisor.report.formats import Format
    from advisor.tui.app import AuditApp
    from advisor.tui.view import View


class Made(Message):
    """A report is made; `view`, `form` and `named` say of what."""

    def __init__(self, view: View, form: Format, text: str, *, named: bool) -> None:
        self.view, self.form, self.text, self.named = view, form, text, named
        super().__init__()


class Saved(Message):
    """What came of saving: the path, or why not; `exists` where the user is to be asked first."""

    def __init__(self, path: str, reason: str = "", *, exists: bool = False) -> None:
        self.path, self.reason, self.exists = path, reason, exists
        super().__init__()


class Report(Pane):
    """The screen of the report."""

    BINDINGS: ClassVar = [
        Binding("s", "name", "save", id="report.save"),
        Binding("y", "copy", "copy", id="report.copy"),
        Binding("n", "names", "names in or out", id="report.names"),
        Binding("right", "read", "read the preview", show=False, id="report.read"),
        Binding("escape", "back", "back to the formats", show=False, id="report.back"),
    ]
    app: AuditApp

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self.forms = {form.name: form for form in choices()}
        self.form = next(iter(self.forms.values()))
        self.named = True
        self._texts: dict[str, str] = {}
        self._offered = ""

    def compose(self) -> ComposeResult:
        """The formats and what to know of them, the preview, and the name to save under."""
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
        """Begin with the ticket."""
        self.query_one("#report-forms", OptionList).highlighted = 0

    def refill(self) -> None:
        """Make the report anew, now or when it is looked at."""
        self._texts = {}
        if self.view is None:
            return
        name = self.query_one("#report-name", Input)
        if name.value == self._offered:
            self._offered = name.value = default_name(self.view, self.form, named=self.named)
        if self.display:
            self._make()

    def on_show(self) -> None:
        """Make what was left until somebody looks."""
        self._make()

    @on(OptionList.OptionHighlighted, "#report-forms")
    def _picked(self, event: OptionList.OptionHighlighted) -> None:
        form = self.forms[event.option_id or self.form.name]
        if form is self.form:
            return
        name = self.query_one("#report-name", Input)
        name.value = renamed(name.value, self.form, form)
        self._offered = renamed(self._offered, self.form, form)
        self.form = form
        self._say("")
        self.query_one(ReportText).scroll_home(animate=False)
        self._make()

    @on(OptionList.OptionSelected, "#report-forms")
    def _entered(self) -> None:
        self.action_name()

    def _make(self) -> None:
        view, form, named = self.view, self.form, self.named
        if view is None:
            return
        if form.name in self._texts:
            self._show(self._texts[form.name])
            return
        self.query_one(ReportText).border_title = f"{form.title}: being made …"
        work = partial(render, view, form, named=named)
        in_background(self.app, "report", lambda: Made(view, form, work(), named=named), self)

    @on(Made)
    def _made(self, message: Made) -> None:
        # Samples of the running server come in between, and change nothing of the report.
        if self.view is None or message.view._replace(samples=None) != self.view._replace(samples=None):
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
            self.query_one("#report-told", Static).update(plain(warnings(self.view, text, named=self.named)))

    # What the user does

    def action_read(self) -> None:
        """Scroll the preview."""
        self.query_one(ReportText).focus()

    def action_back(self) -> None:
        """Leave the field or the preview."""
        self.query_one("#report-forms").focus()

    def action_name(self) -> None:
        """Say where to save; enter saves."""
        name = self.query_one("#report-name", Input)
        name.focus()
        name.cursor_position = len(name.value)
        self._say_where()

    @on(Input.Changed, "#report-name")
    def _typed(self, event: Input.Changed) -> None:
        if event.input.has_focus:
            self._say_where()

    def _say_where(self) -> None:
        try:
            self._say(f"enter saves {place_of(self.query_one('#report-name', Input).value)}, for your eyes only (0600)")
        except MycnfError as error:
            self._say(str(error))

    def action_names(self) -> None:
        """Take the hosts' names and addresses out of the report, or let them in again."""
        self.named = not self.named
        self.refill()

    def action_copy(self) -> None:
        """Copy the whole report."""
        text = self._texts.get(self.form.name)
        if text is None:
            self.notify("the report is still being made")
            return
        self.app.copy(
            text, f"the report, {plural(len(text), 'character')}; if nothing arrives, the terminal refused it"
        )

    @on(Input.Submitted, "#report-name")
    def _named(self) -> None:
        self._save()

    def _save(self, *, replace: bool = False) -> None:
        text, view = self._texts.get(self.form.name), self.view
        if text is None or view is None:
            self._say("the report is still being made")
            return
        typed = self.query_one("#report-name", Input).value
        self._say("saving …")
        work = partial(save, text, typed, view.audited.facts, replace=replace)
        in_background(self.app, "save", lambda: _saved(work), self)

    @on(Saved)
    def _answered(self, message: Saved) -> None:
        if message.exists:
            self._say("")
            self.app.push_screen(Replacing(message.reason), self._replace)
        elif message.reason:
            self._say(message.reason, "$text-error")
            self.query_one("#report-name", Input).focus()
        else:
            self._say(f"saved {message.path}")
            self.query_one("#report-forms").focus()

    def _replace(self, sure: bool | None) -> None:
        if sure:
            self._save(replace=True)
        else:
            self._say("nothing was written; type another name")
            self.query_one("#report-name", Input).focus()

    def _say(self, words: str, style: str = "") -> None:
        self.query_one("#report-state", Static).update(line(words, style, longest=400))


def _saved(work: partial[str]) -> Saved:
    """Save, in a thread."""
    try:
        return Saved(work())
    except TakenError as error:
        return Saved("", str(error), exists=True)
    except MycnfError as error:
        return Saved("", str(error))
