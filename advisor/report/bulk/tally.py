"""Many snapshots counted: by rule, by server and by version, in memory that doesn't grow with their number."""

from __future__ import annotations

import heapq
from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.model import Severity
from rules.core.areas import Area, area_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.report.bulk.snapshot import SnapshotSummary

WORST = 100  # servers that are named
EXAMPLES = 10  # servers that are named for a rule
BROKEN = 100  # snapshots that are named
VERSIONS = 300  # versions that are told apart; the rest are counted together
OTHERS = "others"
RANK = {severity.value: rank for rank, severity in enumerate(Severity)}


class Rule:
    """What was found by one rule: on how many servers, how often, how badly, and where, for example."""

    __slots__ = ("code", "examples", "findings", "name", "servers", "severity")

    def __init__(self, code: str, name: str, severity: str) -> None:
        self.code, self.name, self.severity = code, name, severity
        self.servers = self.findings = 0
        self.examples: list[tuple[str, str]] = []


class Server(NamedTuple):
    """One of the servers that need most; the first three count its findings, so that worse ones are greater.

    `areas` counts them by area and severity.
    """

    errors: int
    warnings: int
    notes: int
    order: int
    server: str
    target: str
    path: str
    areas: Mapping[Area, Mapping[Severity, int]] = MappingProxyType({})


def _by_area(summary: SnapshotSummary) -> dict[Area, Counter[Severity]]:
    areas: dict[Area, Counter[Severity]] = {}
    for f in summary.found:
        areas.setdefault(area_of(f.code), Counter())[Severity(f.severity)] += 1
    return areas


class Tally:
    """The counts; `read` and `broken` are numbers of snapshots, `reasons` why the first of the broken can't be read."""

    def __init__(self) -> None:
        self.read = self.broken = self.clean = 0
        self.fails = False
        self.severities: Counter[str] = Counter()
        self.versions: Counter[str] = Counter()
        self.reasons: list[tuple[str, str]] = []
        self._rules: dict[str, Rule] = {}
        self._worst: list[Server] = []

    def take(self, summary: SnapshotSummary) -> None:
        """Count one snapshot."""
        if summary.broken:
            self.broken += 1
            if len(self.reasons) < BROKEN:
                self.reasons.append((summary.path, summary.broken))
            return
        self.read += 1
        self.fails |= summary.fails
        self.clean += not summary.found
        self.versions[
            summary.target if summary.target in self.versions or len(self.versions) < VERSIONS else OTHERS
        ] += 1
        self._of_server(summary)
        self._of_rules(summary)

    @property
    def rules(self) -> list[Rule]:
        """Worst first, then what most servers have."""
        return sorted(self._rules.values(), key=lambda r: (RANK[r.severity], -r.servers, r.code))

    @property
    def worst(self) -> list[Server]:
        """The servers that need most, worst first."""
        return sorted(self._worst, reverse=True)

    def _of_server(self, summary: SnapshotSummary) -> None:
        counts = Counter(f.severity for f in summary.found)
        self.severities.update(counts)
        if counts:
            errors, warnings, notes = (counts[severity.value] for severity in Severity)
            about = summary.server, summary.target, summary.path
            entry = Server(errors, warnings, notes, -self.read, *about, _by_area(summary))
            (heapq.heappush if len(self._worst) < WORST else heapq.heappushpop)(self._worst, entry)

    def _of_rules(self, summary: SnapshotSummary) -> None:
        seen: set[str] = set()
        for f in summary.found:
            rule = self._rules.setdefault(f.code, Rule(f.code, f.name, f.severity))
            rule.severity = min(rule.severity, f.severity, key=RANK.__getitem__)
            rule.findings += 1
            if f.code not in seen:
                seen.add(f.code)
                rule.servers += 1
                if len(rule.examples) < EXAMPLES:
                    rule.examples.append((summary.server, f.about))
