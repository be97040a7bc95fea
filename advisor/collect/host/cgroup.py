"""The control group of a process, with its limits on memory and CPU time.

Limits apply at every level: the smallest between the process's own group and the topmost visible group is effective.
For the files see the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.collect.host.root import key_values, parse_number, read_line, read_number
from advisor.collect.host.storage import MountEntry, read_mounts
from advisor.facts.host import Cgroup, IoLimit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from advisor.collect.host.root import Root


# The files of a group that are read, of both versions; the tar of a host has them.
GROUP_FILES = (
    *("memory.max", "memory.high", "memory.swap.max", "memory.current", "memory.events"),
    *("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"),
    *("memory.stat", "memory.swappiness", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.stat"),
    *("pids.max", "io.max", "blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"),
    *("blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"),
)
_NO_LIMIT = 1 << 60
"""In version 1 "no limit" is the largest number of whole pages: slightly below 2^63, depending on the page size."""
_SESSION = re.compile(
    r"/user\.slice(?:/user-[0-9]+\.slice"
    r"(?:/session-[^/]+\.scope|/user@[0-9]+\.service(?:/(?:app|session|background)\.slice.*)?)?)?"
)
"""The groups of a login and of what it starts, but not those of containers in it."""


class CgroupDirectory(NamedTuple):
    """A group in one hierarchy: its path, its directory, and the mount point above which nothing is visible."""

    path: str
    directory: str
    top: str

    def upwards(self) -> list[str]:
        """The group's directory and its parents, up to the top."""
        steps = [self.directory]
        while len(steps[-1]) > len(self.top):
            steps.append(posixpath.dirname(steps[-1]))
        return steps


def read_cgroup(root: Root, pid: int | None = None, *, session: bool = True) -> Cgroup | None:
    """The limits of a process, or of this one; None if its group, or none that accounts for memory, is visible.

    In a hybrid setup, memory may be accounted in version 1 while version 2 is mounted too. `session` is False where
    the limits of the login that reads them do not count, because a server will not run in it.
    """
    member_of = _memberships(root.read(f"/proc/{pid or 'self'}/cgroup"))
    if not session:
        member_of = {name: "/" if _SESSION.fullmatch(path) else path for name, path in member_of.items()}
    mounts = read_mounts(root)
    memory, cpu = (_find_group(root, mounts, member_of, name) for name in ("memory", "cpu"))
    unified = _find_group(root, mounts, member_of, "")
    cpus, cpus_at = _share_v1(root, cpu) if cpu else _share_v2(root, unified)
    if memory:
        group = _version_1(root, memory, cpus, cpus_at)
    elif unified:
        group = _version_2(root, unified, cpus, cpus_at)
    else:
        return None
    own = (_find_group(root, mounts, member_of, name) or unified for name in ("cpu", "pids", "blkio"))
    return replace(group, **read_resource_limits(root, *(found.upwards() if found else [] for found in own))._asdict())


def _memberships(text: str | None) -> dict[str, str]:
    """The process's group by controller; "" is the unified hierarchy of version 2."""
    groups: dict[str, str] = {}
    for line in (text or "").split("\n"):
        match = re.fullmatch(r"[0-9]+:([^:]*):(/.*)", line)
        for controller in match[1].split(",") if match else ():
            groups.setdefault(controller, match[2] if match else "/")
    return groups


def _find_group(
    root: Root, mounts: tuple[MountEntry, ...], member_of: dict[str, str], controller: str
) -> CgroupDirectory | None:
    """The directory of the process's group; the top of the mount if the group has no directory in it.

    None if the group is beside what is mounted, like that of another container: its limits are not visible.
    """
    path = member_of.get(controller)
    if path is None:
        return None
    tops: list[CgroupDirectory] = []
    for mount in (entry.mount for entry in mounts):
        if mount.fs_type != ("cgroup" if controller else "cgroup2") or (controller and controller not in mount.options):
            continue
        below = _path_below_mount(path, mount.root)
        if below is None:
            continue
        directory = (mount.point + below).rstrip("/")
        if directory != mount.point and root.real(directory):
            return CgroupDirectory(path, directory, mount.point)
        tops.append(CgroupDirectory(path, mount.point, mount.point))
    return tops[0] if tops else None


