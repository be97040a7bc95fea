"""Two samples of a server's counters, and the window between them."""

from msgspec import Struct, field

# Counters of a sample that are not the server's: bytes of the file system that holds the data directory.
SPACE = ("host_data_size", "host_data_free")
# Milliseconds in which a disk of the host was busy; followed by the kernel's name of the disk.
DISK_BUSY = "host_disk_busy_ms:"


class Sample(Struct, frozen=True):
    """Status counters at one moment.

    `at` is the server's uptime clock in seconds, `lsn` the redo position in bytes where known, `query_time` the
    seconds that all statements took so far, where the server counts them (MariaDB).
    """

    at: float
    status: dict[str, int] = field(default_factory=dict)
    lsn: int | None = None
    query_time: float | None = None


class Workload(Struct, frozen=True):
    """The first and the last sample of a window."""

    first: Sample
    last: Sample

    @property
    def seconds(self) -> float:
        """The length of the window."""
        return max(0.0, self.last.at - self.first.at)

    def delta(self, counter: str) -> int | None:
        """The increase of a counter in the window; None if it is missing or was reset."""
        before, after = self.first.status.get(counter), self.last.status.get(counter)
        if before is None or after is None or after < before:
            return None
        return after - before

    def rate(self, counter: str) -> float | None:
        """A counter's increase per second in the window; None if unknown."""
        rise = self.delta(counter)
        return None if rise is None or self.seconds <= 0 else rise / self.seconds

    @property
    def redo_rate(self) -> float | None:
        """Bytes of redo written per second, from the log sequence number."""
        if self.first.lsn is None or self.last.lsn is None or self.seconds <= 0:
            return None
        return max(0, self.last.lsn - self.first.lsn) / self.seconds


class BusyHour(Struct, frozen=True):
    """The busiest hour of one kind (redo, connections, temporary tables) that was sampled: its samples, in order.

    The times are UTC in ISO 8601. The server ran through it without a restart.
    """

    of: str
    began_at: str
    ended_at: str
    samples: tuple[Sample, ...]

    @property
    def workload(self) -> Workload:
        """The hour as a window."""
        return Workload(self.samples[0], self.samples[-1])

    def most(self, counter: str) -> int | None:
        """The highest value of a counter in the samples; None if it is in none."""
        return max((s.status[counter] for s in self.samples if counter in s.status), default=None)

    def least(self, counter: str) -> int | None:
        """The lowest value of a counter in the samples; None if it is in none."""
        return min((s.status[counter] for s in self.samples if counter in s.status), default=None)


class SampledHours(Struct, frozen=True):
    """What `mycnf sample` recorded of a server: the period, the number of samples, the busiest hour of each kind."""

    since: str
    until: str
    samples: int
    hours: tuple[BusyHour, ...] = ()

    def hour(self, of: str) -> BusyHour | None:
        """The busiest hour of a kind, if one has at least two samples."""
        return next((hour for hour in self.hours if hour.of == of and len(hour.samples) > 1), None)


# What a server's own summary tables rank by time: waits, kinds of statements, and statements without their values.
WAIT_EVENTS, STATEMENT_KINDS, DIGESTS = "waits", "statements", "digests"


class EventTotal(Struct, frozen=True):
    """One row of a summary table: how often an event occurred and its time in seconds, since the server started."""

    name: str
    count: int
    seconds: float


class TopEvents(Struct, frozen=True):
    """One reading of a summary table, the longest time first; `clock` is local, in seconds.

    `reason` says why there are no rows.
    """

    of: str
    rows: tuple[EventTotal, ...]
    clock: float
    reason: str = ""
