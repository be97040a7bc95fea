"""Read all facts about one host, the operating system and its memory among them, or take them from the command line."""

from __future__ import annotations

import os
import posixpath
import re
import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.collect.host.cgroup import read_cgroup
from advisor.collect.host.cpu import read_cpu
from advisor.collect.host.devices import read_devices
from advisor.collect.host.process import read_process, server_pids
from advisor.collect.host.root import (
    MAX_CPU,
    DirectoryRoot,
    LiveRoot,
    bracketed_choice,
    key_values,
    parse_number,
    parse_size,
    printable_line,
    read_line,
    read_number,
)
from advisor.collect.host.storage import read_mounts, trace_storage
from advisor.core.errors import MycnfError
from advisor.facts.host import HIDDEN_GROUP, Cpu, Host, Memory, OperatingSystem, SkippedPart
from advisor.facts.storage import BlockDevice, Mount, ServerPath, Storage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from advisor.collect.host.root import Root


_DMI = "/sys/class/dmi/id"
DMI_FILES = ("sys_vendor", "product_name", "board_vendor", "bios_vendor", "bios_version", "chassis_asset_tag")
# Facts of Memory and of OperatingSystem that are a number in a file of their own, and that file; the tar has these too.
MEMORY_SETTINGS = {
    "swappiness": "/proc/sys/vm/swappiness",
    "dirty_ratio": "/proc/sys/vm/dirty_ratio",
    "dirty_background_ratio": "/proc/sys/vm/dirty_background_ratio",
    "dirty_bytes": "/proc/sys/vm/dirty_bytes",
    "dirty_background_bytes": "/proc/sys/vm/dirty_background_bytes",
    "overcommit_memory": "/proc/sys/vm/overcommit_memory",
    "overcommit_ratio": "/proc/sys/vm/overcommit_ratio",
    "zone_reclaim_mode": "/proc/sys/vm/zone_reclaim_mode",
    "numa_balancing": "/proc/sys/kernel/numa_balancing",
}
SYSTEM_SETTINGS = {
    "aio_max": "/proc/sys/fs/aio-max-nr",
    "aio_used": "/proc/sys/fs/aio-nr",
    "open_files_max": "/proc/sys/fs/file-max",
    "listen_backlog_max": "/proc/sys/net/core/somaxconn",
}

_CLOUDS = (
    ("Amazon EC2", "Amazon EC2"), ("amazon", "Amazon EC2"), ("Google Compute Engine", "Google Cloud"),
    ("7783-7084-3265-9085-8269-3286-77", "Azure"), ("OracleCloud.com", "Oracle Cloud"),
    ("Alibaba Cloud", "Alibaba Cloud"),
    ("Tencent Cloud", "Tencent Cloud"), ("DigitalOcean", "DigitalOcean"), ("Hetzner", "Hetzner"), ("Vultr", "Vultr"),
    ("Scaleway", "Scaleway"), ("UpCloud", "UpCloud"), ("Exoscale", "Exoscale"),
    ("Linode", "Akamai"), ("Akamai", "Akamai"), ("OpenStack", "OpenStack"), ("CloudStack", "CloudStack"),
)  # fmt: skip
"""Strings in the firmware of cloud machines; cloud-init's ds-identify uses the same ones."""

_IN_CGROUP = (
    ("docker", "docker"), ("kubepods", "kubernetes"), ("libpod", "podman"), ("lxc", "lxc"), ("machine.slice", "nspawn"),
)  # fmt: skip
_HUGE = "/sys/kernel/mm/transparent_hugepage"


