"""Where the host's files are read from: the running machine, or a directory that holds a copy of its files.

Every reader here takes absolute paths (`/proc/meminfo`), follows symbolic links inside its root and never out
of it, reads regular files only and only so much of them, and takes what it can't read for absent.
"""

from __future__ import annotations

import os
import posixpath
import stat
from itertools import islice
from typing import NamedTuple, Protocol

from advisor.core.errors import MycnfError
from advisor.facts.host import Space

MAX_READ = 4 << 20
"""Bytes of a file that are read; /proc/cpuinfo of a machine with 1,000 processors is 2 MB, all else is far smaller."""
MAX_ENTRIES = 200_000
MAX_LINKS = 40
"""Symbolic links followed for one path, as in the kernel."""


class ArchiveError(MycnfError):
    """The tar of a host can't be read; the room that reads tars is opened where there is one."""


class FileId(NamedTuple):
    """What makes a file the same file under another path, and who owns it."""

    device: int
    inode: int
    uid: int


class Root(Protocol):
    """A place that answers for the files of one host."""

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """The text of a regular file, cut at `limit` bytes; None where it can't be read."""

    def names(self, path: str) -> tuple[str, ...]:
        """The entries of a directory, sorted; none where it can't be listed."""

    def link(self, path: str) -> str | None:
        """Where a symbolic link points, as it is written; None where the path is none."""

    def real(self, path: str) -> str | None:
        """The path with all links followed, as seen from inside the root; None where it leads nowhere."""

    def identify(self, path: str) -> FileId | None:
        """Which file a path leads to; None where that can't be told."""

    def machine(self) -> str | None:
        """The machine's name for its architecture (x86_64); None where only the files can tell."""

    def space(self, path: str) -> Space | None:
        """The room of the file system that a path lies on; None where only files of the host were copied.

        A file system that lives on another machine may let this wait for ever: don't ask for one.
        """


def decode(data: bytes) -> str:
    """The text of a small kernel file: what isn't UTF-8 is replaced, and the padding that tar leaves is taken off."""
    return data.decode("utf-8", "replace").rstrip("\0")


class LiveRoot:
    """The machine that this process runs on, through the kernel's own path resolution."""

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        try:
            # O_NONBLOCK: opening a FIFO that nobody writes to must not hang.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except (OSError, ValueError):
            return None
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            return decode(_read_at_most(handle, limit))
        except OSError:
            return None
        finally:
            os.close(handle)

    def names(self, path: str) -> tuple[str, ...]:
        """See Root."""
        try:
            with os.scandir(path) as entries:
                return tuple(sorted(entry.name for entry in islice(entries, MAX_ENTRIES)))
        except (OSError, ValueError):
            return ()

    def link(self, path: str) -> str | None:
        """See Root."""
        try:
            return os.readlink(path)
        except (OSError, ValueError):
            return None

    def real(self, path: str) -> str | None:
        """See Root."""
        try:
            return os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return None

    def identify(self, path: str) -> FileId | None:
        """See Root."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return None
        return FileId(status.st_dev, status.st_ino, status.st_uid)

    def machine(self) -> str | None:
        """See Root."""
        return os.uname().machine

    def space(self, path: str) -> Space | None:
        """See Root."""
        try:
            told = os.statvfs(path)
        except (OSError, ValueError):
            return None
        return Space(told.f_blocks * told.f_frsize, told.f_bavail * told.f_frsize, told.f_files, told.f_favail)


class DirectoryRoot(LiveRoot):
    """A copy of a host's files under a directory; a link to /x leads to x in the copy."""

    def __init__(self, directory: str) -> None:
        self._top = os.path.abspath(directory)
        self._entries: dict[str, str | None] = {}

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        place = self._place(path)
        return None if place is None else super().read(place, limit)

    def names(self, path: str) -> tuple[str, ...]:
        """See Root."""
        place = self._place(path)
        return () if place is None else super().names(place)

    def link(self, path: str) -> str | None:
        """See Root."""
        parent, name = posixpath.split(posixpath.normpath(path))
        place = self._place(parent)
        return super().link(posixpath.join(place, name)) if place is not None and name else None

    def real(self, path: str) -> str | None:
        """See Root."""
        return resolve(path, self._entry)

    def identify(self, path: str) -> FileId | None:
        """See Root."""
        place = self._place(path)
        return None if place is None else super().identify(place)

    def machine(self) -> str | None:
        """See Root: the copy may be of another machine than this."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002 - the copy has room of its own
        """See Root: the copy doesn't tell."""
        return None

    def _place(self, path: str) -> str | None:
        real = self.real(path)
        return None if real is None else self._top + real

    def _entry(self, path: str) -> str | None:
        if path not in self._entries:
            self._entries[path] = self._follow(path)
        return self._entries[path]

    def _follow(self, path: str) -> str | None:
        place = self._top + path
        try:
            return os.readlink(place) if stat.S_ISLNK(os.lstat(place).st_mode) else ""
        except (OSError, ValueError):
            return None


class PathEntry(Protocol):
    """What stands at a path whose parent holds no link: a link's target, "" for anything else, None for nothing."""

    def __call__(self, path: str, /) -> str | None:
        """Look at one path."""


def resolve(path: str, entry: PathEntry) -> str | None:
    """The path without links and dots, never above /; None where a step is missing or links lead in a circle."""
    real, rest, links = "/", _parts(path), 0
    while rest:
        part = rest.pop()
        if part == "..":
            real = posixpath.dirname(real)
            continue
        target = entry(posixpath.join(real, part))
        if target is None:
            return None
        if not target:
            real = posixpath.join(real, part)
            continue
        links += 1
        if links > MAX_LINKS:
            return None
        real = "/" if target.startswith("/") else real
        rest.extend(_parts(target))
    return real


def _parts(path: str) -> list[str]:
    """The steps of a path, the first one last."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _read_at_most(handle: int, limit: int) -> bytes:
    """Read to the end of a file or to `limit` bytes; a /proc file tells its length only by ending."""
    chunks: list[bytes] = []
    while limit > 0:
        chunk = os.read(handle, min(limit, 1 << 16))
        if not chunk:
            break
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)
