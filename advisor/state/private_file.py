"""Files that are their owner's alone, and whole or not there."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from advisor.core.signals import interrupt_on_signals

PRIVATE = 0o600
PART = ".part"


def replace_private(path: str, data: bytes) -> None:
    """Write `data` beside `path` with mode 0600 and rename it; where that fails, OSError and the old file as it was.

    The mode is that whatever the umask; Ctrl-C, kill and a closed terminal leave nothing beside the old file.
    """
    beside = f"{path}.{os.urandom(4).hex()}{PART}"
    with interrupt_on_signals():
        try:
            _write(beside, data)
            os.replace(beside, path)
        except BaseException as error:
            if isinstance(error, OSError) and error.filename is None:
                error.filename = path  # of a disk that is full the system doesn't say where
            with suppress(OSError):
                os.unlink(beside)
            raise
    _sync(os.path.dirname(os.path.abspath(path)))


def make_private(handle: int, mode: int) -> None:
    """Give an open file or folder of ours that mode, which the umask may have kept it from having."""
    if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
        with suppress(OSError):  # file systems of other worlds have no modes
            os.fchmod(handle, mode)


def _write(path: str, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE), "wb") as file:
        make_private(file.fileno(), PRIVATE)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: str) -> None:
    with suppress(OSError):  # the text itself is synced: this only makes the new name outlive a crash
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
