"""Files that are their owner's alone, and whole or not there."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress

PRIVATE = 0o600


def replace_private(path: str, data: bytes) -> None:
    """Write `data` beside `path` with mode 0600 and rename it; where that fails, OSError and the old file as it was."""
    beside = f"{path}.{secrets.token_hex(4)}.part"
    try:
        _write(beside, data)
        os.replace(beside, path)
        _sync(os.path.dirname(os.path.abspath(path)))
    except OSError:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _write(path: str, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: str) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
