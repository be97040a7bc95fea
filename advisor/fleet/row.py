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
UNREAD = "its machine was not read in time"  # until it has been


class Status(StrEnum):
    """How it ended, best first; of `audited` and `lost` there is a snapshot."""

    AUDITED = "audited"
    LOST = "lost"  # the connection broke on the way; what was read until then is kept
    REFUSED = "refused"  # nothing listens there
    DENIED = "denied"  # the server doesn't let the account in
    SILENT = "silent"  # no answer in time
    FAILED = "failed"  # anything else: variables that make no sense, names that don't resolve, TLS, …
    UNASKED = "unasked"  # the run ended before its turn


# What to do about each; the words of one server's commands name options that a fleet has as variables.
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

    `snapshot` is the file's name below the run directory, empty where there is none; `host` says in words what came of
    reading the machine under the server, empty where it was read; `seconds` is the time it all took.
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
        """Whether there are facts of its server, be they incomplete."""
        return bool(self.snapshot)

    @property
    def remedy(self) -> str:
        """What to do about it; empty where there is nothing to do."""
        return REMEDIES.get(self.status, "")
