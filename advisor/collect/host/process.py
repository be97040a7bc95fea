"""Facts about the server's process that can be read at no cost for the server.

`smaps` is not read: the kernel walks every page for it and holds the lock that the server's own mappings need.
`numa_maps` costs the same if it is read completely; if only a few bytes are read, the kernel formats only the first
mappings, which belong to the program itself.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from advisor.collect.host.formats import cpu_list, key_values, parse_number, parse_size, printable_line, read_number
from advisor.facts.host import SERVER_PROGRAMS, Limit, Process

if TYPE_CHECKING:
    from advisor.collect.host.root import Root

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


def read_process(root: Root, pid: int) -> Process | None:
    """The limits and resource use of a process; None if there is no process with that pid."""
    status = key_values(root.read(f"/proc/{pid}/status"))
    if "Name" not in status:
        return None
    nice, policy = _scheduling(root.read(f"/proc/{pid}/stat", 4096))
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
        memory_nodes=cpu_list(status.get("Mems_allowed_list")),
        oom_score_adj=read_number(root, f"/proc/{pid}/oom_score_adj"),
        allocator=_allocator(root.read(f"/proc/{pid}/maps")),
        limits=_limits(root.read(f"/proc/{pid}/limits")),
        huge_pages=parse_size(status.get("HugetlbPages")),
        nice=nice,
        policy=policy,
        thp={"0": False, "1": True}.get(status.get("THP_enabled", "")),
        memory_policy=_memory_policy(root.read(f"/proc/{pid}/numa_maps", _FIRST_LINE)),
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


def _limits(text: str | None) -> tuple[Limit, ...]:
    """Parse the lines of /proc/PID/limits: a name, soft limit, hard limit, and sometimes a unit."""
    rows = (re.match(r"Max (.+?)\s{2,}(\S+)\s+(\S+)", line) for line in (text or "").split("\n"))
    named = ((_LIMITS.get(row[1]), row) for row in rows if row)
    return tuple(Limit(name, parse_number(row[2]), parse_number(row[3])) for name, row in named if name)


def _allocator(maps: str | None) -> str | None:
    """The allocator among the loaded libraries; the C library's own if there is no other."""
    libraries = {posixpath.basename(line.split(" ")[-1]) for line in (maps or "").split("\n") if "/" in line}
    for name in _ALLOCATORS:
        if any(library.startswith(f"lib{name}") for library in libraries):
            return name
    if any(library.startswith("ld-musl") for library in libraries):
        return "musl"
    return "glibc" if any(re.match(r"libc[.-]", library) for library in libraries) else None
