"""The server's process: its facts, and the proof that a connected server is a process of this host.

`smaps` is not read: the kernel walks every page for it and holds the lock that the server's own mappings need.
`numa_maps` costs the same if it is read completely; if only a few bytes are read, the kernel formats only the first
mappings, which belong to the program itself.

Host facts are used for a server only if it is proved to be a process of this host. A path or name proves nothing:
every replica has the same data directory and pid file. The proof is the kernel's information about the process at the
other end of a Unix socket; everything else must agree with it.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from advisor.collect.host.root import (
    cpu_list,
    key_values,
    parse_number,
    parse_size,
    printable_line,
    read_line,
    read_number,
)
from advisor.facts.host import SERVER_PROGRAMS, Limit, Process

if TYPE_CHECKING:
    from advisor.collect.host.root import Root


# The files of a process that are read whole, also for its group and its mounts; the tar of a host has them.
PROCESS_FILES = ("comm", "stat", "status", "limits", "cgroup", "mountinfo", "oom_score_adj", "maps")
_LIMITS = {
    "cpu time": "cpu", "file size": "fsize", "data size": "data", "stack size": "stack", "core file size": "core",
    "resident set": "rss", "processes": "nproc", "open files": "nofile", "locked memory": "memlock",
    "address space": "as", "file locks": "locks", "pending signals": "sigpending", "msgqueue size": "msgqueue",
    "nice priority": "nice", "realtime priority": "rtprio", "realtime timeout": "rttime",
}  # fmt: skip
_ALLOCATORS = ("jemalloc", "tcmalloc", "mimalloc")
_FIRST_LINE = 128  # bytes; the kernel walks the pages of as many mappings as fill the read, one or two here
_POLICY = re.compile(r"[0-9a-f]+ ((?:default|local|bind|prefer(?: \(many\))?|(?:weighted )?interleave)(?:[=:]\S*)?)\s")
_POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}
_REMEDY = "give --ram, --cpus and --disk, or a tar of its host"
_LOADER_WORDS = 8
"""Options of the dynamic loader precede the program that it runs; the program's own options are ignored."""


def read_process(root: Root, pid: int) -> Process | None:
    """The limits and resource use of a process; None if there is no process with that pid."""
    status = key_values(root.read(f"/proc/{pid}/status"))
    if "Name" not in status:
        return None
    nice, policy = _scheduling(root.read(f"/proc/{pid}/stat", 4096))
    memory_policy = _memory_policy(root.read(f"/proc/{pid}/numa_maps", _FIRST_LINE))
    return Process(
        pid=pid,
        name=printable_line(status["Name"]) or "",
        executable=root.link(f"/proc/{pid}/exe"),
        cwd=root.link(f"/proc/{pid}/cwd"),
        uid=parse_number(status.get("Uid", "").split("\t")[0]),
        resident=parse_size(status.get("VmRSS")),
        peak_resident=parse_size(status.get("VmHWM")),
        swapped=parse_size(status.get("VmSwap")),
        threads=parse_number(status.get("Threads")),
        cpus=cpu_list(status.get("Cpus_allowed_list")),
        memory_nodes=_memory_nodes(status.get("Mems_allowed_list"), memory_policy),
        oom_score_adj=read_number(root, f"/proc/{pid}/oom_score_adj"),
        allocator=_allocator(root.read(f"/proc/{pid}/maps")),
        limits=_limits(root.read(f"/proc/{pid}/limits")),
        huge_pages=parse_size(status.get("HugetlbPages")),
        nice=nice,
        policy=policy,
        thp={"0": False, "1": True}.get(status.get("THP_enabled", "")),
        memory_policy=memory_policy,
        mapped_files=parse_size(status.get("RssFile")),
    )


def server_pids(root: Root) -> tuple[int, ...]:
    """The processes that are database servers by name."""
    pids = (int(name) for name in root.names("/proc") if re.fullmatch(r"[0-9]{1,9}", name))
    return tuple(sorted(pid for pid in pids if printable_line(root.read(f"/proc/{pid}/comm", 64)) in SERVER_PROGRAMS))


def _scheduling(stat: str | None) -> tuple[int | None, str | None]:
    """Fields 19 and 41 of /proc/PID/stat; the second field is a name in parentheses that may contain blanks."""
    fields = (stat or "").rpartition(")")[2].split()
    if len(fields) < 39:  # noqa: PLR2004 - the policy is the 41st field, and two stand before the bracket
        return None, None
    return parse_number(fields[16]), _POLICIES.get(parse_number(fields[38]) or 0)


