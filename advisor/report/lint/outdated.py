"""Deprecated options of a file as one block: which go first, and what to write instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from advisor.catalog.load import load
from advisor.catalog.targets import SERIES
from advisor.core.model import Severity, Target
from advisor.redaction.secrets import escape_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.core.model import Finding
    from advisor.report import Checked

RULE = "OPT008"
FEWEST = 3  # fewer stand better at their own places


class Outdated(NamedTuple):
    """One deprecated line: the finding, and the first supported series that refuses it, None where none does."""

    finding: Finding
    refused_by: Target | None

    @property
    def when(self) -> str:
        """The series that refuses it, for people, such as `MySQL 8.4`."""
        return _label(self.refused_by) if self.refused_by else "none yet"


def outdated(checked: Checked) -> list[Outdated]:
    """The deprecated lines of a file, those first that the nearest series refuses; none where they are few."""
    found = [f for f in checked.findings if f.code == RULE and f.severity is Severity.NOTE and f.canonical]
    if len(found) < FEWEST:
        return []
    newer = [Target(checked.target.flavour, patch) for patch in sorted(SERIES[checked.target.flavour].values())]
    newer = [target for target in newer if target.version > checked.target.version]
    made = [Outdated(f, _refusing(f.canonical or "", newer)) for f in found]
    return sorted(made, key=lambda one: (one.refused_by is None, one.refused_by or checked.target, _line(one.finding)))


def _refusing(name: str, newer: Sequence[Target]) -> Target | None:
    return next((target for target in newer if name not in load(target).options), None)


def _line(finding: Finding) -> int:
    return finding.location.line if finding.location else 0


def heading(found: Sequence[Outdated]) -> str:
    """How many options, and which series refuses the first of them."""
    first = found[0].refused_by
    if first is None:
        return f"{len(found)} options are deprecated; no known series refuses them yet."
    count = sum(one.refused_by == first for one in found)
    some = "one" if count == 1 else str(count)
    return f"{len(found)} options are deprecated; {_label(first)} is the first to refuse {some} of them."


def _label(target: Target) -> str:
    return f"{target.label.rpartition(' ')[0]} {target.series}"


def rows(found: Sequence[Outdated], path: str) -> list[tuple[str, str, str, str]]:
    """Place, option, the series that refuses it, and what to do with the fix, for each line."""
    made = []
    for one in found:
        f = one.finding
        place = str(_line(f))
        if f.location is not None and f.location.path != path:
            place = f"{f.location.path}:{place}"
        fix = f" (fix: {f.fix.applicability})" if f.fix else ""
        made.append((escape_text(place), escape_text(f.option or ""), one.when, escape_text(f.help) + fix))
    return made
