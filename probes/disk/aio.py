"""Linux asynchronous I/O by system calls: many concurrent requests from one thread, into buffers aligned to pages."""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SETUP, DESTROY, SUBMIT, GET_EVENTS = range(4)  # io_setup, io_destroy, io_submit, io_getevents
_GENERIC = (0, 1, 2, 4)
CALL_NUMBERS = {
    "x86_64": (206, 207, 209, 208),
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "loongarch64": _GENERIC,
    "ppc64le": (227, 228, 230, 229),
    "s390x": (243, 244, 246, 245),
}
READ, WRITE = 0, 1
WORD_BYTES = 8
WORDS_OF_EVENT = 4


class _Request(ctypes.Structure):
    """The kernel's struct iocb; both halves of the second word are zero, so their order does not matter."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("key_and_flags", ctypes.c_uint64),
        ("opcode", ctypes.c_uint16),
        ("priority", ctypes.c_int16),
        ("file", ctypes.c_uint32),
        ("buffer", ctypes.c_uint64),
        ("length", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("reserved", ctypes.c_uint64),
        ("flags", ctypes.c_uint32),
        ("signal_to", ctypes.c_uint32),
    )


def aio_available() -> bool:
    """Whether the kernel allows asynchronous I/O for this process."""
    try:
        _destroy(_setup(1))
    except OSError:
        return False
    return True


class AioRing:
    """Requests of one size on one open file, with a buffer per slot; `memory` holds the buffers one after another.

    Raises OSError if the kernel does not allow asynchronous I/O.
    """

    def __init__(self, file: int, slots: int, block: int, opcode: int = READ) -> None:
        self._block = block
        self.memory = aligned_buffer(slots * block)
        start = buffer_address(self.memory)
        self._requests = (_Request * slots)()
        for slot, request in enumerate(self._requests):
            request.data, request.opcode, request.file = slot, opcode, file
            request.buffer, request.length = start + slot * block, block
        first, length = ctypes.addressof(self._requests), ctypes.sizeof(_Request)
        self._each = list(self._requests)
        self._addresses = (ctypes.c_uint64 * slots)(*(first + slot * length for slot in range(slots)))
        self._sent = [ctypes.c_void_p(ctypes.addressof(self._addresses) + slot * WORD_BYTES) for slot in range(slots)]
        self._events = (ctypes.c_uint64 * (WORDS_OF_EVENT * slots))()
        self._context = _setup(slots)
        # The constant arguments of the two calls are created once: each call is a good part of the driver's own cost.
        single, none = ctypes.c_long(1), ctypes.c_void_p(None)
        self._submit_one = _call(SUBMIT, self._context, single)
        self._get_events = _call(GET_EVENTS, self._context, single, ctypes.c_long(slots), self._events, none)

    def submit(self, slots: Iterable[int], places: Iterator[int]) -> None:
        """Submit the requests of these slots, each at the next offset in `places` (bytes in the file)."""
        each, sent, ask = self._each, self._sent, self._submit_one
        for slot in slots:
            each[slot].offset = next(places)
            # Submitted one by one: in a batch the first request would wait until the last is prepared.
            while ask(sent[slot]) < 1:
                _raise_errno_unless(errno.EAGAIN, errno.EINTR)

    def reap(self) -> list[int]:
        """Wait for at least one request, and return the slots of the finished ones; raises OSError if one failed.

        The list is empty if a signal interrupted the wait.
        """
        events = self._events
        got = self._get_events()
        if got < 0:
            _raise_errno_unless(errno.EINTR)
            return []
        words = events[: got * WORDS_OF_EVENT]
        for result in words[2::WORDS_OF_EVENT]:
            if result != self._block:
                self._raise_failed(ctypes.c_int64(result).value)
        return words[::WORDS_OF_EVENT]

    def close(self) -> None:
        """Wait for the pending requests and release the context."""
        if self._context.value:
            _destroy(self._context)
            self._context = ctypes.c_ulong(0)

    def _raise_failed(self, result: int) -> None:
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        raise OSError(errno.EIO, f"{result} of {self._block} bytes came through")


def _setup(slots: int) -> ctypes.c_ulong:
    context = ctypes.c_ulong(0)
    if _call(SETUP)(ctypes.c_uint(slots), ctypes.byref(context)) < 0:
        _raise_errno_unless()
    return context


def _destroy(context: ctypes.c_ulong) -> None:
    _call(DESTROY)(context)


def _call(which: int, *words: Any) -> Callable[..., int]:
    """A function for one of the four system calls with its first arguments bound.

    Raises OSError on an architecture whose system call numbers are not known.
    """
    numbers = CALL_NUMBERS.get(os.uname().machine)
    if numbers is None or sys.maxsize < 1 << 32:
        raise OSError(errno.ENOSYS, "this architecture's numbers of asynchronous I/O aren't known")
    function = ctypes.CDLL(None, use_errno=True)["syscall"]
    function.restype = ctypes.c_long
    return functools.partial(function, ctypes.c_long(numbers[which]), *words)


def _raise_errno_unless(*harmless: int) -> None:
    number = ctypes.get_errno()
    if number not in harmless:
        raise OSError(number, os.strerror(number))


SCATTERED_BYTES = 8 << 20


def aligned_buffer(size: int) -> memoryview:
    """A zeroed buffer of that many bytes, aligned to a page.

    It is private memory in ordinary pages, as a server gets from malloc. The fragmentation of its physical pages
    decides into how many parts a request is split, and pages that a process freed recently are more fragmented: such
    pages are allocated first and not used. Each measurement allocates its own buffer, so that this randomness appears
    as a difference between rounds.
    """
    room = mmap.mmap(-1, SCATTERED_BYTES + size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    room.write(bytes(SCATTERED_BYTES + size))  # touch all pages now, not during the measurement
    room.madvise(mmap.MADV_DONTNEED, 0, SCATTERED_BYTES)
    return memoryview(room)[SCATTERED_BYTES:]


def buffer_address(memory: memoryview) -> int:
    """The memory address of the buffer."""
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))
