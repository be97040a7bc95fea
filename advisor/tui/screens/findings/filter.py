"""The list of findings: filtered, sorted, grouped, and a line for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from advisor.analysis import sort_by_severity
from advisor.core.model import Severity
from advisor.tui.text import SEVERITY_SIGNS, SEVERITY_STYLES, cut_line, safe_line
from advisor.tui.view import running_subject
from rules.core.advice import advised_value
from rules.core.areas import Area, area_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.tui.view import View
    from rules.core.advice import AdvisedValue

ORDERS = ("area", "severity", "option", "restart")

SEVERITIES = list(Severity)
CORRECTION, NO_VALUE = "correction of the option file", "no value to change"
TITLES = {
    "severity": [f"{severity.value}s" for severity in Severity],
    "restart": ["no restart", "restart", CORRECTION, NO_VALUE],
}

CODE_FROM, ARROW_FROM, WORDS_FROM = 46, 40, 60  # columns from which code, spaces around the arrow and words fit
LONGEST_VALUE, NARROW_VALUE = 24, 13  # columns of both values
RESTART, RESTART_WIDTH = "↻", len("no restart")
LEAST_NAME = 8  # columns that the name of a rule needs behind an option
LEAST_SUBJECT = 8


class FindingFilter(NamedTuple):
    """The search text, the excluded severities, whether hidden findings are listed, and the order."""

    search_text: str = ""
    excluded_severities: frozenset[Severity] = frozenset()
    hidden: bool = False
    order: str = ORDERS[0]

    def toggle_severity(self, severity: Severity) -> FindingFilter:
        """The same filter with a severity switched on or off."""
        return self._replace(excluded_severities=self.excluded_severities ^ {severity})

    @property
    def summary(self) -> str:
        """The differences from the default filter, for the title of the list."""
        parts = [f"without {severity.value}s" for severity in Severity if severity in self.excluded_severities]
        parts += ["with hidden findings"] if self.hidden else []
        parts += [f"by {self.order}"]
        return " " + ", ".join(parts) if parts else ""

    def group_findings(self, view: View) -> Iterator[tuple[str, list[Finding]]]:
        """The findings that match under the titles of their groups, the group with the worst finding first."""
        listed = (
            sort_by_severity((*view.open_findings, *(f for f, _ in view.hidden))) if self.hidden else view.open_findings
        )
        left = [f for f in listed if self._matches(f)]
        if self.order == "option":
            yield "", sorted(left, key=lambda f: f.canonical or f.option or "~")
            return
        groups: dict[str, list[Finding]] = {}
        for finding in left:
            groups.setdefault(self._title(finding), []).append(finding)
        titles = TITLES.get(self.order, [area.value for area in Area])
        for title in sorted(groups, key=lambda title: (self._rank(groups[title]), titles.index(title))):
            yield title, groups[title]

    def _title(self, finding: Finding) -> str:
        if self.order == "area":
            return area_of(finding.code).value
        if self.order == "severity":
            return f"{finding.severity.value}s"
        change = advised_value(finding)
        return NO_VALUE if change is None else change.restart_words or CORRECTION

    def _rank(self, findings: list[Finding]) -> int:
        return 0 if self.order == "restart" else min(SEVERITIES.index(f.severity) for f in findings)

    def _matches(self, f: Finding) -> bool:
        if f.severity in self.excluded_severities:
            return False
        path = f.location.path if f.location else ""
        words = " ".join(
            (f.code, f.name, area_of(f.code).value, f.canonical or "", f.option or "", f.message, path)
        ).lower()
        return all(word in words for word in self.search_text.lower().split())


def finding_row(finding: Finding, width: int, mark: str = " ", style: str = "") -> Content:
    """The finding in `width` columns; `mark` is one character after the sign of its severity."""
    sign = Content.styled(SEVERITY_SIGNS[finding.severity], SEVERITY_STYLES[finding.severity])
    code = f"{finding.code} " if width >= CODE_FROM else ""
    change = advised_value(finding)
    values, restart = _values(change, width), _restart(change, width)
    room = width - len(mark) - 1 - len(code) - len(values) - len(restart)
    subject = _fit_text(_subject(finding, change, room), max(LEAST_SUBJECT, room))
    line = safe_line(f"{mark}{code}{subject}", style)
    return sign + line + safe_line(values, style or "bold") + safe_line(restart, style or "dim")


def _subject(finding: Finding, change: AdvisedValue | None, room: int) -> str:
    """The option whose value changes; otherwise the rule with the option, or the channel or connection.

    If both do not fit, the option comes first: what is cut off is alike in all findings of the rule.
    """
    if change is not None:
        return change.option
    option = finding.canonical or running_subject(finding)
    both = f"{finding.name} {option}".strip()
    if len(both) < room or not option or len(option) + LEAST_NAME > room:
        return both if len(both) < room else finding.name
    return f"{option} {finding.name}"


def _fit_text(text: str, width: int) -> str:
    """Cut with an ellipsis, or fill with blanks."""
    return f"{text[: width - 2]}… " if len(text) >= width else text.ljust(width)


def _values(change: AdvisedValue | None, width: int) -> str:
    if change is None:
        return ""
    arrow, most = (" → ", LONGEST_VALUE) if width >= ARROW_FROM else ("→", NARROW_VALUE)
    if change.restart is None and " " in change.after:
        return change.after if len(change.after) <= most else change.after.split(" ")[0]
    both = f"{change.before}{arrow}{change.after}"
    return both if len(both) <= most else cut_line(f"{arrow.strip()} {change.after}", most)


def _restart(change: AdvisedValue | None, width: int) -> str:
    """Whether the change needs a restart, in words or as a sign; blank for what has no value to change."""
    if width >= WORDS_FROM:
        return f"  {change.restart_words if change else '':<{RESTART_WIDTH}}"
    return f" {RESTART}" if change and change.restart else "  "
