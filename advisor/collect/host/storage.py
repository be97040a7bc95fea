"""Trace a path to its disks: mount, device, partition, volume, array."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from advisor.collect.host.devices import stripe_of
from advisor.collect.host.root import read_number
from advisor.facts.storage import Mount, Storage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from advisor.collect.host.root import Root
    from advisor.facts.storage import BlockDevice


_NO_DEVICE = {
    "overlay": "it is on a container's overlay, whose underlying device is not visible from inside: use a volume for "
    "the data",
    "fuse.fuse-overlayfs": "it is on the overlay of a container without root: use a volume for the data",
    "tmpfs": "it is in memory",
    "ramfs": "it is in memory",
    "zfs": "ZFS pools aren't in /sys; zpool status and zfs get recordsize show them",
    "9p": "it is shared in by the hypervisor",
    "virtiofs": "it is shared in by the hypervisor",
}
_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", "fuse.glusterfs", "lustre", "beegfs", "gpfs")


def trace_storage(root: Root, path: str, devices: tuple[BlockDevice, ...], pid: int | None = None) -> Storage | None:
    """Trace a path to its disks, as the process `pid` sees it; None if no mount contains it.

    `devices` is the result of read_devices(). If the trace ends early, `untraced` is the reason.
    """
    real = _real(root, path, pid)
    mount = mount_of(read_mounts(root, pid), real)
    if mount is None:
        return None
    mount = _as_on_host(root, mount, real) if pid is not None else mount
    # On network and FUSE file systems, statvfs may hang.
    elsewhere = mount.fs_type in _NETWORK or mount.fs_type.startswith("fuse")
    space = None if elsewhere else root.space(f"/proc/{pid}/root{real}" if pid is not None else real)
    tops = _mounted_devices(root, mount, devices)
    if not tops:
        return Storage(path=real, mount=mount, untraced=_missing_device_reason(mount), space=space)
    chain = _with_parents(tops, devices)
    known = {device.kernel_name for device in chain}
    missing = sorted({name for device in chain for name in device.under} - known)
    return Storage(
        path=real,
        mount=mount,
        devices=chain,
        stripe=stripe_of(chain) if len(tops) == 1 else None,
        untraced=f"nothing is known about {', '.join(missing)}" if missing else None,
        space=space,
        errors=read_number(root, f"/sys/fs/ext4/{tops[0].kernel_name.replace('/', '!')}/errors_count"),
    )


def _real(root: Root, path: str, pid: int | None) -> str:
    """The path without links; via the process's own root if its mounts differ from ours."""
    inside = f"/proc/{pid}/root"
    through = root.real(inside + path) if pid is not None and root.link(inside) not in (None, "/") else None
    if through is not None and through.startswith(inside + "/"):
        return through[len(inside) :]
    return root.real(path) or posixpath.normpath(path)


def _as_on_host(root: Root, mount: Mount, path: str) -> Mount:
    """The mount with the place at which the reader has the same file system, as /etc/fstab and mount know it.

    A service may have a part of it bound to the path: systemd does that for PrivateTmp and ReadWritePaths.
    """
    outer = mount_of(read_mounts(root), path)
    if outer is None or outer.number != mount.number:
        return mount
    return replace(mount, point=outer.point, root=outer.root)


def _mounted_devices(root: Root, mount: Mount, devices: tuple[BlockDevice, ...]) -> list[BlockDevice]:
    """The devices of a file system: one by its number, or several listed by bcachefs and btrfs."""
    sources = mount.source.split(":") if mount.source.startswith("/dev/") else []
    named = [device for source in sources if (device := _device_by_name(root, source, devices))]
    if len(named) > 1:
        return named
    if named and mount.fs_type == "btrfs":
        members = _btrfs_members(root, named[0].kernel_name)
        return [device for device in devices if device.kernel_name in members] or named
    return [device for device in devices if device.number == mount.number] or named