def _path_below_mount(path: str, mounted: str) -> str | None:
    """A group's path below the mounted part of the hierarchy; "" if it contains that part, None if it is beside it.

    Paths with .. lead out of the control group namespace of the reader.
    """
    if ".." in (*path.split("/"), *mounted.split("/")):
        return None
    if mounted == "/":
        return path
    if path == mounted or path.startswith(mounted + "/"):
        return path[len(mounted) :]
    return "" if mounted.startswith(path.rstrip("/") + "/") else None


def _version_1(root: Root, group: CgroupDirectory, cpus: float | None, cpus_at: str | None) -> Cgroup:
    limit, at = _smallest(root, group, "memory.limit_in_bytes")
    both, _ = _smallest(root, group, "memory.memsw.limit_in_bytes")
    # The smallest limits of all groups above, among them those that a container cannot see.
    rows = key_values(root.read(f"{group.directory}/memory.stat", 1 << 16), " ")
    above, both_above = (parse_number(rows.get(f"hierarchical_{name}_limit")) for name in ("memory", "memsw"))
    if above is not None and above < (_NO_LIMIT if limit is None else limit):
        limit, at = above, None
    if both_above is not None and both_above < (_NO_LIMIT if both is None else both):
        both = both_above
    return Cgroup(
        version=1,
        path=group.path,
        limit=limit,
        limit_at=_name(group, at),
        swap_limit=None if both is None else max(both - (limit or 0), 0),
        usage=parse_number(root.read(f"{at or group.directory}/memory.usage_in_bytes", 64)),
        oom_kills=_oom_kills(root, f"{group.directory}/memory.oom_control"),
        swappiness=read_number(root, f"{group.directory}/memory.swappiness"),
        cpus=cpus,
        cpus_at=cpus_at,
    )


def _version_2(root: Root, group: CgroupDirectory, cpus: float | None, cpus_at: str | None) -> Cgroup:
    limit, at = _smallest(root, group, "memory.max")
    return Cgroup(
        version=2,
        path=group.path,
        limit=limit,
        limit_at=_name(group, at),
        high=_smallest(root, group, "memory.high")[0],
        swap_limit=_smallest(root, group, "memory.swap.max")[0],
        usage=parse_number(root.read(f"{at or group.directory}/memory.current", 64)),
        oom_kills=_oom_kills(root, f"{group.directory}/memory.events"),
        cpus=cpus,
        cpus_at=cpus_at,
    )


def _smallest(root: Root, group: CgroupDirectory, file: str) -> tuple[int | None, str | None]:
    """The smallest number in files of that name at all levels, and its directory; "max" is not a number."""
    found = [(parse_number(root.read(f"{step}/{file}", 64)), step) for step in group.upwards()]
    limits = [(limit, step) for limit, step in found if limit is not None and 0 <= limit < _NO_LIMIT]
    return min(limits, key=lambda pair: pair[0], default=(None, None))


def _oom_kills(root: Root, path: str) -> int | None:
    """The number of processes in the group that the OOM killer has killed."""
    return parse_number(key_values(root.read(path, 4096), " ").get("oom_kill"))


def _share_v1(root: Root, group: CgroupDirectory) -> tuple[float | None, str | None]:
    pairs = []
    for step in group.upwards():
        quota = parse_number(root.read(f"{step}/cpu.cfs_quota_us", 64))
        period = parse_number(root.read(f"{step}/cpu.cfs_period_us", 64))
        pairs.append((quota, period, step))
    return _smallest_share(group, pairs)


def _share_v2(root: Root, group: CgroupDirectory | None) -> tuple[float | None, str | None]:
    if group is None:
        return None, None
    pairs = []
    for step in group.upwards():
        quota, _, period = (read_line(root, f"{step}/cpu.max") or "").partition(" ")
        pairs.append((parse_number(quota), parse_number(period), step))
    return _smallest_share(group, pairs)