def read_system(root: Root) -> OperatingSystem | None:
    """The operating system; None without even a kernel version."""
    kernel = read_line(root, "/proc/sys/kernel/osrelease") or _kernel_of(root.read("/proc/version", 4096))
    release = _release(root)
    if kernel is None and not release:
        return None
    firmware = {field: read_line(root, f"{_DMI}/{field}") or "" for field in DMI_FILES}
    uptime = parse_number((root.read("/proc/uptime", 64) or "").partition(".")[0])
    return OperatingSystem(
        kernel=kernel,
        hostname=read_line(root, "/proc/sys/kernel/hostname"),
        distribution=release.get("PRETTY_NAME") or release.get("NAME"),
        distribution_id=release.get("ID"),
        version=release.get("VERSION_ID"),
        time=int(time.time()) if root.machine() else _recorded_time(root, uptime),
        uptime=uptime,
        clocksource=read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        product=" ".join(filter(None, (firmware["sys_vendor"], firmware["product_name"]))) or None,
        cloud=next((name for sign, name in _CLOUDS if any(sign in value for value in firmware.values())), None),
        containers=_containers(root),
        **{fact: read_number(root, path) for fact, path in SYSTEM_SETTINGS.items()},
    )


def _recorded_time(root: Root, uptime: int | None) -> int | None:
    """The clock of a host when it was recorded; wrong by days in LXC, where the uptime alone is the container's."""
    boot = parse_number(key_values(root.read("/proc/stat"), " ").get("btime"))
    return None if boot is None or uptime is None else boot + uptime


def _kernel_of(version: str | None) -> str | None:
    found = re.match(r"Linux version (\S+)", version or "")
    return printable_line(found[1]) if found else None


def _release(root: Root) -> dict[str, str]:
    """The assignments in os-release(5), without quotes."""
    rows = key_values(root.read("/etc/os-release", 1 << 16) or root.read("/usr/lib/os-release", 1 << 16), "=")
    return {key: shown for key, value in rows.items() if (shown := printable_line(value.strip("\"'")))}


def _containers(root: Root) -> tuple[str, ...]:
    """Signs that this is a container, not only a machine that runs containers."""
    signs = ["docker"] if root.real("/.dockerenv") else []
    signs += ["podman"] if root.real("/run/.containerenv") else []
    signs += filter(None, [read_line(root, "/run/systemd/container")])
    groups = root.read("/proc/1/cgroup", 1 << 16) or ""
    signs += [name for sign, name in _IN_CGROUP if sign in groups]
    signs += ["kubernetes"] if any(_is_of_pod(entry.mount) for entry in read_mounts(root)) else []
    return tuple(dict.fromkeys(signs))


def _is_of_pod(mount: Mount) -> bool:
    """Whether the kubelet mounted it: a pod's control group has no sign of it in a namespace of its own."""
    return mount.point == "/dev/termination-log" or (mount.point == "/etc/hosts" and "/pods/" in mount.root)


def read_memory(root: Root) -> Memory | None:
    """Read /proc/meminfo and the settings under /proc/sys/vm; None without a total."""
    rows = key_values(root.read("/proc/meminfo"))
    sizes = {key: parse_size(value) for key, value in rows.items()}
    total = sizes.get("MemTotal")
    if not total:
        return None
    return Memory(
        total=total,
        available=sizes.get("MemAvailable"),
        free=sizes.get("MemFree"),
        swap_total=sizes.get("SwapTotal") or 0,
        swap_free=sizes.get("SwapFree") or 0,
        huge_page=sizes.get("Hugepagesize"),
        huge_pages_total=sizes.get("HugePages_Total") or 0,
        huge_pages_free=sizes.get("HugePages_Free") or 0,
        huge_pages_reserved=sizes.get("HugePages_Rsvd"),
        anonymous_huge=sizes.get("AnonHugePages"),
        committed=sizes.get("Committed_AS"),
        commit_limit=sizes.get("CommitLimit"),
        thp=bracketed_choice(root.read(f"{_HUGE}/enabled", 256)),
        thp_defrag=bracketed_choice(root.read(f"{_HUGE}/defrag", 256)),
        **{fact: read_number(root, path) for fact, path in MEMORY_SETTINGS.items()},
    )


UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
SAID = "not read: only the values of --ram, --cpus and --disk are known"


