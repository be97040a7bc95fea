"""A report as it is read before it is saved: wrapped to the box, and drawn a line at a time as it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advisor.redaction.secrets import clean

if TYPE_CHECKING:
    from textual.events import Resize

LINES = 2_000  # of the report that are shown
COLUMNS = 400  # of one of its lines
LEAST = 10  # columns of a box that text can be read in
WIDE = 2  # columns of a Chinese sign, or of an emoji


class ReportText(ScrollView, can_focus=True):
    """A long text that is only read."""

    def __init__(self, *, id: str, classes: str) -> None:  # noqa: A002 - the framework's word
        super().__init__(id=id, classes=classes)
        self.text = ""
        self._rows: list[str] = []

    def show(self, text: str) -> None:
        """Show this text, from the place that the last one was scrolled to."""
        self.text = text
        self._wrap()

    def on_resize(self, _: Resize) -> None:
        """Wrap anew."""
        self._wrap()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        self._rows = rows(self.text, width)
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number, width = round(self.scroll_offset.y) + y, self.scrollable_content_region.width
        style = self.visual_style.rich_style
        text = self._rows[number] if number < len(self._rows) else ""
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)


def rows(text: str, width: int) -> list[str]:
    """The beginning of a report as rows of that width, with no control characters; the last says what is not shown."""
    lines, width = text.rstrip("\n").split("\n"), max(LEAST, width)
    made = [row for line in lines[:LINES] for row in _folded(_cut(clean(line)), width)]
    if len(lines) > LINES:
        made += _folded(f"… {len(lines) - LINES:,} more lines: the report is whole, this preview isn't", width)
    return made


def _cut(line: str) -> str:
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def _folded(line: str, width: int) -> list[str]:
    """The line at its spaces, what follows as far in as it is itself; words that are wider are broken."""
    room = width if line.isascii() or all(cell_len(sign) < WIDE for sign in line) else width // WIDE
    margin = " " * min(len(line) - len(line.lstrip(" ")), room // 2)
    folded = []
    while len(line) > room:
        at = line.rfind(" ", len(margin) + 1, room + 1)
        at = room if at < 0 else at
        folded.append(line[:at])
        line = margin + line[at:].lstrip(" ")
    return [*folded, line]
