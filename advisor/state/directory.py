"""The directories of data that the user asked to save: private, with one writer at a time."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from typing import TYPE_CHECKING

from advisor.core.errors import MycnfError
from advisor.state.private_file import PRIVATE, make_private

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


PRIVATE_FOLDER = 0o700
_STATE_NAME = "mycnf"
_LOCK = ".lock"


def state_folder(name: str) -> str:
    """Return $XDG_STATE_HOME/mycnf/NAME, or ~/.local/state/mycnf/NAME if it is unset."""
    return os.path.join(_state(), _STATE_NAME, name)


def _state() -> str:
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification requires relative paths to be ignored.
    return state if os.path.isabs(state) else os.path.expanduser("~/.local/state")


def make_state_folder(name: str) -> str:
    """Return the directory, created if missing and private; raises MycnfError if it is not writable."""
    place = state_folder(name)
    if not os.path.isabs(place):  # ~ of an account without HOME or an entry in the user database, as in a container
        raise MycnfError("nothing can be saved: this account has no home directory; set XDG_STATE_HOME to a directory")
    try:
        make_private_folders(_state(), _STATE_NAME, *name.split(os.sep))
        reason = "" if os.access(place, os.W_OK | os.X_OK) else "it is not writable"
    except OSError as error:
        reason = error.strerror or "no reason given"
    if reason:
        raise MycnfError(f"nothing can be saved in {place} ({reason}): set XDG_STATE_HOME to your own directory")
    return place


def make_private_folders(top: str, *names: str) -> None:
    """Create nested directories of mode 0700 in `top`, which may be shared; raises OSError."""
    os.makedirs(top, exist_ok=True)
    for name in names:
        top = os.path.join(top, name)
        with contextlib.suppress(FileExistsError):
            os.mkdir(top, PRIVATE_FOLDER)
        status = os.stat(top)
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), top)
        if status.st_mode & 0o777 != PRIVATE_FOLDER:  # because of the umask or a manual change
            os.chmod(top, PRIVATE_FOLDER)


@contextlib.contextmanager
def lock_folder(folder: str) -> Iterator[None]:
    """Hold an exclusive lock on the directory within the block, so that only one mycnf writes there.

    The kernel releases the lock if the process dies. Raises OSError.
    """
    handle = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    try:
        make_private(handle, PRIVATE)
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


_DIGITS = 12
_WITHOUT_UUID = ("hostname", "port", "datadir")


def server_id(variables: Mapping[str, str]) -> str:
    """Return twelve hex digits: of the server's UUID, or without one (MariaDB) of host name, port and datadir."""
    identity = variables.get("server_uuid") or "\0".join(variables.get(name, "") for name in _WITHOUT_UUID)
    return hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]


def server_name(variables: Mapping[str, str]) -> str:
    """Return the server's display name: db1, db1:3307."""
    host, port = variables.get("hostname") or "server", variables.get("port", "")
    return host if port in ("", "0", "3306") else f"{host}:{port}"
