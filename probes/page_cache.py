"""Evict files of the probes from the page cache, and measure how much of a file is cached."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.facts.host import Host

PAGE = mmap.PAGESIZE


def evict(paths: list[str]) -> None:
    """Sync files and evict them from the page cache."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):  # a server sometimes removes files itself
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


def resident_share(path: str) -> float:
    """The share of a file that is in the page cache; 0 for an empty file."""
    size = os.path.getsize(path)
    if size == 0:
        return 0.0
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Mapping a file and checking its pages does not read them.
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, handle, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
        try:
            pages = (size + PAGE - 1) // PAGE
            seen = ctypes.create_string_buffer(pages)
            if libc.mincore(address, size, seen):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
            return sum(byte & 1 for byte in seen.raw) / pages
        finally:
            libc.munmap(address, size)
    finally:
        os.close(handle)


def has_device(host: Host) -> bool:
    """Whether the file system under test has a device; files on tmpfs cannot be evicted from memory."""
    return host.storage is None or host.storage.mount.fs_type not in ("tmpfs", "ramfs")
