"""Give a new file what the old one is beside its bytes: owner, mode, extended attributes (access lists among them)."""

from __future__ import annotations

import errno
import os
import stat


def keep(old: str, descriptor: int) -> bool:
    """Make the open file what the old one is; False where not all of it can be given here."""
    status = os.stat(old)
    try:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        _keep_attributes(old, descriptor)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        made = os.fstat(descriptor)
        same = (made.st_mode, made.st_uid, made.st_gid) == (status.st_mode, status.st_uid, status.st_gid)
        return same and attributes(old) == attributes(descriptor)
    except OSError:
        return False


def attributes(file: str | int) -> dict[str, bytes] | None:
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


def _keep_attributes(old: str, descriptor: int) -> None:
    wanted, present = attributes(old), attributes(descriptor)
    if wanted is None or present is None:
        raise OSError("extended attributes can't be read on this system")
    # A folder's default access list gives a new file one that the old file may not have.
    for name in present.keys() - wanted.keys():
        os.removexattr(descriptor, name)
    for name, value in wanted.items():
        if present.get(name) != value:
            os.setxattr(descriptor, name, value)
