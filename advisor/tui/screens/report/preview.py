"""The formats of the report screen, their previews, and writing a report to a file."""

from __future__ import annotations

import os
import re
from datetime import datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advisor.core.errors import MycnfError
from advisor.redaction import MASK, escape_text
from advisor.report import formats, plural
from advisor.state.private_file import follow_link, replace_private

if TYPE_CHECKING:
    from textual.events import Resize

    from advisor.analysis.audited import AuditResult
    from advisor.facts import Facts
    from advisor.report.formats import Format
    from advisor.tui.view import View


FAIL_ON = "error"  # the default of mycnf audit
FIRST = "markdown"


def report_formats() -> list[Format]:
    """The formats of an audit report, the Markdown ticket first."""
    return sorted(formats.formats_of("audit"), key=lambda form: form.name != FIRST)


def without_hidden(view: View) -> AuditResult:
    """The audit with hidden findings listed as suppressed; findings marked as seen stay."""
    return view.audited._replace(findings=view.open_findings, suppressed=view.hidden)


def render_report(view: View, form: Format, *, named: bool = True) -> str:
    """Render the whole report; call it in a thread, as it takes up to a second.

    Without `named`, host names and addresses are removed.
    """
    from advisor.analysis.anonymize import anonymize
    from advisor.report import Page
    from advisor.report.output import run_time

    audited = without_hidden(view)
    page = Page(fail_on=FAIL_ON, now=run_time())
    return formats.render_audit(form.name, audited if named else anonymize(audited), page)


def privacy_note(view: View, text: str, *, named: bool = True) -> str:
    """What the report omits, masks and includes."""
    hidden = len(without_hidden(view).suppressed)
    masked = text.count(MASK)
    left_out = f"{plural(hidden, 'hidden finding')} left out." if hidden else "No hidden findings."
    secrets = f"{plural(masked, 'secret')} masked as {MASK}." if masked else "No secrets to mask."
    names = (
        "includes paths, values, host names and addresses (n removes these)."
        if named
        else "includes paths and values. Host names and addresses are removed; n includes them."
    )
    return f"Read the report before you pass it on: it {names} {secrets} {left_out}"


def default_name(view: View, form: Format, *, named: bool = True) -> str:
    """`db1-20261121-0631.md`: the host, and the local time at which it was read."""
    host = named and re.sub(
        r"[^A-Za-z0-9._-]+", "-", view.audited.facts.server.variables.get("hostname", "")[:40]
    ).strip(".-")
    return f"{host or 'server'}-{_read_at(view):%Y%m%d-%H%M}.{form.extension}"


def _read_at(view: View) -> datetime:
    try:
        return datetime.fromisoformat(view.audited.facts.taken_at).astimezone()
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(view.read_at).astimezone()


def change_extension(name: str, old: Format, new: Format) -> str:
    """Replace the extension of the old format by that of the new one."""
    ending = f".{old.extension}"
    return f"{name.removesuffix(ending)}.{new.extension}" if name.endswith(ending) else name


LINES = 2_000  # of the report in the preview
COLUMNS = 400  # of one line in the preview
LEAST = 10  # columns: the narrowest preview
WIDE = 2  # columns of a CJK character or an emoji


class ReportText(ScrollView, can_focus=True):
    """A read-only, scrollable text."""

    def __init__(self, *, id: str, classes: str) -> None:  # noqa: A002 - textual's parameter name
        super().__init__(id=id, classes=classes)
        self.text = ""
        self._rows: list[str] = []

    def show(self, text: str) -> None:
        """Show this text at the current scroll position."""
        self.text = text
        self._wrap()

    def on_resize(self, _: Resize) -> None:
        """Wrap the text to the new width."""
        self._wrap()

    def _wrap(self) -> None:
        width = self.scrollable_content_region.width
        self._rows = wrap_report(self.text, width)
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        number, width = round(self.scroll_offset.y) + y, self.scrollable_content_region.width
        style = self.visual_style.rich_style
        text = self._rows[number] if number < len(self._rows) else ""
        return Strip([Segment(text, style)]).adjust_cell_length(width, style)


def wrap_report(text: str, width: int) -> list[str]:
    """Wrap the start of a report to that width, without control characters; the last row counts the omitted lines."""
    lines, width = text.rstrip("\n").split("\n"), max(LEAST, width)
    made = [row for line in lines[:LINES] for row in _wrap_line(_cut(escape_text(line)), width)]
    if len(lines) > LINES:
        made += _wrap_line(f"… {len(lines) - LINES:,} more lines. The saved report contains them all", width)
    return made


def _cut(line: str) -> str:
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def _wrap_line(line: str, width: int) -> list[str]:
    """Wrap a line at its blanks, keeping its indentation; words wider than the line are broken."""
    room = width if line.isascii() or all(cell_len(sign) < WIDE for sign in line) else width // WIDE
    margin = " " * min(len(line) - len(line.lstrip(" ")), room // 2)
    folded = []
    while len(line) > room:
        at = line.rfind(" ", len(margin) + 1, room + 1)
        at = room if at < 0 else at
        folded.append(line[:at])
        line = margin + line[at:].lstrip(" ")
    return [*folded, line]


class ReportExistsError(MycnfError):
    """A file of that name exists, and the user has not confirmed replacing it."""


def absolute_path(typed: str) -> str:
    """The absolute path of a typed name, with `~` expanded. Raises MycnfError."""
    if not typed.strip():
        raise MycnfError("Enter a file name")
    if "\0" in typed:
        raise MycnfError("A file name cannot contain a null character. Enter another name")
    return os.path.abspath(os.path.expanduser(typed.strip()))


def save_report(text: str, typed: str, facts: Facts, *, replace: bool = False) -> str:
    """Write the report with mode 0600 and return its absolute path; symbolic links are followed.

    Raises ReportExistsError if a file exists that may not be replaced, MycnfError if it cannot be written or is a file
    of the server in `facts`.
    """
    path = _target_of(absolute_path(typed))
    _check_path(path, facts)
    if os.path.lexists(path) and not replace:
        raise ReportExistsError(f"{path} already exists")
    try:
        replace_private(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise MycnfError(f"cannot write {path}: {error.strerror}. Enter another path") from error
    return path


def _target_of(path: str) -> str:
    try:
        return follow_link(path)
    except OSError as error:
        raise MycnfError(f"cannot write {path}: {error.strerror}. Enter another path") from error


def _check_path(path: str, facts: Facts) -> None:
    if any(path == _real_path(copy.path) for copy in (facts.files.files if facts.files else ())):
        raise MycnfError(f"{path} is an option file of the server. mycnf never writes those. Enter another path")
    data = facts.server.variables.get("datadir", "").rstrip("/")
    if os.path.isabs(data) and path.startswith(_real_path(data) + "/"):
        raise MycnfError(f"{path} is in the server's data directory. mycnf never writes there. Enter another path")
    if os.path.isdir(path):
        raise MycnfError(f"{path} is a directory. Add a file name")
    if os.path.lexists(path) and not os.path.isfile(path):
        raise MycnfError(f"{path} is not a regular file. Enter another path")
    if not os.path.isdir(os.path.dirname(path)):
        raise MycnfError(f"directory {os.path.dirname(path)} does not exist. Create it, or enter another path")


def _real_path(path: str) -> str:
    """Resolve a path of the server on this host; return it unchanged if it is not a valid path here."""
    try:
        return os.path.realpath(path)
    except ValueError:
        return path
