"""The change set: the selected findings, and the files that carry them out; the app itself applies nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from advisor.analysis.audit_comparison import loads, reason_unjudged, rests_on_load
from advisor.core.errors import MycnfError
from advisor.fixing.change_set import (
    APPLY,
    DIFF,
    ROLLBACK,
    TICKET,
    apply_sql,
    build_change_set,
    is_lost_at_restart,
    option_diff,
    rollback_sql,
)
from advisor.report import plural
from advisor.report.audit.ticket import short_ticket
from advisor.tui.screens.base import Pane
from advisor.tui.screens.report.preview import absolute_path, save_report
from advisor.tui.text import SEVERITY_SIGNS, SEVERITY_STYLES, fit_line, safe_line, safe_text
from advisor.tui.view import finding_key
from advisor.tui.workers import run_in_background
from rules.core.advice import advised_value

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.events import Resize

    from advisor.core.model import Finding
    from advisor.fixing.change_set import ChangeSet
    from advisor.tui.view import SelectedFinding, View


DONE, STILL, UNJUDGED, NEW = "✓", "·", "?", " "
UNWRITTEN = "runs; not in the file"  # the statement was sent, but the next restart brings the old value back
PRIVATE_FOLDER = 0o700


class ChangeRow(NamedTuple):
    """A selected finding: its state as a sign and in words, its change, and what is done with it."""

    finding: Finding
    sign: str
    state: str
    change: str
    place: str


class ChangeTexts(NamedTuple):
    """The rows of the change set and its files by name; an empty text means that there is no such file."""

    rows: tuple[ChangeRow, ...]
    files: dict[str, str]
    changes: ChangeSet


def change_texts(view: View) -> ChangeTexts:
    """Everything about the change set of this view."""
    selected = [_newest(view, choice) for choice in view.selected]
    changes = build_change_set(view.audited, selected)
    states = [change_state(view, choice) for choice in view.selected]
    # What is done is not applied again, but it can still be undone.
    left = [(finding, words) for finding, (sign, words) in zip(selected, states, strict=True) if sign != DONE]
    to_run = build_change_set(view.audited, [finding for finding, words in left if words != UNWRITTEN])
    to_write = build_change_set(view.audited, [finding for finding, _ in left])
    rows = tuple(
        ChangeRow(finding, *state, _change_words(finding), _place(changes, finding))
        for finding, state in zip(selected, states, strict=True)
    )
    files = {
        APPLY: apply_sql(view.audited, to_run),
        ROLLBACK: rollback_sql(view.audited, changes),
        DIFF: option_diff(to_write),
        TICKET: short_ticket(view.audited, selected, [words for _, words in states]),
    }
    return ChangeTexts(rows, files if selected else {}, changes)


def _newest(view: View, selected: SelectedFinding) -> Finding:
    """The finding as the present audit has it: values and lines may have moved since it was selected."""
    key = finding_key(selected.finding)
    return next((f for f in view.audited.findings if finding_key(f) == key), selected.finding)


def change_state(view: View, selected: SelectedFinding) -> tuple[str, str]:
    """What became of a selected finding, as a sign and in words; blank until a newer audit has been read."""
    before, now = selected.audited, view.audited
    if before.facts.taken_at == now.facts.taken_at:
        return NEW, ""
    key = finding_key(selected.finding)
    if any(finding_key(f) == key for f in (*now.findings, *(f for f, _ in now.suppressed))):
        return STILL, "still there"
    reason = reason_unjudged(selected.finding, before, now)
    if reason:
        return UNJUDGED, f"not judged: {reason}"
    load = loads(before.facts, now.facts)
    if load is not None and load.differs and rests_on_load(selected.finding, before.context):
        return UNJUDGED, "not judged: the load differs"
    return (STILL, UNWRITTEN) if is_lost_at_restart(now, selected.finding) else (DONE, "done")


def _change_words(finding: Finding) -> str:
    change = advised_value(finding)
    if change is None:
        return f"{finding.name} {finding.canonical or ''}".strip()
    return f"{change.option}  {change.before} → {change.after}"


def _place(changes: ChangeSet, finding: Finding) -> str:
    """Where the change set has it: in the statements, in the diff, by hand, or nowhere."""
    own = [change for change in changes.changes if finding in change.findings]
    if not own:
        if finding not in changes.without_advice:
            return "left out: contradiction"
        return "by hand: see ticket" if finding.help else "nothing to change"
    parts = ["by hand"] if any(change.by_hand for change in own) else []
    parts += ["SQL"] if any(change.statement for change in own) else []
    parts += ["file"] if any(change.edits for change in own) else []
    parts += ["restart"] if any(change.action and change.action.restart for change in own) else []
    return " + ".join(parts)


def default_folder(view: View) -> str:
    """The directory that is offered for the files: named after the host and the time of the audit."""
    host = view.audited.facts.server.variables.get("hostname", "") or "server"
    bare = "".join(sign if sign.isalnum() or sign in "-." else "-" for sign in host)[:60].strip(".-") or "server"
    digits = "".join(sign for sign in view.audited.facts.taken_at[:16] if sign.isdigit())
    return f"mycnf-changes-{bare}-{digits}"


def save_files(view: View, typed: str, files: dict[str, str]) -> str:
    """Write the files into a directory of their own, mode 0600, and return its path; raises MycnfError."""
    folder = os.path.realpath(absolute_path(typed))
    try:
        os.makedirs(folder, PRIVATE_FOLDER, exist_ok=True)
        taken = sorted(set(os.listdir(folder)) & set(files))
    except OSError as error:
        raise MycnfError(f"cannot write into {folder}: {error.strerror}. Enter another directory") from error
    if taken:
        raise MycnfError(f"{folder} already holds {', '.join(taken)}. Enter another directory")
    for name, text in files.items():
        if text:
            save_report(text, os.path.join(folder, name), view.audited.facts)
    return folder


STYLES = {DONE: "$text-success", UNJUDGED: "$text-warning"}
NO_DIFF = "No option file changes."
NOTHING = """The change set is empty.