def _memory_policy(numa_maps: str | None) -> str | None:
    """The memory policy of the first mapping, `ADDRESS POLICY …`: the process's own, because program text has none."""
    found = _POLICY.match(numa_maps or "")
    return found[1] if found else None


def _memory_nodes(allowed: str | None, policy: str | None) -> tuple[int, ...]:
    """The nodes that the control group allows, and of these the ones to which the policy binds the process."""
    bound = re.match(r"bind(?:=\w+)?:(\S+)", policy or "")
    return tuple(node for node in cpu_list(allowed) if bound is None or node in cpu_list(bound[1]))


def _limits(text: str | None) -> tuple[Limit, ...]:
    """Parse the lines of /proc/PID/limits: a name, soft limit, hard limit, and sometimes a unit."""
    rows = (re.match(r"Max (.+?)\s{2,}(\S+)\s+(\S+)", line) for line in (text or "").split("\n"))
    named = ((_LIMITS.get(row[1]), row) for row in rows if row)
    return tuple(Limit(name, parse_number(row[2]), parse_number(row[3])) for name, row in named if name)


def _allocator(maps: str | None) -> str | None:
    """The allocator among the loaded libraries; the C library's own if there is no other."""
    # A library that was replaced since the server started still runs: its path ends with " (deleted)".
    lines = (line.removesuffix(" (deleted)") for line in (maps or "").split("\n") if "/" in line)
    libraries = {posixpath.basename(line.split(" ")[-1]) for line in lines}
    for name in _ALLOCATORS:
        if any(library.startswith(f"lib{name}") for library in libraries):
            return name
    if any(library.startswith("ld-musl") for library in libraries):
        return "musl"
    return "glibc" if any(re.match(r"libc[.-]", library) for library in libraries) else None


class ServerClaim(NamedTuple):
    """What the connection shows about a server.

    `via` is socket or tcp, `peer_pid` the process from SO_PEERCRED (0 if the kernel does not report it), `proxied`
    whether the handshake shows a proxy. The others are the server's @@datadir, @@pid_file, @@socket and @@hostname,
    empty if unknown.
    """

    via: str
    peer_pid: int = 0
    proxied: bool = False
    datadir: str = ""
    pid_file: str = ""
    socket: str = ""
    hostname: str = ""


class OwnershipProof(NamedTuple):
    """The server is process `pid` of this host; `evidence` describes the proof."""

    pid: int
    evidence: tuple[str, ...]


class NotProved(NamedTuple):
    """The server may run anywhere; `reason` is one sentence with the remedy."""

    reason: str


def find_server_process(root: Root, claim: ServerClaim) -> OwnershipProof | NotProved:
    """The server's process, or the reason why it is not proved to be on this host."""
    if claim.via != "socket":
        return NotProved(_through_tcp(root, claim))
    if claim.proxied:
        return NotProved(f"a proxy answers at the socket, and the server behind it may run on another host: {_REMEDY}")
    listener = _listener(root, claim)
    if isinstance(listener, NotProved):
        return listener
    if root.read(f"/proc/{listener.pid}/cmdline", 1 << 16) == "":
        return NotProved(f"process {listener.pid}, the server, ended while it was read: audit again once it is started")
    evidence = [listener.evidence[0]]
    for check in (_shares_pid_namespace, _named_in_pid_file, _works_in_datadir):
        outcome = check(root, listener.pid, claim)
        if isinstance(outcome, NotProved):
            return outcome
        evidence += [outcome] if outcome else []
    return OwnershipProof(listener.pid, tuple(evidence))


def _through_tcp(root: Root, claim: ServerClaim) -> str:
    ours = read_line(root, "/proc/sys/kernel/hostname") or ""
    if claim.hostname and ours and claim.hostname.split(".")[0] != ours.split(".")[0]:
        return f"the server's host name is {claim.hostname}, but this host is {ours}: {_REMEDY}"
    where = f" ({claim.socket})" if claim.socket else ""
    here = f"if it runs here, connect by its socket{where}"
    return f"the server was reached by TCP, so it may run on another host: {here}; otherwise {_REMEDY}"


