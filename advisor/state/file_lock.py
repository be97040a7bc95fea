"""One of several mycnf at a time changes a file that is replaced by each, so that nobody's change is lost."""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def lock_file(path: str) -> Iterator[None]:
    """Wait until no other mycnf changes the file, and keep others waiting for the block.

    The kernel lifts the lock of a process that dies. A file that isn't there, or that can't be locked where it lies, is
    nobody's alone.
    """
    handle = _locked(path)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _locked(path: str) -> int | None:
    """The file, open and locked, and still the one of that name: who waited may hold one that was replaced since."""
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
