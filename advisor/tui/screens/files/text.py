"""The widget that shows an option file with line numbers and margin, drawn line by line."""

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

from advisor.redaction.secrets import escape_text
from advisor.tui.text import MUTED, SEVERITY_SIGNS, SEVERITY_STYLES
from advisor.tui.text import safe_line as plain_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Click

    from advisor.core.model import Severity

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