def _listener(root: Root, claim: ServerClaim) -> OwnershipProof | NotProved:
    """The server's process at the other end of the socket."""
    pid = claim.peer_pid
    if pid <= 0:
        return NotProved(f"the process behind the socket belongs to another container: {_REMEDY}")
    name = read_line(root, f"/proc/{pid}/comm")
    if name is None:
        return NotProved(f"process {pid} behind the socket is hidden (/proc with hidepid?): run as root, or {_REMEDY}")
    if _is_server(root, pid):
        return OwnershipProof(pid, (f"process {pid} ({name}) listens at the socket",))
    if name == "systemd" and (server := _socket_activated(root, claim)):
        return OwnershipProof(server, (f"process {server} holds the socket that systemd opened for it",))
    return NotProved(f"process {pid} ({name}) behind the socket is not a server but a proxy: {_REMEDY}")


def _is_server(root: Root, pid: int) -> bool:
    """Whether a process is a server, by its program or name, or by the program that a dynamic loader runs."""
    program = posixpath.basename((root.link(f"/proc/{pid}/exe") or "").removesuffix(" (deleted)"))
    name = read_line(root, f"/proc/{pid}/comm") or ""
    if (program or name).startswith("ld-"):
        words = (root.read(f"/proc/{pid}/cmdline", 1 << 16) or "").split("\0")[:_LOADER_WORDS]
        return any(posixpath.basename(word) in SERVER_PROGRAMS for word in words)
    return program in SERVER_PROGRAMS or name in SERVER_PROGRAMS


def _socket_activated(root: Root, claim: ServerClaim) -> int | None:
    """The server that got its socket from systemd, in which case systemd is shown as the listener."""
    pid = read_number(root, claim.pid_file) if claim.pid_file.startswith("/") else None
    if pid is None or not _is_server(root, pid):
        return None
    rows = (line.split() for line in (root.read("/proc/net/unix") or "").split("\n"))
    inodes = {f"socket:[{row[6]}]" for row in rows if row[7:8] == [claim.socket]}
    held = {root.link(f"/proc/{pid}/fd/{fd}") for fd in root.names(f"/proc/{pid}/fd")}
    return pid if inodes & held else None


def _shares_pid_namespace(root: Root, pid: int, claim: ServerClaim) -> str | NotProved | None:  # noqa: ARG001 - one of three checks
    """Whether the process is in our pid namespace; containers have their own."""
    theirs, ours = (root.link(f"/proc/{who}/ns/pid") for who in (pid, "self"))
    if theirs and ours:
        nested = theirs != ours
    else:
        nested = len(key_values(root.read(f"/proc/{pid}/status")).get("NSpid", "").split()) > 1
    if nested:
        return NotProved(f"process {pid} runs in a separate container: audit it from inside, or {_REMEDY}")
    return "it shares our process numbers" if theirs and ours else None


def _named_in_pid_file(root: Root, pid: int, claim: ServerClaim) -> str | NotProved | None:
    """Whether the server's pid file, if readable, names the process."""
    path = posixpath.join(claim.datadir, claim.pid_file)
    written = parse_number(root.read(path, 64)) if claim.pid_file and path.startswith("/") else None
    if written is not None and written != pid:
        return NotProved(f"the pid file {path} says {written}, but process {pid} is behind the socket: {_REMEDY}")
    return f"{path} names it" if written is not None else None


def _works_in_datadir(root: Root, pid: int, claim: ServerClaim) -> str | NotProved | None:
    """Whether the process's working directory is the server's data directory.

    Services usually run in their own mount namespace (PrivateTmp), so only the directory is compared, not the
    namespace.
    """
    here = root.identify(claim.datadir) if claim.datadir.startswith("/") else None
    if here is None:
        place = claim.datadir or "(unknown)"
        return NotProved(f"the server's data directory {place} is not visible here: run as root, or {_REMEDY}")
    works_in = root.identify(f"/proc/{pid}/cwd")
    if works_in is not None:
        if works_in[:2] == here[:2] or _has_open_files(root, pid, claim.datadir):
            return f"it works in {claim.datadir}"
        return NotProved(f"process {pid} doesn't work in the server's data directory {claim.datadir}: {_REMEDY}")
    owner = parse_number(key_values(root.read(f"/proc/{pid}/status")).get("Uid", "").split("\t")[0])
    if owner != here.uid:
        return NotProved(f"process {pid} cannot be proved to work in {claim.datadir}: run as root, or {_REMEDY}")
    return f"its account owns {claim.datadir}"


def _has_open_files(root: Root, pid: int, datadir: str) -> bool:
    """Whether a process has files in a directory open, for a server with another working directory (--chroot)."""
    inside = (root.real(datadir) or datadir).rstrip("/") + "/"
    return any((root.link(f"/proc/{pid}/fd/{fd}") or "").startswith(inside) for fd in root.names(f"/proc/{pid}/fd"))
