"""Memory to read into and write from: as a server's own lies, made before anything is measured."""

from __future__ import annotations

import ctypes
import mmap


def buffer(size: int) -> memoryview:
    """So many bytes, aligned to a page, zeroed.

    Private memory in ordinary pages, as malloc gives it: how scattered these lie decides in how many parts a large
    request is sent, and a server has no other memory either. Each measurement is given its own, so that luck with it
    shows as what it is, a difference between rounds.
    """
    memory = memoryview(mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    memory[:] = bytes(size)  # pages that were never touched would be made while we measure
    return memory


def address(memory: memoryview) -> int:
    """Where it lies."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