1 shows the findings. Space selects one, c comes back here.
Selected findings become statements, statements that undo them, a diff of the option files and a ticket.
mycnf never runs or applies any of them."""
PLACE_WIDTH = 24  # columns for what is done with a finding
LEAST_ROOM = 8  # columns for the change


class FilesSaved(Message):
    """The files were written into a directory, or `reason` says why not."""

    def __init__(self, folder: str, reason: str = "") -> None:
        self.folder, self.reason = folder, reason
        super().__init__()


class ChangesPane(Pane):
    """The change set."""

    BINDINGS: ClassVar = [
        # At 80 columns the footer has room for the keys down to X.
        Binding("a", f"show('{APPLY}')", APPLY, id="changes.apply"),
        Binding("b", f"show('{ROLLBACK}')", ROLLBACK, id="changes.rollback"),
        Binding("d", f"show('{DIFF}')", "diff", id="changes.diff"),
        Binding("t", f"show('{TICKET}')", TICKET, id="changes.ticket"),
        Binding("s", "save", "save", id="changes.save", tooltip="save all four files"),
        Binding("space", "remove", "remove", id="changes.remove", key_display="space"),
        Binding("X", "clear", "empty", id="changes.clear", key_display="X", tooltip="empty the change set"),
        Binding("y", "copy", "copy", id="changes.copy"),
        Binding("right", "read", "read the file", show=False, id="changes.read"),
        Binding("escape", "list", "to the list, then back", show=False, id="changes.list"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self._texts: ChangeTexts | None = None
        self._file = APPLY

    def compose(self) -> ComposeResult:
        """The selected findings above one file of the change set."""
        with Vertical():
            yield OptionList(id="changes-list", classes="box", markup=False)
            with VerticalScroll(id="changes-preview", classes="box"):
                yield Static("", markup=False)

    def refill(self) -> None:
        """Build the change set again, now or when the screen is shown."""
        if self.view is None or not self.display:
            return
        self._texts = change_texts(self.view)
        rows, options = self._texts.rows, self.query_one("#changes-list", OptionList)
        place = options.highlighted or 0
        options.set_options([Option(self._row(row), id=str(at)) for at, row in enumerate(rows)])
        options.highlighted = min(place, len(rows) - 1) if rows else None
        count = len(self._texts.changes.changes)
        options.border_title = f"Change set: {plural(count, 'change')} from {plural(len(rows), 'finding')}"
        states = [row.sign for row in rows]
        done = f"{states.count(DONE)} done · " if DONE in states else ""
        options.border_subtitle = f"{done}mycnf applies nothing" if rows else ""
        self._show_file()

    def show_selection(self, view: View) -> None:
        """Build the change set of the new selection."""
        self.view = view
        self.refill()

    def on_show(self) -> None:
        """Build what was postponed."""
        self.refill()

    def on_resize(self, _: Resize) -> None:
        """Draw the rows in the new width."""
        self.refill()

    def choose_item(self, item: object) -> bool:  # noqa: ARG002 - the screen is one place
        """Show the screen."""
        return True

    def _row(self, row: ChangeRow) -> Content:
        width = max(30, self.app.size.width - 6)
        sign = Content.styled(row.sign, STYLES.get(row.sign, "dim"))
        severity = Content.styled(SEVERITY_SIGNS[row.finding.severity], SEVERITY_STYLES[row.finding.severity])
        place = row.state or row.place
        room = max(LEAST_ROOM, width - min(len(place), PLACE_WIDTH) - len(row.finding.code) - 6)
        line = safe_line(f" {row.finding.code} {fit_line(row.change, room - 1)} ", longest=width)
        return sign + severity + line + safe_line(place, "dim", longest=max(PLACE_WIDTH, width // 2))

    def _show_file(self) -> None:
        box = self.query_one("#changes-preview", VerticalScroll)
        text = self.query_one("#changes-preview Static", Static)
        shown = self._texts.files.get(self._file, "") if self._texts else ""
        if self._texts is None or not self._texts.rows:
            box.border_title, box.border_subtitle = "", ""
            text.update(safe_text(NOTHING))
            return
        box.border_title = f"{self._file}: {plural(len(shown), 'character')}"
        box.border_subtitle = "y copy this file  → scroll it  ? help"
        refused = "".join(f"{line}\n\n" for line in self._texts.changes.refused)
        text.update(safe_text(refused, "$text-warning") + safe_text(shown or NO_DIFF))
        box.scroll_home(animate=False)

    # What the user does

    def action_show(self, name: str) -> None:
        """Show this file of the change set."""
        self._file = name
        self._show_file()

    def action_copy(self) -> None:
        """Copy the file that is shown."""
        text = self._texts.files.get(self._file, "") if self._texts else ""
        if text:
            self.app.copy(text, f"{self._file}, {plural(len(text), 'character')}. mycnf never runs it for you")
        else:
            self.notify(NO_DIFF if self._texts and self._texts.rows else "Nothing to copy", severity="warning")

    def action_remove(self) -> None:
        """Take the finding out of the change set."""
        place = self.query_one("#changes-list", OptionList).highlighted
        if self._texts is not None and place is not None and place < len(self._texts.rows):
            self.app.toggle_selected(self._texts.rows[place].finding)

    def action_clear(self) -> None:
        """Take all findings out."""
        for row in self._texts.rows if self._texts else ():
            self.app.toggle_selected(row.finding)

    def action_read(self) -> None:
        """Focus the file, to scroll it."""
        self.query_one("#changes-preview").focus()

    async def action_list(self) -> None:
        """Focus the list; from there, return to the screen from which the change set was opened."""
        options = self.query_one("#changes-list")
        if options.has_focus or not self._texts or not self._texts.rows:
            await self.app.action_back()
        else:
            options.focus()

    @on(OptionList.OptionSelected, "#changes-list")
    async def _open_finding(self, event: OptionList.OptionSelected) -> None:
        if self._texts is not None and event.option_index < len(self._texts.rows):
            row = self._texts.rows[event.option_index]
            await self.app.show_item("findings", row.finding, f"{row.finding.code} is no longer reported")

    def action_save(self) -> None:
        """Ask for a directory, and write all files of the change set into it."""
        if self.view is None or self._texts is None or not self._texts.rows:
            self.notify("The change set is empty", severity="warning")
            return
        from advisor.tui.dialogs.prompts import ReasonDialog

        view, files = self.view, self._texts.files

        def take_folder(folder: str | None) -> None:
            if folder:
                run_in_background(self.app, "save", lambda: _try_save(view, folder, files), self)

        question = "Directory for apply.sql, rollback.sql, options.diff and ticket.md (readable only by you):"
        self.app.push_screen(ReasonDialog(question, default_folder(view), "Enter a directory"), take_folder)

    @on(FilesSaved)
    def _report_saved(self, message: FilesSaved) -> None:
        if message.reason:
            self.notify(safe_text(message.reason).plain, severity="error", timeout=10, markup=False)
        else:
            self.notify(f"Saved in {safe_text(message.folder).plain}", timeout=10, markup=False)


def _try_save(view: View, folder: str, files: dict[str, str]) -> FilesSaved:
    """Save the files; runs in a thread."""
    try:
        return FilesSaved(save_files(view, folder, files))
    except MycnfError as error:
        return FilesSaved("", str(error))
