"""Memory to read into and write from: as a server's own lies, made before anything is measured."""

from __future__ import annotations

import ctypes
import mmap

BEFORE = 8 << 20


def buffer(size: int) -> memoryview:
    """So many bytes, aligned to a page, zeroed.

    Private memory in ordinary pages, as malloc gives it to a server. How scattered these lie decides in how many parts
    a request is sent, and pages that a process gave back a moment ago lie more scattered than others: such are taken
    first, and are not what is used. Each measurement has memory of its own, so that luck with it shows as what it is,
    a difference between rounds.
    """
    room = mmap.mmap(-1, BEFORE + size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room.write(bytes(BEFORE + size))  # pages that were never touched would be made while we measure
    room.madvise(mmap.MADV_DONTNEED, 0, BEFORE)
    return memoryview(room)[BEFORE:]


def address(memory: memoryview) -> int:
    """Where it lies."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