def _device_by_name(root: Root, source: str, devices: tuple[BlockDevice, ...]) -> BlockDevice | None:
    """The device of a /dev path: a kernel name, /dev/mapper/NAME, or a link such as /dev/disk/by-uuid/…"""
    for path in (source, root.real(source) or source):
        name = path.removeprefix("/dev/mapper/") if path.startswith("/dev/mapper/") else path.removeprefix("/dev/")
        for device in devices:
            if name in (device.kernel_name, device.name):
                return device
    return None


def _btrfs_members(root: Root, kernel_name: str) -> frozenset[str]:
    """The member devices of the btrfs that contains this one; subvolumes do not show their device's number."""
    for uuid in root.names("/sys/fs/btrfs"):
        members = frozenset(name.replace("!", "/") for name in root.names(f"/sys/fs/btrfs/{uuid}/devices"))
        if kernel_name in members:
            return members
    return frozenset()


def _with_parents(tops: Iterable[BlockDevice], devices: tuple[BlockDevice, ...]) -> tuple[BlockDevice, ...]:
    """The devices and all devices below them, level by level, each once."""
    by_name = {device.kernel_name: device for device in devices}
    chain = {device.kernel_name: device for device in tops}
    waiting = list(chain.values())
    for device in waiting:
        for name in device.under:
            if name in by_name and name not in chain:
                chain[name] = by_name[name]
                waiting.append(by_name[name])
    return tuple(chain.values())


def _missing_device_reason(mount: Mount) -> str:
    if mount.fs_type in _NETWORK:
        return f"it is on a network file system ({mount.fs_type})"
    reason = _NO_DEVICE.get(mount.fs_type)
    return reason or f"the device of its mount ({mount.source}, {mount.fs_type}) isn't visible here"


class MountEntry(NamedTuple):
    """One line of mountinfo: the mount, its id and the id of its parent mount."""

    number: int
    parent: int
    mount: Mount


_LINE = re.compile(
    r"([0-9]{1,10}) ([0-9]{1,10}) ([0-9]{1,9}:[0-9]{1,9}) (\S+) (\S+) (\S+)"  # numbers, device, root, point, options
    r"(?: \S+)* - (\S+) (\S*) (\S+)"  # optional fields, dash, type, source, options of the file system: proc(5)
)


def read_mounts(root: Root, pid: int | None = None) -> tuple[MountEntry, ...]:
    """The mounts visible to a process, or to us if the process's cannot be read."""
    own = root.read(f"/proc/{pid}/mountinfo") if pid is not None else None
    text = own or root.read("/proc/self/mountinfo") or root.read("/proc/1/mountinfo") or ""
    return tuple(entry for entry in map(_entry, text.split("\n")) if entry)


def _entry(line: str) -> MountEntry | None:
    match = _LINE.fullmatch(line)
    if not match:
        return None
    number, parent, device, inner, point, options, fs_type, source, fs_options = match.groups()
    together = dict.fromkeys((*options.split(","), *fs_options.split(",")))
    mount = Mount(
        point=unescape(point),
        fs_type=fs_type,
        source=unescape(source),
        number=device,
        root=unescape(inner),
        options=tuple(unescape(option) for option in together),
    )
    return MountEntry(int(number), int(parent), mount)


def unescape(text: str) -> str:
    """A field with the kernel's octal escapes (blank, tab, newline, backslash) decoded."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8) & 0xFF), text)


def mount_of(entries: tuple[MountEntry, ...], path: str) -> Mount | None:
    """The mount that contains a path without links; the topmost one if several are stacked.

    The path is walked from the root like in the kernel, because a later mount may hide an earlier one.
    """
    path = posixpath.normpath(path)
    within = [entry for entry in entries if _contains(entry.mount.point, path)]
    numbers = {entry.number for entry in within}
    current = next((e for e in within if e.mount.point == "/" and e.parent not in numbers - {e.number}), None)
    if current is None:
        longest = max(within, key=lambda entry: len(entry.mount.point), default=None)
        return longest.mount if longest else None
    left = [entry for entry in within if entry is not current]
    while True:
        inner = [entry for entry in left if entry.parent == current.number]
        if not inner:
            return current.mount
        current = min(inner, key=lambda entry: len(entry.mount.point))
        left.remove(current)


def _contains(point: str, path: str) -> bool:
    return point in ("/", path) or path.startswith(point + "/")
