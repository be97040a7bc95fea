"""Which of the findings' fixes can be made together in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.fixing.reading import Candidate
from advisor.fixing.territory import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from advisor.core.model import Edit, Finding
    from advisor.fixing.reading import Reading

SAFE = "safe"
Key = tuple[str, tuple["Edit", ...]]


def candidates(readings: Sequence[Reading]) -> list[Candidate]:
    """Every fix that a reading asks for, once, in the order of files and lines.

    One that several readings ask for is as safe as the one that thinks least of it.
    """
    asked: dict[Key, list[tuple[int, Finding]]] = {}
    for at, reading in enumerate(readings):
        for finding in reading.findings:
            if finding.fix is not None and finding.location is not None:
                asked.setdefault((finding.location.path, finding.fix.edits), []).append((at, finding))
    made = [_candidate(path, by) for (path, _), by in asked.items()]
    return sorted(made, key=lambda c: (c.path, c.fix.edits[0].line, c.findings[0].code))


def _candidate(path: str, by: list[tuple[int, Finding]]) -> Candidate:
    fixes = [finding.fix for _, finding in by if finding.fix]
    worst = next((fix for fix in fixes if fix.applicability != SAFE), fixes[0])
    return Candidate(path, worst, tuple(finding for _, finding in by), frozenset(at for at, _ in by))


def apart(wanted: Iterable[Candidate]) -> Iterator[Candidate]:
    """Those that touch no line that an earlier one touches: what is left over comes in a later pass."""
    taken: set[tuple[str, int]] = set()
    for candidate in wanted:
        touched = {(candidate.path, line) for edit in candidate.fix.edits for line in lines_of(edit)}
        if not touched & taken:
            taken |= touched
            yield candidate
