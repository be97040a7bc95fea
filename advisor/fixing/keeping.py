"""Give a new file what the old one is beside its bytes: owner, mode, extended attributes (access lists among them)."""

from __future__ import annotations

import os
import stat


def keep(old: str, descriptor: int) -> bool:
    """Make the open file what the old one is; False where not all of it can be given here."""
    status = os.stat(old)
    try:
        if (status.st_uid, status.st_gid) != _owner(descriptor):
            os.fchown(descriptor, status.st_uid, status.st_gid)
        _keep_attributes(old, descriptor)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    except OSError:
        return False
    same_mode = os.fstat(descriptor).st_mode == status.st_mode
    return (
        same_mode and _owner(descriptor) == (status.st_uid, status.st_gid) and attributes(old) == attributes(descriptor)
    )


def attributes(file: str | int) -> dict[str, bytes] | None:
    """All extended attributes of a file, access lists among them; None where this system can't tell."""
    if not hasattr(os, "listxattr"):
        return None
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError:
        return {}  # a file system without them


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


def _owner(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_uid, status.st_gid
