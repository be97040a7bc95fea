"""The reader of a host's tar, of its few relevant files; tar_script.py has what packs it."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import tarfile
import zlib
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from advisor.collect.host.root import MAX_READ, ArchiveError, FileId, decode, resolve

if TYPE_CHECKING:
    from advisor.facts.storage import Space


MAX_UNPACKED = 256 << 20
"""Maximum unpacked size of a tar in bytes; a machine with 64 processors needs 30 MB."""
MAX_MEMBERS = 400_000
MAX_KEPT = 64 << 20
MAX_PATH = 4096
"""Characters of a path, as in Linux: each directory above a longer one would take as much memory."""
MAX_FOLDERS = 64 << 20
"""Characters of the paths of all directories; a large machine has a tenth of it."""
MAX_FILE = 1 << 20
"""Bytes kept of one member; only /proc/cpuinfo can be longer, and only its first part is needed."""
_END = bytes(1024)
"""The end of every tar: two blocks of zeros."""


class TarContents(NamedTuple):
    """The contents of a tar by absolute path: files with their bytes, links with their targets, directories."""

    files: dict[str, bytes]
    links: dict[str, str]
    folders: set[str]

    def paths(self) -> set[str]:
        """All paths."""
        return {*self.files, *self.links, *self.folders}


class TarRoot:
    """The files of a host from a tar; see Root for its methods. Raises ValueError if there are too many directories."""

    def __init__(self, contents: TarContents) -> None:
        self._files = contents.files
        self._links = contents.links
        self._folders: dict[str, set[str]] = {"/": set()}
        self._room = MAX_FOLDERS
        for path in contents.folders:
            self._add_to_folder(path, None)
        for path in (*contents.files, *contents.links):
            self._add_to_folder(*posixpath.split(path))

    def read(self, path: str, limit: int = MAX_READ) -> str | None:
        """See Root."""
        data = self._files.get(self.real(path) or "")
        return None if data is None else decode(data[:limit])

    def names(self, path: str) -> tuple[str, ...]:
        """See Root."""
        return tuple(sorted(self._folders.get(self.real(path) or "", ())))

    def link(self, path: str) -> str | None:
        """See Root."""
        parent, name = posixpath.split(posixpath.normpath(path))
        real = self.real(parent)
        return None if real is None else self._links.get(posixpath.join(real, name))

    def real(self, path: str) -> str | None:
        """See Root."""
        return resolve(path, self._entry)

    def identify(self, path: str) -> FileId | None:  # noqa: ARG002 - the name is Root's
        """See Root: the identity of the original file is unknown in a copy."""
        return None

    def machine(self) -> str | None:
        """See Root: the copy may come from another machine."""
        return None

    def space(self, path: str) -> Space | None:  # noqa: ARG002 - the tar has room of its own
        """See Root: unknown in a tar."""
        return None

    def _entry(self, path: str) -> str | None:
        if path in self._links:
            return self._links[path]
        return "" if path in self._files or path in self._folders else None

    def _add_to_folder(self, folder: str, child: str | None) -> None:
        """Add a child to its directory, and the directory to its own parents, up to a known one."""
        while True:
            known = folder in self._folders
            self._room -= 0 if known else len(folder)
            if self._room < 0:
                raise ValueError("it holds more directories than a host")
            names = self._folders.setdefault(folder, set())
            if child is not None:
                names.add(child)
            if known:
                return
            folder, child = posixpath.split(folder)


def open_tar(path: str) -> TarRoot:
    """Read a host's tar (plain, gzip, bzip2 or xz).

    The tree may be in a single top-level directory, as in NAME/proc and NAME/sys. Raises ArchiveError if the file is
    not a tar, is truncated, or unpacks to more than a host's files can take.
    """
    try:
        with open(path, "rb") as raw:
            contents = _read_contents(_decompress(raw))
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ArchiveError(f"{path}: can't be read as the tar of a host: {reason}") from error
    top = _top(contents)
    if top is None:
        raise ArchiveError(f"{path}: holds neither proc nor sys, so it is not the tar of a host")
    try:
        return TarRoot(_contents_below(top, contents))
    except ValueError as error:
        raise ArchiveError(f"{path}: can't be read as the tar of a host: {error}") from error


class _LimitedStream(io.RawIOBase):
    """A stream that fails beyond the size of any real host's tar: a few kB can unpack to terabytes."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._left = MAX_UNPACKED
        self._tail = b""

    def read(self, size: int = -1) -> bytes:
        most = self._left + 1
        data = self._source.read(most if size < 0 else min(size, most))
        self._left -= len(data)
        if self._left < 0:
            raise ValueError(f"it unpacks to more than {MAX_UNPACKED >> 20} MB")
        self._tail = (self._tail + data)[-len(_END) :]
        return data

    def finish(self) -> None:
        """Read the rest; raises ValueError if it is not the end of a tar, which means that the tar is truncated."""
        while self.read(1 << 16):
            pass
        if self._tail != _END:
            raise ValueError("it is cut short")


def _decompress(raw: IO[bytes]) -> _LimitedStream:
    magic = raw.read(6)
    raw.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return _LimitedStream(cast("IO[bytes]", gzip.open(raw)))
    if magic.startswith(b"BZh"):
        return _LimitedStream(bz2.open(raw))
    if magic == b"\xfd7zXZ\0":
        return _LimitedStream(lzma.open(raw))
    return _LimitedStream(raw)


def _read_contents(plain: _LimitedStream) -> TarContents:
    """The files, links and directories; devices, FIFOs and names with .. are left out."""
    contents = TarContents({}, {}, set())
    kept = 0
    with tarfile.open(fileobj=plain, mode="r|") as archive:
        for count, member in enumerate(archive):
            path = _absolute(member.name)
            if count >= MAX_MEMBERS or kept >= MAX_KEPT:
                raise ValueError("it holds more than the files of a host")
            if path is None:
                continue
            if member.issym():
                contents.links[path] = member.linkname[:MAX_PATH]
            elif member.islnk():
                contents.files[path] = contents.files.get(_absolute(member.linkname) or "", b"")
            elif member.isdir():
                contents.folders.add(path)
            elif member.isreg() and (content := archive.extractfile(member)):
                contents.files[path] = content.read(MAX_READ if path.endswith("/proc/cpuinfo") else MAX_FILE)
                kept += len(contents.files[path])
    plain.finish()
    return contents


def _absolute(name: str) -> str | None:
    """A member's name as an absolute path; None for the top itself, for a name that leaves it, and for a longer one."""
    if len(name) > MAX_PATH:
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    return None if not parts or ".." in parts else "/" + "/".join(parts)


def _top(contents: TarContents) -> str | None:
    """The directory that contains proc or sys: "" or the first one that has either."""
    steps = [path.split("/", 3)[1:3] for path in sorted(contents.paths())]
    if any(step[0] in ("proc", "sys") for step in steps):
        return ""
    return next(("/" + step[0] for step in steps if step[1:] in (["proc"], ["sys"])), None)


def _contents_below(top: str, contents: TarContents) -> TarContents:
    """The contents below a directory, with paths relative to it."""
    size, inside = len(top), top + "/"
    return TarContents(
        {path[size:]: data for path, data in contents.files.items() if path.startswith(inside)},
        {path[size:]: target for path, target in contents.links.items() if path.startswith(inside)},
        {path[size:] for path in contents.folders if path.startswith(inside)},
    )
