"""Two samples of a server's counters, and the window between them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sample:
    """Status counters at one moment.

    `at` is the server's uptime clock in seconds, `lsn` the redo position in bytes where known.
    """

    at: float
    status: dict[str, int] = field(default_factory=dict)
    lsn: int | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """The first and the last sample of a window."""

    first: Sample
    last: Sample

    @property
    def seconds(self) -> float:
        """The length of the window."""
        return max(0.0, self.last.at - self.first.at)

    def delta(self, counter: str) -> int | None:
        """How far a counter rose in the window; None where it is missing or was reset."""
        before, after = self.first.status.get(counter), self.last.status.get(counter)
        if before is None or after is None or after < before:
            return None
        return after - before

    def rate(self, counter: str) -> float | None:
        """A counter's rise a second over the window; None where it can't be told."""
        rise = self.delta(counter)
        return None if rise is None or self.seconds <= 0 else rise / self.seconds

    @property
    def redo_rate(self) -> float | None:
        """Bytes of redo written a second, from the log sequence number."""
        if self.first.lsn is None or self.last.lsn is None or self.seconds <= 0:
            return None
        return max(0, self.last.lsn - self.first.lsn) / self.seconds
