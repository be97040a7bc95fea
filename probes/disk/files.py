"""Files that probes read and write: scratch files, their part in the page cache, and how requests on them are made."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import time
from typing import TYPE_CHECKING, NamedTuple, Self

from advisor.core.model import exact_size, format_size
from probes.disk.aio import aio_available
from probes.experiment import Choice, ProbeError
from probes.sandbox import sweep
from probes.sandbox.cleanup import register, unregister
from probes.sandbox.scratch import Scratch

if TYPE_CHECKING:
    from collections.abc import Callable

    from advisor.facts.host import Host
    from probes.experiment import ChosenOptions, Environment, ProbeRequest
    from probes.stop import StopSignal


CHUNK = 4 << 20
PAGE = 4096
STAMP_BYTES = 8
FILL_SECONDS = 20.0
"""Seconds after which writing a file ends, even if it is not complete."""
MINIMUM_BYTES = 64 << 20
"""Bytes that are always written, however long it takes."""
SYSTEM_PAGE = mmap.PAGESIZE


class ScratchFiles:
    """A scratch directory for the probe's files; it is removed when the context or the process ends."""

    def __init__(self, directory: str, report: Callable[[str], None], stop: StopSignal) -> None:
        sweep(directory)
        self._scratch = Scratch(directory, needed=0)  # the space for a file is checked when it is created
        self._report, self._stop = report, stop
        register(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove everything; calling it again has no effect."""
        self._scratch.remove()
        unregister(self)

    def create(self, name: str, size: int) -> str:
        """Create a file of that size and return its path; it is synced to disk and contiguous if the disk has room.

        On a slow disk it is shorter. Raises ProbeError if it cannot be written.
        """
        path = self._scratch.file(os.path.join("data", name))
        self._report(f"writing a file of {format_size(size)}")
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.posix_fallocate(file, 0, size)
                written = self._fill(file, size)
                os.ftruncate(file, written)
                os.fsync(file)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(file)
        except OSError as error:
            raise _write_error(path, size, error) from error
        return path

    def _fill(self, file: int, size: int) -> int:
        """Write and sync the file in chunks, until it is complete, the run is stopped, or FILL_SECONDS are over."""
        chunk = mmap.mmap(-1, CHUNK)
        chunk[:] = os.urandom(CHUNK)
        began, done = time.monotonic(), 0
        while done < size:
            if self._stop.is_set() or (done >= MINIMUM_BYTES and time.monotonic() - began > FILL_SECONDS):
                break
            for page in range(0, CHUNK, PAGE):  # make each page unique, in case a layer below deduplicates
                chunk[page : page + STAMP_BYTES] = (done + page).to_bytes(STAMP_BYTES, "little")
            length = min(CHUNK, size - done)
            with memoryview(chunk)[:length] as piece:
                os.pwrite(file, piece, done)
            os.fdatasync(file)
            done += length
        return done


def supports_o_direct(directory: str) -> bool:
    """Whether the directory supports O_DIRECT; leaves no file behind and never creates a visible one."""
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        # The file system has no O_TMPFILE (NFS, older overlayfs); most of these support O_DIRECT.
        return error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT)
    return True


def _write_error(path: str, size: int, error: OSError) -> ProbeError:
    with contextlib.suppress(OSError):
        os.unlink(path)
    place = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        words = f"{place} has no space for a file of {format_size(size)}: free space there, or use another --dir"
        return ProbeError(words + (", or choose a smaller --option size=…" if size > MINIMUM_BYTES else ""))
    return ProbeError(f"cannot write a test file in {place} ({error.strerror}): use another directory with --dir")


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
            pages = (size + SYSTEM_PAGE - 1) // SYSTEM_PAGE
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


SECTOR = 512
LARGEST_BLOCK = 1 << 26
SMALLEST_FILE = 64 << 20
LARGEST_FILE = 1 << 40
OPEN = Choice("open", "word", "auto", "auto, direct (O_DIRECT) or buffered (page cache, evicted first)")
SIZE = Choice("size", "size", "1G", "size of the test file; choose far more than the device's cache")


class IoMethod(NamedTuple):
    """Whether files are opened with O_DIRECT, and the backend for concurrent requests: aio or threads."""

    direct: bool
    backend: str

    @property
    def driver(self) -> str:
        """The driver and its method, as text for the result."""
        many = "Linux AIO" if self.backend == "aio" else "threads"
        return f"mycnf ({many}, {'O_DIRECT' if self.direct else 'through the page cache'})"


def can_use_o_direct(environment: Environment, request: ProbeRequest) -> bool:
    """Whether O_DIRECT reaches a device from the directory; tmpfs accepts the flag but has no device."""
    return has_device(environment.host) and supports_o_direct(request.directory)


def choose_io_method(environment: Environment, request: ProbeRequest, chosen: ChosenOptions) -> IoMethod:
    """The method for random reads and writes; raises ProbeError if O_DIRECT is required but not supported."""
    word = chosen.word(OPEN.name, "auto", "direct", "buffered")
    direct = word != "buffered" and can_use_o_direct(environment, request)
    if word == "direct" and not direct:
        raise ProbeError(
            f"{request.directory} does not support O_DIRECT: use a directory on a disk with --dir, or "
            "choose --option open=buffered"
        )
    return IoMethod(
        direct, "aio" if direct and aio_available() else "threads"
    )  # on buffered files the kernel's AIO blocks


def io_method_limits(environment: Environment, way: IoMethod) -> tuple[str, ...]:
    """Sentences on the limits that the I/O method imposes on the result."""
    if not has_device(environment.host):
        return ("The directory is on tmpfs: this measures memory and the driver, not a disk.",)
    if not way.direct:
        return ("Without O_DIRECT the page cache serves some reads: the device may be slower than shown.",)
    if way.backend != "aio":
        return ("Linux AIO is not available here: threads of one process send the requests and limit deep queues.",)
    return ()


def block_sizes(chosen: ChosenOptions, name: str, step: int = SECTOR) -> list[int]:
    """Request sizes in bytes, ascending, multiples of `step`; raises ProbeError for invalid sizes."""
    sizes = sorted(chosen.sizes(name, step))
    for size in sizes:
        if size % step or size > LARGEST_BLOCK:
            raise ProbeError(
                f"invalid {name}={exact_size(size)}: use multiples of {exact_size(step)} up to "
                f"{exact_size(LARGEST_BLOCK)}"
            )
    return sizes


def file_size(chosen: ChosenOptions, name: str = SIZE.name) -> int:
    """The size of the scratch file, rounded down to whole MiB."""
    size = chosen.size(name, SMALLEST_FILE)
    if size > LARGEST_FILE:
        raise ProbeError(f"invalid {name}={exact_size(size)}: the maximum is {exact_size(LARGEST_FILE)}")
    return size >> 20 << 20


def sector_size(environment: Environment) -> int:
    """The smallest O_DIRECT write that the devices under the directory support, in bytes."""
    devices = environment.host.storage.devices if environment.host.storage else ()
    return max([SECTOR, *(device.logical_sector or 0 for device in devices)])


def preparation_seconds(size: int) -> float:
    """The estimated seconds to write that many bytes on an ordinary disk; writing ends after FILL_SECONDS."""
    return min(FILL_SECONDS, 1 + size / 150e6)
