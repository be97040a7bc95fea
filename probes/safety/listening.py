"""Measure the response time of another server, if the user's option files give access to it."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.options import ConnectRequest, resolve_account
from advisor.collect.connection.session import ConnectionLost, StatementFailed, open_session, send
from advisor.collect.connection.sockets import listening_inodes
from advisor.collect.connection.statements import IDENTITY
from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from advisor.collect.connection.session import Session
    from probes.safety.neighbours import OtherServer

SESSION_LIMITS = ConnectionLimits(connect=2.0, read=2.0, statement=2)


class LatencySession:
    """A session on a server that sends one small statement repeatedly."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self) -> float | None:
        """Seconds until the answer; None if the connection is lost."""
        began = time.monotonic()
        try:
            send(self._session, IDENTITY)
        except ConnectionLost:
            return None
        except StatementFailed:
            pass  # a response beyond the time limit is a measurement too
        return time.monotonic() - began

    def close(self) -> None:
        """Close the session."""
        self._session.close()


def open_latency_session(neighbour: OtherServer) -> LatencySession | None:
    """Open a session on this server with the account of the user's option files; None if they give no access."""
    paths: list[str | None] = [*listening_sockets(neighbour.pid)]
    for path in paths or [None]:
        try:
            session = open_session(resolve_account(ConnectRequest(socket=path)), SESSION_LIMITS)
        except MycnfError:
            continue
        if session.wire.peer_pid == neighbour.pid:
            return LatencySession(session)
        session.close()
    return None


def listening_sockets(pid: int) -> list[str]:
    """The Unix sockets that a process listens on, by /proc/PID/fd; empty if the kernel does not show them to us.

    MySQL has a second one for X Protocol with a configurable name; a socket with its usual name is put last.
    """
    own = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                own.add(os.readlink(entry.path))
    paths = (path for path, inode in listening_inodes() if f"socket:[{inode}]" in own)
    return sorted(paths, key=lambda path: ("mysqlx" in os.path.basename(path), path))
