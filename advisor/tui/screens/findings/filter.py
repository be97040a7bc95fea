"""Filter and sort the list of findings."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from advisor.analysis.engine import sort_by_severity
from advisor.core.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.tui.view import View

ORDERS = ("weight", "family", "code", "option")


class FindingFilter(NamedTuple):
    """The search text, the excluded severities, whether hidden findings are listed, and the order."""

    search_text: str = ""
    excluded_severities: frozenset[Severity] = frozenset()
    hidden: bool = False
    order: str = "weight"

    def toggle_severity(self, severity: Severity) -> FindingFilter:
        """The same filter with a severity switched on or off."""
        return self._replace(excluded_severities=self.excluded_severities ^ {severity})

    @property
    def summary(self) -> str:
        """The differences from the default filter, for the title of the list."""
        parts = [f"without {severity.value}s" for severity in Severity if severity in self.excluded_severities]
        parts += ["with hidden findings"] if self.hidden else []
        parts += [f"by {self.order}"] if self.order != ORDERS[0] else []
        return " " + ", ".join(parts) if parts else ""

    def group_findings(self, view: View) -> Iterator[tuple[str, list[Finding]]]:
        """The findings that match, grouped under titles if ordered by family."""
        listed = (
            sort_by_severity((*view.open_findings, *(f for f, _ in view.hidden))) if self.hidden else view.open_findings
        )
        left = [f for f in listed if self._matches(f)]
        if self.order == "family":
            left.sort(key=lambda f: f.code[:3])
            for family, members in groupby(left, key=lambda f: f.code[:3]):
                yield family, list(members)
            return
        if self.order == "code":
            left.sort(key=lambda f: f.code)
        elif self.order == "option":
            left.sort(key=lambda f: f.canonical or "~")
        yield "", left

    def _matches(self, f: Finding) -> bool:
        if f.severity in self.excluded_severities:
            return False
        path = f.location.path if f.location else ""
        words = " ".join((f.code, f.name, f.canonical or "", f.option or "", f.message, path)).lower()
        return all(word in words for word in self.search_text.lower().split())
