"""A fleet, audited: what every format of it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from advisor.core.model import Finding, Skipped, Target
    from advisor.fleet.outliers import Outlier, PeerGroup
    from advisor.fleet.row import HostRow


class Judged(NamedTuple):
    """One server of the fleet: its row, what it is, the findings worst first, and what could not be looked at."""

    row: HostRow
    target: Target
    vendor: str
    hostname: str
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]


class Survey(NamedTuple):
    """The whole fleet. `absent` are the rows of hosts of which there are no facts; `now` is UTC, `folder` the run's."""

    folder: str
    now: str
    judged: tuple[Judged, ...]
    absent: tuple[HostRow, ...]
    outliers: tuple[Outlier, ...]
    equals: tuple[PeerGroup, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of all servers."""
        return tuple(f for one in self.judged for f in one.findings)
