"""The text of an option file with findings in its margin, and the notes on the selected line."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from advisor.facts.files import WORLD_WRITABLE
from advisor.optionfile.lines import LineKind
from advisor.redaction import escape_text, redact_value
from advisor.report import wrap
from advisor.tui.screens.files.model import NodeState, running_setting
from advisor.tui.text import MUTED, SEVERITY_SIGNS, SEVERITY_STYLES, safe_text
from advisor.tui.text import safe_line as plain_line
from rules.core.statements import set_by_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from textual.events import Click

    from advisor.core.model import Finding, Severity
    from advisor.facts import OptionFiles
    from advisor.optionfile.lines import Line
    from advisor.tui.screens.files.model import FileNode, FilesModel, LineMark
    from advisor.tui.view import View
    from rules.core.context import RuleContext


LEAST = 30


def line_notes(view: View, model: FilesModel, node: FileNode, number: int, width: int) -> Content:
    """The notes on the file, the findings of the line, and what the server does with the line."""
    width, mark, context = max(LEAST, width), model.mark(node.path, number), view.audited.context
    line = next((line for line in model.lines.get(node.path, ()) if line.number == number), None)
    masked = ["The secret in this line is masked."] if _holds_secret(node, number) else []
    shown = [
        *(_wrap_text(text, width, "$text-warning") for text in file_notes(node, view.audited.facts.files)),
        *(_finding(finding, width) for finding in mark.findings),
        *(_wrap_text(text, width) for text in (*_server_notes(line, mark, context, model.groups), *masked)),
    ]
    return Content("\n").join(shown) if shown else safe_text(_no_notes(model), MUTED)


def _no_notes(model: FilesModel) -> str:
    return f"No findings on this line{'. n goes to the next line with a finding' if model.finding_lines() else ''}."


def _holds_secret(node: FileNode, number: int) -> bool:
    return node.copy is not None and number in node.copy.secret_lines


def file_notes(node: FileNode, files: OptionFiles | None) -> Iterator[str]:
    """The notes on the whole file."""
    copy = node.copy
    mode = f"mode {copy.mode:04o}, owner uid {copy.uid}" if copy else ""
    if node.state is NodeState.IGNORED and copy is not None and not copy.mode & WORLD_WRITABLE:
        yield "The server ignores this file: a file that the server ignores includes it."
    elif node.state is NodeState.IGNORED:
        yield f"This file is world-writable ({mode}), so the server ignores it. Run chmod o-w on it."
    elif node.state is NodeState.CLOSED:
        yield f"The file cannot be read ({mode}). Run mycnf as root or the server account. Binary files are not shown."
    elif node.state is NodeState.ABSENT:
        yield "An include line names this file, but it does not exist, or your account cannot read its directory."
    elif node.state is NodeState.PERSISTED:
        yield "Variables saved by SET PERSIST. They override all option files. RESET PERSIST removes one."
        if files is not None and files.persisted_problem:
            yield f"The file cannot be shown: {files.persisted_problem}."
    elif node.state is NodeState.COMMAND_LINE:
        yield "Options on the server's command line. They override all option files. The service unit sets them."


def _finding(finding: Finding, width: int) -> Content:
    head = Content.styled(f"{SEVERITY_SIGNS[finding.severity]} ", SEVERITY_STYLES[finding.severity])
    name = Content.styled(f"{finding.code} {finding.name}", "bold")
    text = wrap(finding.message + (f" Fix: {finding.help}." if finding.help else ""), "  ", width=width)
    return head + name + safe_text(f"\n{text}")


def _server_notes(line: Line | None, mark: LineMark, context: RuleContext, groups: frozenset[str]) -> Iterator[str]:
    verdict = mark.verdict
    if mark.overridden_by:
        yield f"~ Overridden by {mark.overridden_by}."
    if verdict is not None:
        if verdict.reason and not mark.findings:
            yield verdict.reason
        yield from _running_value(mark, context)
    elif line is not None and line.kind is LineKind.OPTION and line.group and line.group.lower() not in groups:
        yield f"The server does not read the group [{line.group}]."


def _running_value(mark: LineMark, context: RuleContext) -> Iterator[str]:
    """The value in effect, with its origin."""
    verdict = mark.verdict
    setting = running_setting(context, verdict) if verdict is not None else None
    if setting is not None:
        value = redact_value(setting.name, setting.value) or "an empty value"
        source = set_by_statement(context, setting.name) or setting.origin.value
        yield f"The server runs with {setting.name} = {value} ({source})."


def _wrap_text(text: str, width: int, style: str = "") -> Content:
    return safe_text(wrap(text, "", "  ", width), style)


LONGEST = 2_000  # columns of a line that are shown
TAB = 4


class TextLine(NamedTuple):
    """One line to draw: text, style, severity of its worst finding, and the overriding place."""

    text: str = ""
    style: str = ""
    severity: Severity | None = None
    overridden_by: str = ""


class FileText(ScrollView, can_focus=True):
    """The text of a file with a line cursor."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar = {"file-text--chosen"}
    BINDINGS: ClassVar = [
        Binding("up,k", "step(-1)", "line before", show=False, id="files.up"),
        Binding("down,j", "step(1)", "next line", show=False, id="files.down"),
        Binding("pageup", "page(-1)", "page before", show=False, id="files.page-up"),
        Binding("pagedown,space", "page(1)", "next page", show=False, id="files.page-down"),
        Binding("home,g", "goto(1)", "first line", show=False, id="files.first"),
        Binding("end,G", "goto(0)", "last line", show=False, id="files.last"),
        Binding("enter", "enter", "show finding", id="files.open", key_display="enter"),
    ]
    number = var(1)

    class LineMarked(Message):
        """The cursor moved to another line."""

    class LineChosen(Message):
        """The user pressed Enter on the line."""

    def __init__(self, *, id: str, classes: str) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id, classes=classes)
        self._count = 0
        self._row: Callable[[int], TextLine] = _empty_line

    def show(self, texts: list[str], row: Callable[[int], TextLine], number: int) -> None:
        """Show these lines with the cursor on `number`; `row` returns a line when it is drawn."""
        self._count, self._row = len(texts), row
        longest = min(LONGEST, max(map(_width, texts), default=0))
        self.virtual_size = Size(self._margin + longest, len(texts))
        self.refresh()
        moved = self.number
        self.number = number
        if self.number == moved:
            self._scroll_to_line()

    @property
    def _margin(self) -> int:
        return len("▲~ ") + self._digits + len(" │ ")

    @property
    def _digits(self) -> int:
        return max(3, len(str(self._count)))

    def validate_number(self, number: int) -> int:
        """Limit the number to existing lines."""
        return max(1, min(number, self._count))

    def watch_number(self, before: int, now: int) -> None:
        """Draw and scroll to the line of the cursor."""
        self.refresh_line(before - 1)
        self.refresh_line(now - 1)
        self._scroll_to_line()
        self.post_message(self.LineMarked())

    def _scroll_to_line(self) -> None:
        """Scroll by one line to an adjacent line; center a line further away."""
        left, top = self.scroll_offset
        near = top - 1 <= self.number - 1 <= top + self.scrollable_content_region.height
        self.scroll_to_region(Region(left, self.number - 1, 1, 1), animate=False, force=True, center=not near)

    def render_line(self, y: int) -> Strip:
        """Draw one line: the fixed margin, and the part of the text at the scroll position."""
        left, top = self.scroll_offset
        width, number = self.scrollable_content_region.width, top + y + 1
        style = self.visual_style
        if number == self.number and self._count:
            style = self.get_visual_style("file-text--chosen")
        if number > self._count:
            return Strip.blank(width, style.rich_style)
        row, margin = self._row(number), self._margin
        content = self._head(row, number) + _line_content(row)
        (strip,) = Visual.to_strips(self, content, content.cell_length, 1, style)
        if left:
            strip = Strip.join([strip.crop(0, margin), strip.crop(margin + left, margin + left + width)])
        return strip.adjust_cell_length(width, style.rich_style)

    def _head(self, row: TextLine, number: int) -> Content:
        sign = (
            Content.styled(SEVERITY_SIGNS[row.severity], SEVERITY_STYLES[row.severity])
            if row.severity
            else Content(" ")
        )
        return sign + Content.styled(f"{'~' if row.overridden_by else ' '} {number:>{self._digits}} │ ", MUTED)

    def on_click(self, event: Click) -> None:
        """Select the line; a double click opens its finding."""
        at = event.get_content_offset(self)
        if at is not None:
            self.number = round(self.scroll_offset.y) + at.y + 1
            if event.chain == 2:  # noqa: PLR2004 - a double click
                self.action_enter()

    def action_step(self, lines: int) -> None:
        """Move the cursor up or down."""
        self.number += lines

    def action_page(self, pages: int) -> None:
        """Move by one page."""
        self.number += pages * max(1, self.scrollable_content_region.height - 1)

    def action_goto(self, number: int) -> None:
        """Move to a line; 0 is the last."""
        self.number = number or self._count

    def action_enter(self) -> None:
        """Open the finding of the line."""
        self.post_message(self.LineChosen())


def _empty_line(_: int) -> TextLine:
    return TextLine()


def _line_content(row: TextLine) -> Content:
    text = plain_line(row.text[: LONGEST + 1].expandtabs(TAB), row.style, LONGEST)
    return text + plain_line(f"  ← overridden by {row.overridden_by}", MUTED) if row.overridden_by else text


def _width(text: str) -> int:
    """Columns of a line."""
    if text.isascii() and text.isprintable():
        return len(text)
    return cell_len(escape_text(text[: LONGEST + 1].expandtabs(TAB)))
