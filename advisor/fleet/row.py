"""What came of one host of a fleet, whether or not its server could be asked.

The process of a host only writes its row. Rows that are read from a run directory are checked by pydantic, which takes
as much processor time to import as such a process needs to start: see `advisor.fleet.run_directory`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = "1.0"
UNREAD = "its machine was not read in time"  # until the machine has been read


class Status(StrEnum):
    """The outcome, best first; `audited` and `lost` have a snapshot."""

    AUDITED = "audited"
    LOST = "lost"  # the connection was lost; what was read until then is saved
    REFUSED = "refused"  # connection refused
    DENIED = "denied"  # the server denied access to the account
    SILENT = "silent"  # no answer in time
    FAILED = "failed"  # anything else: invalid variables, unresolvable names, TLS, …
    UNASKED = "unasked"  # the run ended before this host


# The remedy for each status; messages for a single server name options that are variables in a fleet.
REMEDIES: Mapping[Status, str] = {
    Status.LOST: "go on with --resume once the server stays up",
    Status.REFUSED: "is the server running, and does it listen there? See mycnf_host and mycnf_port",
    Status.DENIED: "check mycnf_user and mycnf_password; mycnf grants prints the account to create",
    Status.SILENT: "check the address, firewalls and the server's load, or allow more with --timeout",
    Status.FAILED: "see its address and variables in the inventory",
    Status.UNASKED: "go on with --resume",
}


@dataclass(frozen=True, kw_only=True)
class HostRow:
    """One host: its inventory groups, how it ended and why, where its server was looked for, and what was kept.

    `snapshot` is the file name relative to the run directory, empty without one. `host` is the reason why the machine
    under the server was not read, empty if it was. `seconds` is the total time.
    """

    name: str
    groups: tuple[str, ...] = ()
    status: Status = Status.UNASKED
    reason: str = ""
    place: str = ""
    snapshot: str = ""
    host: str = ""
    seconds: float = 0.0
    schema: str = SCHEMA

    @property
    def has_facts(self) -> bool:
        """Whether there are facts about its server, even incomplete ones."""
        return bool(self.snapshot)

    @property
    def remedy(self) -> str:
        """What to do; empty if nothing."""
        return REMEDIES.get(self.status, "")
