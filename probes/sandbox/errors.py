"""Errors of throwaway servers, with their causes and remedies."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING, NamedTuple

from advisor.core.errors import MycnfError

if TYPE_CHECKING:
    from collections.abc import Iterator

LIBRARY_PACKAGES = {
    "libaio.so.1": "apt-get install libaio1 (RHEL: dnf install libaio)",
    "libnuma.so.1": "apt-get install libnuma1 (RHEL: dnf install numactl-libs)",
    "libncurses.so.5": "apt-get install libncurses5 (RHEL: dnf install ncurses-compat-libs)",
    "libtinfo.so.5": "apt-get install libtinfo5 (RHEL: dnf install ncurses-compat-libs)",
}
ERROR_LINE = re.compile(
    r"\[ERROR\]|^\S+: unknown |^\S+: .*error|fatal error|got signal \d|assertion failure", re.IGNORECASE
)
TAIL_LINES = 10
TAIL_ERRORS = 5
PROFILES = "/etc/apparmor.d"
APPARMOR = "/sys/module/apparmor/parameters/enabled"
SELINUX = "/sys/fs/selinux/enforce"


class SandboxError(MycnfError):
    """A throwaway server is not available; the message is one line with the reason and the remedy.

    `log` holds the last lines of the server's error log, or is empty.
    """

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class Cause(NamedTuple):
    """A known cause: a pattern for the log, its meaning and the remedy."""

    pattern: re.Pattern[str]
    meaning: str
    remedy: str


DISK_FULL = Cause(
    re.compile(
        r"No space left on device|Errcode: 28|OS errno 28|OS error code 28|[Ee]rror (?:number |code )?28\b|Disk quota"
        r"|waiting for someone to free|Waiting for someone to free"
    ),
    "the file system of the scratch directory is full",
    "free space there, or use a directory on another file system",
)
PORT_TAKEN = "the port is in use"
CAUSES = (
    DISK_FULL,
    Cause(
        re.compile(r"Cannot allocate memory|Out of memory|Errcode: 12\b|OS errno 12\b"),
        "not enough memory for this server",
        "stop another program, or start it with smaller buffers",
    ),
    Cause(
        re.compile(r"Address already in use|Do you already have another (?:mysqld )?server running"),
        PORT_TAKEN,
        "start it again: it will use another free port",
    ),
    Cause(
        re.compile(r"io_setup\(\) failed|io_queue_init\(\) failed|Linux Native AIO interface"),
        "the host's asynchronous I/O contexts are used up",
        "raise the sysctl fs.aio-max-nr, or start it with --innodb-use-native-aio=0",
    ),
)


def explain_log(what: str, log: str) -> SandboxError:
    """Convert the end of a server's log to one error: what happened, why, and the remedy."""
    shown = log_tail(log)
    library = re.search(r"error while loading shared libraries: (\S+?):", log)
    if library:
        remedy = LIBRARY_PACKAGES.get(library[1], f"install the package that ships {library[1]}")
        return SandboxError(f"{what}: the library {library[1]} is missing: {remedy}", shown)
    for cause in CAUSES:
        if cause.pattern.search(shown):
            return SandboxError(f"{what}: {cause.meaning}: {cause.remedy}", shown)
    if re.search(r"Permission denied|Errcode: 13\b|OS errno 13\b", shown):
        for name, remedy in _confinements():
            return SandboxError(
                f"{what}: it has no access to the scratch directory, and {name} is enabled: {remedy}", shown
            )
    return SandboxError(f"{what}: {first_log_errors(log)}", shown)


def server_ended_error(who: str, when: str, code: int, log: str) -> SandboxError:
    """The error for a server that ended by itself; `code` is its exit code as in subprocess."""
    if code == -signal.SIGKILL and not reports_disk_full(log):
        return SandboxError(
            f"{who} was killed {when}, most likely by the kernel's OOM killer: "
            "stop another program, or start it with smaller buffers",
            log_tail(log),
        )
    how = f"exit code {code}" if code >= 0 else f"signal {-code}"
    return explain_log(f"{who} died {when} ({how})", log)


def disk_full_error(what: str) -> SandboxError:
    """The error for a server whose file system is full."""
    return SandboxError(f"{what}: {DISK_FULL.meaning}: {DISK_FULL.remedy}")


def reports_disk_full(log: str) -> bool:
    """Whether the log says that writes fail, or wait, because the disk is full."""
    return bool(DISK_FULL.pattern.search(log_tail(log)))


def log_tail(log: str) -> str:
    """The last lines of a log, preceded by its last errors.

    MySQL 5.7 writes messages of an orderly shutdown after its errors.
    """
    kept = [line.rstrip() for line in log.splitlines() if line.strip()]
    errors = [number for number, line in enumerate(kept) if ERROR_LINE.search(line)][-TAIL_ERRORS:]
    shown = sorted({*errors, *range(max(0, len(kept) - TAIL_LINES), len(kept))})
    return "\n".join(kept[number] for number in shown)


def first_log_errors(log: str) -> str:
    """The first errors of a log, which cause the others, else its last lines; on one line."""
    kept = [line.strip() for line in log.splitlines() if line.strip()]
    errors = [line for line in kept if ERROR_LINE.search(line) and not line.endswith("Aborting")]
    lines = errors[:3] or kept[-3:]
    return "error log: " + " / ".join(line[:300] for line in lines) if lines else "no message in its log"


def _confinements() -> Iterator[tuple[str, str]]:
    """Security modules that may deny a server a directory that its user can access, each with the remedy."""
    if os.path.isdir(PROFILES) and _file_starts_with(APPARMOR, "Y"):
        remedy = "name a directory that the server's profile in /etc/apparmor.d allows, or put that profile into"
        yield "AppArmor", f"{remedy} complain mode (aa-complain)"
    if _file_starts_with(SELINUX, "1"):
        yield "SELinux", "ausearch -m avc -ts recent shows what it denied; name a directory in /var/tmp"


def _file_starts_with(path: str, word: str) -> bool:
    try:
        with open(path, encoding="ascii") as answer:
            return answer.read(1) == word
    except OSError:
        return False
