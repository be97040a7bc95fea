"""Write a file's new text so that at every moment the old or the new one is there whole."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.core.signals import interrupt_on_signals
from advisor.optionfile.source import load
from advisor.state.file_lock import lock_file

if TYPE_CHECKING:
    from typing import BinaryIO


LONGEST_NAME = 200  # bytes of the file's own name in that of its copy; file systems allow 255
HARD_LINKS = "it has other hard links"
CANNOT_KEEP_OWNER = "a new file can't be given its owner and attributes"
MOUNTED = "it is mounted by itself"


class FileChangedError(MycnfError):
    """Somebody else changed the file after it was read, so that it was left alone."""


class HalfWrittenError(MycnfError):
    """Writing in place failed, and so did putting the old text back; the message says where that is."""


def replace_text(path: str, before: bytes, after: bytes) -> str:
    """Replace the text of a file, links to it followed; gives "", or one line that its owner should know.

    The new text is written beside the file, synced and renamed over it. A file that can't be replaced like that (it has
    other hard links, is mounted by itself, or belongs to somebody else) is written in place, with a copy of its old
    text beside it until that is done. Raises Meanwhile where the file holds another text than `before`, and MycnfError
    where it can't be written; either way it stays as it was.
    """
    real = os.path.realpath(path)
    beside = _temporary_path(real)
    try:
        with interrupt_on_signals(), lock_file(real):
            why = _replace(path, real, beside, before, after)
    except HalfWrittenError:
        raise
    except OSError as error:
        _remove_quietly(beside)
        raise MycnfError(f"{path}: can't be written ({error.strerror}); it is as it was") from error
    except BaseException:
        _remove_quietly(beside)
        raise
    return f"{path}: written in place, since {why}" if why else ""


def _replace(path: str, real: str, beside: str, before: bytes, after: bytes) -> str:
    """Rename the new text over the file, or write in place; the reason for the latter, "" for the former."""
    os.close(os.open(real, os.O_RDWR | os.O_NOCTTY))  # a file that is kept from writing is not replaced either
    with open(os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "r+b") as copy:
        _fill(copy, after)
        why = (
            HARD_LINKS
            if os.stat(real).st_nlink > 1
            else ""
            if copy_attributes(real, copy.fileno())
            else CANNOT_KEEP_OWNER
        )
        _require_unchanged(path, real, before)
        if not why and _rename_over(beside, real):
            return ""
        _fill(copy, before)
    _overwrite(path, real, beside, before, after)
    _remove_quietly(beside)
    return why or MOUNTED


def _require_unchanged(path: str, real: str, before: bytes) -> None:
    if load(real).data != before:
        raise FileChangedError(
            f"{path}: another program changed it in the meantime, so it was not written; run mycnf again"
        )


def _rename_over(beside: str, real: str) -> bool:
    """Put the new file in the old one's place; False where that is a mount point, as single files in containers are."""
    try:
        os.replace(beside, real)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    with contextlib.suppress(OSError):  # the text itself is synced: this only makes the new name outlive a crash
        folder = os.open(os.path.dirname(real), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    return True


def _overwrite(path: str, real: str, beside: str, before: bytes, after: bytes) -> None:
    with open(real, "r+b", buffering=0) as file:
        try:
            _fill(file, after)
        except BaseException:
            try:
                _fill(file, before)
            except OSError as error:
                raise HalfWrittenError(
                    f"{path}: writing failed half way ({error.strerror}); its old text is {beside}"
                ) from error
            raise


def _fill(file: BinaryIO, text: bytes) -> None:
    file.seek(0)
    rest = memoryview(text)
    while rest:
        rest = rest[file.write(rest) :]
    file.truncate()
    file.flush()
    os.fsync(file.fileno())


def _temporary_path(real: str) -> str:
    """A name that nobody else uses, hidden, and without the extension that !includedir goes by."""
    folder, name = os.path.split(real)
    short = os.fsdecode(os.fsencode(name)[:LONGEST_NAME])
    return os.path.join(folder, f".{short}.mycnf-{os.urandom(4).hex()}")


def _remove_quietly(beside: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(beside)


def copy_attributes(old: str, descriptor: int) -> bool:
    """Make the open file what the old one is; False where not all of it can be given here."""
    status = os.stat(old)
    try:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        _copy_extended_attributes(old, descriptor)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        made = os.fstat(descriptor)
        same = (made.st_mode, made.st_uid, made.st_gid) == (status.st_mode, status.st_uid, status.st_gid)
        return same and read_attributes(old) == read_attributes(descriptor)
    except OSError:
        return False


def read_attributes(file: str | int) -> dict[str, bytes] | None:
    """All extended attributes of a file, access lists among them; None where this system can't tell.

    Raises OSError where there is one that may not be read.
    """
    if not hasattr(os, "listxattr"):
        return None
    try:
        names = os.listxattr(file)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return {}
    return {name: os.getxattr(file, name) for name in names}


def _copy_extended_attributes(old: str, descriptor: int) -> None:
    wanted, present = read_attributes(old), read_attributes(descriptor)
    if wanted is None or present is None:
        raise OSError("extended attributes can't be read on this system")
    # A folder's default access list gives a new file one that the old file may not have.
    for name in present.keys() - wanted.keys():
        os.removexattr(descriptor, name)
    for name, value in wanted.items():
        if present.get(name) != value:
            os.setxattr(descriptor, name, value)
