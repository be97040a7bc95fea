"""Which findings are listed, and in what order."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from advisor.analysis.engine import by_weight
from advisor.core.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.core.model import Finding
    from advisor.tui.view import View

ORDERS = ("weight", "family", "code", "option")


class Sieve(NamedTuple):
    """The words that are looked for, the severities that are left out, whether hidden ones are shown, the order."""

    sought: str = ""
    without: frozenset[Severity] = frozenset()
    hidden: bool = False
    order: str = "weight"

    def toggled(self, severity: Severity) -> Sieve:
        """The same with or without a severity."""
        return self._replace(without=self.without ^ {severity})

    @property
    def words(self) -> str:
        """What is not as at the start, for the list's title."""
        parts = [f"without {severity.value}s" for severity in Severity if severity in self.without]
        parts += ["and hidden ones"] if self.hidden else []
        parts += [f"by {self.order}"] if self.order != ORDERS[0] else []
        return " " + ", ".join(parts) if parts else ""

    def groups(self, view: View) -> Iterator[tuple[str, list[Finding]]]:
        """The findings that are left, under a title where they are ordered by family."""
        listed = by_weight((*view.open_findings, *(f for f, _ in view.hidden))) if self.hidden else view.open_findings
        left = [f for f in listed if self._passes(f)]
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

    def _passes(self, f: Finding) -> bool:
        if f.severity in self.without:
            return False
        path = f.location.path if f.location else ""
        words = " ".join((f.code, f.name, f.canonical or "", f.option or "", f.message, path)).lower()
        return all(word in words for word in self.sought.lower().split())
