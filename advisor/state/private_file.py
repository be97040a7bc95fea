"""Files that are written atomically, private ones among them, and a lock so that no process loses another's change."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from advisor.core.signals import interrupt_on_signals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


PRIVATE = 0o600
PART = ".part"
RANDOM = 4  # bytes of a temporary file's name, as hexadecimal digits
HEXADECIMAL = "0123456789abcdef"
ATTEMPTS = 10  # to lock a new file; another user who can read it could lock each of them
SHARED = stat.S_ISVTX | stat.S_IWOTH
MAX_LINKS = 40  # as in the kernel


def replace_private(path: str, data: bytes) -> None:
    """Write `data` to a temporary file of mode 0600 and rename it; on failure, raises OSError and keeps the old file.

    The mode does not depend on the umask. SIGINT, SIGTERM and SIGHUP leave no temporary file.
    """
    with interrupt_on_signals():
        beside = ""
        try:
            beside, handle = open_beside(f"{path}.", PART, PRIVATE)
            with os.fdopen(handle, "wb") as file:
                _fill_private(file, data)
                os.replace(beside, path)
        except BaseException as error:
            if isinstance(error, OSError) and error.filename is None:
                error.filename = path  # on a full disk, the error has no file name
            with suppress(OSError):
                os.unlink(beside)
            raise
    _sync(os.path.dirname(os.path.abspath(path)))


def open_beside(begin: str, end: str, mode: int) -> tuple[str, int]:
    """Create the temporary file of a writer, `begin`, digits and `end`, locked until its descriptor is closed.

    Removes the temporary files of that name which killed writers left: regular files of this user that no process has
    locked. Rename the file before the descriptor is closed. Raises OSError.
    """
    _remove_abandoned(begin, end)
    for left in reversed(range(ATTEMPTS)):
        path = f"{begin}{os.urandom(RANDOM).hex()}{end}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(path, flags, mode)
        if _lock_new(handle, path) or not left:
            return path, handle
        os.close(handle)
        with suppress(OSError):
            os.unlink(path)
    raise AssertionError("the last attempt returns")


def _lock_new(handle: int, path: str) -> bool:
    """Lock a new file; False if another process took it for abandoned before."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # some file systems have no locks
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


def _remove_abandoned(begin: str, end: str) -> None:
    folder, name = os.path.split(begin)
    with suppress(OSError):
        for entry in os.listdir(folder or os.curdir):
            digits = entry[len(name) : len(entry) - len(end)]
            if len(digits) == 2 * RANDOM and not digits.strip(HEXADECIMAL) and entry == f"{name}{digits}{end}":
                with suppress(OSError):
                    _remove_unlocked(os.path.join(folder, entry))


def _remove_unlocked(path: str) -> None:
    """Remove a regular file of this user, unless a process has it locked; raises OSError."""
    handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and status.st_nlink == 1:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(status, os.lstat(path)):
                os.unlink(path)
    finally:
        os.close(handle)


def follow_link(path: str) -> str:
    """Return where a file to be written really lies, links followed; raises PermissionError for a trap.

    That is another user's link in a directory in which all users may create files, such as /tmp. Linux refuses to
    follow it if fs.protected_symlinks is set, but not if a program resolves the path itself.
    """
    for _ in range(MAX_LINKS):
        folder = os.path.realpath(os.path.dirname(path))
        path = os.path.join(folder, os.path.basename(path))
        try:
            link, shared = os.lstat(path), os.stat(folder)
        except OSError:
            return path
        if not stat.S_ISLNK(link.st_mode):
            return path
        if shared.st_mode & SHARED == SHARED and link.st_uid not in (os.geteuid(), shared.st_uid):
            raise PermissionError(errno.EACCES, "it is a link of another user in a shared directory", path)
        path = os.path.join(folder, os.readlink(path))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def make_private(handle: int, mode: int) -> None:
    """Set the mode of an open file or directory, which may differ because of the umask."""
    if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
        with suppress(OSError):  # some file systems have no modes
            os.fchmod(handle, mode)


def _fill_private(file: BinaryIO, data: bytes) -> None:
    make_private(file.fileno(), PRIVATE)
    file.write(data)
    file.flush()
    os.fsync(file.fileno())


def _sync(folder: str) -> None:
    with suppress(OSError):  # the text is already synced: this makes the rename survive a crash
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def lock_file(path: str) -> Iterator[None]:
    """Hold an exclusive lock on the file within the block.

    The kernel releases the lock if the process dies. A file that does not exist, or cannot be locked on its file
    system, is not locked.
    """
    handle = _open_locked(path)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _open_locked(path: str) -> int | None:
    """Return the locked file; retries if the file was replaced while waiting. None if it cannot be opened."""
    while True:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return handle
        except FileNotFoundError:
            pass
        except OSError:
            return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
