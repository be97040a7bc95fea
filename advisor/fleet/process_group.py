"""Stop all processes that ansible started at the end of the run; its workers have sessions of their own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = 15.0  # seconds that a process may take to end after SIGTERM
LOOK = 0.02  # seconds between two checks for remaining processes
_DEATH, _SUBREAPER = 1, 36  # prctl(2): PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER


@contextlib.contextmanager
def adopt_orphans() -> Iterator[frozenset[int]]:
    """In the block, orphaned descendants of this process become its own children.

    Yields the children that it already has: a shell that became this program by exec may have left some.
    """
    before = frozenset(_children())
    _set_subreaper(1)
    try:
        yield before
    finally:
        _set_subreaper(0)


def _set_subreaper(on: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, on, 0, 0, 0)


def end_with_parent(parent: int) -> None:
    """Send SIGTERM to this process when its parent ends; at once if that has ended already."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def children_of(pid: int) -> list[int]:
    """The running children of a process; the process itself if the kernel does not report them."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [child for child in map(int, file.read().split()) if _is_alive(child)]
    except OSError:
        return [pid]


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in b"ZX"
    except OSError:
        return False


def end_children(before: frozenset[int]) -> None:
    """Send SIGTERM to all descendants except those in `before`; wait, and kill those that take too long.

    A connection that ssh keeps for other runs is not stopped here: it ends on its own.
    """
    signalled: set[int] = set()
    until = time.monotonic() + ENDING
    while left := set(_children()) - before:
        late = time.monotonic() > until
        for pid in left:
            if late or pid not in signalled:
                signalled.add(pid)
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(LOOK)


def _children() -> list[int]:
    """The child processes. Ended ones are reaped first, so that their orphans are already our children."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _is_ours(pid)]


def _is_ours(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            shared = file.read().rstrip(b"\0").endswith(b"[mux]")
    except OSError:
        return False
    return parent == os.getpid() and not shared
