"""Read all facts about one host, or take them from the command line for a host that cannot be read from here."""

from __future__ import annotations

import os
import posixpath
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.collect.host.cgroup import read_cgroup
from advisor.collect.host.cpu import read_cpu
from advisor.collect.host.devices import read_devices
from advisor.collect.host.formats import MAX_CPU
from advisor.collect.host.process import read_process, server_pids
from advisor.collect.host.root import DirectoryRoot, LiveRoot
from advisor.collect.host.storage import trace_storage
from advisor.collect.host.system import read_memory, read_system
from advisor.core.errors import MycnfError
from advisor.facts.host import BlockDevice, Cpu, Host, Memory, Mount, ServerPath, SkippedPart, Storage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.collect.host.root import Root


UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SAID = "not read: only what --ram, --cpus and --disk say is known"


def read_host(
    root: Root, pid: int | None = None, datadir: str | None = None, others: Mapping[str, str] | None = None
) -> Host:
    """Read a host; with the server's pid also its process, limits and storage.

    `datadir` is the data directory; the default is the process's working directory, which for a server is the data
    directory. `others` are its other directories by variable, absolute or relative to `datadir`. Without a pid, a
    recorded host's only server is used; on a live host the pid must be proved. Parts that cannot be read are None and
    listed in `skipped` with the reason; nothing is raised.
    """
    pid = _only_server(root) if pid is None else pid
    process = read_process(root, pid) if pid is not None else None
    devices = read_devices(root)
    place = datadir or (process.cwd if process else None)
    storage = trace_storage(root, place, devices, pid) if place else None
    directories = {name: posixpath.join(place, path) for name, path in (others or {}).items() if path} if place else {}
    host = Host(
        cpu=read_cpu(root),
        memory=read_memory(root),
        cgroup=read_cgroup(root, pid),
        devices=devices,
        storage=storage,
        process=process,
        os=read_system(root),
        places=_places(root, storage, directories, devices, pid),
    )
    reasons = {
        "cpu": "no processors in /sys/devices/system/cpu",
        "memory": "no total in /proc/meminfo",
        "cgroup": "no control groups that account for memory are mounted",
        "devices": "no block devices in /sys/block",
        "storage": f"no mount holds {place}" if place else "no data directory was given",
        "process": "no server process was given" if pid is None else f"no process {pid} is here",
        "os": "neither the kernel's version nor os-release is to be read",
    }
    return replace(
        host, skipped=tuple(SkippedPart(part, why) for part, why in reasons.items() if not getattr(host, part))
    )


def _places(
    root: Root,
    storage: Storage | None,
    directories: Mapping[str, str],
    devices: tuple[BlockDevice, ...],
    pid: int | None,
) -> tuple[ServerPath, ...]:
    """The directories on other mounts than the data directory, one per mount."""
    seen = {storage.mount.point} if storage else set()
    found: list[ServerPath] = []
    for name, path in directories.items():
        there = trace_storage(root, path, devices, pid)
        if there is not None and there.mount.point not in seen:
            seen.add(there.mount.point)
            found.append(ServerPath(name, there))
    return tuple(found)


def _only_server(root: Root) -> int | None:
    pids = server_pids(root) if root.machine() is None else ()
    return pids[0] if len(pids) == 1 else None


def open_root(path: str = "/") -> Root:
    """The host whose files are at a path: / for this one, else a directory or a tar.

    Raises ArchiveError for anything else.
    """
    if os.path.isdir(path):
        return LiveRoot() if os.path.samefile(path, "/") else DirectoryRoot(path)
    from advisor.collect.host.archive import open_tar

    return open_tar(path)


def parse_size(text: str) -> int:
    """Bytes of a size such as 64G or 512M; raises MycnfError for anything else."""
    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match or float(match[1]) <= 0:
        raise MycnfError(f"--ram {text!r} is not a size; write it as 64G or 512M")
    return int(float(match[1]) * UNITS[match[2].upper()])


def host_from_options(*, ram: str | None, cpus: int | None, disk: str | None, tar: str | None) -> Host:
    """The host from --host-tar, if given, with the values of --ram, --cpus and --disk."""
    host = _from_tar(tar) if tar else Host(skipped=(SkippedPart("host", SAID),))
    if ram:
        host = replace(host, memory=Memory(total=parse_size(ram)), cgroup=None)
    if cpus is not None:
        host = replace(host, cpu=_cpu(cpus))
    if disk:
        host = replace(host, storage=_storage(disk))
    return host


def _from_tar(path: str) -> Host:
    return read_host(open_root(path))


def _cpu(count: int) -> Cpu:
    if not 0 < count <= MAX_CPU:
        raise MycnfError(f"--cpus {count} is not a number of processors; write how many the server may use")
    return Cpu(logical=count, online=tuple(range(count)), kinds=(), cores=count, sockets=0)


def _storage(kind: str) -> Storage:
    device = BlockDevice(
        name=kind,
        kernel_name=kind,
        number="",
        type="disk",
        size=0,
        rotational=kind == "hdd",
        transport="nvme" if kind == "nvme" else None,
    )
    return Storage(path="", mount=Mount(point="", fs_type="", source=""), devices=(device,), untraced="said by --disk")
