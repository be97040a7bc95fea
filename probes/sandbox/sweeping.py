"""Sweep up what a kill -9 left: scratch directories whose owner is dead."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import signal
import stat
import time
from typing import Any

from probes import PRODUCT
from probes.sandbox.scratch import DEATH_TAKES, MARKER, NEW, PREFIX, PRIVATE, default_base, identity, remove

NAME = re.compile(re.escape(PREFIX) + "[a-z0-9_]{8}")  # as tempfile makes names
BIRTH = 60.0  # seconds after which a directory without a marker won't get one any more; that takes well below one


def sweep(base: str | os.PathLike[str] | None = None) -> list[str]:
    """Remove what dead owners left in `base`: their servers, then their directories; returns those paths.

    Only real directories of this user with our own marker in them are touched, and none whose owner lives.
    """
    parent = os.path.abspath(os.fspath(base)) if base is not None else default_base()
    try:
        ours = [
            entry.path
            for entry in os.scandir(parent)
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)
        ]
    except OSError:
        return []  # there is nothing to sweep; whoever needs the directory will be told
    return [path for path in ours if _sweep_one(path)]


def has_left(owner: int, base: str) -> bool:
    """Whether a directory in `base` says that it is of the process of that number, alive or not."""
    for name in os.listdir(base) if os.path.isdir(base) else ():
        if name.startswith(PREFIX):
            with contextlib.suppress(OSError), open(os.path.join(base, name, MARKER), "rb") as marker:
                facts = _facts(marker.fileno())
                told = facts.get("owner") if facts else None
                if isinstance(told, dict) and told.get("pid") == owner:
                    return True
    return False


def _sweep_one(path: str) -> bool:
    marker = _abandoned_marker(path)
    if marker is None:
        return _bury_stillborn(path)
    try:
        facts = _facts(marker)
        if facts is None:
            return False
        _end(facts.get("server"))
        return remove(path)
    finally:
        os.close(marker)


def _abandoned_marker(path: str) -> int | None:
    """The locked marker of a directory without a living owner, None for every other directory."""
    try:
        if not _is_private(os.lstat(path)):
            return None
        marker = os.open(os.path.join(path, MARKER), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(marker).st_uid == os.geteuid() and stat.S_ISREG(os.fstat(marker).st_mode):
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return marker
    except OSError:
        pass
    os.close(marker)
    return None


def _is_private(directory: os.stat_result) -> bool:
    """Whether a directory is this user's alone; what it has from a parent that hands its group down doesn't matter."""
    return directory.st_uid == os.geteuid() and stat.S_IMODE(directory.st_mode) & 0o777 == PRIVATE


def _bury_stillborn(path: str) -> bool:
    """Remove a directory whose maker was killed before it had a marker, or a moment after it had none any more.

    It holds nothing, or nothing but the marker that was still to get its name.
    """
    if not NAME.fullmatch(os.path.basename(path)):
        return False
    with contextlib.suppress(OSError):
        directory = os.lstat(path)
        if _is_private(directory) and time.time() - directory.st_mtime > BIRTH and os.listdir(path) in ([], [NEW]):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(path, NEW))
            os.rmdir(path)
            return True
    return False


def _facts(marker: int) -> dict[str, Any] | None:
    try:
        facts = json.loads(os.pread(marker, 4096, 0))
    except ValueError:
        return None
    return facts if isinstance(facts, dict) and facts.get("product") == PRODUCT else None


def _end(server: object) -> None:
    # The number alone could be another process by now; the time of its start can't be the same.
    if not isinstance(server, dict) or not isinstance(server.get("pid"), int):
        return
    deadline = time.monotonic() + DEATH_TAKES
    while server == identity(server["pid"]) and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            os.kill(server["pid"], signal.SIGKILL)
        time.sleep(0.05)
