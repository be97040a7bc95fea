"""The storage under a server: disks and arrays, file systems, their space, and the server's own files on them.

Sizes are bytes and names are the kernel's own, unless a docstring says otherwise. None means that the kernel
doesn't report it, never zero.
"""

from typing import Annotated

from msgspec import Struct

from advisor.facts.marks import Mark


class Stripe(Struct, frozen=True):
    """The width at which a write reaches every data disk once, and the `device` that it is of.

    `source` says how it is known: "md" by the array's own numbers, "queue" by a device's optimal I/O size,
    which is a hint at hardware RAID or LVM striping; chunk and data disks may be unknown then. `offset` is
    where the file system begins within a stripe: 0 is aligned, None is unknown.
    """

    size: int
    source: Annotated[str, Mark(unjudged="shown only")]
    device: str
    chunk: int | None = None
    data_disks: int | None = None
    offset: int | None = None


class Raid(Struct, frozen=True):
    """An md array: level as the kernel writes it (raid10, …), `layout` a raw number, `state` array_state's word.

    `action` is what it does besides its work: idle, recover, resync, reshape, check or repair.
    """

    level: str
    disks: int | None = None
    chunk: int | None = None
    layout: Annotated[int | None, Mark(unjudged="shown only")] = None
    state: Annotated[str | None, Mark(unjudged="shown; degraded and action are judged")] = None
    degraded: int | None = None
    action: str | None = None


class BlockDevice(Struct, frozen=True):
    """A disk, partition, logical volume or array.

    `name` is what people call it (vg0-mysql), `kernel_name` what the kernel does (dm-0), `number` major:minor. `type`
    is lsblk's (disk, part, lvm, crypt, mpath, raid1, loop, rom). `under` are the kernel names of the devices that this
    one stands on. `start` is a partition's first byte on its disk.

    A partition shows its disk's queue: `scheduler` is the one in force, `requests` the queue's length. `rotational` is
    what the disk or the hypervisor claims, and a virtual disk claims it without a meaning. `optimal_io` is 0 where the
    device names none. `write_cache` is "write back" for a disk that flushes on request only, else "write through".

    Only disks have `transport` (nvme, sata, sas, scsi, virtio, usb, fc, iscsi, xen, mmc, …), `model` and `vendor`.
    """

    name: str
    kernel_name: str
    number: str
    type: str
    size: int
    under: tuple[str, ...] = ()
    start: Annotated[int | None, Mark(unjudged="shown; alignment is judged by the stripe")] = None
    read_only: Annotated[
        bool | None, Mark(unjudged="the mount option is judged: a read-only device cannot be mounted for writing")
    ] = None
    alignment_offset: Annotated[
        int | None, Mark(unjudged="collected for reports on storage; alignment is judged by the stripe")
    ] = None
    rotational: bool | None = None
    scheduler: str | None = None
    requests: Annotated[
        int | None,
        Mark(unjudged="deliberate: the best queue length depends on the device, and the default is adapted to it"),
    ] = None
    read_ahead: Annotated[
        int | None, Mark(unjudged="deliberate: O_DIRECT bypasses it, and no measurement shows a best size")
    ] = None
    max_io: Annotated[int | None, Mark(unjudged="shown only")] = None
    minimum_io: Annotated[int | None, Mark(unjudged="shown only; the stripe is judged")] = None
    optimal_io: Annotated[int | None, Mark(unjudged="shown only; the stripe is judged")] = None
    logical_sector: Annotated[int | None, Mark(unjudged="shown, and used by probes")] = None
    physical_sector: Annotated[int | None, Mark(unjudged="shown only")] = None
    write_cache: str | None = None
    discard_granularity: Annotated[int | None, Mark(unjudged="shown only")] = None
    discard_max: int | None = None
    transport: str | None = None
    model: str | None = None
    vendor: str | None = None
    raid: Raid | None = None


class Mount(Struct, frozen=True):
    """The mount that holds a path; `root` the mounted part of it, not / for bind mounts and subvolumes."""

    point: str
    fs_type: str
    source: Annotated[str, Mark(unjudged="shown only")]
    number: str = ""
    root: Annotated[str, Mark(unjudged="shown only")] = "/"
    options: tuple[str, ...] = ()


class Space(Struct, frozen=True):
    """A file system's room: bytes, and files where their number is bounded; free is what a server's account gets."""

    size: int
    free: int
    files: int = 0
    files_free: int = 0


class Storage(Struct, frozen=True):
    """A path followed from its mount down to the disks.

    `devices` begin with what is mounted and end with the disks. `untraced` says why they are empty or end
    early. `space` is known for a live host alone; `errors` are those that ext4 keeps count of until the next check.
    """

    path: str
    mount: Mount
    devices: tuple[BlockDevice, ...] = ()
    stripe: Stripe | None = None
    untraced: Annotated[str | None, Mark(unjudged="shown: why the disks are not known")] = None
    space: Space | None = None
    errors: int | None = None

    @property
    def disks(self) -> tuple[BlockDevice, ...]:
        """The lowest devices of the chain."""
        return tuple(d for d in self.devices if not d.under)


class ServerPath(Struct, frozen=True):
    """A directory with server files outside the data directory, and the variable that names it."""

    variable: str
    storage: Storage


class ServerFiles(Struct, frozen=True):
    """The server's files of one kind (binary log, relay log, undo tablespaces, temporary tablespaces).

    `bytes` are those that they take on the disk, and `number` (major:minor) is the device of their file system, empty
    if there are several. `oldest` is the age in seconds of the last write to the oldest file, which has `oldest_bytes`;
    None where files of several directories are counted together.
    """

    kind: str
    count: int
    bytes: int
    oldest: int | None = None
    oldest_bytes: int = 0
    number: str = ""


class SpaceReading(Struct, frozen=True):
    """The room of the file system at a mount point at one moment, in seconds since 1970."""

    point: str
    at: int
    size: int
    free: int
