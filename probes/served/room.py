"""End a throwaway server once its file system is full: some of its writes would wait for room for ever."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from probes.sandbox.errors import full, speaks_of_room
from probes.sandbox.scratch import out_of_room

if TYPE_CHECKING:
    from collections.abc import Iterator

    from probes.sandbox import Sandbox, SandboxError

LOOK = 0.5  # seconds


@contextlib.contextmanager
def room_watched(sandbox: Sandbox) -> Iterator[None]:
    """Look after the file system of a server for as long as the context lasts.

    MyISAM tables and binary logs wait on a full one until somebody makes room, and so would whoever waits for them.
    What else writes there would fail meanwhile: ending the server is also the first step to giving the room back.
    """
    over = threading.Event()
    thread = threading.Thread(target=_look, args=(sandbox, over), name="mycnf-room", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def want_of_room(sandbox: Sandbox, said: str = "") -> SandboxError | None:
    """The error of a server that has no room left, by its file system, its log or what it `said`; None with room."""
    if out_of_room(sandbox.directory) or speaks_of_room(sandbox.log()) or speaks_of_room(said):
        return full(f"{sandbox.binary.name} can't go on in {sandbox.directory}")
    return None


def _look(sandbox: Sandbox, over: threading.Event) -> None:
    while not over.wait(LOOK):
        if sandbox.running and want_of_room(sandbox):
            sandbox.kill()
