"""Read a host: this one, a directory or a tar of its files; and prove whose host a server runs on."""

from __future__ import annotations

import os

from advisor.collect.host.archive import ArchiveError, open_tar
from advisor.collect.host.devices import read_devices
from advisor.collect.host.process import server_pids
from advisor.collect.host.read import read_host
from advisor.collect.host.root import DirectoryRoot, LiveRoot, Root
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


def open_root(path: str = "/") -> Root:
    """The host whose files stand at a path: / for this one, else a directory or a tar.

    Raises ArchiveError, with a remedy, for anything else.
    """
    if os.path.isdir(path):
        return LiveRoot() if os.path.samefile(path, "/") else DirectoryRoot(path)
    return open_tar(path)
