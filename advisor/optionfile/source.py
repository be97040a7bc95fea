"""Reads the bytes of an option file, and refuses files that cannot be one."""

import os
import stat
from typing import NamedTuple

from advisor.core.errors import MycnfError

MAX_BYTES = 1 << 20
_HEAD = 8192
_MAX_CONTROLS = 8  # control characters allowed in a damaged text file
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\b\x1b")
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class OptionFileError(MycnfError):
    """A file that cannot be read as an option file; the message is one line with the remedy."""


class Source(NamedTuple):
    """The bytes of a file, and its mode from stat."""

    data: bytes
    mode: int

    @property
    def world_writable(self) -> bool:
        """Whether the file is world-writable; servers ignore such files."""
        return bool(self.mode & stat.S_IWOTH)


def load(path: str) -> Source:
    """Read a regular file of at most 1 MiB; raises OptionFileError for anything else."""
    try:
        # Opening a FIFO blocks until the other end is opened, and opening a device may have side effects.
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            raise _reject_file_type(path, mode)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with open(descriptor, "rb") as file:
            mode = os.fstat(descriptor).st_mode
            if not stat.S_ISREG(mode):
                raise _reject_file_type(path, mode)
            data = file.read(MAX_BYTES + 1) or b""  # None for files on which a read would block, such as the kernel log
    except (OSError, ValueError) as error:
        raise _explain_error(path, error) from error
    check(data, path)
    return Source(data, mode)


def check(data: bytes, path: str) -> None:
    """Raise OptionFileError for bytes that are not an option file: too many, UTF-16, or binary."""
    if len(data) > MAX_BYTES:
        raise OptionFileError(f"{path}: larger than {MAX_BYTES >> 20}M; name the option file itself")
    head = data[:_HEAD]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise OptionFileError(f"{path}: UTF-16, which no server reads; save it as UTF-8 without a byte order mark")
    if b"\0" not in head:
        return
    controls = sum(1 for byte in head if byte < ord(" ") and byte not in _TEXT_CONTROLS)
    if controls > max(_MAX_CONTROLS, len(head) // 50):
        raise OptionFileError(f"{path}: a binary file, not an option file; name a text file such as my.cnf")


def _reject_file_type(path: str, mode: int) -> OptionFileError:
    kind = next((said for is_kind, said in _KINDS if is_kind(mode)), "no regular file")
    return OptionFileError(f"{path}: {kind}, not an option file; name a file, or - for stdin")


def _explain_error(path: str, error: OSError | ValueError) -> OptionFileError:
    said = error.strerror if isinstance(error, OSError) else "a path holds no NUL byte"
    return OptionFileError(f"{path}: can't be read ({said}); check the path and its permissions")
