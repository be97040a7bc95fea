"""The facts about a server: frozen values, saved as a snapshot. Lint does not import them."""

from msgspec import Struct, field

from advisor.facts.files import FileCopy, OptionFiles, PersistedOption, Service
from advisor.facts.host import Host
from advisor.facts.probes import ProbeResult
from advisor.facts.server import (
    Accounts,
    DataSizes,
    Link,
    Plugin,
    Replication,
    SchemaRisks,
    Server,
    VariableOrigin,
    VariableSetter,
)
from advisor.facts.storage import SpaceReading
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
    "SchemaRisks",
    "Server",
    "Service",
    "SpaceReading",
    "Unavailable",
    "VariableOrigin",
    "VariableSetter",
    "Workload",
]


class Unavailable(Struct, frozen=True):
    """A missing part of the facts (server.replication, host, files, …) and what it needs."""

    part: str
    reason: str


class Facts(Struct, frozen=True):
    """Everything that one audit read, as saved in a snapshot.

    `taken_at` is UTC in ISO 8601; `lost` says how the connection ended where it broke on the way; `statements` counts
    what was sent, the driver included, and `seconds` is the time spent besides the window. `probes` are the latest
    results of experiments on this host, one of each kind; `sampled` is what `mycnf sample` kept of the server, and
    `spaces` are earlier readings of the room on its disks, of samples and saved snapshots.
    `schema_risks` is what `--schema` read of the tables' definitions, None without that option.
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
    spaces: tuple[SpaceReading, ...] = ()
    schema_risks: SchemaRisks | None = None

    def reason_missing(self, part: str) -> str:
        """Why a part is missing; rules that need it are skipped with this reason."""
        return next((u.reason for u in self.unavailable if u.part == part), f"{part} was not collected")
