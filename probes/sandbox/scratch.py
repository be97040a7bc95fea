"""Scratch directories of throwaway servers: created, marked, removed, and swept after a kill -9."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import tempfile
import time
from typing import TYPE_CHECKING, Any

from probes import PRODUCT
from probes.sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator


PREFIX = "mycnf-sandbox-"
PRIVATE = 0o700
MARKER = ".mycnf-sandbox.json"
NEW_MARKER = MARKER + ".new"
SOCKET_PATH_MAXIMUM = (
    107 - 1 - len("mysqlx.sock.lock")
)  # sun_path holds 107 bytes, and servers create a lock file beside the socket
SHORT_BASE = "/tmp"  # noqa: S108  where sockets go when a scratch directory's path has no room for one
KILL_TIMEOUT = 10.0  # seconds that a killed server may take to free its memory
SPACE_NEEDED = 400 << 20  # a fresh data directory takes 110 to 190 MiB, and the server must be able to start
FULL_BELOW = 4 << 20  # free bytes below which a file system counts as full; InnoDB extends a tablespace by as much


class Scratch:
    """A directory of mode 0700 that belongs to this process while the process lives.

    The owner holds a lock on its marker file. A directory whose marker can be locked therefore has no owner any more,
    after any end of that process and in any container.
    """

    def __init__(self, base: str | os.PathLike[str] | None = None, *, needed: int = SPACE_NEEDED) -> None:
        """Create the directory in `base`; raises SandboxError if that fails or fewer than `needed` bytes are free."""
        parent = os.path.abspath(os.fspath(base)) if base is not None else default_base()
        _require_space(parent, needed)
        try:
            self.path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        except OSError as error:
            raise SandboxError(
                f"cannot create a scratch directory in {parent} ({error.strerror}): use a writable directory"
            ) from error
        self.owner = os.getpid()
        self.runtime = self.path
        self._markers: list[int] = []
        try:
            self._markers.append(_locked_marker(self.path))
            for folder in ("data", "tmp"):
                os.mkdir(self.file(folder), PRIVATE)
            if len(os.fsencode(self.path)) + 1 > SOCKET_PATH_MAXIMUM:
                self.runtime = tempfile.mkdtemp(prefix=PREFIX, dir=SHORT_BASE)
                self._markers.append(_locked_marker(self.runtime))
        except BaseException:
            self.remove()
            raise
        self.note()

    def file(self, name: str) -> str:
        """The path of a file or folder in the directory."""
        return os.path.join(self.path, name)

    @property
    def socket(self) -> str:
        """The path of the server's socket: in the directory, or in a short one if its path is too long."""
        return os.path.join(self.runtime, "sock")

    def note(self, server_pid: int | None = None) -> None:
        """Record the owner of the directory and the process of its server in the marker."""
        facts = {
            "product": PRODUCT,
            "owner": process_identity(self.owner),
            "server": server_pid and process_identity(server_pid),
        }
        for marker in self._markers:
            os.pwrite(marker, json.dumps(facts).encode().ljust(512), 0)

    def remove(self) -> None:
        """Remove everything, then release the marker; calling it again has no effect."""
        if os.getpid() != self.owner:
            return  # a forked child must not remove its parent's server
        for path in {self.path, self.runtime}:
            remove_scratch(path)
        with contextlib.suppress(IndexError):  # two threads may remove it at the same time
            while True:
                os.close(self._markers.pop())


@contextlib.contextmanager
def empty_folder() -> Iterator[str]:
    """An empty folder for a server program that is only queried; a later sweep finds it too."""
    scratch = Scratch(needed=0)
    try:
        yield scratch.file("data")
    finally:
        scratch.remove()


def is_disk_full(path: str) -> bool:
    """Whether the file system of a path is full for users other than root."""
    try:
        room = os.statvfs(path)
    except OSError:
        return False
    return (
        room.f_blocks > 0 and room.f_bavail * room.f_frsize < FULL_BELOW
    )  # some network file systems report no blocks


def default_base() -> str:
    """The default base of scratch directories: the system's directory for temporary files."""
    return tempfile.gettempdir()


def remove_scratch(path: str) -> bool:
    """Remove a scratch directory; returns whether it is gone."""
    # The marker is removed last, so that a later sweep still recognizes an incomplete removal.
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(path)):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)
            elif entry.name != MARKER:
                os.unlink(entry.path)
        if os.listdir(path) in ([], [MARKER]):
            shutil.rmtree(path, ignore_errors=True)
    return not os.path.exists(path)


