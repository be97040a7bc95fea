"""Other database servers on this host: their processes, CPU and disk use, wait times and response times."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from typing import TYPE_CHECKING, NamedTuple

import psutil

from advisor.collect.connection.connect import ConnectionLimits
from advisor.collect.connection.options import ConnectRequest, resolve_account
from advisor.collect.connection.session import ConnectionLost, StatementFailed, open_session, send
from advisor.collect.connection.sockets import listening_inodes, runs_servers
from advisor.collect.connection.statements import IDENTITY
from advisor.collect.host import open_root, server_pids
from advisor.collect.host.live_load import read_host_seconds
from advisor.core.errors import MycnfError
from probes.sandbox.scratch import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from advisor.collect.connection.session import Session


QUERY_OPTIONS = ("--help", "-?", "--validate-config", "--print-defaults")  # it answers and ends, and serves no clients

# What psutil raises instead of giving a process's reads and writes: the process is gone or another user's, or the
# kernel does not count them, and then there is no such method.
NO_IO_COUNTERS = (psutil.Error, OSError, AttributeError, RuntimeError, ValueError)
SESSION_LIMITS = ConnectionLimits(connect=2.0, read=2.0, statement=2)


class OtherServer(NamedTuple):
    """A server that mycnf did not start; `datadir` is its working directory, empty if it is not visible to us."""

    pid: int
    name: str
    datadir: str

    def __str__(self) -> str:
        where = f" on {self.datadir}" if self.datadir else ""
        return f"{self.name} (process {self.pid}{where})"


class WaitTimes(NamedTuple):
    """Seconds that a process has waited since its start, summed over its threads.

    A value is None if the kernel does not report it. `disk` is the pressure of its control group, reported only if the
    server has a control group of its own.
    """

    processor: float | None
    disk: float | None


def find_other_servers() -> tuple[OtherServer, ...]:
    """The database servers on this host, other than mycnf's throwaway servers."""
    servers = []
    for pid in server_pids(open_root("/")):
        datadir = ""
        with contextlib.suppress(OSError):
            datadir = os.readlink(f"/proc/{pid}/cwd")
        words = _read(f"/proc/{pid}/cmdline").split("\0")
        if PREFIX not in datadir and not any(PREFIX in word or word in QUERY_OPTIONS for word in words):
            servers.append(OtherServer(pid, os.path.basename(words[0]) or "a database server", datadir))
    return tuple(servers)


def running_programs() -> Iterator[str]:
    """The programs of those servers if they are files of this host; programs inside containers are not.

    A process may have any name: a program that other users than root and the present one could have written is left
    out, since it will be executed.
    """
    for neighbour in find_other_servers():
        with contextlib.suppress(OSError):
            program = os.readlink(f"/proc/{neighbour.pid}/exe")
            same = os.path.samestat(os.stat(program), os.stat(f"/proc/{neighbour.pid}/exe"))
            if same and _is_trustworthy(program):
                yield program


def _is_trustworthy(program: str) -> bool:
    """Whether a program and the directories above it belong to root or to us, and no one else can write to them.

    In a directory such as /tmp others can create files, but not replace ours.
    """
    path = os.path.realpath(program)
    while True:
        status = os.stat(path)
        shared = status.st_mode & stat.S_IWOTH and not (stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX)
        if shared or status.st_uid not in (0, os.geteuid()):
            return False
        if path == os.path.dirname(path):
            return True
        path = os.path.dirname(path)


def processor_seconds(pid: int) -> float | None:
    """Processor time of a process since it began; None where it is gone."""
    with contextlib.suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
    return None


def disk_bytes(pid: int) -> int | None:
    """Bytes that a process read from and wrote to disks since it began; None where the kernel does not show them."""
    with contextlib.suppress(*NO_IO_COUNTERS):
        counters = psutil.Process(pid).io_counters()
        return counters.read_bytes + counters.write_bytes
    return None