def read_host(
    root: Root,
    pid: int | None = None,
    datadir: str | None = None,
    others: Mapping[str, str] | None = None,
    *,
    session: bool = True,
) -> Host:
    """Read a host; with the server's pid also its process, limits and storage.

    `datadir` is the data directory; the default is the process's working directory, which for a server is the data
    directory. `others` are its other directories by variable, absolute or relative to `datadir`. Without a pid, a
    recorded host's only server is used; on a live host the pid must be proved. Without a server, the control group is
    the reader's; `session` is False if the limits of its login do not count. Parts that cannot be read are None and
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
        cgroup=read_cgroup(root, pid, session=session),
        devices=devices,
        storage=storage,
        process=process,
        os=read_system(root),
        places=_places(root, storage, directories, devices, pid),
    )
    reasons = {
        "cpu": "no processors in /sys/devices/system/cpu",
        "memory": "no total in /proc/meminfo",
        "cgroup": _missing_group_reason(root),
        "devices": "no block devices in /sys/block",
        "storage": f"no mount holds {place}" if place else "no data directory was given",
        "process": _missing_process_reason(root, pid),
        "os": "neither the kernel version nor os-release can be read",
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
    places: list[ServerPath] = []
    for name, path in directories.items():
        there = trace_storage(root, path, devices, pid)
        if there is not None and there.mount.point not in seen:
            seen.add(there.mount.point)
            places.append(ServerPath(name, there))
    return tuple(places)


def _missing_process_reason(root: Root, pid: int | None) -> str:
    if pid is not None:
        return f"no process {pid} is here"
    several = root.machine() is None and len(server_pids(root)) > 1
    return "several servers run there: which one is meant is not known" if several else "no server process was given"


def _missing_group_reason(root: Root) -> str:
    mounts = [entry.mount for entry in read_mounts(root)]
    if any(m.fs_type == "cgroup2" or (m.fs_type == "cgroup" and "memory" in m.options) for m in mounts):
        return HIDDEN_GROUP
    return "no control groups that account for memory are mounted"


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


LEAST_MEMORY = 1 << 20  # bytes; less is a number whose unit was forgotten


def parse_ram(text: str) -> int:
    """Bytes of a size such as 64G or 512M; raises MycnfError for anything else."""
    match = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if not match or float(match[1]) <= 0:
        raise MycnfError(f"--ram {text!r} is not a size; write it as 64G or 512M")
    size = int(float(match[1]) * UNITS[match[2].upper()])
    if size < LEAST_MEMORY:
        raise MycnfError(f"--ram {text!r} is {size:,} bytes; write it with its unit, as 64G or 512M")
    return size


def host_from_options(
    *, ram: str | None, cpus: int | None, disk: str | None, tar: str | None, read: Host | None = None
) -> Host:
    """The host from --host-tar, or else the one that was `read`, with the values of --ram, --cpus and --disk."""
    host = _from_tar(tar) if tar else read or Host(skipped=(SkippedPart("host", SAID),))
    if ram:
        total = parse_ram(ram)
        skipped = tuple(part for part in host.skipped if part.reason != HIDDEN_GROUP)
        memory = replace(host.memory or Memory(total), total=total, huge_pages_total=0, huge_pages_free=0)
        host = replace(host, memory=memory, cgroup=None, skipped=skipped)
    if cpus is not None:
        host = replace(host, cpu=_cpu(cpus))
    if disk:
        host = replace(host, storage=_storage(disk, host.storage))
    return host


def _from_tar(path: str) -> Host:
    return read_host(open_root(path), session=False)


def _cpu(count: int) -> Cpu:
    if not 0 < count <= MAX_CPU:
        raise MycnfError(f"--cpus {count} is not a number of processors; write how many the server may use")
    return Cpu(logical=count, online=tuple(range(count)), kinds=(), cores=count, sockets=0)


def _storage(kind: str, read: Storage | None) -> Storage:
    device = BlockDevice(
        name=kind,
        kernel_name=kind,
        number="",
        type="disk",
        size=0,
        rotational=kind == "hdd",
        transport="nvme" if kind == "nvme" else None,
    )
    storage = read or Storage(path="", mount=Mount(point="", fs_type="", source=""))
    return replace(storage, devices=(device,), stripe=None, untraced="set by --disk")
