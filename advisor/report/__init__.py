"""One module a format, each a pure function of findings and facts; here is what those of lint are made from."""

from __future__ import annotations

from advisor.core.value_types import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.analysis.audited import Audited
    from advisor.core.model import Finding, Target

    LintWriter = Callable[[Sequence["Checked"], "Page"], str]
    AuditWriter = Callable[[Audited, "Page"], str]


class Checked(NamedTuple):
    """One option file, checked for one target: its findings in the order of its lines. A path of "" is a server.

    `sources` holds the text of each line that a finding points at, with secrets taken out, keyed by (path, line).
    `suppressed` are the findings that a comment in the file asked to leave out, `reasons` what each comment says, or
    "", and `baselined` those that a baseline knows; a format that can tell of them without alarm does.
    """

    path: str
    target: Target
    findings: tuple[Finding, ...]
    sources: dict[tuple[str, int], str]
    suppressed: tuple[Finding, ...] = ()
    baselined: tuple[Finding, ...] = ()
    reasons: tuple[str, ...] = ()


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
