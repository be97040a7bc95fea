"""Read a host: this one, a directory or a tar of its files; and prove whose host a server runs on."""

from __future__ import annotations

from advisor.collect.host.devices import read_devices
from advisor.collect.host.opening import open_root
from advisor.collect.host.process import server_pids
from advisor.collect.host.read import read_host
from advisor.collect.host.root import ArchiveError, Root
from advisor.collect.host.storage import trace
from advisor.collect.host.tarscript import host_tar_script
from advisor.collect.host.whose import NotProved, Proof, ServerClaim, prove

__all__ = [
    "ArchiveError",
    "NotProved",
    "Proof",
    "Root",
    "ServerClaim",
    "host_tar_script",
    "open_root",
    "prove",
    "read_devices",
    "read_host",
    "server_pids",
    "trace",
]