def read_wait_times(pid: int) -> WaitTimes:
    """The wait times of a process so far."""
    return WaitTimes(_processor_wait(pid), _disk_wait(pid))


def _processor_wait(pid: int) -> float | None:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    rows = (_read(f"/proc/{pid}/task/{task}/schedstat").split() for task in tasks)
    return sum(int(row[1]) for row in rows if len(row) > 1) / 1e9


def _disk_wait(pid: int) -> float | None:
    """Seconds in which some task of the server's own control group was stalled on disk I/O."""
    group = next((line[3:] for line in _read(f"/proc/{pid}/cgroup").splitlines() if line.startswith("0::")), "/")
    ours = next((line[3:] for line in _read("/proc/self/cgroup").splitlines() if line.startswith("0::")), "/")
    if group in ("/", ours):
        return None
    some = _read(f"/sys/fs/cgroup{group}/io.pressure").partition("total=")[2].split()
    return int(some[0]) / 1e6 if some else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            return text.read()
    except OSError:
        return ""


MINIMUM_SECONDS = 0.5  # seconds; CPU time is counted in hundredths, so shorter intervals are not accurate


class CpuSeconds(NamedTuple):
    """CPU seconds so far: of the whole host, including time stolen by the hypervisor, and of mycnf's own processes."""

    moment: float
    whole: float
    own: float

    def others_share(self, later: CpuSeconds) -> float | None:
        """The share of all CPU time that other processes used since then; None if the interval is too short."""
        seconds = later.moment - self.moment
        if seconds < MINIMUM_SECONDS:
            return None
        used = (later.whole - self.whole) - (later.own - self.own)
        return round(max(0.0, used) / (seconds * (psutil.cpu_count() or 1)), 3)


def read_cpu_seconds() -> CpuSeconds:
    """The host's processor time and our own, with that of every process that we started."""
    ours = psutil.Process()
    own = sum(map(_process_seconds, (ours, *ours.children(recursive=True))))
    return CpuSeconds(time.monotonic(), read_host_seconds().used, own)


def _process_seconds(process: psutil.Process) -> float:
    """The CPU time of a process and of its children that have ended and were waited for."""
    with contextlib.suppress(psutil.Error):
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    return 0.0


class LatencySession:
    """A session on a server that sends one small statement repeatedly."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self) -> float | None:
        """Seconds until the answer; None if the connection is lost."""
        began = time.monotonic()
        try:
            send(self._session, IDENTITY)
        except ConnectionLost:
            return None
        except StatementFailed:
            pass  # a response beyond the time limit is a measurement too
        return time.monotonic() - began

    def close(self) -> None:
        """Close the session."""
        self._session.close()


def open_latency_session(neighbour: OtherServer) -> LatencySession | None:
    """Open a session on this server with the account of the user's option files; None if they give no access.

    A process may have any name, and gets the password: it has to run as root, as the present user or as a server's
    system user. A server that the option files name by its host is another one, and is not asked.
    """
    try:
        if not runs_servers(os.stat(f"/proc/{neighbour.pid}").st_uid):
            return None
    except OSError:
        return None
    paths: list[str | None] = [*listening_sockets(neighbour.pid)]
    for path in paths or [None]:
        try:
            account = resolve_account(ConnectRequest(socket=path))
            if account.socket is None:
                continue
            session = open_session(account, SESSION_LIMITS)
        except MycnfError:
            continue
        if session.wire.peer_pid == neighbour.pid:
            return LatencySession(session)
        session.close()
    return None


def listening_sockets(pid: int) -> list[str]:
    """The Unix sockets that a process listens on, by /proc/PID/fd; empty if the kernel does not show them to us.

    MySQL has a second one for X Protocol with a configurable name; a socket with its usual name is put last.
    """
    own = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                own.add(os.readlink(entry.path))
    paths = (path for path, inode in listening_inodes() if f"socket:[{inode}]" in own)
    return sorted(paths, key=lambda path: ("mysqlx" in os.path.basename(path), path))
