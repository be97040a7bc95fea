"""What may be known about a server: frozen values, kept as a snapshot, off the lint path."""

from msgspec import Struct, field

from advisor.facts.files import FileCopy, OptionFiles, PersistedOption, Service
from advisor.facts.host import Host
from advisor.facts.probes import ProbeResult
from advisor.facts.server import Accounts, DataSizes, Link, Plugin, Replication, Server, VariableOrigin
from advisor.facts.workload import BusyHour, Sample, SampledHours, Workload

SCHEMA = "1.2"

__all__ = [
    "SCHEMA",
    "Accounts",
    "BusyHour",
    "DataSizes",
    "Facts",
    "FileCopy",
    "Host",
    "Link",
    "OptionFiles",
    "PersistedOption",
    "Plugin",
    "ProbeResult",
    "Replication",
    "Sample",
    "SampledHours",
    "Server",
    "Service",
    "Unavailable",
    "VariableOrigin",
    "Workload",
]


class Unavailable(Struct, frozen=True):
    """A part of the facts that is not there: server.replication, host, files, …, with what it needs."""

    part: str
    reason: str


class Facts(Struct, frozen=True):
    """Everything that one audit saw, as a snapshot keeps it.

    `taken_at` is UTC in ISO 8601; `lost` says how the connection ended where it broke on the way; `statements` counts
    what was sent, the driver included, and `seconds` is the time spent besides the window. `probes` are the latest
    results of experiments on this host, one of each kind; `sampled` is what `mycnf sample` kept of the server.
    """

    schema: str
    tool: str
    taken_at: str
    server: Server
    workload: Workload | None = None
    host: Host | None = None
    files: OptionFiles | None = None
    unavailable: tuple[Unavailable, ...] = field(default_factory=tuple)
    lost: str = ""
    statements: int = 0
    seconds: float = 0.0
    service: Service | None = None
    probes: tuple[ProbeResult, ...] = ()
    sampled: SampledHours | None = None

    def reason_missing(self, part: str) -> str:
        """Why a part is missing, for a rule that is skipped over it."""
        return next((u.reason for u in self.unavailable if u.part == part), f"{part} was not collected")
