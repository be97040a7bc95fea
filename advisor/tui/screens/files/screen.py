"""Files: the option files as an editor shows them, with the findings in the margin."""

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
from advisor.report.words import plural
from advisor.tui.dialogs.prompts import Offer
from advisor.tui.screens.base import Pane
from advisor.tui.screens.files import editor
from advisor.tui.screens.files.line_notes import words
from advisor.tui.screens.files.model import EMPTY, NodeState, beside, book, look_of, text_of, worst_first
from advisor.tui.screens.files.text import FileText, TextLine
from advisor.tui.signals import deaf_to_interrupts
from advisor.tui.text import MUTED, line, plain
from advisor.tui.widgets.footer import Sought
from advisor.tui.widgets.header import SIGNS, STYLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.events import Resize

    from advisor.facts import OptionFiles
    from advisor.tui.app import AuditApp
    from advisor.tui.screens.files.model import Mark, Node

OFFER = "{} changed. Read everything again? The server itself keeps what it runs with until its next start."
SHORT = 17
UNREAD = (NodeState.IGNORED, NodeState.CLOSED, NodeState.ABSENT)


class Files(Pane):
    """The screen of option files."""

    BINDINGS: ClassVar = [
        Binding("slash", "find", "find", id="files.find", key_display="/", priority=True),
        Binding("n", "finding(1)", "next finding", id="files.next"),
        Binding("N", "finding(-1)", "finding before", show=False, id="files.before"),
        Binding("e", "edit", "edit", id="files.edit"),
        Binding("y", "copy", "copy the line", show=False, id="files.copy"),
        Binding("escape", "back", "to the tree", show=False, id="files.back"),
    ]
    app: AuditApp

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id)
        self._book = EMPTY
        self._shown = 0
        self._numbers: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        """The tree, the text beside it, and below what is said of the chosen line."""
        yield Static("", id="files-none", markup=False)
        with Vertical(id="files-all"):
            with Horizontal():
                yield OptionList(id="files-tree", classes="box", markup=False)
                yield FileText(id="files-text", classes="box")
            yield Sought(self.action_back, placeholder="option or words, enter for the next", id="files-sought")
            with VerticalScroll(id="files-words", classes="box"):
                yield Static("", markup=False)

    def refill(self) -> None:
        """Read the files of the audit anew and stay at the line that was chosen."""
        if self.view is None:
            return
        kept, before = self.node.path if self.node else "", self._shown
        self._book = book(self.view)
        nodes = self._book.nodes
        self.query_one("#files-all").display = bool(nodes)
        none = self.query_one("#files-none", Static)
        none.display = not nodes
        none.update(plain(self._nothing()))
        tree = self.query_one("#files-tree", OptionList)
        tree.border_title = "Files: later wins"
        tree.clear_options()
        tree.add_options([Option(self._label(node), id=str(index)) for index, node in enumerate(nodes)])
        places = [index for index, node in enumerate(nodes) if node.path == kept]
        same = before if before in places else next(iter(places), 0)
        tree.highlighted = same if nodes else None
        self._open(same)

    def _nothing(self) -> str:
        if self.files is None and self.view is not None:
            return f"No option files: {self.view.audited.facts.why_not('files')}"
        return "The server reads no option file: none is where it looks, or it was told to look for none."

    @property
    def files(self) -> OptionFiles | None:
        """The option files of the audit; None where they weren't read."""
        return self.view.audited.facts.files if self.view else None

    @property
    def node(self) -> Node | None:
        """The file that is shown."""
        return self._book.nodes[self._shown] if self._shown < len(self._book.nodes) else None

    def _label(self, node: Node) -> Content:
        worst = next(iter(self._book.findings(node.path)), None)
        sign = Content.styled(SIGNS[worst.severity], STYLES[worst.severity]) if worst else Content(" ")
        name = "  " * (node.depth - 1) + "└ " + os.path.basename(node.path) if node.depth else _short(node.path)
        unlike = f"({node.state.value}) " if node.state in UNREAD else ""
        return sign + line(f" {unlike}{name}", MUTED if unlike else "")

    # The file that is shown

    def _open(self, index: int) -> None:
        """Show a file, at the line where it was left."""
        self._shown = index
        node = self.node
        if node is None or self.files is None:
            return
        text, texts = self.query_one(FileText), text_of(node, self.files)
        text.border_title = Content(line(node.path).plain)
        text.border_subtitle = Content(_counts(self._book.marks.get(node.path, {})))
        text.show(texts, self._rows(node, texts), self._numbers.get(node.path, 1))
        self._tell()

    def _rows(self, node: Node, texts: list[str]) -> Callable[[int], TextLine]:
        """What draws the lines of a file by their number."""
        shown = self._book
        lines = {line.number: line for line in reversed(shown.lines.get(node.path, ()))}

        def row(number: int) -> TextLine:
            mark = shown.mark(node.path, number)
            worst = worst_first(mark.findings)[0].severity if mark.findings else None
            return TextLine(texts[number - 1], look_of(lines.get(number), node, mark, shown.groups), worst, mark.by)

        return row

    @on(OptionList.OptionHighlighted, "#files-tree")
    def _marked(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index != self._shown:
            self._open(event.option_index)

    @on(OptionList.OptionSelected, "#files-tree")
    def _selected(self) -> None:
        self.query_one(FileText).focus()

    @on(FileText.Moved)
    def _moved(self) -> None:
        if self.node is not None:
            self._numbers[self.node.path] = self.query_one(FileText).number
            self._tell()

    def on_resize(self, _: Resize) -> None:
        """Wrap anew."""
        self._tell()

    def _tell(self) -> None:
        """Say below what there is to say of the line."""
        node = self.node
        if node is None or self.view is None:
            return
        number = self.query_one(FileText).number
        box = self.query_one("#files-words", VerticalScroll)
        box.border_title = f"line {number}"
        width = box.scrollable_content_region.width - 1
        self.query_one("#files-words Static", Static).update(words(self.view, self._book, node, number, width))
        box.scroll_home(animate=False)

    # What the user does

    def _go(self, stops: list[tuple[str, int]], step: int) -> bool:
        """Go to the next of these lines, or the one before; whether there is one."""
        if self.node is None:
            return False
        here = (self.node.path, self.query_one(FileText).number)
        goal = beside(stops, [node.path for node in self._book.nodes], here, step)
        if goal is None:
            return False
        path, number = goal
        if path == self.node.path:
            self.query_one(FileText).number = number
            return True
        self._numbers[path] = number
        self._open(next(index for index, node in enumerate(self._book.nodes) if node.path == path))
        self.query_one("#files-tree", OptionList).highlighted = self._shown
        return True

    def action_finding(self, step: int) -> None:
        """Go to the next line with a finding, in any file, or to the one before."""
        text = self.query_one(FileText)
        if not self._go(self._book.stops(), step):
            self.notify("no line of these files has a finding")
        elif not text.has_focus:
            text.focus()

    @on(FileText.Entered)
    async def _entered(self) -> None:
        found = self._book.mark(self.node.path, self.query_one(FileText).number).findings if self.node else ()
        if found:
            await self.app.show_finding(worst_first(found)[0])
        else:
            self.notify("this line has no finding; n goes to the next that has")

    def action_find(self) -> None:
        """Type words to look for."""
        self.query_one(Sought).open()

    @on(Input.Changed, "#files-sought")
    def _typed(self, event: Input.Changed) -> None:
        if event.value.strip():
            self._go(self._matches(event.value), 0)

    @on(Input.Submitted, "#files-sought")
    def _again(self, event: Input.Submitted) -> None:
        if not self._go(self._matches(event.value), 1):
            self.notify("no line of these files says that", severity="warning")

    def _matches(self, sought: str) -> list[tuple[str, int]]:
        """The lines with all of these words; dashes and underscores are the same, as they are to servers."""
        wanted = sought.lower().replace("-", "_").split()
        found: dict[tuple[str, int], None] = {}
        files = self.files
        for node in self._book.nodes:
            for number, text in enumerate(text_of(node, files) if files else (), 1):
                plainer = text.lower().replace("-", "_")
                if wanted and all(word in plainer for word in wanted):
                    found[node.path, number] = None
        return list(found)

    def action_back(self) -> None:
        """From the field to the text, from the text to the tree."""
        box = self.query_one("#files-sought", Input)
        if box.has_class("-open"):
            box.remove_class("-open")
            box.value = ""
            self.query_one(FileText).focus()
        else:
            self.query_one("#files-tree").focus()

    def action_copy(self) -> None:
        """Copy the line, secrets masked."""
        if self.node is not None and self.files is not None:
            lines = text_of(self.node, self.files)
            if lines:
                self.app.copy(lines[self.query_one(FileText).number - 1], "the line")

    def action_edit(self) -> None:
        """Open the file at the line in the user's own editor, where it is the one that was read."""
        if self.view is None:
            return
        if self.node is None:
            self.notify(plain(self._nothing()).plain, severity="warning", markup=False)
            return
        if reason := editor.why_not(self.view, self.node):
            self.notify(plain(reason).plain, severity="warning", markup=False)
            return
        path = os.path.abspath(self.node.path)
        before = editor.stamp(path)
        try:
            self._hand_over(editor.command(path, self.query_one(FileText).number, os.environ))
        except MycnfError as error:
            self.notify(plain(str(error)).plain, severity="error", markup=False)
        if editor.stamp(path) != before:
            self.app.push_screen(Offer(OFFER.format(path), "read again", "later"), self._answered)

    def _hand_over(self, command: list[str]) -> None:
        """Give the terminal to the editor until it ends. Raises MycnfError where that fails."""
        failed = None
        try:
            with self.app.suspend(), deaf_to_interrupts(self.app):
                try:
                    editor.edit(command)
                except MycnfError as error:  # the app must have its terminal back before it is told
                    failed = error
        except SuspendNotSupported as error:
            raise MycnfError("this terminal can't be handed to an editor: open the file in another one") from error
        if failed is not None:
            raise failed

    def _answered(self, again: bool | None) -> None:
        if again:
            self.app.action_refresh()


def _short(path: str) -> str:
    """A path by its end, as far as the tree is wide at 80 columns; the text's frame has the whole of it."""
    parts = path.split("/")
    while len(parts) > 1 and len("/".join(parts)) > SHORT:
        parts = parts[1:]
    short = "/".join(parts)
    return short if short == path else f"…/{short}"


def _counts(marks: dict[int, Mark]) -> str:
    findings, overridden = sum(bool(mark.findings) for mark in marks.values()), sum(bool(m.by) for m in marks.values())
    parts = [plural(findings, "line") + " with findings" if findings else ""]
    parts += [f"{overridden:,} overridden (~)" if overridden else ""]
    return ", ".join(part for part in parts if part)
