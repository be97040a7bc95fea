"""Prepare text of servers, files and users for the screen: no markup, no control characters, limited length."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from advisor.core.model import Severity, format_size
from advisor.redaction import escape_text
from advisor.report import wrap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.widgets import Static


SEVERITY_SIGNS = {Severity.ERROR: "✖", Severity.WARNING: "▲", Severity.NOTE: "●"}
SEVERITY_STYLES = {Severity.ERROR: "$text-error", Severity.WARNING: "$text-warning", Severity.NOTE: "$text-accent"}

LONGEST = 4_000  # characters of one value on the screen; copying gives the whole value
LONGEST_LINE = 200
MUTED = "dim"  # $text-muted works only in style sheets: in a Content it is brighter than plain text


def safe_text(text: str, style: str = "") -> Content:
    """Make text of any origin safe to show, on one or more lines; brackets are not markup."""
    lines = [escape_text(safe_line) for safe_line in text[:LONGEST].split("\n")]
    if len(text) > LONGEST:
        lines.append(f"… {len(text) - LONGEST:,} more characters")
    return Content.styled("\n".join(lines), style) if style else Content("\n".join(lines))


def safe_line(text: str, style: str = "", longest: int = LONGEST_LINE) -> Content:
    """Make text safe to show on one line of `longest` columns; cut text ends with an ellipsis."""
    return safe_text(cut_line(escape_text(text[: longest + 1]), longest), style)


def cut_line(text: str, columns: int) -> str:
    """Cut a line with an ellipsis; a Chinese character or an emoji takes two columns."""
    columns = max(1, columns)
    if len(text) <= columns and cell_len(text) <= columns:
        return text
    kept = text[: columns - 1]  # combining characters take no column, but are not without limit
    return (kept if cell_len(kept) < columns else set_cell_size(kept, columns - 1)) + "…"


def fit_line(text: str, columns: int) -> str:
    """Cut a line, or fill it with blanks, so that it takes exactly so many columns."""
    return set_cell_size(cut_line(text, columns), columns)


def fold(text: str, width: int, margin: str) -> str:
    """Break lines at `width`, continuing behind a margin: a path has no blanks to wrap at."""
    lines = []
    for long in text.split("\n"):
        rest = long
        while len(rest) > width > len(margin):
            lines.append(rest[:width])
            rest = margin + rest[width:]
        lines.append(rest)
    return "\n".join(lines)


def join_lines(parts: Iterable[str], width: int, separator: str = " · ") -> str:
    """The parts on as few lines as possible; lines break only between parts, unless one is wider than a line."""
    lines: list[str] = []
    for part in filter(None, parts):
        if lines and len(lines[-1]) + len(separator) + len(part) <= width:
            lines[-1] += separator + part
        else:
            lines.append(wrap(part, "", "", width))
    return "\n".join(lines)


def update_if_changed(text: Static, words: Content, *, layout: bool = False) -> None:
    """Update a widget if its text changed; `layout` also lays out the whole screen again."""
    if text.content != words:
        text.update(words, layout=layout)


CELLS = 20
EIGHTHS = " ▏▎▍▌▋▊▉"
FULL, REST, BEYOND = "█", "·", "▶"


def bar(amount: float, whole: float, cells: int = CELLS) -> str:
    """A bar of the share of `amount` in `whole`, to an eighth of a cell; an arrow at the end means more than all."""
    if whole <= 0 or amount <= 0:
        return REST * cells
    if amount > whole:
        return FULL * (cells - 1) + BEYOND
    eighths = max(1, round(8 * cells * amount / whole))
    full, part = divmod(eighths, 8)
    return (FULL * full + (EIGHTHS[part] if part else "")).ljust(cells, REST)


def format_ranges(numbers: Iterable[int]) -> str:
    """Join consecutive numbers: 0-19,40-59."""
    ranges: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


SPARK_STEPS = "▁▂▃▄▅▆▇█"
NO_VALUE = "-"
MILLION, BILLION = 1e6, 1e9
ALL_PERCENT = 100.0  # percent


def sparkline(values: Iterable[float | None], low: float, high: float) -> str:
    """One character a value: the lowest step only for `low`, the highest for `high`, a blank for None.

    If all values are equal, zero is drawn with the lowest step, any other value with the highest.
    """
    return "".join(" " if value is None else _step(value, low, high) for value in values)


def _step(value: float, low: float, high: float) -> str:
    if high <= low:
        return SPARK_STEPS[-1] if value > 0 else SPARK_STEPS[0]
    if value <= low:
        return SPARK_STEPS[0]
    top = len(SPARK_STEPS) - 1
    return SPARK_STEPS[min(top, max(1, round(top * (value - low) / (high - low))))]


def format_value(value: float | None, unit: str) -> str:
    """Format a value in at most seven characters, without its unit: 2,140 · 0.35 · 99.97 · 4.1M; - for None."""
    if value is None:
        return NO_VALUE
    if unit == "B/s":
        return format_size(value) if value < 1 << 70 else f"{value:.0e}"
    if unit == "%":
        return _percent(value)
    return _number(value, whole=not unit)


def _percent(value: float) -> str:
    """Two decimals up to 100 percent, one above: of the processors, a server can use several."""
    if value > ALL_PERCENT:
        return f"{value:.1f}" if value < 999.95 else _number(value, whole=False)  # noqa: PLR2004 - it would be 1000.0
    return f"{value:.0f}" if value in (0.0, ALL_PERCENT) else f"{min(value, 99.99):.2f}"


def _number(value: float, *, whole: bool) -> str:
    if value == 0 or (whole and value == int(value) and value < MILLION):
        return f"{value:,.0f}"
    if value < 0.01:  # noqa: PLR2004 - two decimals show nothing smaller
        return "<0.01"
    if value < 9.95:  # noqa: PLR2004 - the precision changes here
        return f"{value:.2f}" if value < 0.995 else f"{value:.1f}"  # noqa: PLR2004 - it would read 1.00
    if value < MILLION - 0.5:
        return f"{value:,.0f}"
    return _large_number(value)


def _large_number(value: float) -> str:
    if value < 999.95 * MILLION:
        return f"{value / MILLION:.1f}M"
    if value < 999.95 * BILLION:
        return f"{value / BILLION:.1f}G"
    return f"{value / BILLION:,.0f}G" if value < 99_999.5 * BILLION else f"{value:.0e}"


# Command line flags in messages, and what to say in the dialogs instead; in this order, the more specific first.
FLAG_REPLACEMENTS = (
    (r"use --time (\S+) or more", r"use a time of at least \1"),
    (r"give more with --time", "give it more time"),
    (r"with a longer --time", "with a longer time"),
    (r" \(--time\)", ""),
    (r"--rounds \w+ \(about (\w+) min\)", r"about \1 min"),
    (r"--time (\w+)", r"a time of \1"),
    (r"--dir (\S+) is not a directory", r"\1 is not a directory"),
    (r"another --dir", "another directory"),
    (r"a --dir on a disk", "a directory on a disk"),
    (r"the first is --dir", "the first is the one at the top"),
    (r"use --option (\w+)=\w+ besides --dir", r"write it in the field \1"),
    (r"--option (\w+=)", r"\1"),
    (r": see --dir", ": the dialog before a run takes another directory"),
    (r" with --dir", ""),
    (r", or use --force (\w+)", r", or write \1 into 'override'"),
    (r"(continue with --resume|and --resume to continue a run)", "the dialog before the next run offers to resume it"),
    (r"ask for more with --rounds or --time", "ask for more time"),
    (r"add --ask-password, or put the password", "type it here, or put it"),
    (r"or give another account with --user and --ask-password", "or give another account"),
    (r", or see --user", ", or name another user"),
    (r"leave --ssl-mode out", "leave TLS empty"),
    (r"--ssl-mode (required|disabled|verify-ca)", r"TLS \1"),
    (r"^ssl-mode ", "TLS "),
    (r"--ssl-ca, --ssl-cert and --ssl-key", "the TLS CA"),
    (r"--ssl-ca ", "the TLS CA "),
    (r"--login-path ", "login path "),
    (r" \(--defaults-file\)", ""),
    (r"give --socket or --host", "name another socket, or a host"),
    (r"or use --host", "or name a host"),
    (r"; give --defaults-file instead", ""),
    (r"saved: mycnf probe results (\S+)", r"saved as \1, for mycnf probe results"),
)


def replace_flags(text: str) -> str:
    """Replace command line flags by what the dialogs offer."""
    for flag, replacement in FLAG_REPLACEMENTS:
        text = re.sub(flag, replacement, text)
    return text
