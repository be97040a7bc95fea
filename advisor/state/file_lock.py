"""A lock for files that are replaced on each change, so that concurrent mycnf processes lose no change."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def lock_file(path: str) -> Iterator[None]:
    """Hold an exclusive lock on the file within the block.

    The kernel releases the lock if the process dies. A file that does not exist, or cannot be locked on its file
    system, is not locked.
    """
    handle = _locked(path)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _locked(path: str) -> int | None:
    """Return the locked file; retries if the file was replaced while waiting. None if it cannot be opened."""
    while True:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        except FileNotFoundError:
            pass
        except OSError:
            return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