def _smallest_share(
    group: CgroupDirectory, quotas: list[tuple[int | None, int | None, str]]
) -> tuple[float | None, str | None]:
    """CPU quota divided by period, as a number of processors; a quota of -1 or "max" means no limit."""
    shares = [(quota / period, step) for quota, period, step in quotas if quota and period and quota > 0 < period]
    share, at = min(shares, key=lambda pair: pair[0], default=(None, None))
    return share, _name(group, at)


def _name(group: CgroupDirectory, directory: str | None) -> str | None:
    """A group's name in its hierarchy, / for the top."""
    return None if directory is None else directory[len(group.top) :] or "/"


_FILES = {
    "reads": "blkio.throttle.read_iops_device",
    "writes": "blkio.throttle.write_iops_device",
    "read_bytes": "blkio.throttle.read_bps_device",
    "write_bytes": "blkio.throttle.write_bps_device",
}
_KEYS = {"riops": "reads", "wiops": "writes", "rbps": "read_bytes", "wbps": "write_bytes"}


class ResourceLimits(NamedTuple):
    """Fields of Cgroup; each is from the strictest group at any level."""

    periods: int | None
    throttled: int | None
    tasks: int | None
    io: tuple[IoLimit, ...]


def read_resource_limits(root: Root, cpu: Sequence[str], pids: Sequence[str], io: Sequence[str]) -> ResourceLimits:
    """The limits set in three hierarchies, each given as a list of directories that starts with the process's own."""
    periods, throttled = _throttled_periods(root, cpu)
    tasks = [parse_number(root.read(f"{step}/pids.max", 64)) for step in pids]
    return ResourceLimits(
        periods, throttled, min((n for n in tasks if n is not None), default=None), _io_limits(root, io)
    )


def _throttled_periods(root: Root, steps: Iterable[str]) -> tuple[int | None, int | None]:
    """Periods and throttled periods of the group that was throttled most often."""
    counts = []
    for step in steps:
        rows = key_values(root.read(f"{step}/cpu.stat", 4096), " ")
        periods, throttled = parse_number(rows.get("nr_periods")), parse_number(rows.get("nr_throttled"))
        if periods is not None and throttled is not None:
            counts.append((periods, throttled))
    return max(counts, key=lambda pair: pair[1], default=(None, None))


def _io_limits(root: Root, steps: Iterable[str]) -> tuple[IoLimit, ...]:
    """The I/O limits by device, from the files of both versions."""
    by_device: dict[str, dict[str, int]] = {}
    for step in steps:
        for device, what, limit in (*_io_limits_v1(root, step), *_io_limits_v2(root, step)):
            limits = by_device.setdefault(device, {})
            limits[what] = min(limit, limits.get(what, limit))
    return tuple(IoLimit(device, **limits) for device, limits in sorted(by_device.items()))


def _io_limits_v1(root: Root, step: str) -> Iterable[tuple[str, str, int]]:
    """Version 1 has a file for each kind of limit, with lines such as `8:16 1048576`."""
    for what, file in _FILES.items():
        for device, limit in re.findall(r"^([0-9]+:[0-9]+) ([0-9]{1,18})$", _text(root, step, file), re.MULTILINE):
            yield device, what, int(limit)


def _io_limits_v2(root: Root, step: str) -> Iterable[tuple[str, str, int]]:
    """Version 2 has lines such as `8:16 rbps=2097152 wbps=max riops=max wiops=120`."""
    for device, limits in re.findall(r"^([0-9]+:[0-9]+) (.*)$", _text(root, step, "io.max"), re.MULTILINE):
        for key, limit in re.findall(r"\b([rw](?:bps|iops))=([0-9]{1,18})\b", limits):
            yield device, _KEYS[key], int(limit)


def _text(root: Root, step: str, file: str) -> str:
    return root.read(f"{step}/{file}", 1 << 16) or ""
