"""The typography that reports share: wrapping, colour, counts."""

from __future__ import annotations

from advisor.core.model import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.core.model import Finding

WIDTH = 80
COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


def wrap(text: str, first: str = "", rest: str | None = None, width: int = WIDTH) -> str:
    """Wrap to the page; `first` opens the first line and `rest` the others (default: as many spaces).

    A word longer than the page keeps a line to itself. textwrap does the same at ten times the import.
    """
    lines, line = [], first
    empty = True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > width:
            lines.append(line)
            line, empty = " " * len(first) if rest is None else rest, True
        line += word if empty else f" {word}"
        empty = False
    return "\n".join([*lines, line.rstrip()])


def painted(text: str, severity: Severity, colour: bool) -> str:
    """The text in the severity's colour, where colour is wanted."""
    return f"\x1b[{COLOURS[severity]}m{text}\x1b[0m" if colour else text


def bold(text: str, colour: bool) -> str:
    """The text in bold, where colour is wanted."""
    return f"\x1b[1m{text}\x1b[0m" if colour else text


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def counted(findings: Iterable[Finding]) -> str:
    """`1 error, 2 warnings`, leaving out what there is none of; `nothing found` where there is nothing at all."""
    return ", ".join(severity_counts(findings)) or "nothing found"


def severity_counts(findings: Iterable[Finding]) -> list[str]:
    """`1 error` and `2 warnings`, leaving out what there is none of."""
    severities = [f.severity for f in findings]
    return [plural(severities.count(s), s.value) for s in Severity if s in severities]
