"""The text of an option file with line numbers and a margin, drawn a line at a time as it is looked at."""

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

from advisor.redaction.secrets import clean
from advisor.tui.text import MUTED
from advisor.tui.text import line as plain_line
from advisor.tui.widgets.header import SIGNS, STYLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Click

    from advisor.core.model import Severity

LONGEST = 2_000  # columns of a line that can be scrolled to
TAB = 4


class TextLine(NamedTuple):
    """One line as it is drawn: its text as it came, its style, the sign before it, and what outranks it."""

    text: str = ""
    style: str = ""
    severity: Severity | None = None
    by: str = ""


class FileText(ScrollView, can_focus=True):
    """A file that is walked through line by line."""

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

    class Moved(Message):
        """Another line is marked."""

    class Entered(Message):
        """The marked line is wanted."""

    def __init__(self, *, id: str, classes: str) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id, classes=classes)
        self._count = 0
        self._row: Callable[[int], TextLine] = _nothing

    def show(self, texts: list[str], row: Callable[[int], TextLine], number: int) -> None:
        """Show these lines, with this one marked; `row` gives a line as it is to be drawn when it is looked at."""
        self._count, self._row = len(texts), row
        longest = min(LONGEST, max(map(_width, texts), default=0))
        self.virtual_size = Size(self._margin + longest, len(texts))
        self.refresh()
        moved = self.number
        self.number = number
        if self.number == moved:
            self._into_view()

    @property
    def _margin(self) -> int:
        return len("▲~ ") + self._digits + len(" │ ")

    @property
    def _digits(self) -> int:
        return max(3, len(str(self._count)))

    def validate_number(self, number: int) -> int:
        """A line that there is."""
        return max(1, min(number, self._count))

    def watch_number(self, before: int, now: int) -> None:
        """Go where the mark goes."""
        self.refresh_line(before - 1)
        self.refresh_line(now - 1)
        self._into_view()
        self.post_message(self.Moved())

    def _into_view(self) -> None:
        """Scroll by a line to a neighbour of what is shown, and to the middle of what lies further away."""
        left, top = self.scroll_offset
        near = top - 1 <= self.number - 1 <= top + self.scrollable_content_region.height
        self.scroll_to_region(Region(left, self.number - 1, 1, 1), animate=False, force=True, center=not near)

    def render_line(self, y: int) -> Strip:
        """One line of the screen: the margin, which stays, and the part of the text that is scrolled to."""
        left, top = self.scroll_offset
        width, number = self.scrollable_content_region.width, top + y + 1
        style = self.visual_style
        if number == self.number and self._count:
            style = self.get_visual_style("file-text--chosen")
        if number > self._count:
            return Strip.blank(width, style.rich_style)
        row, margin = self._row(number), self._margin
        content = self._head(row, number) + _shown(row)
        (strip,) = Visual.to_strips(self, content, content.cell_length, 1, style)
        if left:
            strip = Strip.join([strip.crop(0, margin), strip.crop(margin + left, margin + left + width)])
        return strip.adjust_cell_length(width, style.rich_style)

    def _head(self, row: TextLine, number: int) -> Content:
        sign = Content.styled(SIGNS[row.severity], STYLES[row.severity]) if row.severity else Content(" ")
        return sign + Content.styled(f"{'~' if row.by else ' '} {number:>{self._digits}} │ ", MUTED)

    def on_click(self, event: Click) -> None:
        """Mark the line; a second click wants it."""
        at = event.get_content_offset(self)
        if at is not None:
            self.number = round(self.scroll_offset.y) + at.y + 1
            if event.chain == 2:  # noqa: PLR2004 - a double click
                self.action_enter()

    def action_step(self, lines: int) -> None:
        """Go up or down."""
        self.number += lines

    def action_page(self, pages: int) -> None:
        """Go up or down as many lines as there are on the screen."""
        self.number += pages * max(1, self.scrollable_content_region.height - 1)

    def action_goto(self, number: int) -> None:
        """Go to a line, 0 for the last."""
        self.number = number or self._count

    def action_enter(self) -> None:
        """Want the marked line."""
        self.post_message(self.Entered())


def _nothing(_: int) -> TextLine:
    return TextLine()


def _shown(row: TextLine) -> Content:
    text = plain_line(row.text[: LONGEST + 1].expandtabs(TAB), row.style, LONGEST)
    return text + plain_line(f"  ← {row.by} counts", MUTED) if row.by else text


def _width(text: str) -> int:
    """Columns of a line; what is not plainly one a character is measured."""
    if text.isascii() and text.isprintable():
        return len(text)
    return cell_len(clean(text[: LONGEST + 1].expandtabs(TAB)))
