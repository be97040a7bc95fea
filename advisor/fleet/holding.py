"""A run's directory is one run's at a time; what that run needs while it goes on is below it, and goes with it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import time
from typing import TYPE_CHECKING

from advisor.core.console import narrate
from advisor.core.errors import MycnfError
from advisor.fleet.folder import EARLIER, HOSTS, ROWS, SNAPSHOTS
from advisor.fleet.leaving import ENDING

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRATCH = "scratch"
PATIENCE = ENDING + 5  # seconds: a run that was killed has let go by then
LOOK = 0.2  # seconds between two tries
_PART = re.compile(r".+\.(?:row|json|list)\.[0-9a-f]{8}\.part")  # as privatefile names them


@contextlib.contextmanager
def held(folder: str) -> Iterator[int | None]:
    """Keep the directory for this run: gives the open handle that holds it, None where nothing can be locked.

    Processes that inherit the handle hold it too. A run that was killed is waited for until all it began has ended;
    raises MycnfError where another one goes on.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield handle if _locked(handle, folder) else None
    finally:
        os.close(handle)


def _locked(handle: int, folder: str) -> bool:
    until, told = time.monotonic() + PATIENCE, False
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not told:
                narrate(f"waiting for the run in {folder} that has not ended yet")
                told = True
        except OSError:
            return False  # some network file systems lock no directories
        else:
            return True
        if time.monotonic() > until:
            raise MycnfError(f"another mycnf fleet works in {folder}; wait for its end, or name another directory")
        time.sleep(LOOK)


def scratch(folder: str) -> str:
    """The directory for what is needed while the run goes on."""
    return os.path.join(folder, SCRATCH)


def make(place: str) -> None:
    """Make that directory. Raises OSError."""
    os.mkdir(place, 0o700)
    os.chmod(place, 0o700)  # of which the umask may have taken a part


def tidy(folder: str) -> None:
    """Take away what a run needed, and what a process that was killed left half written."""
    shutil.rmtree(os.path.join(folder, SCRATCH), ignore_errors=True)
    for place in (folder, os.path.join(folder, ROWS), os.path.join(folder, SNAPSHOTS)):
        with contextlib.suppress(OSError):
            for file in filter(_PART.fullmatch, os.listdir(place)):
                os.unlink(os.path.join(place, file))
    if os.path.exists(os.path.join(folder, HOSTS)):
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, EARLIER))