def process_identity(pid: int) -> dict[str, object] | None:
    """The unambiguous identity of a process: pid, start time in clock ticks since boot, boot id; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as text:
            started = int(text.read().rpartition(b")")[2].split()[19])
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as text_of_boot:
            boot = text_of_boot.read().strip()
        return {"pid": pid, "started": started, "boot": boot, "space": os.readlink("/proc/self/ns/pid")}
    except (OSError, ValueError, IndexError):
        return None


def _locked_marker(path: str) -> int:
    # Locked before it is renamed, so that no sweep ever finds an unlocked marker of a living owner.
    nameless = os.path.join(path, NEW_MARKER)
    marker = os.open(nameless, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    fcntl.flock(marker, fcntl.LOCK_EX)
    os.pwrite(marker, json.dumps({"product": PRODUCT}).encode().ljust(512), 0)
    os.rename(nameless, os.path.join(path, MARKER))
    return marker


def _require_space(parent: str, needed: int) -> None:
    try:
        free = shutil.disk_usage(parent).free
    except OSError as error:
        raise SandboxError(f"cannot use {parent} for a scratch directory: {error.strerror}") from error
    if free < needed:
        raise SandboxError(
            f"{parent} has {free >> 20} MiB free; a throwaway server needs {needed >> 20} MiB: "
            "free space there, or use a directory on another file system"
        )


SCRATCH_NAME = re.compile(re.escape(PREFIX) + "[a-z0-9_]{8}")  # the format of tempfile names
MARKER_SECONDS = (
    60.0  # seconds; a directory that is older and has no marker was abandoned, as creating one takes far less
)


def sweep(base: str | os.PathLike[str] | None = None) -> list[str]:
    """Remove what dead owners left in `base`, first their servers, then their directories; returns the removed paths.

    Only real directories of this user with our marker are touched, and none whose owner is alive.
    """
    parent = os.path.abspath(os.fspath(base)) if base is not None else default_base()
    try:
        ours = [
            entry.path
            for entry in os.scandir(parent)
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)
        ]
    except OSError:
        return []  # nothing to sweep; creating a directory there will raise the error
    return [path for path in ours if _sweep_one(path)]


def has_leftovers(owner: int, base: str) -> bool:
    """Whether a directory in `base` is marked as owned by the process with that pid, alive or not."""
    for name in os.listdir(base) if os.path.isdir(base) else ():
        if name.startswith(PREFIX):
            with contextlib.suppress(OSError), open(os.path.join(base, name, MARKER), "rb") as marker:
                facts = _read_marker(marker.fileno())
                recorded = facts.get("owner") if facts else None
                if isinstance(recorded, dict) and recorded.get("pid") == owner:
                    return True
    return False


def _sweep_one(path: str) -> bool:
    marker = _abandoned_marker(path)
    if marker is None:
        return _remove_unmarked(path)
    try:
        facts = _read_marker(marker)
        if facts is None:
            return False
        _kill_server(facts.get("server"))
        return remove_scratch(path)
    finally:
        os.close(marker)


def _abandoned_marker(path: str) -> int | None:
    """The locked marker of a directory without a living owner; None for any other directory."""
    try:
        if not _is_private(os.lstat(path)):
            return None
        marker = os.open(os.path.join(path, MARKER), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(marker).st_uid == os.geteuid() and stat.S_ISREG(os.fstat(marker).st_mode):
            fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return marker
    except OSError:
        pass
    os.close(marker)
    return None


def _is_private(directory: os.stat_result) -> bool:
    """Whether only this user has access to the directory; the group, which may be inherited, does not matter."""
    return directory.st_uid == os.geteuid() and stat.S_IMODE(directory.st_mode) & 0o777 == PRIVATE


def _remove_unmarked(path: str) -> bool:
    """Remove a directory whose process was killed before the marker existed or just after it was removed.

    It is empty, or holds only the marker before its final rename.
    """
    if not SCRATCH_NAME.fullmatch(os.path.basename(path)):
        return False
    with contextlib.suppress(OSError):
        directory = os.lstat(path)
        if (
            _is_private(directory)
            and time.time() - directory.st_mtime > MARKER_SECONDS
            and os.listdir(path) in ([], [NEW_MARKER])
        ):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(path, NEW_MARKER))
            os.rmdir(path)
            return True
    return False


def _read_marker(marker: int) -> dict[str, Any] | None:
    try:
        facts = json.loads(os.pread(marker, 4096, 0))
    except ValueError:
        return None
    return facts if isinstance(facts, dict) and facts.get("product") == PRODUCT else None


def _kill_server(server: object) -> None:
    # The pid may have been reused by another process; the start time makes it unambiguous.
    if not isinstance(server, dict) or not isinstance(server.get("pid"), int):
        return
    deadline = time.monotonic() + KILL_TIMEOUT
    while server == process_identity(server["pid"]) and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            os.kill(server["pid"], signal.SIGKILL)
        time.sleep(0.05)
