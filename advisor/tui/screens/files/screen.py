"""The files screen: the option files with the findings in the margin."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import SuspendNotSupported
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from advisor.core.errors import MycnfError
from advisor.report import plural
from advisor.tui.dialogs.prompts import ChoiceDialog
from advisor.tui.footer import SearchField
from advisor.tui.screens.base import Pane
from advisor.tui.screens.files import editor
from advisor.tui.screens.files.model import (
    EMPTY,
    NodeState,
    build_model,
    find_line,
    line_style,
    node_lines,
    worst_first,
)
from advisor.tui.screens.files.text import FileText, TextLine, line_notes
from advisor.tui.signals import ignore_interrupts
from advisor.tui.text import MUTED, SEVERITY_SIGNS, SEVERITY_STYLES, safe_line, safe_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Resize

    from advisor.facts import OptionFiles
    from advisor.tui.screens.files.model import FileNode, LineMark

RELOAD_QUESTION = "{} changed. Read everything again? The server reads option files only at startup."
TREE_NAME_LENGTH = 17
UNREAD = (NodeState.IGNORED, NodeState.CLOSED, NodeState.ABSENT)


class FilesPane(Pane):
    """The files screen."""

    BINDINGS: ClassVar = [
        Binding("slash", "find", "find", id="files.find", key_display="/", priority=True),
        Binding("n", "finding(1)", "next finding", id="files.next"),
        Binding("N", "finding(-1)", "finding before", show=False, id="files.before"),
        Binding("e", "edit", "edit", id="files.edit"),
        Binding("y", "copy", "copy the line", show=False, id="files.copy"),
        Binding("escape", "back", "to the tree", show=False, id="files.back"),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id)
        self._model = EMPTY
        self._shown = 0
        self._numbers: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        """The tree, the text, the search field, and the notes on the selected line."""
        yield Static("", id="files-none", markup=False)
        with Vertical(id="files-all"):
            with Horizontal():
                yield OptionList(id="files-tree", classes="box", markup=False)
                yield FileText(id="files-text", classes="box")
            yield SearchField(self.action_back, placeholder="option or text; Enter: next match", id="files-sought")
            with VerticalScroll(id="files-words", classes="box"):
                yield Static("", markup=False)

    def refill(self) -> None:
        """Show the files of the audit and keep the selected line."""
        if self.view is None:
            return
        kept, before = self.node.path if self.node else "", self._shown
        self._model = build_model(self.view)
        nodes = self._model.nodes
        self.query_one("#files-all").display = bool(nodes)
        none = self.query_one("#files-none", Static)
        none.display = not nodes
        none.update(safe_text(self._empty_text()))
        tree = self.query_one("#files-tree", OptionList)
        tree.border_title = "Files: last wins"
        tree.clear_options()
        tree.add_options([Option(self._label(node), id=str(index)) for index, node in enumerate(nodes)])
        places = [index for index, node in enumerate(nodes) if node.path == kept]
        same = before if before in places else next(iter(places), 0)
        tree.highlighted = same if nodes else None
        self._open_file(same)

    def _empty_text(self) -> str:
        if self.files is None and self.view is not None:
            return f"No option files: {self.view.audited.facts.reason_missing('files')}"
        return "The server reads no option file: none exists at the default places, or --no-defaults is in effect."

    @property
    def files(self) -> OptionFiles | None:
        """The option files of the audit; None if they were not read."""
        return self.view.audited.facts.files if self.view else None

    @property
    def node(self) -> FileNode | None:
        """The file that is shown."""
        return self._model.nodes[self._shown] if self._shown < len(self._model.nodes) else None

    def _label(self, node: FileNode) -> Content:
        worst = next(iter(self._model.findings(node.path)), None)
        sign = (
            Content.styled(SEVERITY_SIGNS[worst.severity], SEVERITY_STYLES[worst.severity]) if worst else Content(" ")
        )
        name = "  " * (node.depth - 1) + "└ " + os.path.basename(node.path) if node.depth else _shorten_path(node.path)
        unlike = f"({node.state.value}) " if node.state in UNREAD else ""
        return sign + safe_line(f" {unlike}{name}", MUTED if unlike else "")

    # The file that is shown

    def _open_file(self, index: int) -> None:
        """Show a file at the line that was selected last."""
        self._shown = index
        node = self.node
        if node is None or self.files is None:
            return
        text, texts = self.query_one(FileText), node_lines(node, self.files)
        text.border_title = Content(safe_line(node.path).plain)
        text.border_subtitle = Content(_count_marks(self._model.marks.get(node.path, {})))
        text.show(texts, self._rows(node, texts), self._numbers.get(node.path, 1))
        self._show_notes()

    def _rows(self, node: FileNode, texts: list[str]) -> Callable[[int], TextLine]:
        """A function that returns a line of the file to draw."""
        shown = self._model
        lines = {safe_line.number: safe_line for safe_line in reversed(shown.lines.get(node.path, ()))}

        def row(number: int) -> TextLine:
            mark = shown.mark(node.path, number)
            worst = worst_first(mark.findings)[0].severity if mark.findings else None
            return TextLine(
                texts[number - 1], line_style(lines.get(number), node, mark, shown.groups), worst, mark.overridden_by
            )

        return row

    @on(OptionList.OptionHighlighted, "#files-tree")
    def _open_marked(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index != self._shown:
            self._open_file(event.option_index)

    @on(OptionList.OptionSelected, "#files-tree")
    def _focus_text(self) -> None:
        self.query_one(FileText).focus()

    @on(FileText.LineMarked)
    def _remember_line(self) -> None:
        if self.node is not None:
            self._numbers[self.node.path] = self.query_one(FileText).number
            self._show_notes()

    def on_resize(self, _: Resize) -> None:
        """Wrap the text to the new width."""
        self._show_notes()

    def _show_notes(self) -> None:
        """Show the notes on the selected line."""
        node = self.node
        if node is None or self.view is None:
            return
        number = self.query_one(FileText).number
        box = self.query_one("#files-words", VerticalScroll)
        box.border_title = f"line {number}"
        width = box.scrollable_content_region.width - 1
        self.query_one("#files-words Static", Static).update(line_notes(self.view, self._model, node, number, width))
        box.scroll_home(animate=False)

    def current_item(self) -> object:
        """The path and the line."""
        return (self.node.path, self.query_one(FileText).number) if self.node else None

    def choose_item(self, item: object) -> bool:
        """Show a line, given as path and number."""
        paths = [node.path for node in self._model.nodes]
        match item:
            case (str() as path, int() as number) if path in paths:
                self._numbers[path] = number
                self._open_file(paths.index(path))
                self.query_one("#files-tree", OptionList).highlighted = self._shown
                self.query_one(FileText).focus()
                return True
        return False

    # What the user does

    def _go_to(self, stops: list[tuple[str, int]], step: int) -> bool:
        """Select the next or previous of these lines; return whether there is one."""
        if self.node is None:
            return False
        here = (self.node.path, self.query_one(FileText).number)
        goal = find_line(stops, [node.path for node in self._model.nodes], here, step)
        if goal is None:
            return False
        path, number = goal
        if path == self.node.path:
            self.query_one(FileText).number = number
            return True
        self._numbers[path] = number
        self._open_file(next(index for index, node in enumerate(self._model.nodes) if node.path == path))
        self.query_one("#files-tree", OptionList).highlighted = self._shown
        return True

    def action_finding(self, step: int) -> None:
        """Select the next or previous line with a finding, in any file."""
        text = self.query_one(FileText)
        if not self._go_to(self._model.finding_lines(), step):
            self.notify("No line of these files has a finding")
        elif not text.has_focus:
            text.focus()

    @on(FileText.LineChosen)
    async def _show_finding(self) -> None:
        findings = self._model.mark(self.node.path, self.query_one(FileText).number).findings if self.node else ()
        if findings:
            await self.app.show_finding(worst_first(findings)[0])
        else:
            self.notify("No findings on this line. n goes to the next line with a finding")

    def action_find(self) -> None:
        """Type words to look for."""
        self.query_one(SearchField).open_field()

    @on(Input.Changed, "#files-sought")
    def _first_match(self, event: Input.Changed) -> None:
        if event.value.strip():
            self._go_to(self._matches(event.value), 0)

    @on(Input.Submitted, "#files-sought")
    def _next_match(self, event: Input.Submitted) -> None:
        if not self._go_to(self._matches(event.value), 1):
            self.notify("No line of these files matches", severity="warning")

    def _matches(self, sought: str) -> list[tuple[str, int]]:
        """The lines that contain all of these words; dashes equal underscores, as in option names."""
        wanted = sought.lower().replace("-", "_").split()
        matches: dict[tuple[str, int], None] = {}
        files = self.files
        for node in self._model.nodes:
            for number, text in enumerate(node_lines(node, files) if files else (), 1):
                plainer = text.lower().replace("-", "_")
                if wanted and all(word in plainer for word in wanted):
                    matches[node.path, number] = None
        return list(matches)

    def action_back(self) -> None:
        """Return from the search field to the text, from the text to the tree."""
        box = self.query_one("#files-sought", Input)
        if box.has_class("-open"):
            box.remove_class("-open")
            box.value = ""
            self.query_one(FileText).focus()
        else:
            self.query_one("#files-tree").focus()

    def action_copy(self) -> None:
        """Copy the line with secrets masked."""
        if self.node is not None and self.files is not None:
            lines = node_lines(self.node, self.files)
            if lines:
                self.app.copy(lines[self.query_one(FileText).number - 1], "the line")

    def action_edit(self) -> None:
        """Open the file at the line in the user's editor, if the app read it from this host."""
        if self.view is None:
            return
        if self.node is None:
            self.notify(safe_text(self._empty_text()).plain, severity="warning", markup=False)
            return
        if reason := editor.cannot_edit_reason(self.view, self.node):
            self.notify(safe_text(reason).plain, severity="warning", markup=False)
            return
        path = os.path.abspath(self.node.path)
        before = editor.file_stamp(path)
        try:
            self._run_in_terminal(editor.editor_command(path, self.query_one(FileText).number, os.environ))
        except MycnfError as error:
            self.notify(safe_text(str(error)).plain, severity="error", markup=False)
        if editor.file_stamp(path) != before:
            self.app.push_screen(ChoiceDialog(RELOAD_QUESTION.format(path), "read again", "later"), self._read_again)

    def _run_in_terminal(self, command: list[str]) -> None:
        """Suspend the app while the editor runs. Raises MycnfError if that fails."""
        failed = None
        try:
            with self.app.suspend(), ignore_interrupts(self.app):
                try:
                    editor.run_editor(command)
                except MycnfError as error:  # raised below, after the app has its terminal back
                    failed = error
        except SuspendNotSupported as error:
            raise MycnfError(
                "the app cannot suspend itself in this terminal. Open the file in another terminal"
            ) from error
        if failed is not None:
            raise failed

    def _read_again(self, again: bool | None) -> None:
        if again:
            self.app.action_refresh()


def _shorten_path(path: str) -> str:
    """Shorten a path from the left to the width of the tree; the frame of the text shows all of it."""
    parts = path.split("/")
    while len(parts) > 1 and len("/".join(parts)) > TREE_NAME_LENGTH:
        parts = parts[1:]
    short = "/".join(parts)
    return short if short == path else f"…/{short}"


def _count_marks(marks: dict[int, LineMark]) -> str:
    findings, overridden = (
        sum(bool(mark.findings) for mark in marks.values()),
        sum(bool(m.overridden_by) for m in marks.values()),
    )
    parts = [plural(findings, "line") + " with findings" if findings else ""]
    parts += [f"{overridden:,} overridden (~)" if overridden else ""]
    return ", ".join(part for part in parts if part)
