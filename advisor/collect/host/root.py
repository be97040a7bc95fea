"""The source of a host's files, live or copied, and parsers for the small text formats in /proc and /sys.

All readers take absolute paths (`/proc/meminfo`), follow symbolic links inside their root but never out of it, read
only regular files up to a size limit, and treat unreadable files as absent. The parsers accept any text: invalid values
become None or are left out, because the texts may come from other machines.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
from itertools import islice
from typing import NamedTuple, Protocol

from advisor.core.errors import MycnfError
from advisor.facts.storage import Space

MAX_READ = 4 << 20
"""Bytes read of a file; /proc/cpuinfo with 1,000 processors has 2 MB, other files are much smaller."""
MAX_ENTRIES = 200_000
MAX_LINKS = 40
"""Symbolic links followed for one path, as in the kernel."""


class ArchiveError(MycnfError):
    """A host's tar cannot be read; defined here so that the tar reader is imported only for a tar."""


class FileId(NamedTuple):
    """The identity of a file, which is the same for other paths to it, and its owner."""

    device: int
    inode: int
    uid: int


class Root(Protocol):
    """Access to the files of one host."""

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """The text of a regular file, cut at `limit` bytes; None if it cannot be read."""

    def names(self, path: str) -> tuple[str, ...]:
        """The entries of a directory, sorted; empty if it cannot be listed."""

    def link(self, path: str) -> str | None:
        """The target of a symbolic link as stored; None if the path is not one."""

    def real(self, path: str) -> str | None:
        """The path with all links resolved, relative to the root; None if it does not exist."""

    def identify(self, path: str) -> FileId | None:
        """The identity of the file at a path; None if unknown."""

    def machine(self) -> str | None:
        """The architecture of the live machine (x86_64); None for copied files."""

    def space(self, path: str) -> Space | None:
        """The space of the file system at a path; None for copied files.

        This may hang on a network file system: do not call it for one.
        """


def decode(data: bytes) -> str:
    """The text of a small kernel file: invalid UTF-8 is replaced, and padding from tar is removed."""
    return data.decode("utf-8", "replace").rstrip("\0")


class LiveRoot:
    """The live machine, with the kernel's own path resolution."""

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        try:
            # O_NONBLOCK: opening a FIFO without a writer must not hang.
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
            usage = os.statvfs(path)
        except (OSError, ValueError):
            return None
        return Space(usage.f_blocks * usage.f_frsize, usage.f_bavail * usage.f_frsize, usage.f_files, usage.f_favail)


class DirectoryRoot(LiveRoot):
    """A copy of a host's files in a directory; a link to /x points to x in the copy."""

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
        """See Root: the copy may come from another machine."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002 - the copy has room of its own
        """See Root: unknown in a copy."""
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
    """Looks up a path whose parent contains no link.

    Returns a link's target, "" for anything else, None if it does not exist.
    """

    def __call__(self, path: str, /) -> str | None:
        """Look up one path."""


def resolve(path: str, entry: PathEntry) -> str | None:
    """The path without links and dots, never above /; None if a component is missing or links form a loop."""
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
    """The components of a path in reverse order."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _read_at_most(handle: int, limit: int) -> bytes:
    """Read up to `limit` bytes or to the end of a file; the length of a /proc file is known only at its end."""
    chunks: list[bytes] = []
    while limit > 0:
        chunk = os.read(handle, min(limit, 1 << 16))
        if not chunk:
            break
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


MAX_CPU = 1 << 16
"""Processor numbers from here on are invalid; the kernel's maximum is 8,192."""
_NUMBER = re.compile(r"\s*(-?[0-9]{1,20})\s*")
_SIZE = re.compile(r"\s*([0-9]{1,15})\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_number(text: str | None) -> int | None:
    """A text that is a single decimal number, else None."""
    found = _NUMBER.fullmatch(text) if text is not None else None
    return int(found[1]) if found else None


def parse_size(text: str | None) -> int | None:
    """A size in bytes from "32K", "4096", "64 kB"; in powers of 1024, as in the kernel."""
    found = _SIZE.fullmatch(text) if text is not None else None
    return int(found[1]) << _UNITS[found[2].upper()] if found else None


def printable_line(text: str | None) -> str | None:
    """The first line, stripped, with unprintable characters replaced by blanks; None if nothing is left."""
    if text is None:
        return None
    line = text.strip().partition("\n")[0]
    return "".join(c if c.isprintable() else " " for c in line).strip() or None


def bracketed_choice(text: str | None) -> str | None:
    """The selected choice of "always [madvise] never"; None if there is none."""
    found = re.search(r"\[([^\]\s]+)\]", text or "")
    return printable_line(found[1]) if found else None


def cpu_list(text: str | None) -> tuple[int, ...]:
    """The numbers of "0-3,8,10-14:2"."""
    numbers: set[int] = set()
    for part in (text or "").strip().split(","):
        match = re.fullmatch(r"\s*([0-9]{1,6})(?:-([0-9]{1,6})(?::([0-9]{1,6}))?)?\s*", part)
        if match:
            first, last, step = int(match[1]), int(match[2] or match[1]), int(match[3] or 1)
            numbers.update(range(first, min(last, MAX_CPU) + 1, max(step, 1)))
    return tuple(sorted(n for n in numbers if n < MAX_CPU))


def cpu_mask(text: str | None) -> frozenset[int]:
    """The numbers whose bits are set in "00000000,0000ff00"."""
    digits = (text or "").strip().replace(",", "")
    if not re.fullmatch(r"[0-9a-fA-F]{1,16384}", digits):
        return frozenset()
    bits = int(digits, 16)
    return frozenset(n for n in range(bits.bit_length()) if bits >> n & 1)


def key_values(text: str | None, separator: str = ":") -> dict[str, str]:
    """Lines of "key: value" by key; the first of equal keys wins."""
    rows: dict[str, str] = {}
    for line in (text or "").split("\n"):
        key, found, value = line.partition(separator)
        if found:
            rows.setdefault(key.strip(), value.strip())
    return rows


def read_number(root: Root, path: str) -> int | None:
    """The number in a file."""
    return parse_number(root.read(path, 64))


def read_line(root: Root, path: str) -> str | None:
    """The first line of a file, made printable."""
    return printable_line(root.read(path, 4096))
