"""Where provisioned servers stand, and how one gets there whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


class ProvisionError(Exception):
    """A server can't be had: what prevents it, and how to get past it, in one line."""


def shelf() -> Path:
    """The directory that holds one folder a server: `MYCNF_SERVERS`, else the user's cache."""
    return Path(os.environ.get("MYCNF_SERVERS") or "~/.cache/mycnf/servers").expanduser().absolute()


def workroom(name: str) -> Path:
    """A directory for downloads that outlives a broken run, so that the next one resumes."""
    room = shelf() / ".work" / name
    room.mkdir(parents=True, exist_ok=True)
    return room


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """Hold the lock of one server or one package source; a second process waits for the first."""
    locks = shelf() / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / name).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def placing(name: str) -> Iterator[Path]:
    """Give an empty directory on the shelf that becomes server `name` if the block succeeds.

    It is renamed into place at the end, so that a reader meets the old server, the new one or none. The caller
    holds the server's lock.
    """
    for stale in shelf().glob(f".{name}.*"):
        shutil.rmtree(stale, ignore_errors=True)  # of a run that was killed: the caller holds the lock now
    beside = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=shelf()))
    beside.chmod(0o755)
    try:
        yield beside
        final = shelf() / name
        if final.exists():
            outgoing = Path(tempfile.mkdtemp(prefix=f".{name}.old.", dir=shelf()))
            final.rename(outgoing / name)
            shutil.rmtree(outgoing, ignore_errors=True)
        beside.rename(final)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
