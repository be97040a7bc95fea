"""Whatever ansible started ends with the run: its workers have sessions of their own, where no terminal ends them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = 15.0  # seconds that a process has to end in, once it is told to
LOOK = 0.02  # seconds between two looks at which are left
_DEATH, _SUBREAPER = 1, 36  # prctl(2): PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER


@contextlib.contextmanager
def adopt_orphans() -> Iterator[frozenset[int]]:
    """For the block, processes below this one that lose their parent become its own children.

    Gives those that it has already: a shell that became this program may have left it some.
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
    """From now on this process is told to end (SIGTERM) where its parent ends; at once where that has already."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def children_of(pid: int) -> list[int]:
    """The processes that another one has started and that have not ended; itself where the kernel doesn't tell."""
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
    """Tell every process below this one to end, but those from before; wait, and kill what takes too long.

    A connection that ssh keeps for other runs too is not ours to end: it ends by itself.
    """
    told: set[int] = set()
    until = time.monotonic() + ENDING
    while left := set(_children()) - before:
        late = time.monotonic() > until
        for pid in left:
            if late or pid not in told:
                told.add(pid)
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(LOOK)


def _children() -> list[int]:
    """The processes whose parent this one is. One that has just ended counts: what it leaves comes to us by then."""
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
