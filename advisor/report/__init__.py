"""Reports: what those of lint are made from, and the typography that all share."""

from __future__ import annotations

from advisor.core import NamedTuple
from advisor.core.model import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from advisor.analysis.audited import AuditResult
    from advisor.core.model import Finding, Target

    LintWriter = Callable[[Sequence["CheckedFile"], "Page"], str]
    AuditWriter = Callable[[AuditResult, "Page"], str]


class CheckedFile(NamedTuple):
    """One option file, checked for one target: its findings in the order of its lines. A path of "" is a server.

    `sources` holds the text of each line that a finding points at, with secrets taken out, keyed by (path, line).
    `suppressed` are the findings that a comment in the file asked to leave out, `reasons` what each comment says, or
    "", and `baselined` those that a baseline knows; a format that can list them without alarm does. `fail_on` is the
    least severity that fails, where the file's configuration decides about it.
    """

    path: str
    target: Target
    findings: tuple[Finding, ...]
    sources: dict[tuple[str, int], str]
    suppressed: tuple[Finding, ...] = ()
    baselined: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()
    fail_on: str = ""


class Page(NamedTuple):
    """What a report depends on besides findings.

    `base` is the directory whose files are named relative to it where machines read the report. `broken` are the files
    that could not be read, each with a line that says why. `fail_on` is the least severity that fails. `now` is the
    time of the run in UTC, as 2026-11-21T07:00:00, for formats that can't do without.
    """

    colour: bool = False
    statistics: bool = False
    base: str = ""
    broken: tuple[tuple[str, str], ...] = ()
    fail_on: str = "warning"
    now: str = "1970-01-01T00:00:00"


WIDTH = 80
COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


def wrap(text: str, first: str = "", rest: str | None = None, width: int = WIDTH) -> str:
    """Wrap to the page; `first` opens the first line and `rest` the others (default: as many spaces).

    A word longer than the page keeps a line to itself, and none that GitHub would take for a command begins a line.
    textwrap does the rest at ten times the import.
    """
    lines, line = [], first
    empty = True
    for word in text.split():
        if not empty and len(line) + 1 + len(word) > width and not word.startswith("::"):
            lines.append(line)
            line, empty = " " * len(first) if rest is None else rest, True
        line += word if empty else f" {word}"
        empty = False
    return "\n".join([*lines, line.rstrip()])


def paint_severity(text: str, severity: Severity, colour: bool) -> str:
    """The text in the severity's colour, where colour is wanted."""
    return f"\x1b[{COLOURS[severity]}m{text}\x1b[0m" if colour else text


def bold_text(text: str, colour: bool) -> str:
    """The text in bold, where colour is wanted."""
    return f"\x1b[1m{text}\x1b[0m" if colour else text


def plural(count: int, singular: str, plural_form: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {singular if count == 1 else plural_form or singular + 's'}"


def count_findings(findings: Iterable[Finding]) -> str:
    """`1 error, 2 warnings`, leaving out what there is none of; `nothing found` where there is nothing at all."""
    return ", ".join(severity_counts(findings)) or "nothing found"


def severity_counts(findings: Iterable[Finding]) -> list[str]:
    """`1 error` and `2 warnings`, leaving out what there is none of."""
    severities = [f.severity for f in findings]
    return [plural(severities.count(s), s.value) for s in Severity if s in severities]
