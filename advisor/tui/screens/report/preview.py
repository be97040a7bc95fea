"""A report as it is read before it is saved: wrapped to the box, and drawn a line at a time as it is looked at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advisor.core.errors import MycnfError
from advisor.redaction.secrets import clean
from advisor.state.private_file import replace_private

if TYPE_CHECKING:
    from textual.events import Resize

    from advisor.facts import Facts


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


class TakenError(MycnfError):
    """There is a file of that name, and nobody said that it may be replaced."""


def place_of(typed: str) -> str:
    """The whole path that a typed name means, `~` and the directory of the run taken in. Raises MycnfError."""
    if not typed.strip():
        raise MycnfError("a name is wanted: type one")
    if "\0" in typed:
        raise MycnfError("no name of a file holds a null character; type another")
    return os.path.abspath(os.path.expanduser(typed.strip()))


def save(text: str, typed: str, facts: Facts, *, replace: bool = False) -> str:
    """Write the report with mode 0600 and give its whole path; a link stays a link.

    Raises TakenError where a file is there that may not be replaced, MycnfError where it can't be written or belongs to
    the server that the facts are of.
    """
    path = os.path.realpath(place_of(typed))
    _refuse(path, facts)
    if os.path.lexists(path) and not replace:
        raise TakenError(f"{path} is there already")
    try:
        replace_private(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise MycnfError(f"can't write {path}: {error.strerror}; name another place") from error
    return path


def _refuse(path: str, facts: Facts) -> None:
    if any(path == _real(copy.path) for copy in (facts.files.files if facts.files else ())):
        raise MycnfError(f"{path} is an option file of the server, which mycnf never writes; name another")
    data = facts.server.variables.get("datadir", "").rstrip("/")
    if os.path.isabs(data) and path.startswith(_real(data) + "/"):
        raise MycnfError(f"{path} is in the server's data directory, which mycnf never writes; name another")
    if os.path.isdir(path):
        raise MycnfError(f"{path} is a directory; add the name of a file")
    if os.path.lexists(path) and not os.path.isfile(path):
        raise MycnfError(f"{path} is no ordinary file; name another")
    if not os.path.isdir(os.path.dirname(path)):
        raise MycnfError(f"there is no directory {os.path.dirname(path)}; make it, or name another")


def _real(path: str) -> str:
    """Where a path of the server's leads on this host; itself where no path of this host can be written so."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path
