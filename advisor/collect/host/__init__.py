"""Read facts about a host from the live system, a directory or a tar, and prove which host a server runs on."""

from __future__ import annotations

from advisor.collect.host.devices import read_devices
from advisor.collect.host.host import open_root, read_host
from advisor.collect.host.process import NotProved, OwnershipProof, ServerClaim, find_server_process, server_pids
from advisor.collect.host.root import ArchiveError, Root
from advisor.collect.host.storage import trace_storage

__all__ = [
    "ArchiveError",
    "NotProved",
    "OwnershipProof",
    "Root",
    "ServerClaim",
    "find_server_process",
    "open_root",
    "read_devices",
    "read_host",
    "server_pids",
    "trace_storage",
]
